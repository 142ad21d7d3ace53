"""Every run of a skill: why, when, how long it was worked at, what came of it, and which ran within which.

Time counts from the beginning of a step to its answer, so that nobody's waiting is work. What a loop within does is a
child of the skill whose place it takes; a diagnosis and a fix are children of the skill that their state is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.changing import replace
from loopwright.kernel.events import AgentReported, Interrupted, Logged, LoopEnded, Started, key_of
from loopwright.kernel.model import NO_KEY, AgentReport, Ending
from loopwright.kernel.quoting import one_line
from loopwright.loops.lifecycle.brief import left_behind
from loopwright.loops.lifecycle.flow import skill_now
from loopwright.loops.lifecycle.skills import PRIMARY
from loopwright.loops.lifecycle.state import LifecycleState, Skip, Step
from loopwright.loops.lifecycle.states import Stage

RunStatus = Literal["in-progress", "complete", "failed", "skipped"]
_OWN = (Step.SKILL, Step.RECORD, Step.EXAMINE)
_OWN_KEYS = ("skill", "implement", "record", "examine")
_WITHIN = {"reviews": "", "diagnose": "debug-assist", "fix": "implement"}  # by key; empty: the kind of a loop
_PASSING = (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED)
_NAMED = 50  # files of one run that are told
NO_PARENT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRun:
    skill: str
    stage: Stage
    reason: str
    started: float
    parent: int = NO_PARENT  # its place among the runs
    ended: float | None = None
    status: RunStatus = "in-progress"
    seconds: float = 0.0
    since: float | None = None  # when the step under way began
    deliverables: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLog:
    runs: tuple[SkillRun, ...] = ()
    own: int = NO_PARENT  # the skill of the state that is under way
    child: int = NO_PARENT  # what is under way within one

    @property
    def nested(self) -> dict[int, list[int]]:
        """The places of those that ran within one, by its place; of those that ran in none, below `NO_PARENT`."""
        found: dict[int, list[int]] = {}
        for at, run in enumerate(self.runs):
            found.setdefault(run.parent, []).append(at)
        return found

    @property
    def worked(self) -> float:
        """Seconds. A child counts where its parent had ended before: else it is within the parent's time."""
        return sum(run.seconds for run in self.runs if run.parent == NO_PARENT or self._is_afterwards(run))

    def _is_afterwards(self, run: SkillRun) -> bool:
        ended = self.runs[run.parent].ended
        return ended is not None and run.started >= ended


def logged(log: SkillLog, at: float, event: Logged, before: LifecycleState, after: LifecycleState) -> SkillLog:
    """With one event more, between two states."""
    if isinstance(event, Started):
        return _begun(log, at, event, after)
    if key_of(event) != NO_KEY:
        log = _worked(log, at, event)
    if isinstance(event, AgentReported):
        log = _with_files(log, event.report)
    if before is after:
        return log
    log = _child_closed(log, at, event, before, after)
    log = _own_closed(log, at, after)
    for skip in after.skips[len(before.skips) :]:
        log = _skipped(log, at, skip)
    return log


# --- beginnings -----------------------------------------------------------------------------------------------------


def _begun(log: SkillLog, at: float, event: Started, state: LifecycleState) -> SkillLog:
    step = event.key.step
    if event.key.waits or step not in (*_OWN_KEYS, *_WITHIN):
        return log
    if step in _WITHIN:
        return _child_begun(log, at, event, state)
    if log.own == NO_PARENT:
        run = SkillRun(skill=skill_now(state), stage=state.phase, reason=_reason(event), started=at)
        log = replace(log, runs=(*log.runs, run), own=len(log.runs))
    log = _changed(log, log.own, since=at)
    return _loop_begun(log, at, event, state) if step == "implement" else log


def _loop_begun(log: SkillLog, at: float, event: Started, state: LifecycleState) -> SkillLog:
    if log.child == NO_PARENT:
        run = SkillRun(
            skill=state.plan.inner.kind, stage=state.phase, reason=_reason(event), started=at, parent=log.own
        )
        log = replace(log, runs=(*log.runs, run), child=len(log.runs))
    return _changed(log, log.child, since=at)


