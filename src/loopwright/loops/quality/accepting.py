"""What becomes of a review that a person accepts: it runs the checks like everything that lands."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops.accepting import ShownRed, asked_once_more, tried_as_accepted
from loopwright.loops.quality.ending import landed_or_done
from loopwright.loops.quality.state import QualityPhase, QualityState, next_step, taken


def accepted(state: QualityState) -> QualityState:
    """What a person accepts has run the checks like everything that lands, or they saw it fail."""
    state, plan = replace(state, verified=False), state.plan
    seen = state.red is not None and state.red.is_of(taken(state).commit, state.course)
    lands = plan.lands and taken(state).changed
    if seen or not (plan.accepts_checked and plan.checked and lands):
        return landed_or_done(state)
    return next_step(replace(state, red=None), QualityPhase.VERIFY)


def checked_as_accepted(state: QualityState, event: ChecksReported) -> QualityState:
    """Red, nothing is taken yet: a person hears what fails, and may still accept it."""
    state, faults = tried_as_accepted(state, event, taken(state).commit)
    if faults is None:
        return next_step(state, QualityPhase.VERIFY)
    if not faults:
        return landed_or_done(replace(state, verified=True))
    return asked_once_more(shown_red(state, faults), event, faults)


def shown_red(state: QualityState, faults: tuple[Finding, ...], onto: Commit = NO_COMMIT) -> QualityState:
    red = ShownRed(of=taken(state).commit, approvals=state.course.approvals, faults=faults, onto=onto)
    return replace(state, red=red if faults else None)
