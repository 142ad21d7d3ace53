"""What is known of what has landed while the first of the merge train is weighed: if that does not land, it stays."""

from __future__ import annotations

from loopwright.kernel.changing import replace
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import NO_COMMIT
from loopwright.loops import course as c
from loopwright.loops.course import Ruling
from loopwright.loops.workflow.state import WorkflowState, WorkTask


def calmed(state: WorkflowState) -> WorkflowState:
    """The candidate does not land: what is known of what has landed is as before, but for what people decided."""
    before = state.calm
    if before is None:
        return state
    decided = {(each.gate, each.evidence): each for each in state.course.gates if each.ruling is not Ruling.OPEN}
    known = {(each.gate, each.evidence) for each in before.gates}
    kept = tuple(
        replace(each, ruling=said.ruling, reason=said.reason, by=said.by) if said else each
        for each, said in ((each, decided.get((each.gate, each.evidence))) for each in before.gates)
    )
    fresh = tuple(replace(each, due=False, lasting=False) for mark, each in decided.items() if mark not in known)
    course = replace(
        state.course,
        gates=(*kept, *fresh),
        lands=before.lands,
        held=before.held,
        candidate=before.candidate,
        written=before.written,
        tests_of_agents=before.tests_of_agents,
        untested=before.untested,
        unnoticed=before.unnoticed,
        evidence=before.evidence,
        told=before.told,
    )
    return replace(state, course=course, calm=None)


def turned(state: WorkflowState) -> WorkflowState:
    """The same task once more from the beginning of the train, under new keys."""
    return replace(calmed(state), turn=state.turn + 1, merged=NO_COMMIT, passed=False, gated=False)


def covered(state: WorkflowState, task: WorkTask) -> WorkflowState | None:
    """What a person has approved in the task's own loop is approved here, where it is no more than that."""
    allowed, droppable = {*state.approved, *state.course.approved}, {*state.may_drop, *state.course.may_drop}
    open_gates = state.course.open_gates
    known = tuple(
        gate
        for gate in open_gates
        if (gate.gate == PROTECTED and set(gate.because) <= allowed and set(gate.dropped) <= droppable)
        or (gate.gate == "untested" and task.untested)
    )
    if not known or len(known) < len([gate for gate in open_gates if not gate.lasting]):
        return None
    gates = tuple(
        replace(each, ruling=Ruling.APPROVED, by=c.IN_PART) if each in known else each for each in state.course.gates
    )
    return c.steered(state, gates=gates)
