"""How a feedback loop ends: it lands what it came to, or leaves it to the parent that waits for it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.ledger import mended_in, unresolved
from loopwright.kernel.model import NO_COMMIT, Commit, Ending, Outcome
from loopwright.loops import course as c
from loopwright.loops.feedback.state import REVIEW, FeedbackState, best_to_take, failing, known_issues
from loopwright.loops.hooks import untested


def landed_or_left(state: FeedbackState) -> FeedbackState:
    """What was judged good."""
    return c.landing(state) if state.plan.lands else _left(state)


def taken_or_left(state: FeedbackState) -> FeedbackState:
    """What a person accepted."""
    return c.taking(state) if state.plan.lands else _left(state)


def _left(state: FeedbackState) -> FeedbackState:
    """To the parent, with all that the candidate holds: it verifies that together with the rest, and opens the gate on
    what would be held back of it. So nobody is asked here any more.
    """
    took = state.course.accepted or state.course.untested
    outcome = ended(state, Ending.ACCEPTED if took else Ending.VERIFIED)
    commit = best_commit(state) if state.course.accepted else state.commit
    outcome = replace(
        outcome,
        commit=commit,
        findings=(*outcome.findings, *untested(state)),
        waiting=(),
        approved=state.course.let_in,
        written=state.course.written,
        may_drop=state.course.may_drop,
    )
    gates = tuple(replace(gate, due=False, lasting=False) for gate in state.course.gates)
    return c.done(c.steered(state, gates=gates), outcome)


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
    return Outcome(ending=ending, attempts=len(state.past), findings=left, waiting=waiting)
