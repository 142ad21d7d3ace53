"""Contracts 70 to 73 of the store: what people are sent."""

from __future__ import annotations

from loopwright.errors import OverBudget, StoreConflict
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent, NewNotice, PendingNotice, Store
from tests.ports.conformance.store_parts import LOOP, Contract, Fresh, begin, entries, raised


def notice(number: int, loop: LoopId = LOOP) -> NewNotice:
    return NewNotice(id=f"{loop}/{number}", loop=loop, topic="gate", title=f"title {number}", body="a\nb ✓")


async def _told(store: Store, fence: int, *notices: NewNotice, expected: int = 1) -> None:
    await store.append(LOOP, fence=fence, expected=expected, batch=Append(entries=entries(1), notices=notices))


async def c70_a_notice_is_there_with_its_event_oldest_first(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        fence = await begin(store)
        assert await store.notices() == ()
        await _told(store, fence, notice(2), notice(1))
        await _told(store, fence, notice(3), expected=2)
        found = await other.notices()
        at = (await store.load(LOOP)).row.updated
    assert [each.notice for each in found] == [notice(2), notice(1), notice(3)]
    assert found[2] == PendingNotice(notice=notice(3), at=at, attempts=0, tried=0.0, why="")


async def c71_a_refused_batch_tells_nobody(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        dear = Append(entries=(NewEvent(kind="Started", data="{}", reserve=2.0),), notices=(notice(1),))
        await raised(OverBudget, store.append(LOOP, fence=fence, expected=1, batch=dear))
        await raised(StoreConflict, _told(store, fence, notice(1), expected=7))
        assert await store.notices() == ()


async def c72_what_was_delivered_is_pending_no_longer_and_never_again(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        fence = await begin(store)
        await _told(store, fence, notice(1), notice(2))
        await other.notice_delivered(notice(1).id)
        await other.notice_delivered(notice(1).id)
        await other.notice_failed(notice(1).id, "too late")
        await other.notice_delivered("unknown")
        await _told(store, fence, notice(1), expected=2)
        assert [each.notice for each in await store.notices()] == [notice(2)]


async def c73_what_failed_stays_pending_with_how_often_and_why(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        fence = await begin(store)
        await _told(store, fence, notice(1))
        await other.notice_failed(notice(1).id, "first")
        await other.notice_failed(notice(1).id, "second")
        await other.notice_failed("unknown", "nobody")
        (found,) = await store.notices()
        assert (found.notice, found.attempts, found.why) == (notice(1), 2, "second")
        assert found.tried >= found.at
        await store.notice_delivered(notice(1).id)
        assert await other.notices() == ()


OUTBOX: tuple[Contract, ...] = (
    c70_a_notice_is_there_with_its_event_oldest_first,
    c71_a_refused_batch_tells_nobody,
    c72_what_was_delivered_is_pending_no_longer_and_never_again,
    c73_what_failed_stays_pending_with_how_often_and_why,
)
