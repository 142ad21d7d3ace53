"""Which tasks may begin: eagerly, as soon as what they wait for is done and nobody works on the same files.

Nothing here looks at all tasks at once but when the plan is made: what a task costs to schedule does not grow with
their number.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Sequence

from loopwright.kernel.changing import replace
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Commit
from loopwright.loops.workflow.graph import cycles
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.state import (
    Graph,
    TaskRow,
    TaskStanding,
    WorkflowState,
    WorkTask,
    choice_of,
    of_wave,
    with_task,
)

AHEAD = 2  # so many tasks for each place are begun with: one that waits for a person holds up nobody else


def laid_out(state: WorkflowState, planned: Sequence[PlannedTask], waves: Sequence[int]) -> WorkflowState:
    """The tasks of a plan that is right, with all that follows from it."""
    at = {task.id: index for index, task in enumerate(planned)}
    tasks = TaskRow.of(
        WorkTask(plan=task, wave=wave, after=tuple(at[other] for other in dict.fromkeys(task.blocked_by)))
        for task, wave in zip(planned, waves, strict=True)
    )
    return _counted(replace(state, tasks=tasks))


def _counted(state: WorkflowState) -> WorkflowState:
    """From the tasks alone; those that are done stay so."""
    tasks = state.tasks
    graph = graph_of(tasks)
    waves = max((task.wave for task in tasks), default=0)
    open_in_wave = [0] * waves
    for task in tasks:
        open_in_wave[task.wave - 1] += task.standing is not TaskStanding.DONE
    ready = sorted(
        (index for index, task in enumerate(tasks) if task.standing is TaskStanding.PENDING and is_free(tasks, task)),
        key=lambda index: (-graph.rank[index], index),
    )
    base = (*state.wave_base, *(NO_COMMIT for _ in range(waves - len(state.wave_base))))
    return replace(
        state,
        graph=graph,
        ready=tuple(ready),
        open_in_wave=tuple(open_in_wave),
        wave_base=base,
    )


def is_free(tasks: TaskRow, task: WorkTask) -> bool:
    """Whether nothing that it waits for is left. Asked of few: a count for each would be copied with every change."""
    return all(tasks[other].standing is TaskStanding.DONE for other in task.after)


def graph_of(tasks: TaskRow) -> Graph:
    dependents: list[list[int]] = [[] for _ in tasks]
    for index, task in enumerate(tasks):
        for other in task.after:
            dependents[other].append(index)
    waits_for_me = [len(each) for each in dependents]
    rank = [1] * len(tasks)
    ends = deque(index for index, many in enumerate(waits_for_me) if not many)
    while ends:
        index = ends.popleft()
        for other in tasks[index].after:
            rank[other] = max(rank[other], rank[index] + 1)
            waits_for_me[other] -= 1
            if not waits_for_me[other]:
                ends.append(other)
    members: list[list[int]] = [[] for _ in range(max((task.wave for task in tasks), default=0))]
    for index, task in enumerate(tasks):
        members[task.wave - 1].append(index)
    return Graph(dependents=tuple(map(tuple, dependents)), rank=tuple(rank), members=tuple(map(tuple, members)))


def added(state: WorkflowState, tasks: Iterable[WorkTask]) -> WorkflowState:
    """More tasks behind those that are there."""
    return _counted(replace(state, tasks=TaskRow.of((*state.tasks, *tasks))))


def made_ready(state: WorkflowState, index: int) -> WorkflowState:
    """A task for which all that it waits for is done may begin."""
    if state.tasks[index].standing is not TaskStanding.PENDING:
        state = with_task(state, index, replace(state.tasks[index], standing=TaskStanding.PENDING))
    ready = list(state.ready)
    rank = state.graph.rank
    insort(ready, index, key=lambda each: (-rank[each], each))
    return replace(state, ready=tuple(ready))


def finished(state: WorkflowState, index: int, landed: Commit = NO_COMMIT) -> WorkflowState:
    """A task is done, and what waited only for it may begin. So is whatever it stood in for."""
    task = state.tasks[index]
    done = replace(task, standing=TaskStanding.DONE, same=0, as_it_is=False, landed=landed or task.landed)
    state = with_task(state, index, done)
    tasks, wave = state.tasks, task.wave - 1
    freed = [
        other
        for other in state.graph.dependents[index]
        if tasks[other].standing is TaskStanding.PENDING and is_free(tasks, tasks[other])
    ]
    state = replace(
        state,
        open_in_wave=(*state.open_in_wave[:wave], state.open_in_wave[wave] - 1, *state.open_in_wave[wave + 1 :]),
        done=state.done + 1,
    )
    for other in freed:
        state = made_ready(state, other)
    if task.id == state.worst_task:
        worst = max(state.tasks, key=lambda each: each.same)
        state = replace(state, worst=worst.same, worst_task=worst.id)
    for other, stood_for in enumerate(state.tasks) if task.origin in ("conflict", "red") else ():
        if stood_for.instead == index and stood_for.standing is TaskStanding.MERGING:
            state = finished(state, other)
    return state


def given_up(state: WorkflowState, index: int) -> WorkflowState:
    """The loop of a task is over: another one would begin with what has landed by then."""
    task = state.tasks[index]
    fresh = replace(task, before=task.before + 1, over=True, asking=NO_KEY, start=NO_COMMIT)
    return with_task(state, index, fresh)


def admitted(state: WorkflowState) -> WorkflowState:
    """As many of the ready tasks as there is room for are to be driven now."""
    room = _room(state)
    if room <= 0 or not state.ready:
        return state
    busy = {path for index in (*state.running, *state.train) for path in state.tasks[index].plan.files}
    chosen: list[int] = []
    for index in state.ready:
        if len(chosen) == room:
            break
        if not _may_begin(state, index) or not busy.isdisjoint(files := state.tasks[index].plan.files):
            continue
        chosen.append(index)
        busy.update(files)
    if not chosen:
        return state
    tasks, ready = state.tasks, list(state.ready)
    for index in chosen:
        tasks = tasks.changed(index, _begun(state, tasks[index]))
        ready.remove(index)
    return replace(state, tasks=tasks, ready=tuple(ready), running=(*state.running, *chosen))


def _begun(state: WorkflowState, task: WorkTask) -> WorkTask:
    """A loop that goes on does so where it was; a new one begins with what has landed by now."""
    said = state.course.answers
    begun = replace(
        task,
        standing=TaskStanding.RUNNING,
        refusals=len(state.course.refusals),
        told=len(said),
        guidance="" if task.over else "\n\n".join(said[task.told :]),
        allow=state.course.released,
    )
    is_still_there = task.origin == "red" and task.start and task.made_on == state.whole  # both together, and no more
    # What is held back conflicts as well: whoever does not have it before them would run into it for ever.
    onto = state.whole if task.origin == "conflict" else state.tip
    return begun if not task.over or is_still_there else replace(begun, start=onto, made_on=onto)


def _room(state: WorkflowState) -> int:
    if choice_of(state) is ShapeChoice.COLLEAGUE:
        room = 1 - len(state.running) - len(state.train) - len(state.counsel)  # a person looks at each before the next
    else:
        width = max(1, state.plan.parallel) * AHEAD
        # What is made faster than it lands would begin with less and less of what is made: the train may be so long,
        # too. One that waits for a person holds up nobody else.
        behind = 0 if state.gated else max(0, len(state.train) - width)
        room = width - len(state.running) - behind
    most = state.allowance.iterations
    # What runs ends as an iteration each: no more are begun than may end.
    return room if most is None else min(room, most - state.iterations - len(state.running))


def _may_begin(state: WorkflowState, index: int) -> bool:
    """Where people look at each wave, none begins before they have looked at those before it."""
    if choice_of(state) is ShapeChoice.TOOL:
        return True
    wave = state.tasks[index].wave
    return not any(state.open_in_wave[: wave - 1]) and not check_in_due(state)


def check_in_due(state: WorkflowState) -> bool:
    """Whether a person is to look before anything more begins."""
    choice = choice_of(state)
    fresh = state.done - state.checked_in
    if choice is ShapeChoice.TOOL or fresh <= 0 or state.done == len(state.tasks):
        return False
    if choice is ShapeChoice.COLLEAGUE:
        return True
    begun = next((wave for wave, left in enumerate(state.open_in_wave, start=1) if left), 0)
    return all(task.standing is TaskStanding.PENDING and not task.attempts for task in of_wave(state, begun))


def diagnosis(state: WorkflowState) -> str:
    """No task can begin and some are left. What failed is tried again within the limits, so they wait in a circle."""
    around = cycles({task.id: tuple(state.tasks[other].id for other in task.after) for task in state.tasks})
    told = " → ".join(around[0]) if around else "none that is known"
    return f"a cycle, in which each task waits for the next: {told}"
