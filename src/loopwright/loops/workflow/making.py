"""The loop in which a task is made: what it is given, whichever kind it is."""

from __future__ import annotations

import json
from typing import Any

from loopwright.kernel.changing import replace
from loopwright.kernel.codec import plain
from loopwright.kernel.model import Demand, Key
from loopwright.kernel.programs import named_files
from loopwright.kernel.trust import LandedBefore, is_named
from loopwright.loops.parts import Inner
from loopwright.loops.workflow.state import WorkflowState, WorkTask, child_name


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
    }
    given = json.loads(plan.child)
    given |= _said(given, inner, task)
    given |= {
        "part": part,
        "base": task.start,
        "answers": [*state.course.answers, *state.course.refusals[: task.refusals]],
        "lands": False,
        "after": plain(LandedBefore(commit=task.start, words=words_of(task), allow=task.allow)),
        "before": plain(state.course.before),
        "also": plain(verifies(task)),
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
    """The commands of what is done, this one's too. What they start runs as it has landed; where this task was to
    change that, as it is from now on."""
    earlier = (
        replace(each, landed=state.tip) if _is_to_change(task, each) else each
        for each in state.promised
        if each.name != task.id
    )
    return (*earlier, *(replace(each, landed=state.tip) for each in verifies(task)))


def _is_to_change(task: WorkTask, demand: Demand) -> bool:
    """Only what it names itself: who may change one script of a folder may not bend the others for good."""
    words = words_of(task)
    return any(is_named(path, words) for path in named_files(demand.argv) if "/" in path or "." in path)


def verifies(task: WorkTask) -> tuple[Demand, ...]:
    asked = task.asked or task.plan
    return (Demand(name=task.id, argv=task.plan.verify, own=asked.files),) if task.plan.verify else ()
