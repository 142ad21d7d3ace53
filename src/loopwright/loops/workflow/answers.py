"""Who of the workflow's modules makes something of which answer."""

from __future__ import annotations

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Announced,
    Answer,
    ChecksReported,
    Combined,
    Integrated,
    IntegrationRefused,
    LoopEnded,
)
from loopwright.loops import course as c
from loopwright.loops.workflow import ending, intent, reviewing, shipping, tasks
from loopwright.loops.workflow.state import WorkflowPhase, WorkflowState

_FROM_ROLES = {
    "score": intent.scored,
    "shape": intent.shaped,
    "plan": intent.planned,
    "ship": shipping.gate_spoke,
}
_FROM_AGENTS = {
    "panel": tasks.advised,
    "light": reviewing.glanced,
    "thorough": reviewing.reviewed,
    "discuss": reviewing.discussed,
}


def took(state: WorkflowState, event: Answer) -> WorkflowState:
    match event:
        case AgentReported() | AgentFailed() if event.key.step in _FROM_AGENTS:
            return _FROM_AGENTS[event.key.step](state, event)
        case AgentReported() | AgentFailed() | Announced():
            return _FROM_ROLES[event.key.step](state, event)
        case LoopEnded():
            if state.phase is WorkflowPhase.CANCEL:
                return ending.told_to_end(state, int(event.key.part) - 1)
            return tasks.heard(state, event)
        case Combined():
            return tasks.combined(state, event)
        case ChecksReported() if event.key.step == "start":
            return tasks.tried(state, event)
        case ChecksReported():
            is_last = state.phase is WorkflowPhase.VERIFY
            return shipping.verified(state, event) if is_last else tasks.checked(state, event)
        case Integrated():
            return tasks.landed(state, event)
        case IntegrationRefused():
            return tasks.not_landed(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, "a workflow never asks for it")
