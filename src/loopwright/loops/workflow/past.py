"""What the log of a workflow comes to for its files, record by record: moments, who was begun, and what was learned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loopwright.kernel.events import ChecksReported, ConfigChanged, Created, Ended, Logged, Paused, Started
from loopwright.kernel.model import Ending, LoopId
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.wording import moment
from loopwright.loops.kind import Noted
from loopwright.loops.workflow.decide import every_command
from loopwright.loops.workflow.evidence import CommandRun
from loopwright.loops.workflow.learnings import (
    ConstraintLearned,
    DelegationLearned,
    DiscoveryLearned,
    FailureLearned,
    Learning,
    file_of,
    learning_data,
)
from loopwright.loops.workflow.state import (
    Stopped,
    TaskStanding,
    WorkflowState,
    WorkTask,
    choice_of,
    fit_of,
    spec_of,
    verified_by,
)

_FOLDER = ".loop/learnings"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowPast:
    started: float = 0.0
    updated: float = 0.0
    begun: frozenset[int] = frozenset()  # tasks, by index, whose loop is under way
    stuck: Mapping[int, WorkTask] = field(default_factory=dict)  # as they were when they last failed
    advice: Mapping[int, str] = field(default_factory=dict)
    waves: Mapping[int, str] = field(default_factory=dict)  # when each was looked at
    thorough: str = ""  # when the newest thorough review ended
    round: int = 0  # which one that is
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the checks that are configured
    runs: tuple[CommandRun, ...] = ()  # what the last verification ran
    stopped: Stopped | None = None
    paused: Paused | None = None  # at a limit of all its work, with nothing since
    learned: Mapping[str, tuple[Noted, ...]] = field(default_factory=dict)  # by file
    newest: int = 0  # the record that the last of them come from
    seq: int = 0  # the last record


def folded(known: WorkflowPast | None, record: Record, state: WorkflowState) -> WorkflowPast:
    """With one record more; `state` is the workflow after it."""
    before = known or WorkflowPast(started=record.at)
    event = event_of(record)
    paused = event if isinstance(event, Paused) else None
    now = replace(before, updated=record.at, seq=record.seq, paused=paused)
    if event is None:
        return now
    if isinstance(event, Created):
        now = replace(now, started=record.at)
    if isinstance(event, Created | ConfigChanged):
        now = replace(now, commands=_commands(event.settings))
    if isinstance(event, ChecksReported) and event.key.step == "verify":
        now = replace(now, runs=_runs(event, state, now.commands))
    now = _with_flights(now, event, state)
    now = _with_reviews(now, record.at, state)
    lessons = tuple(_learned(before, event, state, moment(record.at)))
    now = replace(now, stopped=state.stopped, stuck=_stuck(now, state), advice=_advice(now, state))
    return _with_lines(now, record, lessons) if lessons else now


def _commands(settings: str) -> Mapping[str, tuple[str, ...]]:
    """By check, as the configuration has them that the workflow goes by."""
    checks = json.loads(settings).get("checks", ()) if settings else ()
    return {each["name"]: tuple(each["run"]) for each in checks}


def _runs(
    event: ChecksReported, state: WorkflowState, configured: Mapping[str, tuple[str, ...]]
) -> tuple[CommandRun, ...]:
    argv = {each.name: each.argv for each in every_command(state)}
    checks = ((result, configured.get(result.name, ())) for result in (*event.results, *event.landing))
    demands = ((result, argv.get(result.name, ())) for result in event.also)
    return tuple(
        CommandRun(
            name=result.name,
            command=command,
            passed=result.passed,
            result=f"{result.tests} tests" if result.tests is not None else result.note,
            receipt=result.receipt,
        )
        for result, command in (*checks, *demands)
    )


def _with_flights(now: WorkflowPast, event: Logged, state: WorkflowState) -> WorkflowPast:
    begun = now.begun & frozenset(state.running)
    if isinstance(event, Started) and event.action == "RunLoop" and event.key.step == "task":
        begun |= {int(event.key.part) - 1}
    return replace(now, begun=begun)


def _with_reviews(now: WorkflowPast, at: float, state: WorkflowState) -> WorkflowPast:
    waves = {seen.wave: now.waves.get(seen.wave) or moment(at) for seen in state.waves}
    if state.thorough is None:
        return replace(now, waves=waves, thorough="", round=0)
    if state.thorough.round == now.round:
        return replace(now, waves=waves)
    return replace(now, waves=waves, thorough=moment(at), round=state.thorough.round)


def _stuck(now: WorkflowPast, state: WorkflowState) -> Mapping[int, WorkTask]:
    open_now = ((at, task) for at, task in enumerate(state.tasks) if task.standing is not TaskStanding.DONE)
    failed = {index: task for index, task in open_now if task.stuck and task.failures}
    left = {index: task for index, task in now.stuck.items() if state.tasks[index].standing is not TaskStanding.DONE}
    return {**left, **failed}


def _advice(now: WorkflowPast, state: WorkflowState) -> Mapping[int, str]:
    fresh = {index: task.advice for index, task in enumerate(state.tasks) if task.advice}
    return {**now.advice, **fresh} if fresh else now.advice


# --- what was learned -------------------------------------------------------------------------------------------------


def _learned(before: WorkflowPast, event: Logged, state: WorkflowState, ts: str) -> tuple[Learning, ...]:
    return (
        *_solved(before, state, ts),
        *_paused(before, event, state, ts),
        *_forbidden(before, state, ts),
        *_completed(event, state, ts),
    )


def _context(state: WorkflowState, task: WorkTask | None = None) -> str:
    first = state.plan.request.strip().splitlines()[0][:100]
    return f"{first}: {task.id} {task.plan.subject}" if task else first


def _solved(before: WorkflowPast, state: WorkflowState, ts: str) -> tuple[Learning, ...]:
    """Stuck, and then done: what had failed, and what helped."""
    done = [index for index in before.stuck if state.tasks[index].standing is TaskStanding.DONE]
    found: list[Learning] = []
    for index in done:
        failed = before.stuck[index]
        advice = before.advice.get(index, "")
        context = _context(state, failed)
        cause = failed.failures[0].issue.splitlines()[0] if failed.failures else ""
        found.append(
            FailureLearned(ts=ts, context=context, failure=failed.why, root_cause=cause, prevention=advice or cause)
        )
        if advice:
            found.append(
                DiscoveryLearned(ts=ts, context=context, discovery=advice, confidence=0.8, applies_to=failed.plan.files)
            )
    return tuple(found)


def _paused(before: WorkflowPast, event: Logged, state: WorkflowState, ts: str) -> tuple[Learning, ...]:
    limit = state.stopped is Stopped.LIMIT and before.stopped is not Stopped.LIMIT
    if not limit and not isinstance(event, Paused):
        return ()
    why = "; ".join(state.course.reasons) if limit else event.detail if isinstance(event, Paused) else ""
    left = ", ".join(task.id for task in state.tasks if task.standing is not TaskStanding.DONE)
    stuck = next((task.why for task in state.tasks if task.same == state.worst and task.why), "")
    return (
        FailureLearned(ts=ts, context=_context(state), failure=f"paused: {why}", root_cause=stuck, prevention=left),
    )


def _forbidden(before: WorkflowPast, state: WorkflowState, ts: str) -> tuple[Learning, ...]:
    if state.stopped is not Stopped.MUST_NOT or before.stopped is Stopped.MUST_NOT:
        return ()
    return tuple(
        ConstraintLearned(ts=ts, context=_context(state), constraint=why, source="mustNot", permanent=False)
        for why in state.course.reasons
    )


def _completed(event: Logged, state: WorkflowState, ts: str) -> tuple[Learning, ...]:
    if not isinstance(event, Ended) or event.outcome.ending is Ending.CANCELLED:
        return ()
    failed = event.outcome.ending is not Ending.VERIFIED
    worst = max(state.tasks, key=lambda task: task.stuck, default=None)
    cause = worst.why if worst and worst.stuck else ""
    return (
        DelegationLearned(
            ts=ts,
            context=_context(state),
            spec_score=spec_of(state),
            fit_score=fit_of(state),
            shape_chosen=choice_of(state).value,
            verification_type=verified_by(state),
            outcome=event.outcome.ending.value,
            failure_pattern="verification-gap" if failed else None,
            root_cause=cause,
            prevention="",
        ),
    )


def _with_lines(now: WorkflowPast, record: Record, lessons: tuple[Learning, ...]) -> WorkflowPast:
    lines = dict(now.learned)
    for part, lesson in enumerate(lessons):
        data = learning_data(lesson)
        noted = Noted(loop=LoopId(record.loop), seq=record.seq, part=part, timestamp=moment(record.at), data=data)
        path = f"{_FOLDER}/{file_of(lesson)}.jsonl"
        lines[path] = (*lines.get(path, ()), noted)
    return replace(now, learned=lines, newest=record.seq)
