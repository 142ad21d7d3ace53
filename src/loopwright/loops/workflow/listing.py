"""The tasks of a workflow as files that other programs read and write too, and a plan made of such files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from loopwright.loops.course import Station
from loopwright.loops.kind import Scene, TaskListing
from loopwright.loops.task_file import TaskFile, TaskMetadata, TaskStatus, name_of, number_of
from loopwright.loops.workflow.files import folder, task_status
from loopwright.loops.workflow.plan import PlannedTask, active_form_of
from loopwright.loops.workflow.reading import argv_of, verify_lines
from loopwright.loops.workflow.state import WorkflowState, WorkTask

_STATUS: dict[str, TaskStatus] = {"pending": "pending", "in_progress": "in_progress", "completed": "completed"}


def listed(scene: Scene[WorkflowState]) -> TaskListing | None:
    """`T-001` is `1.json`; in a list that had tasks before, the numbers go on behind those."""
    state = scene.state
    if not state.tasks:
        return None
    return TaskListing(
        own=f"{folder(scene.loop)}/tasks",
        list_id=state.plan.list_id,
        passing=state.plan.session_only,
        over=state.course.station is Station.DONE,
        shift=state.plan.list_shift,
        taken=_taken(state),
        tasks=tuple(_file(scene, index, task) for index, task in enumerate(state.tasks)),
    )


def _taken(state: WorkflowState) -> frozenset[int]:
    before = state.plan.taken_over
    return frozenset(number_of(task.id) for task in before.tasks) if before else frozenset()


def _file(scene: Scene[WorkflowState], index: int, task: WorkTask) -> TaskFile:
    state = scene.state
    shift = state.plan.list_shift
    return TaskFile(
        number=number_of(task.id) + shift,
        subject=task.plan.subject,
        description=_description(task.plan),
        status=_STATUS[task_status(task)],
        active_form=task.plan.active_form or active_form_of(task.plan.subject),
        blocks=tuple(number_of(state.tasks[each].id) + shift for each in state.graph.dependents[index]),
        blocked_by=tuple(number_of(state.tasks[each].id) + shift for each in task.after),
        metadata=TaskMetadata(
            wave=task.wave,
            loop_id=scene.loop,
            verification="execution output",
            about=task.plan.about,
            stuck_count=task.stuck,
        ),
    )


def _description(task: PlannedTask) -> str:
    """With its command, as whoever reads the list expects it there."""
    if not task.verify or any(verify_lines(task.description)):
        return task.description
    return f"{task.description.rstrip()} Verify: {shlex.join(task.verify)}".strip()


def plan_of(files: Iterable[TaskFile]) -> tuple[PlannedTask, ...]:
    """What a list that somebody else made asks for, right or not."""
    return tuple(
        PlannedTask(
            id=name_of(each.number),
            subject=each.subject,
            description=each.description,
            verify=next(filter(None, map(argv_of, verify_lines(each.description))), ()),
            blocked_by=tuple(map(name_of, each.blocked_by)),
            active_form=each.active_form,
            about=each.metadata.about,
        )
        for each in files
    )
