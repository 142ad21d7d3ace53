"""Opening a loop: from its snapshot or from its first event, and only once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import cast

import pytest

from loopwright.engine.driver import drive
from loopwright.engine.fold import FORM, fold, is_of_this_form
from loopwright.engine.hearing import hear
from loopwright.engine.journal import open_loop, passed_over
from loopwright.engine.session import SNAPSHOT_EVERY
from loopwright.errors import StoreCorrupt
from loopwright.kernel.events import AgentReported, Answered, BudgetChanged, CancelRequested
from loopwright.kernel.model import AgentReport, Ending, Verdict
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.store import Append, NewEvent, Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.nested import FORK, fork
from tests.engine.test_waiting import WORK
from tests.engine.worlds import LOOP, Fakes, flaw


def never_passes(run: AgentRun) -> AgentAnswer:
    report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),), summary="tried")
    return AgentReported(key=run.key, report=report)


WRITTEN_SINCE = 1  # asked once of each loop that is held: the one event after what is known, if there is one


class Counting:
    """A store that counts what is asked of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> object:
        self.calls[name] += 1
        return getattr(self._store, name)


async def long_log() -> tuple[Memory, Fakes]:
    memory = Memory()
    fakes = Fakes(agent=never_passes, store=MemoryStore(memory, ManualClock()))
    await fakes.create()
    while memory.loops[LOOP].snapshot is None or not memory.loops[LOOP].records[memory.loops[LOOP].snapshot_seq :]:
        halt = await fakes.drive()
        answer = Answered(key=halt.waiting[0].what.key, choice="continue", count=3, by="ann")
        await hear(fakes.store, fakes.loops, LOOP, answer, fakes.recorder)
    return memory, fakes


def test_a_snapshot_says_its_form_and_what_came_after_it_is_folded_onto_it() -> None:
    async def story() -> None:
        memory, fakes = await long_log()
        snapshot = memory.loops[LOOP].snapshot or ""
        assert (json.loads(snapshot)["form"], is_of_this_form(snapshot)) == (FORM, True)
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        assert opened.snapshot_seq >= SNAPSHOT_EVERY
        assert opened.now == fold(FEEDBACK, await fakes.store.load(LOOP, snapshot=False))

    asyncio.run(story())


@pytest.mark.parametrize(
    "other", ['{"form":1,"fold":{}}', '{"flights":[],"state":{"phase":"DANCE"}}', "[]", "not JSON"]
)
def test_a_snapshot_of_another_form_is_passed_over_and_the_loop_goes_on(other: str) -> None:
    async def story() -> None:
        memory, fakes = await long_log()
        expected = (await open_loop(fakes.store, fakes.loops, LOOP)).now
        memory.loops[LOOP].snapshot = other
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        assert (opened.now, opened.snapshot_seq) == (expected, 0)
        await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
        halt = await fakes.drive()
        assert halt.outcome is not None
        assert halt.outcome.ending is Ending.CANCELLED
        assert is_of_this_form(memory.loops[LOOP].snapshot or "")

    asyncio.run(story())


@pytest.mark.parametrize(
    "damaged",
    [
        f'{{"form":{FORM},"fold":{{"flights":[]}}}}',
        f'{{"form":{FORM},"fold":7}}',
        f'{{"form":{FORM},"fold":{{"state":{{"phase":"DANCE"}}}}}}',
        f'{{"form":{FORM},"fold":',
        f'{{"form":{FORM},"fold":{"[" * 100_000}',
        f'{{"form":{FORM},"fold":{{"state":{{"of":"a version to come"}}}}}}',
    ],
)
def test_a_snapshot_that_cannot_be_read_is_passed_over_too(damaged: str) -> None:
    async def story() -> None:
        memory, fakes = await long_log()
        expected = (await open_loop(fakes.store, fakes.loops, LOOP)).now
        memory.loops[LOOP].snapshot = damaged
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        assert (opened.now, opened.snapshot_seq) == (expected, 0)
        assert await passed_over(fakes.store, fakes.loops, opened.row) != ""

    asyncio.run(story())


def test_what_was_opened_is_not_read_again_and_nothing_is_read_back() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        counting = Counting(fakes.store)
        store = cast(Store, counting)
        opened = await open_loop(store, fakes.loops, LOOP)
        halt = await drive(fakes.world(store), opened)
        assert halt.why == "ended"
        reads = {name: counting.calls[name] for name in ("load", "read", "rows", "claim", "create")}
        assert reads == {"load": 1, "read": WRITTEN_SINCE, "rows": 0, "claim": 1, "create": 0}

    asyncio.run(story())


def test_a_child_that_was_just_made_is_not_read() -> None:
    async def story() -> None:
        fakes = Fakes(loops={"fork": FORK, "feedback": FEEDBACK})
        await fakes.create_loop("fork", fork(WORK))
        counting = Counting(fakes.store)
        await drive(fakes.world(cast(Store, counting)), LOOP)
        reads = {name: counting.calls[name] for name in ("load", "read", "rows")}
        assert reads == {"load": 1, "read": 2 * WRITTEN_SINCE, "rows": 0}

    asyncio.run(story())


def test_what_was_opened_is_read_again_if_somebody_wrote_in_between() -> None:
    async def story() -> None:
        fakes = Fakes(agent=never_passes)
        await fakes.create()
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        await hear(fakes.store, fakes.loops, LOOP, CancelRequested(by="ann"), fakes.recorder)
        halt = await drive(fakes.world(), opened)
        assert halt.outcome is not None
        assert (halt.outcome.ending, fakes.runs) == (Ending.CANCELLED, [])

    asyncio.run(story())


def test_what_is_said_goes_to_what_was_opened() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create(budget=1.0)
        counting = Counting(fakes.store)
        store = cast(Store, counting)
        opened = await open_loop(store, fakes.loops, LOOP)
        heard = await hear(store, fakes.loops, opened, BudgetChanged(usd=9.0, by="ann"), fakes.recorder)
        assert counting.calls["load"] == 1
        again = await open_loop(store, fakes.loops, LOOP)
        assert (again, again.row.budget, again.standpoint.state, again.outcome) == (heard, 9.0, "IMPLEMENT", None)
        assert replace(again, row=opened.row) == opened

    asyncio.run(story())


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("Danced", "{}", "unknown kind of event 'Danced'"),
        ("Checkpointed", "{}", "missing"),
        ("CleanedUp", '{"key":"clean-up"}', "CleanedUp does not fit IMPLEMENT: clean-up is not asked for"),
    ],
)
def test_an_event_that_does_not_fit_is_named(kind: str, data: str, why: str) -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        fence = await fakes.store.claim(LOOP, "a mistake")
        append = Append(entries=(NewEvent(kind=kind, data=data),))
        await fakes.store.append(LOOP, fence=fence, expected=1, batch=append)
        with pytest.raises(StoreCorrupt, match=f"event 2 of loop l-1: .*{why}"):
            await open_loop(fakes.store, fakes.loops, LOOP)

    asyncio.run(story())
