"""What is said when a run of a loop is over: what happened, where the result is, and the one command to take it."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.model import Outcome, Verdict
from loopwright.loops.batch.state import Batch
from loopwright.loops.feedback.state import FeedbackState, Iteration, best_iteration
from loopwright.loops.quality.state import Quality
from loopwright.loops.tickets.state import Tickets
from loopwright.projections import batch_closing, quality_closing, results, tickets_closing
from loopwright.projections.quoting import one_line
from loopwright.projections.wording import (
    ALL_TESTS_PASSING,
    NOT_COMPLIANT,
    PROMISE,
    SPEC_COMPLIANT,
    counted,
)

_SHOWN = 5
State = FeedbackState | Quality | Batch | Tickets


def render(loop_id: str, state: State, outcome: Outcome, *files: str) -> tuple[str, ...]:
    """The closing lines of a loop that ended. `files` are those that are there and tell more."""
    return (*_lines(state, outcome), results.look_closer(loop_id, outcome, files))


def so_far(state: State) -> tuple[str, ...]:
    """What has happened up to now, in a line each: for a person who is asked how it should go on."""
    match state:
        case FeedbackState():
            return tuple(sentence(iteration) for iteration in state.past)
        case Quality():
            return quality_closing.so_far(state)
        case Batch():
            return batch_closing.so_far(state)
        case Tickets():
            return tickets_closing.so_far(state)
        case _:
            assert_never(state)


def _lines(state: State, outcome: Outcome) -> tuple[str, ...]:
    match state:
        case FeedbackState():
            return _feedback(state, outcome)
        case Quality():
            return quality_closing.lines(state, outcome)
        case Batch():
            return batch_closing.lines(state, outcome)
        case Tickets():
            return tickets_closing.lines(state, outcome)
        case _:
            assert_never(state)


def _feedback(state: FeedbackState, outcome: Outcome) -> tuple[str, ...]:
    after = f"after {counted(outcome.attempts, 'iteration')}"
    left = counted(len(outcome.findings), "known issue")
    return (
        *so_far(state),
        results.headline(outcome, promise=PROMISE, after=after, left=left),
        *results.findings(outcome.findings, _SHOWN),
        *_result(state, outcome),
    )


def sentence(iteration: Iteration) -> str:
    """One iteration in a sentence."""
    did = one_line(iteration.implementation, 120) or "no summary"
    return f"Iteration {iteration.number}: {did}; {_verdicts(iteration)}"


def _verdicts(iteration: Iteration) -> str:
    if iteration.review is None:
        return "no review"
    if iteration.review is Verdict.FAIL:
        return f"review failed with {counted(len(iteration.issues), 'issue')} ({NOT_COMPLIANT})"
    if iteration.tests is None:
        return f"review passed ({SPEC_COMPLIANT}), no tests"
    if iteration.tests is Verdict.FAIL:
        return f"review passed, tests failed with {counted(len(iteration.failures), 'failure')}"
    return f"review passed ({SPEC_COMPLIANT}), tests passed ({ALL_TESTS_PASSING})"


def _result(state: FeedbackState, outcome: Outcome) -> tuple[str, ...]:
    said = results.note(outcome)
    if landed := results.landed(outcome, said):
        return landed
    best = best_iteration(state.past)
    if best is None:
        return ("Result: none; no attempt left a commit.", *said)
    return results.kept(f"the best attempt, iteration {best.number},", best.commit, said)
