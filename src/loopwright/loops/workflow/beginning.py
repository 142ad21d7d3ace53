"""Where a workflow begins: with its score, or where another tool had got to. No stage that is known is done again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops.workflow.limits import WorkflowAllowance
from loopwright.loops.workflow.plan import PlannedTask, waves_of
from loopwright.loops.workflow.reading import argv_of, verify_lines
from loopwright.loops.workflow.schedule import laid_out
from loopwright.loops.workflow.scoring import MIN_SPEC
from loopwright.loops.workflow.shape import commands_of, shape_of
from loopwright.loops.workflow.state import (
    TakenOver,
    WorkflowParams,
    WorkflowPhase,
    WorkflowState,
)
from loopwright.loops.workflow.tasks import advanced

AT_WORK = ("executing", "review", "paused")  # the stages in which there are tasks
_COMMAND = 80  # characters of one in a remark


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
    state = replace(state, remarks=tuple(_remarks(found)))
    if not found.tasks:
        return _without_tasks(state, found)
    shape = found.shape or shape_of(state.plan.request, ())
    state = laid_out(replace(state, shape=shape), found.tasks, waves_of(found.tasks))
    return advanced(c.entered(state, WorkflowPhase.EXECUTE))


def _without_tasks(state: WorkflowState, found: TakenOver) -> WorkflowState:
    if found.shape is not None:
        return c.entered(replace(state, shape=found.shape), WorkflowPhase.PLAN)
    is_clear = found.scores_stand or (found.spec or 0) >= MIN_SPEC
    return c.entered(state, WorkflowPhase.SHAPE) if is_clear else state


# --- what people are told of it ---------------------------------------------------------------------------------------


def commands_taken_over(found: TakenOver) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """All that will be run because another tool said so, each with the task, criterion or rule that it is of."""
    tasks = tuple((task.id, task.verify) for task in found.tasks if task.verify)
    return (*tasks, *(commands_of(found.shape) if found.shape else ()))


def _remarks(found: TakenOver) -> Iterator[str]:
    if found.shape:
        criteria, rules = len(found.shape.criteria), len(found.shape.must_not)
        yield f"The shape is another tool's ({counted(criteria, 'criterion', 'criteria')}, {rules} mustNot)."
    if found.tasks:
        yield f"The plan is another tool's ({counted(len(found.tasks), 'task')}{_called_done(found)})."
        yield from _not_run(found.tasks)
    elif found.stage in AT_WORK:
        yield f"Another tool had got to {found.stage}; none of its tasks was found, so the plan is made anew."
    waves = (
        f"wave {each.wave} {each.review.score:g}/10 (issues {each.review.issues}, blockers {each.review.blockers})"
        for each in found.waves
    )
    if said := "; ".join((*waves, *_thorough(found))):
        yield f"Reviews by another tool, on which nothing rests here: {said}."


def _called_done(found: TakenOver) -> str:
    return f", {len(found.done)} of which it calls done, on which nothing rests here" if found.done else ""


def _not_run(tasks: Iterable[PlannedTask]) -> Iterator[str]:
    for task in tasks:
        for command in verify_lines(task.description):
            if (argv := argv_of(command)) and argv == task.verify:
                continue
            yield (
                f"{task.id} is not verified by `{one_line(command, _COMMAND)}`: a task has one command, which runs"
                " without a shell. Make it a check of loop.toml to have it run; `Verify: sh -c '…'` would have been"
                " taken."
            )


def _thorough(found: TakenOver) -> Iterator[str]:
    if found.thorough:
        left = found.thorough.blockers_remaining
        passed = "passed" if found.thorough.passed else f"not passed, blockers remaining {left}"
        yield f"thorough ({passed}), which is made again"
