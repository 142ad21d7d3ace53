"""Sessions, played without the driver, and the driver: the same logs, event by event, on random histories."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from loopwright.engine.driver import drive
from tests.engine.histories import SHAPES, History, Leaping, logs_of
from tests.engine.player import play

PARTS, HISTORIES = 4, 1_000  # in parts, so that two workers share them
COMMON = ("AgentReported", "AgentFailed", "Answered", "Cancelled", "GateDecided", "Interrupted", "Paused", "Refused")


def compared(seeds: range) -> Counter[str]:
    """In how many histories each kind of event was seen, at all and in a loop below another."""
    seen: Counter[str] = Counter()

    async def story() -> None:
        for seed in seeds:
            history = History(seed)
            played, found = await logs_of(history, play), await logs_of(history, drive)
            assert played == found, (seed, history.shape)
            _root, *below = played.values()
            seen.update({row[0] for log in played.values() for row in log})
            seen.update({f"{row[0]} below" for log in below for row in log})

    with asyncio.Runner(loop_factory=Leaping) as runner:
        runner.run(story())
    return seen


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.kills) for part in range(1, PARTS))])
def test_sessions_and_the_driver_write_the_same_logs_on_a_thousand_random_histories(part: int) -> None:
    size = HISTORIES // PARTS
    seen = compared(range(part * size, (part + 1) * size))
    assert {name: seen[name] for kind in COMMON for name in (kind, f"{kind} below") if seen[name] < PARTS} == {}


def test_one_of_each_shape_quickly() -> None:
    compared(range(HISTORIES, HISTORIES + len(SHAPES)))
