"""What becomes of the checks of a state, of the look at its change, and of its landing on the system's branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from loopwright.kernel.changing import replace
from loopwright.kernel.events import (
    Answer,
    ChecksReported,
    Combined,
    Integrated,
    IntegrationRefused,
    TimeReached,
)
from loopwright.kernel.faults import faults_of
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import NO_COMMIT, Finding
from loopwright.kernel.sightings import ChangeExamined
from loopwright.loops import course as c
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.evidence import note_evidence, show_policy
from loopwright.loops.lifecycle.failures import BACK_OFFS, failed_checks, sort_of
from loopwright.loops.lifecycle.flow import blocked, expected, failed, is_to_be_reviewed, onward
from loopwright.loops.lifecycle.state import FILES, LifecycleState, Step, begun
from loopwright.loops.lifecycle.states import PER_CAPABILITY, Stage
from loopwright.loops.weighing import Failed, Passed, Rejected, Waits, rejection, weighed


def _checked(state: LifecycleState, event: Answer) -> LifecycleState:
    event = expected(state, event, ChecksReported)
    state, said = weighed(state, event, state.tip, _words(state), policy=show_policy(state))
    match said:
        case Passed():
            return onward(replace(note_evidence(state, event.evidence), checked=state.tip, back_offs=0))
        case Waits(gate=gate):
            known = gating.covered(state, gate)
            return c.at_the_gate(state) if known is None else begun(known, Step.CHECK)
        case Rejected(gate=gate):
            return failed(state, "gate-rejection", (rejection(gate),))
        case Failed(faults=faults):
            return _not_passed(state, event, faults)
        case _:
            assert_never(said)


def _words(state: LifecycleState) -> tuple[str, ...]:
    """What the work was asked for in."""
    return (state.plan.system.description, *state.plan.capabilities, *state.course.answers)


def _not_passed(state: LifecycleState, event: ChecksReported, faults: tuple[Finding, ...]) -> LifecycleState:
    found = faults_of(event)
    if not found and event.claim is None and state.phase is Stage.TEST:
        # No test notices the change, or none shows it: the agent that writes the tests is asked, nothing has failed.
        return onward(replace(state, skills=(), findings=faults))
    found = found or faults
    sort = sort_of(event, found)
    if sort == "external" and state.back_offs < len(BACK_OFFS):
        return begun(replace(state, back_offs=state.back_offs + 1), Step.BACK_OFF)
    return failed(state, sort, found, failed_checks(event))


def _waited(state: LifecycleState, event: Answer) -> LifecycleState:
    expected(state, event, TimeReached)
    return begun(state, Step.RECHECK if state.phase is Stage.RETRY else Step.CHECK)


def _grounded(state: LifecycleState, event: Answer) -> LifecycleState:
    event = expected(state, event, Combined)
    state = c.called_for(state, c.GateRecord(gate=PROTECTED, evidence=""))  # it is part of what judges now
    return onward(replace(state, ground=event.commit, checked=NO_COMMIT, looked=NO_COMMIT))


def _looked(state: LifecycleState, event: Answer) -> LifecycleState:
    event = expected(state, event, ChangeExamined)
    state = replace(state, listed=state.tip, risks=event.risks, tree=event.tree, paths=event.paths, gone=event.gone)
    if state.phase in PER_CAPABILITY:
        files = tuple(dict.fromkeys((*state.files, *event.fresh)))[:FILES]
        state = replace(state, files=files, builds=bool(event.code) if state.built_on else state.builds)
    if is_to_be_reviewed(state):  # nobody is asked before that
        return onward(state)
    return onward(gating.opened(replace(state, looked=state.tip)))


def _landed(state: LifecycleState, event: Answer) -> LifecycleState:
    if isinstance(event, IntegrationRefused):
        why = event.detail or event.reason
        return blocked(state, "target", f"What was made could not be put on {state.plan.branch}: {why}", why)
    event = expected(state, event, Integrated)
    landed, piece = event.landed or event.commit, state.piece
    state = replace(c.steered(state, landed=landed), held_on=event.held_on or state.held_on)
    if piece is not None and piece.commit != state.tip:
        return onward(replace(state, landed=landed, landed_tip=piece.commit, pieces=state.pieces[1:]))
    tip = state.tip if state.course.held else landed
    return onward(
        replace(
            state,
            landed=landed,
            landed_tip=tip,
            pieces=(),
            tip=tip,
            checked=tip,
            looked=tip,
            reviewed=tip if state.reviewed == state.tip else state.reviewed,
        )
    )


VERIFYING: Mapping[Step, Callable[[LifecycleState, Answer], LifecycleState]] = {
    Step.CHECK: _checked,
    Step.BACK_OFF: _waited,
    Step.GROUND: _grounded,
    Step.LOOK: _looked,
    Step.LAND: _landed,
}
