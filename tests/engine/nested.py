"""The smallest parent there can be: it runs one child, and asks a person when the child would have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, Ask, Option, RunLoop, Stop
from loopwright.kernel.events import Answered, BudgetChanged, Event, LoopEnded
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import NO_KEY, Ending, Key, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentParams:
    child: str  # the child's parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    child_params: str
    runs: int = 1
    asking: Key = NO_KEY
    grant: int = 0
    question: str = ""
    outcome: Outcome | None = None


def start(params: ParentParams) -> Parent:
    return Parent(child_params=params.child)


def decide(state: Parent) -> tuple[Action, ...]:
    if state.outcome is not None:
        return (Stop(outcome=state.outcome),)
    if state.question:
        option = Option(choice="continue", label="Continue")
        return (Ask(key=Key.parse(f"ask-{state.runs}"), question=state.question, options=(option,)),)
    key = Key.parse(f"child-{state.runs}")
    told: Literal["", "continue"] = "continue" if state.grant else ""
    return (
        RunLoop(
            key=key,
            kind="feedback",
            params=state.child_params,
            name="child",
            takes=("escalation",),
            say=told,
            answers=state.asking,
            grant=state.grant,
        ),
    )


def apply(state: Parent, event: Event) -> Parent:
    key = getattr(event, "key", None)
    if isinstance(event, BudgetChanged):
        return state
    if key != decide(state)[0].key:
        raise InvalidTransition("Parent", type(event).__name__)
    match event:
        case LoopEnded() if event.outcome.ending is Ending.ESCALATED:
            return replace(state, question=event.outcome.note, asking=event.outcome.asking)
        case LoopEnded():
            return replace(state, outcome=event.outcome)
        case Answered():
            return replace(state, question="", grant=event.count, runs=state.runs + 1)
        case _:
            raise InvalidTransition("Parent", type(event).__name__)


def stand(state: Parent) -> Standpoint:
    return Standpoint(state="PARENT", attempt=state.runs, limit=0)


PARENT: Loop[ParentParams, Parent] = Loop(
    name="parent", params=ParentParams, state=Parent, start=start, decide=decide, apply=apply, stand=stand
)
