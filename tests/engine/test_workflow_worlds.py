"""A thousand workflows of random plans, with agents that fail in every way, in a world that conflicts, each killed and
resumed: every task ends once, nothing lands that was not verified as it is, no commit and no cent is lost.

A seed alone: `SEED=123 pytest tests/engine/test_workflow_worlds.py -k alone`.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from loopwright.kernel.model import LoopId
from loopwright.loops.workflow.state import WorkflowState
from tests.engine.seeded_cast import Plot, product_words
from tests.engine.seeded_runs import SimulatedRun, check_everything, kills_of

SEEDS, AT_ONCE = 1000, 50
UNKILLED = 10  # one in so many is also driven without a kill, to the same end
ALONE = "SEED={seed} pytest tests/engine/test_workflow_worlds.py -k alone"

pytestmark = pytest.mark.unmeasured


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
    assert [task.id for task in state.tasks[:planned]] == [task.id for task in expected.tasks[:planned]]
    assert product_words(run.repo, state.tip) == product_words(other.repo, expected.tip)
    if run.plot.parallel == 1:
        assert _plain(state) == _plain(expected)


def _plain(state: WorkflowState) -> WorkflowState:
    return replace(state, tasks=tuple(replace(task, loop=LoopId("")) for task in state.tasks))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_whatever_happens_every_task_ends_once_and_only_what_was_verified_lands(first: int) -> None:
    async def story() -> None:
        seen = [await told(seed) for seed in range(first, first + AT_ONCE)]
        assert sum(len(run.plot.works) for run in seen) > AT_ONCE
        assert any(run.stops for run in seen)

    asyncio.run(story())


@pytest.mark.skipif("SEED" not in os.environ, reason="names no seed")
def test_one_seed_alone() -> None:
    asyncio.run(told(int(os.environ["SEED"])))
