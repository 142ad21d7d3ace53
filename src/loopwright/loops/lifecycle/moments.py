"""When everything was in the life of a system: states, failures, gates, checks, what landed, sessions.

One record at a time, between the states before and after it: nothing is looked through twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from loopwright.kernel.changing import replace
from loopwright.kernel.events import ChecksReported, Created, Integrated, Logged, Paused, SessionMarked, StateEdited
from loopwright.kernel.model import NO_COMMIT, Commit, Ending
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import moment
from loopwright.loops.course import Ruling, Station
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.completing import message
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.flow import NO_TARGET
from loopwright.loops.lifecycle.machine import stage_shown
from loopwright.loops.lifecycle.skill_log import SkillLog
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import NORMAL, Stage

StageStatus = Literal["pending", "in-progress", "complete", "failed", "skipped"]
MarkKind = Literal["commit", "milestone", "approval", "note"]
VERIFYING = ("check", "recheck", "suite")


@dataclass(frozen=True, slots=True)
class StageSpan:
    status: StageStatus = "pending"
    started: str = ""
    completed: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class FailureSpan:
    at: str
    seconds: float = 0.0  # until it was resolved
    resolution: str = ""
    resolved_at: str = ""
    began: float = 0.0


@dataclass(frozen=True, slots=True)
class GateSpan:
    asked: str = ""
    decided: str = ""


@dataclass(frozen=True, slots=True)
class CheckSeen:
    passed: bool
    at: str


@dataclass(frozen=True, slots=True)
class Milepost:
    """What can be gone back to, or looked up: a commit that landed, what was reached, approved or noted."""

    kind: MarkKind
    text: str
    at: str
    commit: Commit = NO_COMMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpan:
    """Somebody drove it. What was there already when they began tells what they added."""

    began: float
    ended: float | None = None
    why: str = ""
    text: str = ""  # what they left for the next one
    kept: Commit = NO_COMMIT
    by: str = ""
    runs: int = 0
    mileposts: int = 0
    failures: int = 0
    transitions: int = 0
    paused: Paused | None = None  # by a limit of all its work


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    started: float = 0.0
    updated: float = 0.0
    activity: str = ""  # as it is told; of what another tool began, that tool's word until something happens
    entered: str = ""  # the state that is shown
    stages: Mapping[Stage, StageSpan] = field(default_factory=dict)
    failures: tuple[FailureSpan, ...] = ()  # by their place in the history
    gates: Mapping[tuple[str, str], GateSpan] = field(default_factory=dict)  # by name and evidence
    checks: Mapping[str, CheckSeen] = field(default_factory=dict)
    verified: str = ""  # when something was last verified, passing or not
    mileposts: tuple[Milepost, ...] = ()
    sessions: tuple[SessionSpan, ...] = ()
    asked_for_target: bool = False


def noticed(
    known: Moments, at: float, event: Logged, before: LifecycleState, after: LifecycleState, log: SkillLog
) -> Moments:
    """With one event more; `log` is that of the skills before it."""
    now = replace(known, updated=at, activity=moment(at))
    if isinstance(event, Created):
        return _opened(at, after)
    if isinstance(event, SessionMarked):
        return _session(now, at, event, after, len(log.runs))
    if isinstance(event, Paused):
        stopped = tuple(replace(each, paused=event) for each in now.sessions[-1:])
        return replace(now, sessions=(*now.sessions[:-1], *stopped))
    if isinstance(event, ChecksReported) and event.key.step in VERIFYING:
        now = _checked(now, at, event)
    if isinstance(event, Integrated):
        now = _with(now, Milepost("commit", _subject(before), moment(at), event.landed or event.commit))
    if before is after:
        return now
    if isinstance(event, StateEdited):
        now = _with(now, Milepost("note", f"{event.by or 'a person'} edited {event.subject}", moment(at)))
    now = _moved(now, at, before, after)
    now = _gated(now, at, before, after)
    now = _failures(now, at, before, after)
    return _reached(now, at, before, after)


def _with(now: Moments, mark: Milepost) -> Moments:
    return replace(now, mileposts=(*now.mileposts, mark))


def _subject(state: LifecycleState) -> str:
    """The first line of the message that what landed has."""
    return message(state).partition("\n")[0]


# --- beginnings -----------------------------------------------------------------------------------------------------


def _opened(at: float, state: LifecycleState) -> Moments:
    """What another tool got to has no times of ours."""
    earlier = state.plan.earlier
    told = (earlier.activity if earlier else "") or moment(at)
    here = NORMAL.index(state.resumes_at)
    stages = {stage: StageSpan("complete") if place < here else StageSpan() for place, stage in enumerate(NORMAL)}
    blocked = state.phase is Stage.BLOCKED
    reason = state.blocked.reason if state.blocked else ""
    stages[state.resumes_at] = StageSpan("failed" if blocked else "in-progress", moment(at), error=reason)
    return Moments(
        started=at,
        updated=at,
        activity=told,
        entered=moment(at),
        stages=stages,
        failures=tuple(_known_failure(each, told) for each in state.history),
    )


def _known_failure(failure: Failure, told: str) -> FailureSpan:
    if not failure.resolved:
        return FailureSpan(told)
    return FailureSpan(told, resolution=failure.fix or "resolved", resolved_at=told)


def _session(now: Moments, at: float, event: SessionMarked, state: LifecycleState, runs: int) -> Moments:
    if event.mark == "began":
        span = SessionSpan(
            began=at,
            by=event.by,
            runs=runs,
            mileposts=len(now.mileposts),
            failures=len(now.failures),
            transitions=state.transitions,
        )
        return replace(now, sessions=(*now.sessions, span))
    if not now.sessions:
        return now
    *others, last = now.sessions
    ended = replace(last, ended=at, why=event.why, text=event.text, kept=event.commit)
    now = replace(now, sessions=(*others, ended))
    if not event.commit:
        return now
    return _with(now, Milepost("note", "what was under way is kept", moment(at), event.commit))


# --- checks ---------------------------------------------------------------------------------------------------------


def _checked(now: Moments, at: float, event: ChecksReported) -> Moments:
    when = moment(at)
    ran = (result for result in (*event.results, *event.landing) if result.ran)
    seen: dict[str, CheckSeen] = {}
    for result in ran:
        before = seen.get(result.name)
        seen[result.name] = CheckSeen(result.passed and (before is None or before.passed), when)
    return replace(now, checks={**now.checks, **seen}, verified=when)


# --- states ---------------------------------------------------------------------------------------------------------


def has_moved(before: LifecycleState, after: LifecycleState) -> bool:
    return after.transitions != before.transitions


def _moved(now: Moments, at: float, before: LifecycleState, after: LifecycleState) -> Moments:
    if stage_shown(after) is not stage_shown(before) or has_moved(before, after):
        now = replace(now, entered=moment(at))
    if has_moved(before, after):
        now = replace(now, stages=_stages(now.stages, moment(at), before, after))
    return now


def _stages(
    known: Mapping[Stage, StageSpan], when: str, before: LifecycleState, after: LifecycleState
) -> dict[Stage, StageSpan]:
    """What lies ahead of the state it is in is still to be done, also where it was done before."""
    stages = dict(known)
    stage = after.resumes_at
    held = stages[stage]
    if after.phase not in NORMAL:
        error = after.blocked.reason if after.blocked else after.failure.error if after.failure else ""
        return {**stages, stage: StageSpan("failed", held.started, error=one_line(error, 500))}
    here = NORMAL.index(stage)
    if before.phase in NORMAL[:here]:
        stages[before.phase] = StageSpan("complete", stages[before.phase].started, when)
    began = held.started if held.status == "failed" else when
    stages[stage] = StageSpan("in-progress", began)
    return stages | dict.fromkeys(NORMAL[here + 1 :], StageSpan())


# --- gates, failures ------------------------------------------------------------------------------------------------


def _gated(now: Moments, at: float, before: LifecycleState, after: LifecycleState) -> Moments:
    waits = after.course.station is Station.GATE and before.course.station is not Station.GATE
    if after.course.gates is before.course.gates and not waits:
        return now
    when, gates = moment(at), dict(now.gates)
    for gate in gating.blocking(after) if waits else ():
        gates.setdefault((gate.gate, gate.evidence), GateSpan(when))
    was = {(gate.gate, gate.evidence): gate.ruling for gate in before.course.gates}
    for gate in after.course.gates:
        mark = (gate.gate, gate.evidence)
        if gate.ruling is Ruling.OPEN or was.get(mark, Ruling.OPEN) is gate.ruling:
            continue
        gates[mark] = replace(gates.get(mark, GateSpan()), decided=when)
        if gate.ruling is Ruling.APPROVED:
            told = f"{gate.gate} approved" + (f" by {gate.by}" if gate.by else "")
            now = _with(now, Milepost("approval", told, when, gate.commit))
    return replace(now, gates=gates)


def _failures(now: Moments, at: float, before: LifecycleState, after: LifecycleState) -> Moments:
    if after.history is before.history:
        return now
    spans = list(now.failures)
    spans += [FailureSpan(moment(at), began=at) for _ in after.history[len(spans) :]]
    for place, failure in enumerate(after.history):
        span = spans[place]
        if failure.resolved and not span.resolved_at:
            how = failure.fix or before.fixed or failure.outcome or "it passed when it was done again"
            spans[place] = replace(
                span, seconds=max(0.0, at - span.began), resolution=one_line(how, 500), resolved_at=moment(at)
            )
    return replace(now, failures=tuple(spans))


def _reached(now: Moments, at: float, before: LifecycleState, after: LifecycleState) -> Moments:
    when = moment(at)
    for name in after.done[len(before.done) :]:
        now = _with(now, Milepost("milestone", f"{name} is verified", when, after.landed))
    if after.merged != before.merged and after.merged:
        now = _with(now, Milepost("milestone", "merged", when, after.merged))
    if after.course.station is Station.DONE and before.course.station is not Station.DONE:
        now = replace(now, stages=_ended(now.stages, when, after))
    asks = after.blocked is not None and after.blocked.reason == NO_TARGET
    return replace(now, asked_for_target=True) if asks and not now.asked_for_target else now


def is_complete(state: LifecycleState) -> bool:
    outcome = state.course.outcome
    return outcome is not None and outcome.ending in (Ending.VERIFIED, Ending.ACCEPTED)


def _ended(stages: Mapping[Stage, StageSpan], when: str, state: LifecycleState) -> Mapping[Stage, StageSpan]:
    if not is_complete(state):
        return stages
    return {**stages, Stage.COMPLETE: StageSpan("complete", stages[Stage.COMPLETE].started, when)}
