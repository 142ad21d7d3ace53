"""The loop in which a task is made: what it is given, whichever kind it is."""

from __future__ import annotations

import json
from typing import Any

from loopwright.kernel.changing import replace
from loopwright.kernel.codec import plain
from loopwright.kernel.model import NO_COMMIT, Demand, Key
from loopwright.kernel.trust import LandedBefore
from loopwright.loops.parts import Inner
from loopwright.loops.workflow.state import WorkflowState, WorkTask, child_name

_BRINGS_TOGETHER = ("conflict", "red")


def task_key(state: WorkflowState, index: int) -> Key:
    task = state.tasks[index]
    return Key("task", task.attempts + 1, part=str(index + 1), tries=state.course.asked)


def panel_part(index: int) -> str:
    """Of the key of its advisers' step."""
    return f"t{index + 1}"


def child_params(state: WorkflowState, task: WorkTask) -> str:
    plan, inner = state.plan, state.plan.inner
    part = {
        "task_id": task.id,
        "wave": task.wave,
        "request": plan.request,
        "must_not": [each.text for each in state.shape.must_not] if state.shape else [],
        "advised": [task.advice] if task.advice else [],
        "learned": [each.text for each in plan.recalled if each.confirmed],
        "done_before": task.done_before,
    }
    given = json.loads(plan.child)
    # Work that brings changes together keeps their acceptance tests; about text, only text can land.
    if "examiner" in given and (task.origin in _BRINGS_TOGETHER or task.plan.about == "text"):
        given["examiner"] = ""
    given |= _said(given, inner, task)
    given |= {
        "part": part,
        "base": task.start,
        "answers": [*state.course.answers, *state.course.refusals[: task.refusals]],
        "lands": False,
        "after": plain(LandedBefore(commit=task.start, allow=task.allow)),
        "before": plain(state.course.before),
        "also": plain(verifies(task)),
        "about": task.plan.about,
        "trust": plain(plan.trust.on(state.ground)),
        "limits": {**given.get("limits", {}), inner.attempts: 1},
    }
    return json.dumps(given, sort_keys=True)


def _said(given: dict[str, Any], inner: Inner, task: WorkTask) -> dict[str, str]:
    """What is to be done, under the names that the loop has for it."""
    files = f"\n\nExpected to change: {', '.join(task.plan.files)}" if task.plan.files else ""
    subject, details = f"{task.id}: {task.plan.subject}", f"{task.plan.description}{files}".strip()
    said = {inner.task: subject, inner.details: details}
    if not inner.details:
        said = {inner.task: f"{subject}\n\n{details}".strip()}
    if inner.name:
        said[inner.name] = f"{given[inner.name]}-{child_name(task)}".lower().replace("//", "-")
    return said


def words_of(task: WorkTask) -> tuple[str, ...]:
    """The files that it was planned to change. A sentence may name one to say that it stays, and what the engine says
    of a task is no plan."""
    return (task.asked or task.plan).files


def promised(state: WorkflowState, task: WorkTask) -> tuple[Demand, ...]:
    """The commands of what is done, this one's too. What they start runs as it landed with their task."""
    earlier = (each for each in state.promised if each.name != task.id)
    return (*earlier, *(replace(each, landed=state.tip, start=NO_COMMIT) for each in verifies(task)))


def verifies(task: WorkTask) -> tuple[Demand, ...]:
    """Its command, which shows something by passing if it failed where the work started."""
    asked = task.asked or task.plan
    demand = Demand(name=task.id, argv=task.plan.verify, own=asked.files, start=task.began or task.start)
    return (demand,) if task.plan.verify else ()


def is_to_be_tried(task: WorkTask) -> bool:
    """Whether its command has not been run where it starts. What brings another's work in is not done by that."""
    return bool(task.plan.verify) and task.origin == "plan" and task.tried != task.start
