"""What every store must do, as numbered contracts: run each against a fresh store, see `CONTRACTS`.

A store that wants to be one of ours passes them all:

    @pytest.mark.parametrize("contract", CONTRACTS)
    def test_my_store(contract): asyncio.run(contract(my_fresh_data))
"""

from __future__ import annotations

from loopwright.errors import AlreadyRunning, StoreConflict, UsageError
from loopwright.kernel.model import LoopId
from loopwright.ports import hashes
from loopwright.ports.store import Append, NewEvent, NewLoop, Written
from tests.ports.conformance.store_mail import MAIL
from tests.ports.conformance.store_money import MONEY
from tests.ports.conformance.store_outbox import OUTBOX
from tests.ports.conformance.store_parts import LOOP, Contract, Fresh, begin, entries, raised


async def c01_a_new_loop_is_there_with_its_first_event(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        written = await store.create(
            NewLoop(id=LOOP, kind="sample", params='{"a":1}', budget=2.5), NewEvent(kind="Created", data="{}")
        )
        loaded = await (await opened()).load(LOOP)
    row = loaded.row
    assert (row.id, row.kind, row.params, row.parent) == (LOOP, "sample", '{"a":1}', None)
    assert (row.status, row.seq, row.fence, row.outcome) == ("running", 1, 0, "")
    assert (row.budget, row.spent, row.reserved) == (2.5, 0.0, 0.0)
    assert (loaded.snapshot, loaded.snapshot_seq) == (None, 0)
    assert [(record.seq, record.kind, record.data) for record in loaded.tail] == [(1, "Created", "{}")]
    assert written == Written(row=row, records=loaded.tail)


async def c02_creating_a_loop_again_changes_nothing(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        await begin(store)
        before = await store.load(LOOP)
        other = NewLoop(id=LOOP, kind="other", params="{}")
        assert await store.create(other, NewEvent(kind="Other", data="{}")) is None
        assert await store.load(LOOP) == before


async def c03_an_unknown_loop_is_a_usage_error(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        nobody = LoopId("nobody")
        child = NewLoop(id=LOOP, kind="sample", params="{}", parent=nobody)
        await raised(UsageError, store.load(nobody))
        await raised(UsageError, store.read(nobody))
        await raised(UsageError, store.verify(nobody))
        await raised(UsageError, store.claim(nobody, "me"))
        await raised(UsageError, store.post(nobody, "Answered", "{}"))
        nameless = NewLoop(id=LoopId(""), kind="sample", params="{}")
        for impossible in (child, nameless):
            await raised(UsageError, store.create(impossible, NewEvent(kind="Created", data="{}")))
        assert await store.holder(nobody) is None
        assert await store.rows() == ()


async def c04_events_are_read_back_as_they_were_appended(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        odd = NewEvent(
            kind="Odd", data='{"text":"ä\\u0000 \U0001f600 \x00 \'; --"}', reserve=0.1, release=0.1, spend=0.25
        )
        written = await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=(*entries(2), odd)))
        records = await store.read(LOOP)
        assert written == Written(row=(await store.load(LOOP)).row, records=records[1:])
        assert [record.seq for record in records] == [1, 2, 3, 4]
        last = records[-1]
        assert (last.loop, last.kind, last.data) == (LOOP, odd.kind, odd.data)
        assert (last.reserve, last.release, last.spend) == (0.1, 0.1, 0.25)
        assert await store.read(LOOP, after=1, limit=2) == records[1:3]
        assert await store.read(LOOP, limit=0) == ()
        assert await store.read(LOOP, after=4) == ()


async def c05_another_length_is_a_conflict_and_nothing_is_written(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        before = await store.load(LOOP)
        batch = Append(entries=entries(1), status="paused", snapshot="{}")
        for expected in (0, 2):
            await raised(StoreConflict, store.append(LOOP, fence=fence, expected=expected, batch=batch))
        assert await store.load(LOOP) == before


async def c06_a_loop_has_one_holder(fresh: Fresh) -> None:
    async with fresh() as opened:
        first, second = await opened(), await opened()
        fence = await begin(first, who="pid 1 on here")
        refused = await raised(AlreadyRunning, second.claim(LOOP, "pid 2 on here"))
        assert (refused.loop, refused.holder) == (LOOP, "pid 1 on here")
        await raised(AlreadyRunning, first.claim(LOOP, "pid 1 on here"))
        assert await second.holder(LOOP) == "pid 1 on here"
        await first.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))


async def c07_who_let_go_can_no_longer_write(fresh: Fresh) -> None:
    async with fresh() as opened:
        first, second = await opened(), await opened()
        old = await begin(first)
        await first.release(LOOP, old)
        assert await second.holder(LOOP) is None
        await raised(StoreConflict, first.append(LOOP, fence=old, expected=1, batch=Append(entries=entries(1))))
        new = await second.claim(LOOP, "pid 2 on here")
        assert new > old
        await raised(StoreConflict, first.append(LOOP, fence=old, expected=1, batch=Append(entries=entries(1))))
        await raised(StoreConflict, second.append(LOOP, fence=old, expected=1, batch=Append(entries=entries(1))))
        await second.append(LOOP, fence=new, expected=1, batch=Append(entries=entries(1)))


async def c08_letting_go_with_an_old_fence_is_harmless(fresh: Fresh) -> None:
    async with fresh() as opened:
        first, second = await opened(), await opened()
        old = await begin(first)
        await first.release(LOOP, old)
        new = await second.claim(LOOP, "pid 2 on here")
        await first.release(LOOP, old)
        await second.release(LOOP, old)
        assert await first.holder(LOOP) == "pid 2 on here"
        await second.release(LOOP, new)
        assert await first.holder(LOOP) is None


async def c09_a_closed_store_holds_nothing(fresh: Fresh) -> None:
    async with fresh() as opened:
        first, second = await opened(), await opened()
        old = await begin(first)
        await first.close()
        assert await second.holder(LOOP) is None
        assert await second.claim(LOOP, "pid 2 on here") == old + 1


async def c10_loops_are_held_apart(fresh: Fresh) -> None:
    async with fresh() as opened:
        first, second = await opened(), await opened()
        await begin(first)
        assert await begin(second, LoopId("other")) == 1


async def c11_a_snapshot_and_what_came_after_it(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(3), snapshot='{"at":4}'))
        at_once = await store.load(LOOP)
        assert (at_once.snapshot, at_once.snapshot_seq, at_once.tail) == ('{"at":4}', 4, ())
        await store.append(LOOP, fence=fence, expected=4, batch=Append(entries=entries(2)))
        later = await store.load(LOOP)
        assert (later.snapshot, later.snapshot_seq) == ('{"at":4}', 4)
        assert later.tail == (await store.read(LOOP))[4:]
        whole = await store.load(LOOP, snapshot=False)
        assert (whole.row, whole.snapshot, whole.snapshot_seq) == (later.row, None, 0)
        assert whole.tail == await store.read(LOOP)
        await store.append(LOOP, fence=fence, expected=6, batch=Append(entries=(), snapshot='{"at":6}'))
        assert ((await store.load(LOOP)).snapshot, (await store.load(LOOP)).snapshot_seq) == ('{"at":6}', 6)


