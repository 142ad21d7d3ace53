"""A state that is large is packed less often, so that an event of a long plan costs no more than one of a short one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from loopwright.engine.fold import packed
from loopwright.engine.journal import open_loop
from loopwright.engine.session import SNAPSHOT_EVERY, SNAPSHOT_PER_EVENT, Recording, Session
from loopwright.kernel.events import Refused
from loopwright.ports.dispatcher import Errand
from tests.engine.worlds import LOOP, Fakes

REFUSED = Recording(event=Refused(what="Answered", why="no"))


async def session() -> Session:
    fakes = Fakes()
    await fakes.create()
    return Session.of(await open_loop(fakes.store, fakes.loops, LOOP), Errand(path=(LOOP,)), lambda _a, _n: 0.0)


def events_until_packed(begun: Session) -> int:
    for number in range(1, 10 * SNAPSHOT_EVERY):
        draft = begun.draft(REFUSED)
        if draft.append.snapshot is not None:
            assert begun.written(draft).snapshot_size == len(draft.append.snapshot)
            return number
        begun = begun.written(draft)
    raise AssertionError("it is never packed")


@pytest.mark.parametrize(
    ("size", "events"),
    [(0, SNAPSHOT_EVERY), (SNAPSHOT_PER_EVENT * SNAPSHOT_EVERY, SNAPSHOT_EVERY), (SNAPSHOT_PER_EVENT * 300, 300)],
)
def test_a_snapshot_is_due_after_as_many_events_as_the_last_was_large(size: int, events: int) -> None:
    async def story() -> None:
        begun = await session()
        assert events_until_packed(replace(begun, snapshot_at=begun.length, snapshot_size=size)) == events

    asyncio.run(story())


def test_a_loop_that_is_opened_again_knows_how_large_its_snapshot_is() -> None:
    async def story() -> None:
        fakes = Fakes()
        await fakes.create()
        begun = await open_loop(fakes.store, fakes.loops, LOOP)
        fence = await fakes.store.claim(LOOP, "tests")
        batch = replace(
            Session.of(begun, Errand(path=(LOOP,)), lambda _action, _now: 0.0).draft(REFUSED).append,
            snapshot=packed(begun.now),
        )
        await fakes.store.append(LOOP, fence=fence, expected=begun.row.seq, batch=batch)
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        assert opened.snapshot_size == len(packed(begun.now))

    asyncio.run(story())
