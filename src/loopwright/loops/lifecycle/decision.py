"""What is decided next, in the seed's own words for it: `loop next` does exactly that, `loop explain` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.loops.course import Station
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.blocked_message import held_up
from loopwright.loops.lifecycle.flow import missing_skills
from loopwright.loops.lifecycle.skills import PRIMARY
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import NORMAL, Stage, after

Action = Literal["WAIT_FOR_HUMAN", "WAIT_FOR_APPROVAL", "RETRY", "ESCALATE", "EXECUTE_SKILL", "DONE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAction:
    action: Action
    why: str
    state: str = ""  # the next one
    skill: str = ""
    skill_of: str = ""  # the state that needs it
    gate: str = ""


def decision(state: LifecycleState) -> NextAction:
    """In this order: blocked, a gate, failed, the next state; what is complete is done."""
    station = state.course.station
    if station is Station.DONE:
        return NextAction(action="DONE", why="the system is complete" if state.merged else "the system has ended")
    if state.phase is Stage.BLOCKED or station in (Station.CLARIFY, Station.ESCALATED):
        told = held_up(state)
        return NextAction(action="WAIT_FOR_HUMAN", why=told.reason if told else "; ".join(state.course.reasons))
    if station is Station.GATE:
        names = ", ".join(gate.gate for gate in gating.blocking(state))
        why = "; ".join(gate.explanation for gate in gating.blocking(state))
        return NextAction(action="WAIT_FOR_APPROVAL", gate=names, why=why)
    if state.phase is Stage.FAILED and state.failure is not None:
        to = state.heading
        if to.to is Stage.RETRY:
            return NextAction(action="RETRY", state=state.failure.stage.value, why=to.why)
        return NextAction(action="ESCALATE", state=Stage.BLOCKED.value, why=to.why)
    return _executes(state)


def _executes(state: LifecycleState) -> NextAction:
    if state.phase is Stage.RETRY:
        stage = state.resumes_at.value
        return NextAction(
            action="EXECUTE_SKILL",
            state=stage,
            skill="debug-assist",
            skill_of=state.phase.value,
            why="what failed is diagnosed and fixed",
        )
    to = after(state.phase, more_capabilities=bool(state.remaining))
    skills = missing_skills(state) if state.phase in NORMAL else ()
    skill, of = (skills[0], state.phase) if skills else (PRIMARY[to], to)
    left = f"{state.phase} still needs {', '.join(skills)}" if skills else f"{state.phase} is left once its checks pass"
    return NextAction(action="EXECUTE_SKILL", state=to.value, skill=skill, skill_of=of.value, why=left)
