"""Kill after, and before, every append of a whole run; resume; the end is the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from loopwright.engine.fold import fold
from loopwright.engine.hearing import hear
from loopwright.engine.session import SNAPSHOT_EVERY
from loopwright.kernel.events import AgentReported, Answered
from loopwright.kernel.model import AgentReport, Verdict
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.ports.agent import AgentAnswer, AgentRun
from tests.engine.worlds import LOOP, DyingStore, Fakes, Killed, flaw


def never_good_enough(run: AgentRun) -> AgentAnswer:
    report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),), summary="tried")
    return AgentReported(key=run.key, report=report)


async def uninterrupted() -> tuple[object, int]:
    """The end, and how many appends it took."""
    fakes = Fakes(usd=1.0)
    await fakes.create(budget=100.0)
    store = DyingStore(fakes.store, dies_at=0)
    await fakes.drive(store)  # type: ignore[arg-type]
    return fold(FEEDBACK, await fakes.store.load(LOOP)).state, store.appends


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_killed_at_any_append_it_resumes_to_the_same_end(*, before: bool) -> None:
    async def story() -> None:
        expected, appends = await uninterrupted()
        for point in range(1, appends + 1):
            fakes = Fakes(usd=1.0)
            await fakes.create(budget=100.0)
            with pytest.raises(Killed):
                await fakes.drive(DyingStore(fakes.store, point, before=before))  # type: ignore[arg-type]
            reported = {record.data for record in await fakes.store.read(LOOP) if record.kind == "AgentReported"}
            runs_before = Counter(run.key for run in fakes.runs)
            await fakes.drive()
            loaded = await fakes.store.load(LOOP)
            assert fold(FEEDBACK, loaded).state == expected
            assert loaded.row.reserved == 0.0
            again = Counter(run.key for run in fakes.runs) - runs_before
            assert not [key for key in again if any(f'"key":"{key}"' in data for data in reported)]
            await fakes.store.verify(LOOP)

    asyncio.run(story())


def test_ten_kills_in_a_row_during_recovery_end_in_the_same_state() -> None:
    async def story() -> None:
        expected, _ = await uninterrupted()
        fakes = Fakes(usd=1.0)
        await fakes.create(budget=100.0)
        for _ in range(10):
            with pytest.raises(Killed):
                await fakes.drive(DyingStore(fakes.store, 2))  # type: ignore[arg-type]
        await fakes.drive()
        assert fold(FEEDBACK, await fakes.store.load(LOOP)).state == expected

    asyncio.run(story())


def test_a_long_log_is_loaded_from_its_snapshot_and_goes_on() -> None:
    async def story() -> None:
        fakes = Fakes(agent=never_good_enough)
        await fakes.create()
        for _ in range(4):
            halt = await fakes.drive()
            answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=3, by="ann")
            await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
        loaded = await fakes.store.load(LOOP)
        assert loaded.snapshot_seq >= SNAPSHOT_EVERY
        assert len(loaded.tail) < loaded.row.seq
        state = fold(FEEDBACK, loaded).state
        assert state == fold(FEEDBACK, replace(loaded, snapshot=None, tail=await fakes.store.read(LOOP))).state
        assert [iteration.number for iteration in state.past] == list(range(1, 13))

    asyncio.run(story())
