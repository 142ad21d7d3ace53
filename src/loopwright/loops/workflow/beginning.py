"""Where a workflow begins: with its score, or where another tool had got to. No stage that is known is done again."""

from __future__ import annotations

from dataclasses import replace

from loopwright.loops import course as c
from loopwright.loops.workflow.limits import WorkflowAllowance
from loopwright.loops.workflow.plan import waves_of
from loopwright.loops.workflow.schedule import laid_out
from loopwright.loops.workflow.scoring import MIN_SPEC
from loopwright.loops.workflow.shape import shape_of
from loopwright.loops.workflow.state import (
    TakenOver,
    TaskRow,
    TaskStanding,
    WorkflowParams,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
)
from loopwright.loops.workflow.tasks import advanced


def start(params: WorkflowParams) -> WorkflowState:
    state = WorkflowState(
        plan=params,
        allowance=WorkflowAllowance.of(params.limits),
        tip=params.base,
        whole=params.base,
        ground=params.base,
    )
    if params.taken_over is not None:
        state = _taken_over(state, params.taken_over)
    return c.tried_on_the_base(state, params.trust)


def _taken_over(state: WorkflowState, found: TakenOver) -> WorkflowState:
    if not found.tasks:
        return c.entered(state, WorkflowPhase.SHAPE) if (found.spec or 0) >= MIN_SPEC else state
    shape = shape_of(state.plan.request, (), state.plan.checks)
    state = laid_out(replace(state, shape=shape), found.tasks, waves_of(found.tasks))
    claimed = tuple(index for index, task in enumerate(state.tasks) if task.id in found.done and task.plan.verify)
    tasks = TaskRow.of(_claimed(task) if index in claimed else task for index, task in enumerate(state.tasks))
    ready = tuple(index for index in state.ready if index not in claimed)
    state = replace(state, tasks=tasks, ready=ready, train=claimed)
    return advanced(c.entered(state, WorkflowPhase.EXECUTE))


def _claimed(task: WorkTask) -> WorkTask:
    """What another tool calls done is verified here before it counts."""
    return replace(task, standing=TaskStanding.MADE, claims=True, outside="said to be done by another tool")
