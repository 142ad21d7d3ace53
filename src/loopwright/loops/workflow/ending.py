"""How a workflow ends, whichever way: first every loop of a task that is still open is told, so that none is left."""

from __future__ import annotations

from loopwright.errors import InvalidTransition
from loopwright.kernel.changing import replace
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import Ending, Finding, Outcome, Part
from loopwright.loops import course as c
from loopwright.loops.workflow.calm import turned
from loopwright.loops.workflow.schedule import given_up
from loopwright.loops.workflow.state import TaskStanding, WorkflowPhase, WorkflowState, WorkTask

_UNSEEN, _NOT_PASSED = "No thorough review was made of it", "The thorough review has not passed it"


def cancelled(state: WorkflowState) -> WorkflowState:
    """By a person; or what has landed so far is what they accepted."""
    if c.at_work(state, WorkflowPhase.CANCEL):
        raise InvalidTransition(c.where(state), "CancelRequested", "the workflow is ending")
    return closed(turned(replace(state, counsel=(), idle=(), looks=(), train=(), stopped=None)))


def closed(state: WorkflowState) -> WorkflowState:
    open_loops = tuple(index for index, task in enumerate(state.tasks) if _is_open(task))
    state = replace(state, running=open_loops)
    return c.entered(state, WorkflowPhase.CANCEL) if open_loops else _wound_down(state)


def _is_open(task: WorkTask) -> bool:
    """Its loop may have begun, and has not ended."""
    return task.standing is TaskStanding.RUNNING or not task.over


def told_to_end(state: WorkflowState, index: int) -> WorkflowState:
    """The loop of a task has heard that the workflow ends."""
    state = given_up(state, index)
    state = replace(state, running=tuple(each for each in state.running if each != index))
    return state if state.running else _wound_down(state)


def _wound_down(state: WorkflowState) -> WorkflowState:
    if state.course.cancel is not None:
        return c.cleaning_up(state)
    return c.taking(state) if state.course.accepted else c.landing(state)


def outcome(state: WorkflowState, how: Ending) -> Outcome:
    return Outcome(
        ending=how,
        attempts=state.iterations,
        commit=state.tip,
        findings=() if how is Ending.VERIFIED else left_open(state),
        parts=tuple(_part(task) for task in state.tasks),
    )


def left_open(state: WorkflowState) -> tuple[Finding, ...]:
    """What the review found, what nobody did, and what fails of that."""
    undone = tuple(task for task in state.tasks if task.standing is not TaskStanding.DONE)
    told = tuple(engine_finding("not-done", f"{task.id} was not done: {task.plan.subject}") for task in undone)
    failing = tuple(replace(each, issue=f"{each.issue} (in {task.id})") for task in undone for each in task.failures)
    seen = state.thorough
    unseen = () if seen and seen.passed else (engine_finding("not-reviewed", _NOT_PASSED if seen else _UNSEEN),)
    return (*(seen.blockers if seen else ()), *told, *failing, *unseen)


def _part(task: WorkTask) -> Part:
    done = task.standing is TaskStanding.DONE
    how = Ending.VERIFIED if done else Ending.CANCELLED
    return Part(name=f"{task.id}: {task.plan.subject}", ending=how, attempts=task.attempts, loop=task.loop)
