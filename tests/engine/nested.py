"""Small parents and children: one that runs one child and asks for it, one that runs many, and one that only asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, Ask, AwaitGate, Option, RunLoop, Stop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, BudgetChanged, CancelRequested, Event, GateDecided, LoopEnded
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import NO_KEY, Commit, Ending, Key, Outcome, Part


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
    said = Answered(key=state.asking, choice="continue", count=state.grant) if state.grant else None
    return (
        RunLoop(
            key=key,
            kind="feedback",
            params=state.child_params,
            name="child",
            takes=("escalation",),
            said=said,
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


# --- a parent of several, and a child that does nothing but ask ---------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    name: str
    kind: str
    params: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkParams:
    branches: tuple[Branch, ...]
    takes: tuple[Literal["escalation", "question", "gate"], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """Runs all its branches at once and ends when they have."""

    plan: ForkParams
    ended: tuple[Part, ...] = ()
    cancelling: bool = False


def _fork_decides(state: Fork) -> tuple[Action, ...]:
    over = {part.name for part in state.ended}
    left = [branch for branch in state.plan.branches if branch.name not in over]
    if not left:
        ending = Ending.CANCELLED if state.cancelling else Ending.VERIFIED
        return (Stop(outcome=Outcome(ending=ending, parts=state.ended)),)
    return tuple(
        RunLoop(
            key=Key.parse(f"{'cancel' if state.cancelling else 'run'}-{branch.name}"),
            kind=branch.kind,
            params=branch.params,
            name=branch.name,
            takes=state.plan.takes,
            said=CancelRequested(by="the fork") if state.cancelling else None,
        )
        for branch in left
    )


def _fork_hears(state: Fork, event: Event) -> Fork:
    match event:
        case LoopEnded():
            outcome = event.outcome
            name = str(event.key).partition("-")[2]
            part = Part(name=name, ending=outcome.ending, note=outcome.note, loop=outcome.loop)
            return replace(state, ended=(*state.ended, part))
        case CancelRequested() if not state.cancelling:
            return replace(state, cancelling=True)
        case BudgetChanged():
            return state
        case _:
            raise InvalidTransition("Fork", type(event).__name__)


FORK: Loop[ForkParams, Fork] = Loop(
    name="fork",
    params=ForkParams,
    state=Fork,
    start=lambda params: Fork(plan=params),
    decide=_fork_decides,
    apply=_fork_hears,
    stand=lambda state: Standpoint(state="FORK", attempt=len(state.ended), limit=0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskerParams:
    question: str = "Which colour?"
    gate: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    plan: AskerParams
    answer: str = ""
    approved: bool | None = None
    cancelled: bool = False


ASK, GATE = Key.parse("clarify-1"), Key.parse("gate-protected-e1")


def _asker_decides(state: Asker) -> tuple[Action, ...]:
    if state.cancelled:
        return (Stop(outcome=Outcome(ending=Ending.CANCELLED)),)
    ask = Ask(key=ASK, question=state.plan.question, free_text=True, why="it cannot know")
    gate = AwaitGate(key=GATE, gate="protected", commit=Commit("c"), evidence="e1", because=(), why="protected")
    open_still = (*(() if state.answer else (ask,)), *((gate,) if _is_open(state) else ()))
    return open_still or (Stop(outcome=Outcome(ending=Ending.VERIFIED, note=state.answer)),)


def _is_open(state: Asker) -> bool:
    return state.plan.gate and state.approved is None


def _asker_hears(state: Asker, event: Event) -> Asker:
    match event:
        case Answered() if event.text:
            return replace(state, answer=event.text)
        case GateDecided() if _is_open(state) and event.evidence == "e1":
            return replace(state, approved=event.approved)
        case CancelRequested():
            return replace(state, cancelled=True)
        case _:
            raise InvalidTransition("Asker", type(event).__name__, "it has no place for that")


ASKER: Loop[AskerParams, Asker] = Loop(
    name="asker",
    params=AskerParams,
    state=Asker,
    start=lambda params: Asker(plan=params),
    decide=_asker_decides,
    apply=_asker_hears,
    stand=lambda _state: Standpoint(state="ASKER", attempt=1, limit=1),
)


def fork(*branches: Branch, takes: tuple[Literal["escalation", "question", "gate"], ...] = ()) -> str:
    return encode(ForkParams(branches=branches, takes=takes))


def asks(name: str, *, gate: bool = True) -> Branch:
    return Branch(name=name, kind="asker", params=encode(AskerParams(gate=gate)))
