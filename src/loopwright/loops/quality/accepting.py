"""What becomes of a review that a person accepts: it runs the checks like everything that lands."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import names_of_faults
from loopwright.kernel.model import Finding
from loopwright.loops import course as c
from loopwright.loops.engine_steps import held_after_all
from loopwright.loops.quality.ending import landed_or_done
from loopwright.loops.quality.state import QualityPhase, QualityState, next_step, taken
from loopwright.loops.reviewed import ShownRed
from loopwright.loops.weighing import weighed_as_accepted


def accepted(state: QualityState) -> QualityState:
    """What a person accepts has run the checks like everything that lands, or they saw it fail."""
    state, plan = replace(state, verified=False), state.plan
    seen = state.red and (state.red.of, state.red.approved) == (taken(state).commit, state.course.approved)
    lands = plan.lands and taken(state).changed
    if seen or not (plan.accepts_checked and plan.checked and lands):
        return landed_or_done(state)
    return next_step(replace(state, red=None), QualityPhase.VERIFY)


def checked_as_accepted(state: QualityState, event: ChecksReported) -> QualityState:
    """Red, nothing is taken yet: a person hears what fails, and may still accept it."""
    weighed_so, faults = weighed_as_accepted(state, event, taken(state).commit)
    if not faults:
        return landed_or_done(replace(weighed_so, verified=True))
    if (without := held_after_all(state, event)) is not None:
        return next_step(without, QualityPhase.VERIFY)
    why = f"what was accepted is not landed: these fail: {names_of_faults(event, faults)}"
    state = c.steered(shown_red(weighed_so, faults), accepted=False)
    return c.escalated(state, tuple(dict.fromkeys((*state.course.reasons, why))))


def shown_red(state: QualityState, faults: tuple[Finding, ...]) -> QualityState:
    red = ShownRed(of=taken(state).commit, approved=state.course.approved, faults=faults)
    return replace(state, red=red if faults else None)