def _child_begun(log: SkillLog, at: float, event: Started, state: LifecycleState) -> SkillLog:
    if log.child == NO_PARENT:
        run = SkillRun(
            skill=_WITHIN[event.key.step] or state.plan.reviewing,
            stage=state.resumes_at,
            reason=_reason(event),
            started=at,
            parent=_primary_run(log, state.resumes_at),
        )
        log = replace(log, runs=(*log.runs, run), child=len(log.runs))
    return _changed(log, log.child, since=at)


def _reason(event: Started) -> str:
    return one_line(event.why, 300)


def _primary_run(log: SkillLog, stage: Stage) -> int:
    """The newest run of what the stage is about; failing that, of any skill of it."""
    of_stage = [at for at, run in enumerate(log.runs) if run.stage is stage and run.parent == NO_PARENT]
    primary = [at for at in of_stage if log.runs[at].skill == PRIMARY[stage]]
    return (primary or of_stage or [NO_PARENT])[-1]


# --- what happened meanwhile ----------------------------------------------------------------------------------------


def _worked(log: SkillLog, at: float, event: Logged) -> SkillLog:
    for place in (log.own, log.child):
        if place != NO_PARENT and (since := log.runs[place].since) is not None:
            took = event.seconds if isinstance(event, Interrupted) else at - since
            log = _changed(log, place, seconds=log.runs[place].seconds + max(0.0, took), since=None)
    return log


def _with_files(log: SkillLog, report: AgentReport) -> SkillLog:
    place = log.child if log.child != NO_PARENT else log.own
    if place == NO_PARENT:
        return log
    extras = json.loads(report.extras)
    told = extras if isinstance(extras, dict) else {}
    files, read = _texts(told.get("deliverables")), _texts(told.get("references"))
    return _changed(log, place, deliverables=tuple(files), references=tuple(read))


def _texts(value: object) -> Iterator[str]:
    for each in value[:_NAMED] if isinstance(value, list) else ():
        if isinstance(each, str) and each.strip():
            yield one_line(each, 200)


# --- endings --------------------------------------------------------------------------------------------------------


def _child_closed(log: SkillLog, at: float, event: Logged, before: LifecycleState, after: LifecycleState) -> SkillLog:
    """When its step is over, whatever came of it."""
    if log.child == NO_PARENT or (after.turn == before.turn and after.phase is before.phase):
        return log
    match event:
        case LoopEnded():
            passed = event.outcome.ending in _PASSING
        case AgentReported():
            passed = True
        case _:
            passed = False
    status: RunStatus = "complete" if passed else "failed"
    return replace(_changed(log, log.child, ended=at, status=status), child=NO_PARENT)


def _own_closed(log: SkillLog, at: float, after: LifecycleState) -> SkillLog:
    if log.own == NO_PARENT:
        return log
    run = log.runs[log.own]
    here = after.phase is run.stage
    if here and after.step in _OWN and skill_now(after) == run.skill:
        return log
    done = here and run.skill in after.skills
    left = [demand.path for demand in left_behind(after, run.skill)] if done else []
    closed = _changed(
        log,
        log.own,
        ended=at,
        status="complete" if done else "failed",
        deliverables=tuple(dict.fromkeys((*left, *run.deliverables)))[:_NAMED],
    )
    return replace(closed, own=NO_PARENT)


def _skipped(log: SkillLog, at: float, skip: Skip) -> SkillLog:
    """Also one that was under way: it is not done, and need not be."""
    last = log.runs[-1] if log.runs else None
    reason = one_line(skip.reason, 500)
    if last is not None and (last.skill, last.stage, last.ended) == (skip.skill, skip.stage, at):
        return _changed(log, len(log.runs) - 1, status="skipped", reason=reason)
    run = SkillRun(skill=skip.skill, stage=skip.stage, reason=reason, started=at, ended=at, status="skipped")
    return replace(log, runs=(*log.runs, run))


def _changed(log: SkillLog, place: int, **changes: object) -> SkillLog:
    runs = log.runs
    return replace(log, runs=(*runs[:place], replace(runs[place], **changes), *runs[place + 1 :]))
