"""`loop-state.json` as it is written: where a system stands, in the keys and the order that other tools know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import is_all_harmless
from loopwright.kernel.wording import moment
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.lifecycle import gating
from loopwright.loops.lifecycle.blocked_message import held_up
from loopwright.loops.lifecycle.gate_rules import DEPLOY, SECURITY
from loopwright.loops.lifecycle.machine import stage_shown
from loopwright.loops.lifecycle.moments import GateSpan, Milepost, Moments, StageSpan
from loopwright.loops.lifecycle.skill_log import NO_PARENT, SkillLog, SkillRun
from loopwright.loops.lifecycle.skills import REQUIRED, SKILLS
from loopwright.loops.lifecycle.state import LifecycleState, skipped_in
from loopwright.loops.lifecycle.states import NORMAL, Stage

Rows = dict[str, Any]


def render_loop_state(state: LifecycleState, moments: Moments, log: SkillLog) -> str:
    """What would steer a terminal is escaped as JSON has it, so that nothing is lost."""
    data = dict(_keys(state, moments, log))
    told = json.dumps(data, indent=2, ensure_ascii=False)
    harmless = is_all_harmless(told.replace("\n", ""))
    return (told if harmless else json.dumps(data, indent=2)) + "\n"


def _keys(state: LifecycleState, moments: Moments, log: SkillLog) -> Iterator[tuple[str, object]]:
    plan = state.plan
    yield "systemId", plan.system.id
    yield "systemName", plan.system.name
    yield "githubIssue", plan.system.issue
    yield "branch", plan.branch.removeprefix("refs/heads/")
    yield "worktree", f".worktrees/{plan.workspace}"
    yield "state", stage_shown(state).value
    yield "stateEnteredAt", moments.entered
    yield "capabilities", _capabilities(state)
    yield "stages", {stage.value: _stage(span) for stage, span in moments.stages.items()}
    yield "failures", _failures(state, moments)
    yield "gates", {name: _gate(state, moments, name) for name in gate_names(state)}
    yield "checkpoints", [_checkpoint(each) for each in moments.mileposts]
    if moments.verified:
        yield "lastVerification", moments.verified
    yield "skillsUsage", _usage(log)
    nested = log.nested
    yield "skillsLog", [_run(log, nested, at) for at in nested.get(NO_PARENT, ())]
    yield "metrics", _metrics(log)
    yield "skillExecution", {stage.value: _execution(state, moments, log, stage) for stage in NORMAL}
    yield "prerequisites", _prerequisites(state, moments)
    if (told := held_up(state)) is not None:
        yield "blockedReason", told.reason
    if state.proposal.number:
        yield (
            "pullRequest",
            {"number": state.proposal.number, "url": state.proposal.url, "state": state.proposal.state},
        )
    yield "updatedAt", moment(moments.updated)


def _capabilities(state: LifecycleState) -> Rows:
    done, left = len(state.done), len(state.remaining)
    return {
        "total": max(1, done + bool(state.current) + left),  # a system that names none is one itself
        "completed": done,
        "current": state.current or None,
        "remaining": list(state.remaining),
    }


def _told(**keys: object) -> Rows:
    """Without those that say nothing."""
    return {name: value for name, value in keys.items() if value not in ("", None, ())}


def _stage(span: StageSpan) -> Rows:
    return _told(status=span.status, startedAt=span.started, completedAt=span.completed, error=span.error)


def _failures(state: LifecycleState, moments: Moments) -> Rows:
    history = [
        _told(
            stage="gate-rejection" if each.sort == "gate-rejection" else each.stage.value,
            capability=each.capability,
            error=each.error,
            timestamp=span.at,
            resolution=span.resolution,
            resolvedAt=span.resolved_at,
        )
        for each, span in zip(state.history, moments.failures, strict=False)
    ]
    return {
        "count": state.retries,
        "maxRetries": state.allowance.retries,
        "totalFailures": state.failures,
        "maxTotalFailures": state.allowance.failures,
        "history": history,
    }


# --- gates ----------------------------------------------------------------------------------------------------------


def gate_names(state: LifecycleState) -> tuple[str, ...]:
    """The five that every system has, and those of its own that came up."""
    own = (*(gate.gate for gate in state.course.gates), *gating.called_for(state))
    return tuple(dict.fromkeys((*gating.GATES, *own)))


def gate_now(state: LifecycleState, name: str) -> GateRecord | None:
    """What is asked now; else what was last approved, which is history until it is due."""
    of_name = [gate for gate in state.course.gates if gate.gate == name]
    found = [gate for gate in of_name if gate.due] or [gate for gate in of_name if gate.ruling is Ruling.APPROVED]
    return found[-1] if found else None


def is_required(state: LifecycleState, name: str) -> bool:
    by_mode = {"supervised": tuple(gating.SUPERVISED.values()), "hybrid": (SECURITY,), "autonomous": ()}
    always = (*by_mode[state.plan.mode], DEPLOY)
    return name in always or name in gating.called_for(state) or gate_now(state, name) is not None


def gate_status(state: LifecycleState, name: str) -> str:
    gate = gate_now(state, name)
    if gate is None:
        return "pending" if is_required(state, name) else "not-applicable"
    if gate.ruling is not Ruling.OPEN:
        return gate.ruling.value
    return "requested" if _is_waited_for(state, gate) else "pending"


def _is_waited_for(state: LifecycleState, gate: GateRecord) -> bool:
    late = state.blocked is not None and state.blocked.cause == "gate-timeout"
    return not gate.lasting and (late or state.course.station is Station.GATE)


def _gate(state: LifecycleState, moments: Moments, name: str) -> Rows:
    row: Rows = {"required": is_required(state, name), "status": gate_status(state, name)}
    gate = gate_now(state, name)
    if gate is None:
        return row
    span = moments.gates.get((gate.gate, gate.evidence), GateSpan())
    approved = gate.ruling is Ruling.APPROVED
    return row | _told(
        requestedAt=span.asked,
        approvedBy=gate.by if approved else "",
        approvedAt=span.decided if approved else "",
        notes=": ".join(filter(None, (gate.explanation, gate.reason))),
    )


# --- what landed, skills --------------------------------------------------------------------------------------------


def _checkpoint(each: Milepost) -> Rows:
    return _told(type=each.kind, hash=each.commit, message=each.text, at=each.at)


def _usage(log: SkillLog) -> Rows:
    usage = dict.fromkeys(SKILLS, 0)
    for run in log.runs:
        if run.status == "complete" and run.skill in usage:
            usage[run.skill] += 1
    return usage


def _run(log: SkillLog, nested: Mapping[int, list[int]], at: int) -> Rows:
    run = log.runs[at]
    row = _told(
        skill=run.skill,
        reason=run.reason,
        startedAt=moment(run.started),
        completedAt="" if run.ended is None else moment(run.ended),
        durationMs=None if run.ended is None else duration(run),
        status=run.status,
    )
    row |= {"deliverables": list(run.deliverables), "referencesRead": list(run.references)}
    children = [_run(log, nested, each) for each in nested.get(at, ())]
    return row | ({"children": children} if children else {})


def duration(run: SkillRun) -> int:
    return round(run.seconds * 1000)


def _metrics(log: SkillLog) -> Rows:
    done = [run for run in log.runs if run.status == "complete" and run.skill in SKILLS]
    history = [
        {"skill": run.skill, "timestamp": moment(run.ended or run.started), "durationMs": duration(run)} for run in done
    ]
    return {"skillsInvoked": len(done), "skillHistory": history}


def _execution(state: LifecycleState, moments: Moments, log: SkillLog, stage: Stage) -> Rows:
    """Of the capability that is worked on, where a phase is gone through for each."""
    needed = REQUIRED[stage]
    complete = {run.skill for run in log.runs if run.stage is stage and run.status == "complete"}
    done = set(state.skills) if stage is state.resumes_at else complete
    if moments.stages[stage].status == "pending":
        done = set()
    return {
        "required": list(needed),
        "completed": [name for name in needed if name in done],
        "skipped": list(dict.fromkeys(skipped_in(state, stage))),
    }


def _prerequisites(state: LifecycleState, moments: Moments) -> Rows:
    skipped = {each.skill for each in state.skips}
    target = state.deploy or " ".join(state.plan.deploy)
    deploy = "skipped" if "deploy" in skipped else "configured" if target else "pending"
    return {
        "git": {"status": "skipped" if "git-workflow" in skipped else "configured", "prompted": False},
        "deploy": _told(status=deploy, target=target) | {"prompted": moments.asked_for_target},
    }


# --- for a person ---------------------------------------------------------------------------------------------------


def status_lines(state: LifecycleState, moments: Moments) -> tuple[str, ...]:
    """The system, where it stands, what failed, its gates, and when it last did something."""
    place = len(state.done) + bool(state.current)
    total = _capabilities(state)["total"]
    at = f" (capability {place}/{total}: {one_line(state.current, 120)})" if state.current else ""
    return (
        f"System: {one_line(state.plan.system.name, 120)} ({state.plan.system.id})",
        f"State: {stage_shown(state)}{at}",
        f"Failures: {_failures_line(state)}",
        f"Gates: {', '.join(_gate_words(state)) or 'none'}",
        f"Last activity: {moments.activity}",
    )


def _failures_line(state: LifecycleState) -> str:
    count, still = state.failures, sum(not each.resolved for each in state.history)
    if not count:
        return "0"
    return f"{count} ({f'{still} open' if still else 'resolved'})"


def _gate_words(state: LifecycleState) -> tuple[str, ...]:
    """Decided ones first. What is only due later is not told, deploy above all; security is, once there is code."""
    built = NORMAL.index(state.resumes_at) >= NORMAL.index(Stage.IMPLEMENT)
    told: list[str] = []
    waiting: list[str] = []
    for name in gate_names(state):
        status = gate_status(state, name)
        come_up = gate_now(state, name) is not None or name in gating.called_for(state)
        if status == "approved":
            told.append(f"{name} ✓")
        elif status == "rejected":
            told.append(f"{name} ✗")
        elif come_up or (built and name == SECURITY and is_required(state, name)):
            waiting.append(f"{name} {status}")
    return (*told, *waiting)
