"""How a feedback loop ends: it lands what it came to, or leaves it to the parent that waits for it."""

from __future__ import annotations

from loopwright.kernel.ledger import mended_in, unresolved
from loopwright.kernel.model import NO_COMMIT, Commit, Ending, Outcome
from loopwright.loops import course as c
from loopwright.loops.feedback.state import REVIEW, FeedbackState, best_to_take, failing, known_issues
from loopwright.loops.parts import left


def landed_or_left(state: FeedbackState) -> FeedbackState:
    """What was judged good."""
    return c.landing(state) if state.plan.lands else _left(state)


def taken_or_left(state: FeedbackState) -> FeedbackState:
    """What a person accepted."""
    return c.taking(state) if state.plan.lands else _left(state)


def _left(state: FeedbackState) -> FeedbackState:
    return left(state, ended, best_commit(state) if state.course.accepted else state.current.commit)


def best_commit(state: FeedbackState) -> Commit:
    """What a person would accept, or has accepted."""
    best = best_to_take(state)
    return best.commit if best else NO_COMMIT


def ended(state: FeedbackState, ending: Ending) -> Outcome:
    """How this loop ends, with everything still wrong."""
    left = () if ending is Ending.VERIFIED else unresolved(state.ledger)
    best = best_to_take(state)
    if ending is Ending.ACCEPTED and best:
        left = tuple(sorted(known_issues(best) + failing(state, best), key=lambda finding: finding.severity.rank))
    waiting = mended_in(state.ledger, state.course.unlanded, REVIEW)
    hidden = state.examination.files
    return Outcome(ending=ending, attempts=len(state.past), findings=left, waiting=waiting, hidden=hidden)
