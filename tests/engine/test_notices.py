"""What people are sent is durable with the event that calls for it, once, and never keeps an event out of the log."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from loopwright.engine.driver import drive
from loopwright.engine.world import News
from loopwright.kernel.events import Ended
from loopwright.kernel.model import LoopId
from loopwright.ports.store import NewNotice
from tests.engine.nested import ASK, ASKER, FORK, GATE, asks, fork
from tests.engine.worlds import LOOP, DyingStore, Fakes, Killed


@dataclass(slots=True)
class Loud:
    """Has something to say about whatever people are asked, and about the end of every loop."""

    news: list[News] = field(default_factory=list)
    started: int = 0
    fault: Exception | None = None

    def notice(self, news: News) -> NewNotice | None:
        if self.fault:
            raise self.fault
        self.news.append(news)
        if news.asks is None and not isinstance(news.event, Ended):
            return None
        return NewNotice(id=news.id, loop=news.path[0], topic="gate", title="t", body="b")

    def made(self) -> None:
        self.started += 1


async def told(fakes: Fakes) -> list[str]:
    return [each.notice.id for each in await fakes.store.notices()]


async def asking(loud: Loud, **given: object) -> Fakes:
    fakes = Fakes(loops={"fork": FORK, "asker": ASKER})
    await fakes.create_loop("fork", fork(asks("deep"), **given))  # type: ignore[arg-type]
    await drive(replace(fakes.world(), notices=loud), LOOP)
    return fakes


def test_what_a_part_asks_people_is_told_with_the_way_from_its_root_and_once() -> None:
    async def play() -> None:
        loud = Loud()
        fakes = await asking(loud)
        first = await told(fakes)
        asked = [news for news in loud.news if news.asks]
        assert [news.asks.what.key for news in asked if news.asks] == [ASK, GATE]
        assert {news.path[0] for news in asked} == {LOOP}
        assert [news.id for news in asked] == first == [f"{asked[0].path[-1]}/{n}" for n in (2, 3)]
        assert loud.started == 2
        await drive(replace(fakes.world(), notices=loud), LOOP)  # nothing has changed
        assert (await told(fakes), loud.started) == (first, 2)

    asyncio.run(play())


def test_what_a_parent_takes_itself_is_asked_of_nobody() -> None:
    async def play() -> None:
        loud = Loud()
        fakes = await asking(loud, takes=("question", "gate"))
        assert [news.asks for news in loud.news if news.asks] == []
        assert await told(fakes) == [news.id for news in loud.news if isinstance(news.event, Ended)]

    asyncio.run(play())


@pytest.mark.parametrize("before", [True, False])
def test_the_end_and_its_notice_are_there_both_or_neither_when_the_controller_dies_at_it(*, before: bool) -> None:
    async def play() -> None:
        whole, loud = Fakes(), Loud()
        await whole.create()
        counting = DyingStore(whole.store, 10_000)
        await drive(replace(whole.world(counting), notices=loud), LOOP)  # type: ignore[arg-type]
        fakes, deaf = Fakes(), Loud()
        await fakes.create()
        dying = DyingStore(fakes.store, counting.appends, before=before)
        with pytest.raises(Killed):
            await drive(replace(fakes.world(dying), notices=deaf), LOOP)  # type: ignore[arg-type]
        row = (await fakes.store.load(LOOP)).row
        assert await told(fakes) == ([] if before else [f"{LOOP}/{row.seq}"])
        assert (bool(row.outcome), deaf.started) == (not before, 0)
        await fakes.store.release(LOOP, row.fence)
        await drive(replace(fakes.world(), notices=deaf), LOOP)
        last = (await fakes.store.load(LOOP)).row.seq
        assert await told(fakes) == [f"{LOOP}/{last}"]

    asyncio.run(play())


def test_what_nobody_can_put_into_words_keeps_no_event_out_of_the_log() -> None:
    async def play() -> None:
        fakes = Fakes()
        await fakes.create()
        halt = await drive(replace(fakes.world(), notices=Loud(fault=ValueError("no words"))), LoopId(LOOP))
        assert (halt.why, await told(fakes)) == ("ended", [])

    asyncio.run(play())
