"""Why each task that is not done does not go on just now, and what looks like one of the usual troubles: a loop that
runs forever, and a panel that nobody asks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted, told_with_cause
from loopwright.loops.kind import Lane
from loopwright.loops.workflow.limits import reasons
from loopwright.loops.workflow.schedule import AHEAD, check_in_due
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.state import TaskStanding, WorkflowState, WorkTask, choice_of, counts
from loopwright.loops.workflow.stops import fails_its_own

_OFTEN = 2  # failed verifications from which the command itself is worth a look
_STANDS = {
    TaskStanding.RUNNING: "under way",
    TaskStanding.COUNSEL: "stuck, the panel is asked before the next attempt",
    TaskStanding.MADE: "made, and has still to land",
    TaskStanding.MERGING: "brought in by another task",
    TaskStanding.IDLE: "not shown to be done",
    TaskStanding.PENDING: "not begun",
}


@dataclass(frozen=True, slots=True)
class _Held:
    """Why one does not go on: in two cells of a row, and as the end of a sentence."""

    word: str
    detail: str
    sentence: str


def explained(state: WorkflowState) -> tuple[str, ...]:
    """For `loop explain`: every task that is not under way, and the troubles that can be seen."""
    waits = (f"{task.id} {why.sentence}" for index, task in enumerate(state.tasks) if (why := _why(state, index)))
    return (*waits, *troubles(state))


def queued(state: WorkflowState) -> tuple[Lane, ...]:
    """For the live view: the tasks that nobody is at, in the order of the plan."""
    return tuple(
        Lane(
            name=one_line(f"{task.id}: {task.plan.subject}", 120),
            count=f"wave {task.wave}",
            word=why.word,
            detail=one_line(why.detail, 120),
            failed=task.standing is TaskStanding.COUNSEL,
        )
        for index, task in enumerate(state.tasks)
        if (why := _why(state, index))
    )


def _why(state: WorkflowState, index: int) -> _Held | None:
    task = state.tasks[index]
    match task.standing:
        case TaskStanding.PENDING:
            return _pending(state, index)
        case TaskStanding.COUNSEL:
            asked = "the panel is asked"
            return _Held("stuck", asked, f"is stuck ({task.stuck}): {asked} before it is tried again")
        case TaskStanding.MADE:
            ahead = state.train.index(index)
            turn = f"lands after {counted(ahead, 'other')}" if ahead else "lands next"
            return _Held("made", turn, f"is made and {turn}")
        case TaskStanding.MERGING:
            other = state.tasks[task.instead].id if task.instead is not None else "another task"
            brings = f"{other} brings it in"
            return _Held("in conflict", brings, f"does not go together with what has landed: {brings}")
        case TaskStanding.IDLE:
            asked = "nothing shows that it is done: you are asked when the others are"
            return _Held("waits", "for you", f"was left as it is by its maker, and {asked}")
        case TaskStanding.RUNNING | TaskStanding.DONE:
            return None
        case _:
            assert_never(task.standing)


def _pending(state: WorkflowState, index: int) -> _Held:
    task = state.tasks[index]
    blockers = [state.tasks[other] for other in task.after if state.tasks[other].standing is not TaskStanding.DONE]
    if blockers:
        named = ", ".join(each.id for each in blockers)
        stand = ", ".join(f"{each.id} ({_STANDS[each.standing]})" for each in blockers)
        return _Held("waits", f"for {named}", f"waits for {stand}")
    if over := reasons(counts(state), state.allowance, state.worst_task):
        return _Held("not begun", "; ".join(over), f"is not begun: {'; '.join(over)}")
    return _held_up(state, task) or _Held("ready", "begins next", "begins as soon as a place is free")


def _held_up(state: WorkflowState, task: WorkTask) -> _Held | None:
    """By people, by files that somebody works on, or by the number of those at work."""
    choice = choice_of(state)
    if check_in_due(state):
        return _Held("waits", "for you to look", "waits until you have looked at what is done (a check-in)")
    if choice is not ShapeChoice.TOOL and any(state.open_in_wave[: task.wave - 1]):
        before = f"waits for the waves before its own: as {choice.value} one wave is done after the other"
        return _Held("waits", "for the waves before", before)
    for index in (*state.running, *state.train):
        other = state.tasks[index]
        if shared := sorted(set(task.plan.files) & set(other.plan.files)):
            files = one_line(", ".join(shared), 200)
            return _Held("waits", f"for {other.id}: {files}", f"waits for {other.id}, which works on {files}")
    room = 1 if choice is ShapeChoice.COLLEAGUE else max(1, state.plan.parallel) * AHEAD
    if len(state.running) < room:
        return None
    taken = f"{len(state.running)} of {room} are taken"
    return _Held("waits", "for a place", f"waits for a place: {taken}")


def troubles(state: WorkflowState) -> Iterator[str]:
    stuck = [task for task in state.tasks if task.stuck and task.standing is not TaskStanding.DONE]
    for task in stuck:
        if task.stuck >= _OFTEN:
            yield f"{task.id} failed its verification {task.stuck} times" + _what_failed(task)
    if stuck and "panel" not in state.plan.cast:
        named = ", ".join(task.id for task in stuck)
        yield f"nobody advises on {named}: no panel is named in [roles] of loop.toml, so it is tried again without"
    if state.allowance.iterations is None:
        most = state.allowance
        yield (
            f"the iterations are not limited; {most.same} failures of one task in the same way, or {most.failures} in"
            " all, still pause it"
        )


def _what_failed(task: WorkTask) -> str:
    if fails_its_own(task):
        return f"; is its command right? {one_line(shlex.join(task.plan.verify), 200)}"
    more = f" and {counted(len(task.failures) - 1, 'other')}" if task.failures[1:] else ""
    return "".join(f": {told_with_cause(each)}{more}" for each in task.failures[:1])