async def c12_a_batch_changes_only_what_it_names(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        batch = Append(entries=entries(1), status="complete", outcome='{"ending":"verified"}', budget=3.0)
        await store.append(LOOP, fence=fence, expected=1, batch=batch)
        await store.append(LOOP, fence=fence, expected=2, batch=Append(entries=entries(1)))
        row = (await store.load(LOOP)).row
        assert (row.status, row.outcome, row.budget) == ("complete", '{"ending":"verified"}', 3.0)
        await store.append(LOOP, fence=fence, expected=3, batch=Append(entries=(), status="running"))
        assert (await store.load(LOOP)).row.status == "running"


async def c13_each_hash_covers_its_record_and_the_hash_before(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(4)))
        records = await store.read(LOOP)
        row = (await store.load(LOOP)).row
        previous = hashes.anchor(row.id, row.kind, row.params)
        for record in records:
            assert record.hash == hashes.link(previous, record.loop, record.seq, record.at, record)
            previous = record.hash
        await store.verify(LOOP)


async def c14_rows_are_listed_newest_first(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        for name in ("b", "a", "c"):
            await begin(store, LoopId(name))
        rows = await store.rows()
        assert [row.id for row in rows] == ["c", "a", "b"]
        assert rows[0] == (await store.load(LoopId("c"))).row


async def c15_the_version_changes_with_every_write_of_any_handle(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        await begin(store)
        before = await store.version()
        assert await store.version() == before
        await other.post(LOOP, "Answered", "{}")
        between = await store.version()
        await store.post(LOOP, "Answered", "{}")
        assert len({before, between, await store.version()}) == 3


async def c16_what_cannot_be_stored_is_refused_whole(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        before = await store.load(LOOP)
        for bad in (NewEvent(kind="Bad", data="\ud800"), NewEvent(kind="Bad", data="{}", spend=float("nan"))):
            batch = Append(entries=(*entries(1), bad), status="paused")
            await raised(ValueError, store.append(LOOP, fence=fence, expected=1, batch=batch))
        assert await store.load(LOOP) == before
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1)))


CONTRACTS: tuple[Contract, ...] = (
    c01_a_new_loop_is_there_with_its_first_event,
    c02_creating_a_loop_again_changes_nothing,
    c03_an_unknown_loop_is_a_usage_error,
    c04_events_are_read_back_as_they_were_appended,
    c05_another_length_is_a_conflict_and_nothing_is_written,
    c06_a_loop_has_one_holder,
    c07_who_let_go_can_no_longer_write,
    c08_letting_go_with_an_old_fence_is_harmless,
    c09_a_closed_store_holds_nothing,
    c10_loops_are_held_apart,
    c11_a_snapshot_and_what_came_after_it,
    c12_a_batch_changes_only_what_it_names,
    c13_each_hash_covers_its_record_and_the_hash_before,
    c14_rows_are_listed_newest_first,
    c15_the_version_changes_with_every_write_of_any_handle,
    c16_what_cannot_be_stored_is_refused_whole,
    *MONEY,
    *MAIL,
    *OUTBOX,
)
