"""A thousand workflows of random plans, with agents that fail in every way, in a world that conflicts, each killed and
resumed: every task ends once, nothing lands that was not verified as it is, no commit and no cent is lost.

A seed alone: `SEED=123 pytest tests/engine/test_workflow_worlds.py`.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from loopwright.kernel.events import Started
from loopwright.kernel.model import LoopId
from loopwright.loops.workflow.state import TaskRow, WorkflowState
from tests.engine.seeded_cast import Plot, Work, product_words
from tests.engine.seeded_runs import ROOT, SimulatedRun, check_everything, kills_of

SEEDS, AT_ONCE = 1000, 50
RICH = (5, 51)  # seeds with a little of everything
UNKILLED = 10  # one in so many is also driven without a kill, to the same end
ALONE = "SEED={seed} pytest tests/engine/test_workflow_worlds.py"
BATCHES = [range(first, first + AT_ONCE) for first in range(0, SEEDS, AT_ONCE)]
IN_TICKETS = [range(20), range(20, 200)]
CHOSEN = [range(int(seed), int(seed) + 1)] if (seed := os.environ.get("SEED")) else BATCHES

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("kills")]


async def killed(plot: Plot) -> tuple[SimulatedRun, WorkflowState]:
    run = SimulatedRun(plot)
    await run.create()
    return run, await check_everything(run, await run.whole(kills_of(plot)))


async def left_alone(plot: Plot) -> tuple[SimulatedRun, WorkflowState]:
    run = SimulatedRun(plot)
    await run.create()
    return run, await check_everything(run, await run.whole())


async def told(seed: int) -> SimulatedRun:
    """What one seed came to; whatever fails says how to run it alone."""
    plot = Plot(seed)
    try:
        run, state = await killed(plot)
        if seed % UNKILLED == 0:
            other, expected = await left_alone(plot)
            _check_same(run, state, other, expected)
    except BaseException as wrong:
        wrong.add_note(f"run it alone: {ALONE.format(seed=seed)}")
        raise
    return run


def _check_same(run: SimulatedRun, state: WorkflowState, other: SimulatedRun, expected: WorkflowState) -> None:
    """Two at once end in the order in which they end: only one after the other is the same to the last field."""
    planned = len(run.plot.works)
    assert [task.id for task in state.tasks][:planned] == [task.id for task in expected.tasks][:planned]
    assert product_words(run.repo, state.tip) == product_words(other.repo, expected.tip)
    if run.plot.parallel == 1:
        assert _plain(state) == _plain(expected)


def _plain(state: WorkflowState) -> WorkflowState:
    return replace(state, tasks=TaskRow.of(replace(task, loop=LoopId("")) for task in state.tasks))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", CHOSEN, ids=lambda seeds: f"from {seeds[0]}")
def test_whatever_happens_every_task_ends_once_and_only_what_was_verified_lands(seeds: range) -> None:
    async def story() -> None:
        seen = [await told(seed) for seed in seeds]
        assert all(len(run.plot.works) for run in seen)

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize("seeds", IN_TICKETS, ids=lambda seeds: f"from {seeds[0]}")
def test_whatever_happens_is_so_where_tasks_are_made_in_ticket_sessions(seeds: range) -> None:
    async def story() -> None:
        for seed in seeds:
            await killed(Plot(seed, inner="tickets"))

    asyncio.run(story())


def test_what_the_plots_are_made_of_has_everything_that_may_happen() -> None:
    """A thousand seeds show nothing where none of them has a conflict, a red merge, a stop or a task made of one."""

    async def story() -> None:
        states = [(await killed(Plot(seed))) for seed in RICH]
        assert {task.origin for _, state in states for task in state.tasks} == {"plan", "conflict", "red", "finding"}
        assert any(state.counselled for _, state in states)
        assert any(run.stops for run, _ in states)
        assert any(state.remarks for _, state in states)

    asyncio.run(story())


def task(number: int, *waits_for: int) -> Work:
    path = f"src/f{number}.py"
    return Work(number=number, word=f"w{number}", paths=(path,), told=(path,), waits_for=waits_for, verified=True)


def test_a_task_with_more_behind_it_begins_before_one_that_was_named_earlier() -> None:
    """More are named than there are places; whoever is freed meanwhile and has the longer way ahead goes first."""

    async def story() -> None:
        plan = (task(1), task(2, 1), task(3, 2), task(4), task(5), task(6))
        run, _ = await left_alone(Plot(2, calm=True, given=plan, places=1))
        started = (event for _, event in run.events(ROOT) if isinstance(event, Started))
        begun = [event.what for event in started if event.action == "RunLoop"]
        assert begun == ["T-001", "T-004", "T-002", "T-005", "T-003", "T-006"]

    asyncio.run(story())
