"""Where the tasks of a new workflow lie: in a folder of its own, in a list that another program has too, or only for as
long as it is driven; and taking up a list that is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from loopwright.adapters.task_list import TaskList, TasksFound, task_folder
from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import WorkflowRequest
from loopwright.app.task_lists import config_folder
from loopwright.errors import UsageError
from loopwright.loops.task_file import TaskFile, name_of
from loopwright.loops.workflow.listing import plan_of
from loopwright.loops.workflow.plan import plan_problems
from loopwright.loops.workflow.state import TakenOver

LIST_ID = "CLAUDE_CODE_TASK_LIST_ID"
TaskListMode = Literal["new", "resume", "session-only"]


def open_tasks(project: Project) -> tuple[TaskFile, ...]:
    """Tasks of the list that the person's environment names, which are not done and which no loop of ours has made."""
    found = _found(project)
    return tuple(each for each in found if each.status != "completed" and not each.metadata.loop_id)


def with_task_list(project: Project, asked: WorkflowRequest, mode: TaskListMode) -> WorkflowRequest:
    """Raises `UsageError` where there is nothing to resume, or the name of the list cannot be one."""
    if mode == "session-only":
        return replace(asked, session_only=True)
    found = _found(project)
    list_id = project.environ.get(LIST_ID, "")
    if mode == "new":
        return replace(asked, list_id=list_id, list_shift=max((each.number for each in found), default=0))
    if not found:
        where = f"list {list_id!r} has no tasks" if list_id else f"{LIST_ID} is not set, so no list is named"
        raise UsageError(f"there is no task list to resume: {where}; begin a new one with `--task-list new`")
    return _with_tasks(asked, list_id, found, TakenOver(stage="executing"))


def with_its_tasks(project: Project, asked: WorkflowRequest, taken: TakenOver) -> WorkflowRequest:
    """With the tasks of the tool that it is taken over from, where the environment names their list.

    Raises `UsageError` where one cannot be read, or waits for one that is not there or for itself: the plan would have
    a hole that nobody sees.
    """
    looked = _looked(project)
    for sentence in looked.left:
        raise UsageError(f"nothing was taken over: {sentence}; mend or remove that file, then adopt again")
    theirs = tuple(each for each in looked.tasks if each.metadata.loop_status is None)
    if not theirs:
        return replace(asked, taken_over=taken)
    return _with_tasks(asked, project.environ.get(LIST_ID, ""), theirs, taken)


def _with_tasks(asked: WorkflowRequest, list_id: str, found: tuple[TaskFile, ...], taken: TakenOver) -> WorkflowRequest:
    tasks = plan_of(found)
    if wrong := plan_problems(tasks):
        said = "; ".join(wrong)
        raise UsageError(f"nothing was taken over: {said}; mend the files of task list {list_id!r}, then try again")
    done = tuple(name_of(each.number) for each in found if each.status == "completed")
    return replace(asked, list_id=list_id, taken_over=replace(taken, tasks=tasks, done=done))


def _found(project: Project) -> tuple[TaskFile, ...]:
    return _looked(project).tasks


def _looked(project: Project) -> TasksFound:
    list_id = project.environ.get(LIST_ID, "")
    if not list_id:
        return TasksFound()
    return TaskList(task_folder(project.root, list_id, config_folder(project.environ))).look()
