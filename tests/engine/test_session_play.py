"""The session, played without the driver, and the driver: the same log, event by event, on random histories."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import cast

import pytest

from loopwright.engine.driver import drive
from loopwright.kernel.codec import encode
from loopwright.ports.store import Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.histories import DRIVES, History, Person, Player, Row, after_halt, world_of
from tests.engine.worlds import LOOP, DyingStore, Fakes, Killed


async def driven(history: History) -> list[Row]:
    memory = Memory()
    fakes, person = Fakes(store=MemoryStore(memory, ManualClock())), Person(history)
    await fakes.create(history.params, budget=history.budget)

    def posted(length: int) -> None:
        for said in history.posts(length):
            posting = fakes.store.post(LOOP, type(said).__name__, encode(said))
            with suppress(StopIteration):
                posting.send(None)  # a store in memory never waits: one step is all of it

    for number in range(DRIVES):
        dies_at, before = history.dies(number)
        world = world_of(history, fakes, person, posted)
        dying = DyingStore(MemoryStore(memory, ManualClock()), dies_at, before=before)
        memory.holders.clear()  # a process that was killed holds nothing
        try:
            halt = await drive(replace(world, store=cast(Store, dying)), LOOP)
        except Killed:
            continue
        if halt.why == "ended":
            break
        said = after_halt(history, halt.why, halt.waiting, number)
        await fakes.store.post(LOOP, type(said).__name__, encode(said))
    records = await fakes.store.read(LOOP)
    return [(each.kind, each.data, each.reserve, each.release, each.spend) for each in records]


@pytest.mark.slow
def test_the_session_and_the_driver_write_the_same_log_on_a_thousand_random_histories() -> None:
    kinds: Counter[str] = Counter()

    async def story() -> None:
        for seed in range(1_000):
            history = History(seed)
            played, found = await Player(history).play(), await driven(history)
            assert played == found, seed
            kinds.update({row[0] for row in played})

    asyncio.run(story())
    common = ("AgentReported", "AgentFailed", "Answered", "Cancelled", "Interrupted", "Paused", "Refused", "Ended")
    assert {kind: kinds[kind] for kind in common if kinds[kind] < 30} == {}


def test_a_few_of_them_quickly() -> None:
    async def story() -> None:
        for seed in range(1_000, 1_040):
            assert await Player(History(seed)).play() == await driven(History(seed)), seed

    asyncio.run(story())
