"""How a feedback loop is told when it is over or has stopped: each iteration in a sentence, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Ending, Finding, LoopId, Outcome, Verdict
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import ALL_TESTS_PASSING, counted
from loopwright.loops import closing
from loopwright.loops.course import Station
from loopwright.loops.feedback.iterations import NOT_COMPLIANT, PROMISE, SPEC_COMPLIANT
from loopwright.loops.feedback.state import (
    FeedbackPhase,
    FeedbackState,
    Iteration,
    best_iteration,
    best_to_take,
    failing,
    known_issues,
    open_findings,
    tests_in_words,
)
from loopwright.loops.kind import Lane
from loopwright.loops.parts import row

_SHOWN = 5
_AT: dict[str, str] = {
    FeedbackPhase.EXAMINE: "getting acceptance tests",
    FeedbackPhase.KEEP_TESTS: "being kept",
    FeedbackPhase.TRY_TESTS: "getting acceptance tests",
    FeedbackPhase.TAKE_TESTS_AWAY: "being kept",
    FeedbackPhase.IMPLEMENT: "being made",
    FeedbackPhase.CHECKPOINT: "being kept",
    FeedbackPhase.REVIEW: "in review",
    FeedbackPhase.ADD_TESTS: "getting tests",
    FeedbackPhase.CHECKPOINT_TESTS: "being kept",
    FeedbackPhase.LAY_TESTS: "being tested",
    FeedbackPhase.TEST: "being tested",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """What `loop feedback --json` adds to what every loop answers."""

    iterations: int  # finished
    failing: tuple[str, ...] = ()  # tests of what a person would accept, or has accepted


def result(_loop: LoopId, state: FeedbackState, _parts: Mapping[LoopId, object]) -> FeedbackResult:
    best = best_to_take(state)
    failed = failing(state, best) if best else ()
    return FeedbackResult(iterations=len(state.past), failing=tuple(finding.issue for finding in failed))


def lines(state: FeedbackState, outcome: Outcome) -> tuple[str, ...]:
    after = f"after {counted(outcome.attempts, 'iteration')}"
    elsewhere = _elsewhere(state) if outcome.ending is Ending.ACCEPTED else ()
    left = closing.known_issues(outcome.findings, elsewhere, "iterations")
    return (
        *so_far(state),
        closing.headline(outcome, promise=PROMISE, after=after, left=left),
        *closing.findings((*outcome.findings, *elsewhere), _SHOWN),
        *_result(state, outcome),
    )


def lane(state: FeedbackState, _working: bool) -> Lane | None:  # noqa: FBT001 - a port's signature
    held = unresolved(state.ledger)
    shown = Lane(
        name=one_line(state.plan.task.strip().partition("\n")[0], 120),
        count=f"iteration {state.current.number}",
        detail=counted(len(held), "finding") if held else "",
    )
    return row(state, shown, _AT, lands=state.plan.lands or bool(state.examination.asks))


def so_far(state: FeedbackState) -> tuple[str, ...]:
    return tuple(sentence(iteration) for iteration in state.past)


def sentence(iteration: Iteration) -> str:
    """One iteration in a sentence."""
    did = one_line(iteration.implementation, 120).rstrip(".;") or "no summary"
    return f"Iteration {iteration.number}: {did}; {_verdicts(iteration)}"


def _verdicts(iteration: Iteration) -> str:
    if iteration.review is None:
        return "no review"
    if iteration.rejected:
        passed = "review passed" if iteration.failures else "review and tests passed"
        return f"{passed}, but a person rejected a change in it"
    if iteration.without_review:
        return f"it {iteration.without_review}"
    if iteration.review is Verdict.FAIL:
        return f"review failed with {counted(len(iteration.issues), 'issue')} ({NOT_COMPLIANT})"
    if iteration.tests is None:
        return f"review passed ({SPEC_COMPLIANT}), no tests"
    if iteration.refused:
        return "review and tests passed, but it could not be landed"
    if iteration.tests is Verdict.FAIL:
        return f"review passed, {tests_in_words(iteration)}"
    return f"review passed ({SPEC_COMPLIANT}), tests passed ({ALL_TESTS_PASSING})"


def _result(state: FeedbackState, outcome: Outcome) -> tuple[str, ...]:
    said = closing.note(outcome)
    if landed := closing.landed(outcome, said):
        return landed
    tried = (*state.past, state.current)  # cancelled at a gate, the attempt that waits is none of the past
    kept = best_iteration(tried)
    # What a person said no to is kept as well, but nobody is told to take it.
    best = best_iteration(state.course.not_rejected(tried))
    if best is None:
        why = "every attempt holds a change that a person rejected" if kept else "no attempt left a commit"
        return (f"Result: none; {why}.", *said)
    return closing.kept(f"the best attempt, iteration {best.number},", state.plan.base, best.commit, said)


def unresolved_now(state: FeedbackState) -> tuple[str, ...]:
    """What a person who is asked has to know: everything that is open, worst first."""
    found = open_findings(state) if state.course.station is Station.ESCALATED else ()
    return (f"Unresolved, {counted(len(found), 'finding')}:", *closing.findings(found, _SHOWN)) if found else ()


def _taken(state: FeedbackState) -> Iteration:
    return best_to_take(state) or Iteration(number=state.current.number)


def _elsewhere(state: FeedbackState) -> tuple[Finding, ...]:
    """Return what other iterations than the accepted one left open."""
    taken = _taken(state)
    return closing.besides(unresolved(state.ledger), taken.issues + taken.failures + failing(state, taken))


def owed(state: FeedbackState, by: str) -> tuple[str, ...]:
    """Faults that other attempts left open are named apart."""
    taken, others = _taken(state), _elsewhere(state)
    failed = failing(state, taken)
    was_checked = state.verified or not state.course.accepted  # else a gate alone was waited for
    return (
        f"- **Task**: {inline(state.plan.task)}",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: iteration {taken.number} of {counted(len(state.past), 'iteration')}",
        *closing.owed_where(state.course.outcome, state.plan.branch, taken.commit),
        *closing.owed_findings("Open findings", known_issues(taken)),
        *closing.owed_findings("Failing tests", failed),
        *(() if failed else closing.owed_checks(state.course.outcome, (), verified=was_checked)),
        *(closing.owed_findings("Seen in other iterations and not resolved", others) if others else ()),
    )
