"""`journey-log.jsonl`: what happened to the systems of a domain, a line for each transition, skill, gate, verification
and decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from loopwright.kernel.codec import plain
from loopwright.kernel.events import Answered, ChecksReported, Created, Logged, SessionMarked, StateEdited
from loopwright.kernel.faults import faults_of
from loopwright.kernel.quoting import one_line
from loopwright.loops.course import Ruling, Station
from loopwright.loops.kind import Data
from loopwright.loops.lifecycle.failures import failed_checks
from loopwright.loops.lifecycle.loop_state_view import duration
from loopwright.loops.lifecycle.moments import VERIFYING, Moments, has_moved, is_complete
from loopwright.loops.lifecycle.skill_log import NO_PARENT, SkillLog
from loopwright.loops.lifecycle.state import LifecycleState
from loopwright.loops.lifecycle.states import Stage

Category = Literal["phase", "skill", "gate", "decision", "verification", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEntry:
    """A line of `journey-log.jsonl`."""

    id: str
    timestamp: str  # UTC, to the microsecond
    category: Category
    action: str
    subject: str
    status: str
    reason: str = ""
    durationMs: int | None = None  # noqa: N815 - as the file has it
    context: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyTurn:
    """One event, and how everything was before and after it."""

    event: Logged
    before: LifecycleState
    after: LifecycleState
    log_before: SkillLog
    log: SkillLog
    moments_before: Moments
    moments: Moments


def entries(turn: JourneyTurn, name: str, timestamp: str) -> tuple[Data, ...]:
    """What one event adds; `name` begins the ids."""
    told = [*_by_event(turn), *_skills(turn), *_gates(turn), *_moves(turn)]
    return tuple(_data(f"{name}-{part}", timestamp, turn.after, each) for part, each in enumerate(told))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    category: Category
    action: str
    subject: str
    status: str
    reason: str = ""
    took: int | None = None
    context: Mapping[str, object] = field(default_factory=dict)


def _data(name: str, timestamp: str, state: LifecycleState, told: _Told) -> Data:
    context = {"system": state.plan.system.id, "state": state.phase.value, **told.context}
    entry = JourneyEntry(
        id=name,
        timestamp=timestamp,
        category=told.category,
        action=told.action,
        subject=one_line(told.subject),
        status=told.status,
        reason=one_line(told.reason, 500),
        durationMs=told.took,
        context={key: value for key, value in context.items() if value not in ("", None, [])},
    )
    data: Data = plain(entry)
    return {key: value for key, value in data.items() if value not in ("", None) or key == "subject"}


# --- what the event itself says -------------------------------------------------------------------------------------


def _by_event(turn: JourneyTurn) -> Iterator[_Told]:
    event, before = turn.event, turn.before
    match event:
        case Created():
            name = turn.after.plan.system.name
            yield _Told(category="system", action="start", subject=name, status="started")
        case SessionMarked():
            yield _Told(
                category="system",
                action="session",
                subject=before.plan.system.name,
                status=event.mark,
                reason=event.why,
                context={"by": event.by, "kept": event.commit},
            )
        case ChecksReported() if event.key.step in VERIFYING:
            yield _verification(event, before)
        case Answered():
            yield _Told(
                category="decision", action="answer", subject=event.choice, status="taken", reason=event.text,
                context={"by": event.by},
            )  # fmt: skip
        case StateEdited():
            yield _Told(
                category="decision", action="edit", subject=event.subject, status="taken", reason=event.value,
                context={"by": event.by},
            )  # fmt: skip
        case _:
            return


def _verification(event: ChecksReported, state: LifecycleState) -> _Told:
    failed = faults_of(event)
    word = "fail" if failed else "pass"
    names = dict.fromkeys(result.name for result in (*event.results, *event.landing))
    return _Told(
        category="verification",
        action=event.key.step,
        subject=", ".join(names) or state.phase.value,
        status=word,
        reason=failed[0].issue if failed else "",
        took=round(event.seconds * 1000),
        context={
            "verification": word,
            "commit": state.tip,
            "failed": list(failed_checks(event)),
            "capability": state.current,
        },
    )


# --- what it led to -------------------------------------------------------------------------------------------------


def _skills(turn: JourneyTurn) -> Iterator[_Told]:
    """Those that are over now."""
    known = len(turn.log_before.runs)
    places = {turn.log_before.own, turn.log_before.child} - {NO_PARENT}
    for place in (*sorted(places), *range(known, len(turn.log.runs))):
        run = turn.log.runs[place]
        if run.ended is None:
            continue
        within = turn.log.runs[run.parent].skill if run.parent != NO_PARENT else ""
        context = {"phase": run.stage.value, "deliverables": list(run.deliverables), "within": within}
        yield _Told(
            category="skill",
            action="invoke",
            subject=run.skill,
            status=run.status,
            reason=run.reason,
            took=duration(run),
            context=context,
        )


def _gates(turn: JourneyTurn) -> Iterator[_Told]:
    if turn.moments.gates is turn.moments_before.gates:
        return
    for gate in turn.after.course.gates:
        mark = (gate.gate, gate.evidence)
        if turn.moments.gates.get(mark) == turn.moments_before.gates.get(mark):
            continue
        waits = gate.ruling is Ruling.OPEN
        yield _Told(
            category="gate",
            action="request" if waits else "decide",
            subject=gate.gate,
            status="requested" if waits else gate.ruling.value,
            reason=gate.explanation if waits else gate.reason,
            context={"by": gate.by, "evidence": gate.evidence, "places": [risk.place for risk in gate.reasons[:20]]},
        )


def _moves(turn: JourneyTurn) -> Iterator[_Told]:
    before, after = turn.before, turn.after
    if has_moved(before, after):
        going = before.going
        why = going.why if going is not None and going.to is after.phase else _by_a_person(turn.event)
        yield _Told(
            category="phase",
            action="transition",
            subject=f"{before.phase} → {after.phase}",
            status="entered",
            reason=why,
            context={"capability": after.current},
        )
        yield from _decided(after)
    if after.course.station is Station.DONE and before.course.station is not Station.DONE:
        status = "complete" if is_complete(after) else "cancelled"
        yield _Told(category="system", action="end", subject=after.plan.system.name, status=status)


def _by_a_person(event: Logged) -> str:
    by = getattr(event, "by", "")
    return f"the word of {by or 'a person'}"


def _decided(state: LifecycleState) -> Iterator[_Told]:
    """In FAILED it is tried again, or a person is needed; in BLOCKED they are waited for."""
    if state.phase is Stage.FAILED and state.going is not None:
        action = "RETRY" if state.going.to is Stage.RETRY else "ESCALATE"
        subject = state.resumes_at.value
        yield _Told(category="decision", action=action, subject=subject, status="taken", reason=state.going.why)
    if state.phase is Stage.BLOCKED and state.blocked is not None:
        yield _Told(
            category="system",
            action="block",
            subject=state.plan.system.name,
            status="blocked",
            reason=state.blocked.reason,
            context={"cause": state.blocked.cause, "escalatedTo": state.blocked.target, "ask": state.blocked.ask},
        )
