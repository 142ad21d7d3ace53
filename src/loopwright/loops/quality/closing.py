"""How a review of one artifact is told when it is over or has stopped: each verdict, and everything still wrong."""

from __future__ import annotations

from loopwright.kernel.model import Ending, Finding, Outcome
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import counted, told
from loopwright.loops import closing
from loopwright.loops.quality.decide import in_a_line
from loopwright.loops.quality.state import QualityState, Round, best_round, failing, open_findings, reviews_made


def lines(state: QualityState, outcome: Outcome) -> tuple[str, ...]:
    found = open_findings(state) if outcome.ending.is_passed else outcome.findings
    minor = f" with {counted(len(found), 'finding')} that does not block" if len(found) == 1 else ""
    minor = f" with {len(found)} findings that do not block" if len(found) > 1 else minor
    after = f"after {counted(reviews_made(state), 'review')} and {counted(state.fixes, 'fix', 'fixes')}"
    deferred = f"; {len(outcome.findings)} deferred, recorded in .loop/debt.md" if outcome.findings else ""
    beside = minor + deferred + closing.still_waiting(outcome) + closing.unchecked(outcome)
    passed = after + beside if outcome.ending.is_passed else after
    is_accepted = outcome.ending is Ending.ACCEPTED
    elsewhere = _elsewhere(state) if is_accepted else ()
    left = closing.known_issues(found, elsewhere, "reviews")
    left += f" and {len(state.deferred)} deferred" if is_accepted and state.deferred else ""
    return (
        *_reviews(state),
        closing.headline(outcome, promise="Passed", after=passed, left=left),
        *closing.findings((*found, *elsewhere), len(found) + len(elsewhere)),
        *_not_counting(state),
        *_result(state, outcome),
    )


def so_far(state: QualityState) -> tuple[str, ...]:
    """Every unresolved finding, worst first: a person who is asked sees them all."""
    found = open_findings(state)
    head = (f"Unresolved, {counted(len(found), 'finding')}:",) if found else ()
    return (*_reviews(state), *head, *closing.findings(found, len(found)), *_not_counting(state))


def _reviews(state: QualityState) -> tuple[str, ...]:
    return tuple(line for each in state.rounds for line in _review(each))


def _review(each: Round) -> tuple[str, ...]:
    """The verdict line as it was announced, and what the fix after it said."""
    fix = (f"Fix after review {each.number}: {one_line(each.fix, 200)}",) if each.fix.strip() else ()
    return (one_line(in_a_line(each), 500), *fix)


def _not_counting(state: QualityState) -> tuple[str, ...]:
    """What was found and does not count is said too, with the rule that says so."""
    deferred = (
        f"  deferred: [{each.finding.severity.value}] {told(each.finding)} ({one_line(each.why, 200)})"
        for each in state.deferred
    )
    return (*deferred, *(f"  dropped: {one_line(what)}" for what in state.dropped))


def _result(state: QualityState, outcome: Outcome) -> tuple[str, ...]:
    # Without a note of its own the outcome carries the last verdict, which has been told.
    known = {each.line for each in state.rounds}
    said = () if outcome.note in known else closing.note(outcome)
    if landed := closing.landed(outcome, said):
        return landed
    best = best_round(state.rounds)
    if best is not None and best.changed:
        return closing.kept(f"what review {best.number} saw", state.plan.base, best.commit, said)
    if state.changed:
        return closing.kept("the last fix, which no review has judged,", state.plan.base, state.commit, said)
    return ("Result: nothing to take; no fix changed anything.", *said)


def _elsewhere(state: QualityState) -> tuple[Finding, ...]:
    """Return what is open and was not found in what a person accepted."""
    taken = best_round(state.rounds)
    return closing.besides(open_findings(state), (*(taken.findings if taken else ()), *failing(state)))


def owed(state: QualityState, by: str) -> tuple[str, ...]:
    """What was put off was found all the same, and is owed with the rest."""
    taken, plan = best_round(state.rounds), state.plan
    red = failing(state)
    found = closing.besides(taken.findings if taken else (), red)
    others = _elsewhere(state)
    deferred = tuple(each.finding for each in state.deferred)
    number = f"review {taken.number} of " if taken else ""
    return (
        f"- **Artifact**: {inline(plan.artifact)}, at the {plan.gate} gate",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: {number}{counted(reviews_made(state), 'review')}, {counted(state.fixes, 'fix', 'fixes')}",
        *closing.owed_where(state.course.outcome, state.plan.branch, taken.commit if taken else ""),
        *closing.owed_findings("Open findings", found),
        *closing.owed_checks(state.course.outcome, red, verified=state.verified),
        *(closing.owed_findings("Seen in other reviews and not resolved", others) if others else ()),
        *(closing.owed_findings("Deferred", deferred) if deferred else ()),
    )
