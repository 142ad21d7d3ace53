"""A workflow in the midst of its tasks, made without driving one."""

from dataclasses import replace

from loopwright.kernel.model import Commit, Finding
from loopwright.loops.workflow.beginning import start
from loopwright.loops.workflow.plan import PlannedTask, waves_of
from loopwright.loops.workflow.schedule import admitted, finished, laid_out
from loopwright.loops.workflow.state import TaskStanding, WorkflowParams, WorkflowPhase, WorkflowState, with_task


def planned(number: int, *after: int, files: tuple[str, ...] = (), verify: tuple[str, ...] = ()) -> PlannedTask:
    return PlannedTask(
        id=f"T-{number:03}",
        subject=f"Do thing {number}",
        verify=verify,
        files=files,
        blocked_by=tuple(f"T-{other:03}" for other in after),
    )


def at_work(*tasks: PlannedTask, shape: str = "tool", parallel: int = 2, cast: tuple[str, ...] = ()) -> WorkflowState:
    params = WorkflowParams(request="Do things\n\nAll of them.", base=Commit("b"), shape=shape, parallel=parallel)
    state = replace(start(replace(params, cast=cast)), phase=WorkflowPhase.EXECUTE)
    return laid_out(state, tasks, waves_of(tasks))


def begun(state: WorkflowState) -> WorkflowState:
    return admitted(state)


def standing(state: WorkflowState, index: int, how: TaskStanding, *failures: Finding, stuck: int = 0) -> WorkflowState:
    """A task taken out of what may begin, or is under way."""
    state = with_task(state, index, replace(state.tasks[index], standing=how, stuck=stuck, failures=failures))
    running = tuple(each for each in state.running if each != index)
    state = replace(state, running=running, ready=tuple(each for each in state.ready if each != index))
    return replace(state, train=(*state.train, index)) if how is TaskStanding.MADE else state


def done(state: WorkflowState, *indexes: int) -> WorkflowState:
    for index in indexes:
        state = finished(standing(state, index, TaskStanding.RUNNING), index)
    return state
