"""A queue of fifty systems with dependencies, built by eight controllers at once that are killed at random: each
system once, in a legal order.

A seed alone: `SEED=7 pytest tests/engine/test_systems_shared.py`.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from tests.engine.simulated_systems import Farm, Needs, check_everything

SYSTEMS, CONTROLLERS, KILLS = 50, 8, 4  # kills of each
WHOLE = 25  # in the check one system in so many goes all the way from INIT
SEEDS = [
    pytest.param(seed, WHOLE if seed == 1 else 1, marks=() if seed == 1 else pytest.mark.kills) for seed in range(1, 9)
]
CHOSEN = [(int(seed), 1)] if (seed := os.environ.get("SEED")) else SEEDS

pytestmark = pytest.mark.unmeasured


def needs_of(seed: int) -> Needs:
    """On some of those before it, or on none."""
    chance = random.Random(seed)  # noqa: S311 - chance, not secrecy
    counts = {number: chance.choice((0, 0, 1, 2, 3)) for number in range(2, SYSTEMS + 1)}
    chosen = {number: {chance.randint(1, number - 1) for _ in range(count)} for number, count in counts.items()}
    return {1: (), **{number: tuple(sorted(others)) for number, others in chosen.items()}}


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("seed", "whole"), CHOSEN)
def test_fifty_systems_are_built_once_each_by_eight_controllers_that_are_killed(
    tmp_path: Path, seed: int, whole: int
) -> None:
    farm = Farm(tmp_path, needs_of(seed), seed, controllers=CONTROLLERS, whole=whole)

    async def story() -> None:
        await farm.fill()
        await asyncio.gather(*(farm.controller(KILLS) for _ in range(CONTROLLERS)))
        await check_everything(farm)

    asyncio.run(story())
    assert farm.kills >= CONTROLLERS * (KILLS - 1)  # what ended in time was not killed
