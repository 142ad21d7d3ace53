"""A toy loop above others: it has something made by a loop of another kind, and is done when that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, RunLoop, Stop
from loopwright.kernel.events import BudgetChanged, CancelRequested, ConfigChanged, Event, LoopEnded
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import Commit, Ending, Key, LoopId, Outcome
from loopwright.loops.kind import Kind, Needs, Words


class AnthologyPhase(StrEnum):
    COLLECT = "COLLECT"
    DONE = "DONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthologyParams:
    kind: str  # of the loop below
    params: str  # its own
    base: Commit = Commit("")
    limits: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthologyState:
    plan: AnthologyParams
    phase: AnthologyPhase = AnthologyPhase.COLLECT
    commit: Commit = Commit("")
    outcome: Outcome | None = None


def decide(state: AnthologyState) -> tuple[Action, ...]:
    if state.outcome is not None:
        return (Stop(outcome=state.outcome),)
    return (RunLoop(key=Key("collect", 1), kind=state.plan.kind, params=state.plan.params, name="the one"),)


def apply(state: AnthologyState, event: Event) -> AnthologyState:
    match event:
        case LoopEnded(outcome=came):
            ended = Outcome(ending=came.ending, attempts=1, commit=came.commit, branch=came.branch, note=came.note)
            return replace(state, phase=AnthologyPhase.DONE, commit=came.commit, outcome=ended)
        case CancelRequested():
            return replace(state, phase=AnthologyPhase.DONE, outcome=Outcome(ending=Ending.CANCELLED))
        case ConfigChanged() | BudgetChanged():
            return state
        case _:
            raise InvalidTransition(state.phase, type(event).__name__, "an anthology never asks for it")


ANTHOLOGY: Loop[AnthologyParams, AnthologyState] = Loop(
    name="anthology",
    params=AnthologyParams,
    state=AnthologyState,
    start=lambda params: AnthologyState(plan=params),
    decide=decide,
    apply=apply,
    stand=lambda state: Standpoint(state=state.phase.value, attempt=1, limit=1),
)


def _nothing(_loop: LoopId, _state: AnthologyState, _parts: Mapping[LoopId, object]) -> dict[str, Any]:
    return {}


KIND: Kind[AnthologyParams, AnthologyState] = Kind(
    loop=ANTHOLOGY,
    limits="",
    words=Words(counter="volume"),
    needs=Needs(roles=(), checks=False),
    title=lambda params: f"an anthology of {params.kind}",
    brief=lambda run: run.role,
    closing=lambda _state, outcome: (f"The anthology is {outcome.ending.value}.",),
    so_far=lambda _state: ("one volume",),
    owed=lambda _state, _by: (),
    result=_nothing,
)
