"""What is made faster than it lands: the merge train may grow only so long before no more is begun."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.model import Commit
from loopwright.loops.task_file import name_of
from loopwright.loops.workflow.beginning import start
from loopwright.loops.workflow.plan import PlannedTask, waves_of
from loopwright.loops.workflow.schedule import AHEAD, admitted, laid_out
from loopwright.loops.workflow.state import TaskRow, TaskStanding, WorkflowParams, WorkflowState

PARALLEL = 2
WIDTH = PARALLEL * AHEAD


def with_train(length: int, *, gated: bool = False) -> WorkflowState:
    """So many tasks are made and wait to be landed; as many more could begin."""
    planned = tuple(PlannedTask(id=name_of(each), subject=f"Do {each}") for each in range(1, 2 * length + 1))
    params = WorkflowParams(request="Do it", base=Commit("base"), parallel=PARALLEL, shape="tool")
    state = laid_out(start(params), planned, waves_of(planned))
    made, left = tuple(state.tasks)[:length], tuple(state.tasks)[length:]
    return replace(
        state,
        tasks=TaskRow.of((*(replace(task, standing=TaskStanding.MADE) for task in made), *left)),
        train=tuple(range(length)),
        ready=tuple(range(length, 2 * length)),
        gated=gated,
    )


@pytest.mark.parametrize(("length", "begun"), [(WIDTH, WIDTH), (WIDTH + 1, WIDTH - 1), (2 * WIDTH, 0), (3 * WIDTH, 0)])
def test_a_train_that_grows_longer_than_the_places_takes_theirs(length: int, begun: int) -> None:
    state = admitted(with_train(length))
    assert (state.running, len(state.ready)) == (tuple(range(length, length + begun)), length - begun)


def test_a_train_that_waits_for_a_person_holds_up_nobody_else() -> None:
    assert len(admitted(with_train(3 * WIDTH, gated=True)).running) == WIDTH


def test_a_task_waits_for_files_that_somebody_is_at_work_on() -> None:
    planned = (
        PlannedTask(id="T-001", subject="Do one", files=("a.py",)),
        PlannedTask(id="T-002", subject="Do the other", files=("a.py", "b.py")),
    )
    params = WorkflowParams(request="Do it", base=Commit("base"), parallel=PARALLEL, shape="tool")
    once = admitted(laid_out(start(params), planned, waves_of(planned)))
    assert (once.running, once.ready) == ((0,), (1,))
    assert admitted(once) == once
