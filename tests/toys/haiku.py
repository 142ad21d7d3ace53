"""A toy loop, all of it: a poet writes, a reader judges, a person says whether it is to their taste."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, Checkpoint, Integrate, Option, RunAgent
from loopwright.kernel.assignment import Assignment
from loopwright.kernel.events import AgentFailed, AgentReported, Answer, Answered, Checkpointed
from loopwright.kernel.gates import evidence
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import Brief, Change, Commit, Ending, Key, LoopId, Outcome, Verdict
from loopwright.loops import brief_parts, closing, floor
from loopwright.loops import course as c
from loopwright.loops.course import Course, GateRecord, Ruling, Station
from loopwright.loops.hooks import Escalation, Machine
from loopwright.loops.kind import Files, Kind, Needs, Scene, Words

TASTE = "taste"


@dataclass(frozen=True, slots=True, kw_only=True)
class HaikuLimits:
    max_verses: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Haiku:
    """What a Python program says to have one written."""

    theme: str
    protected: tuple[str, ...] = ()


class HaikuPhase(StrEnum):
    WRITE = "WRITE"
    KEEP = "KEEP"
    READ = "READ"


@dataclass(frozen=True, slots=True, kw_only=True)
class HaikuParams:
    theme: str
    base: Commit
    branch: str = ""
    limits: HaikuLimits = HaikuLimits()
    at_leisure: bool = False  # the person may decide when it has landed


@dataclass(frozen=True, slots=True, kw_only=True)
class HaikuState:
    plan: HaikuParams
    allowance: int
    commit: Commit
    verse: int = 1
    failed: int = 0
    phase: HaikuPhase = HaikuPhase.WRITE
    course: Course = Course()


def start(params: HaikuParams) -> HaikuState:
    return HaikuState(plan=params, allowance=params.limits.max_verses, commit=params.base)


def work(state: HaikuState) -> tuple[Action, ...]:
    key = Key(state.phase.value.lower(), state.verse, tries=state.course.trial.tries)
    brief = Brief(
        task=state.plan.theme,
        attempt=state.verse,
        limit=state.allowance,
        answers=state.course.answers,
        repair=state.course.trial.repair,
        base=state.plan.base,
        candidate=state.commit,
    )
    match state.phase:
        case HaikuPhase.WRITE:
            return (RunAgent(key=key, role="creator", brief=brief, start=state.commit, writes=True, why="a theme"),)
        case HaikuPhase.KEEP:
            return (Checkpoint(key=key, label=str(state.verse), parent=state.commit, base=state.plan.base),)
        case HaikuPhase.READ:
            judged = replace(brief, candidate=state.commit)
            return (
                RunAgent(
                    key=key,
                    role="reviewer",
                    brief=judged,
                    start=state.commit,
                    writes=False,
                    needs_verdict=True,
                    why="read",
                ),
            )
        case _:
            assert_never(state.phase)


def took(state: HaikuState, event: Answer) -> HaikuState:
    match event:
        case AgentReported() if state.phase is HaikuPhase.WRITE:
            return c.entered(state, HaikuPhase.KEEP)
        case Checkpointed():
            changed = tuple(Change(path=path, how="added") for path in event.paths)
            gate = GateRecord(
                gate=TASTE,
                evidence=evidence(changed),
                because=changed,
                commit=event.commit,
                why="art",
                lasting=state.plan.at_leisure,
            )
            return c.entered(c.called_for(replace(state, commit=event.commit), gate), HaikuPhase.READ)
        case AgentReported() if event.report.verdict is Verdict.PASS:
            waits = state.course.open_gates and not state.plan.at_leisure
            return c.at_the_gate(state) if waits else c.landing(state)
        case AgentReported() | AgentFailed():
            return _next_verse(replace(state, failed=state.failed + 1))
        case _:
            raise InvalidTransition(state.phase, type(event).__name__, "a haiku never asks for it")


def _next_verse(state: HaikuState) -> HaikuState:
    if state.failed >= state.allowance:
        return c.escalated(state, (f"{state.failed} verses were not good enough",))
    return c.entered(replace(state, verse=state.verse + 1), HaikuPhase.WRITE)


def decided(state: HaikuState, gate: GateRecord) -> HaikuState:
    if gate.ruling is Ruling.APPROVED:
        return c.landing(state) if state.course.station is Station.GATE else state
    return _next_verse(replace(state, failed=state.failed + 1))


def land(state: HaikuState) -> Integrate:
    key = Key("land", state.verse, part=str(state.course.asked))
    plan = state.plan
    return Integrate(key=key, commit=state.commit, base=plan.base, message=plan.theme, branch=plan.branch)


def escalation(state: HaikuState) -> Escalation:
    options = ("continue", "accept", "history", "revise", "cancel")
    return Escalation(
        question=f"{'; '.join(state.course.reasons)}. How should it go on?",
        options=tuple(Option(choice=choice, label=choice.capitalize()) for choice in options),
        why="; ".join(state.course.reasons),
    )


def continued(state: HaikuState, event: Answered) -> HaikuState:
    return _next_verse(replace(state, allowance=state.failed + event.count))


def revised(state: HaikuState, _event: Answered) -> HaikuState:
    return _next_verse(replace(state, allowance=state.failed + state.plan.limits.max_verses))


def relimited(state: HaikuState, limits: HaikuLimits) -> HaikuState:
    return replace(state, allowance=state.allowance + limits.max_verses - state.plan.limits.max_verses)


def ended(state: HaikuState, ending: Ending) -> Outcome:
    return Outcome(ending=ending, attempts=state.verse)


MACHINE: Machine[HaikuState, HaikuLimits] = Machine(
    limits=HaikuLimits,
    base=lambda state: state.plan.base,
    work=work,
    took=took,
    landing=land,
    outcome=ended,
    escalation=escalation,
    continued=continued,
    revised=revised,
    relimited=relimited,
    decided=decided,
)


def stand(state: HaikuState) -> Standpoint:
    lines = (f"verses that failed: {state.failed} of {state.allowance}",)
    return Standpoint(
        state=c.where(state), attempt=state.verse, limit=state.allowance, failures=state.failed, lines=lines
    )


HAIKU: Loop[HaikuParams, HaikuState] = Loop(
    name="haiku",
    params=HaikuParams,
    state=HaikuState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)


# --- what the rest of the house knows of it ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HaikuResult:
    verses: int


def told(run: Assignment) -> str:
    asks = brief_parts.for_judge("{}", "Say whether it moves you.") if run.needs_verdict else brief_parts.for_maker()
    said = (f"# Brief for the {run.role}: verse {run.brief.attempt}", brief_parts.task(run.brief))
    return "\n\n".join((*said, *brief_parts.from_person(run.brief), asks)) + "\n"


def files(scene: Scene[HaikuState]) -> Files:
    return {f".loop/haiku/{scene.loop}/verses.txt": f"{scene.state.plan.theme}: verse {scene.state.verse}\n"}


def lines(state: HaikuState, outcome: Outcome) -> tuple[str, ...]:
    head = closing.headline(outcome, promise="Published", after=f"after {state.verse} verses", left="a bad rhyme")
    return (head, *closing.landed(outcome, closing.note(outcome)))


def result(_loop: LoopId, state: HaikuState, _parts: Mapping[LoopId, object]) -> HaikuResult:
    return HaikuResult(verses=state.verse)


KIND: Kind[HaikuParams, HaikuState] = Kind(
    loop=HAIKU,
    limits="haiku",
    request=Haiku,
    porch=("tests.toys.haiku_porch",),
    words=Words(counter="verse", roles={"write": "poet", "read": "reader"}),
    needs=Needs(roles=("creator", "reviewer"), checks=False, gates=(TASTE,)),
    title=lambda params: params.theme,
    brief=told,
    closing=lines,
    so_far=lambda state: (f"{state.verse} verses, {state.failed} failed",),
    owed=lambda _state, by: (f"- **Accepted by**: {by}", "- **Open findings**: a bad rhyme"),
    result=result,
    rules=("A verse that does not move the reader is written anew.",),
    files=files,
)
