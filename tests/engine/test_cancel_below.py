"""A cancel reaches everything below, although no parent tells its children."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import cast

import pytest

from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import CancelRequested
from loopwright.kernel.model import Cleanup, Commit, LoopId
from loopwright.ports.store import Store
from tests.engine.test_toy_kill import poet
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed
from tests.toys.anthology import ANTHOLOGY, AnthologyParams
from tests.toys.haiku import HAIKU, HaikuParams


async def three_deep() -> Fakes:
    """A root, a part of it, and below that a haiku, which waits at its gate."""
    fakes = Fakes(agent=poet, loops={"haiku": HAIKU, "anthology": ANTHOLOGY})
    poem = encode(HaikuParams(theme="a frog", base=BASE))
    inner = AnthologyParams(kind="haiku", params=poem, base=Commit(BASE))
    await fakes.create_loop("anthology", encode(AnthologyParams(kind="anthology", params=encode(inner))))
    return fakes


async def kinds_in(fakes: Fakes, loop: LoopId) -> Counter[str]:
    return Counter(record.kind for record in await fakes.store.read(loop))


async def all_ended(fakes: Fakes) -> None:
    rows = await fakes.store.rows()
    assert [row.status for row in rows] == ["cancelled"] * 3
    for row in rows:
        kinds = await kinds_in(fakes, row.id)
        assert (kinds["CancelRequested"], kinds["Ended"], kinds["Refused"]) == (1, 1, 0)
        assert await fakes.store.inbox(row.id) == ()


def test_everything_below_ends_with_the_cleanup_that_was_chosen_and_by_whom_it_was_told() -> None:
    async def story() -> None:
        fakes = await three_deep()
        halt = await fakes.drive()
        (gate,) = halt.waiting
        cancel = CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING, by="ann")
        await fakes.store.post(LOOP, "CancelRequested", encode(cancel))
        await fakes.drive()
        await all_ended(fakes)
        (said,) = [each for each in await fakes.store.read(gate.loop) if each.kind == "CancelRequested"]
        assert decode(CancelRequested, said.data) == CancelRequested(by="the parent loop")

    asyncio.run(story())


@pytest.mark.parametrize("dies_at", range(1, 16))
def test_killed_anywhere_on_the_way_nothing_is_left_open_or_told_twice(dies_at: int) -> None:
    async def story() -> None:
        fakes = await three_deep()
        await fakes.drive()
        await fakes.store.post(LOOP, "CancelRequested", encode(CancelRequested(by="ann")))
        with suppress(Killed):
            await fakes.drive(cast(Store, DyingStore(fakes.store, dies_at)))
        await fakes.drive()
        await all_ended(fakes)

    asyncio.run(story())


def test_what_was_never_begun_is_not_begun_to_be_cancelled() -> None:
    async def story() -> None:
        fakes = await three_deep()
        await fakes.store.post(LOOP, "CancelRequested", encode(CancelRequested(by="ann")))
        await fakes.drive()
        assert [row.status for row in await fakes.store.rows()] == ["cancelled"]

    asyncio.run(story())
