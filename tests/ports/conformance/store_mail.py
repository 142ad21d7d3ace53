"""Contracts 50 to 59 of the store: inbox, receipts, blobs."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from loopwright.errors import OverBudget, StoreConflict, StoreCorrupt
from loopwright.kernel.model import Blob, LoopId
from loopwright.ports.store import Append, NewEvent
from tests.ports.conformance.store_parts import LOOP, Contract, Fresh, begin, entries, raised


async def c50_anyone_may_post_and_the_order_is_kept(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        await begin(store)
        await begin(store, LoopId("other"))
        first = await other.post(LOOP, "Answered", '{"n":1}')
        await other.post(LoopId("other"), "Answered", "{}")
        second = await store.post(LOOP, "CancelRequested", '{"n":2}')
        items = await store.inbox(LOOP)
        assert [(item.id, item.kind, item.data) for item in items] == [
            (first, "Answered", '{"n":1}'),
            (second, "CancelRequested", '{"n":2}'),
        ]


async def c51_what_was_taken_goes_with_the_event_it_became(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store)
        first, second = await store.post(LOOP, "Answered", "1"), await store.post(LOOP, "Answered", "2")
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(1), taken=(first,)))
        assert [item.id for item in await store.inbox(LOOP)] == [second]


async def c52_a_refused_batch_takes_nothing(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        item = await store.post(LOOP, "Answered", "1")
        dear = Append(entries=(NewEvent(kind="Started", data="{}", reserve=2.0),), taken=(item,))
        await raised(OverBudget, store.append(LOOP, fence=fence, expected=1, batch=dear))
        late = Append(entries=entries(1), taken=(item,))
        await raised(StoreConflict, store.append(LOOP, fence=fence, expected=7, batch=late))
        assert [held.id for held in await store.inbox(LOOP)] == [item]


async def c53_nothing_is_taken_twice(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        fence = await begin(store, budget=1.0)
        item = await store.post(LOOP, "Answered", "1")
        again = Append(entries=entries(1), taken=(item,))
        dear = Append(entries=(NewEvent(kind="Started", data="{}", reserve=2.0),), taken=(item,))
        await store.append(LOOP, fence=fence, expected=1, batch=again)
        before = await store.load(LOOP)
        # A conflict comes before a lack of money: who has to load again learns that first.
        for refused in (again, dear):
            await raised(StoreConflict, store.append(LOOP, fence=fence, expected=2, batch=refused))
        assert await store.load(LOOP) == before
        assert await store.post(LOOP, "Answered", "2") != item


async def c55_a_receipt_is_replaced_by_one_with_the_same_key(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        await begin(store)
        assert await store.receipt("k1") is None
        await store.keep_receipt("k1", LOOP, "one")
        await store.keep_receipt("k2", LOOP, "two")
        await store.keep_receipt("k3", LoopId("other"), "three")
        await store.keep_receipt("k1", LOOP, "one again")
        assert await other.receipt("k1") == "one again"
        assert await other.receipts(LOOP) == ("two", "one again")


async def c59_what_the_chain_rests_on_is_named_and_nothing_else(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        fence = await begin(store)

        async def report(data: str, kind: str, expected: int) -> None:
            batch = Append(entries=(NewEvent(kind=kind, data=data),))
            await store.append(LOOP, fence=fence, expected=expected, batch=batch)

        assert not await other.is_named("n1", LOOP)
        await report('{"rests_on":["n1","n2"]}', "ChecksReported", 1)
        await report('{"rests_on":"n3","findings":["n4"]}', "ChecksReported", 2)
        await report('{"rests_on":["n5"]}', "Announced", 3)
        for asked in (LOOP, None):
            assert [name for name in ("n1", "n2", "n3", "n4", "n5") if await other.is_named(name, asked)] == [
                "n1",
                "n2",
            ]
        assert not await other.is_named("n1", LoopId("unknown"))
        await report('{"rests_on":["n6"]}', "ChecksReported", 4)
        assert await other.is_named("n6", LOOP)


async def c56_bytes_are_kept_by_their_content(fresh: Fresh) -> None:
    async with fresh() as opened:
        store, other = await opened(), await opened()
        content = bytes(range(256)) * 10
        blob = await store.keep(content)
        assert blob == hashlib.sha256(content).hexdigest()
        assert await store.keep(content) == blob
        assert await other.fetch(blob) == content
        assert await other.fetch(blob, limit=3) == content[:3]
        assert await other.fetch(blob, limit=10_000) == content
        assert await other.fetch(await store.keep(b"")) == b""


async def c57_a_file_is_moved_in_by_its_content(fresh: Fresh) -> None:
    async with fresh() as opened:
        store = await opened()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "output"
            for _ in range(2):
                file.write_bytes(b"output")
                blob = await store.keep_file(file)
                assert not file.exists()
                assert blob == hashlib.sha256(b"output").hexdigest()
                assert await store.fetch(blob) == b"output"


async def c58_a_blob_that_is_gone_is_said_to_be(fresh: Fresh) -> None:
    async with fresh() as opened:
        await raised(StoreCorrupt, (await opened()).fetch(Blob("0" * 64)))


MAIL: tuple[Contract, ...] = (
    c50_anyone_may_post_and_the_order_is_kept,
    c51_what_was_taken_goes_with_the_event_it_became,
    c52_a_refused_batch_takes_nothing,
    c53_nothing_is_taken_twice,
    c55_a_receipt_is_replaced_by_one_with_the_same_key,
    c56_bytes_are_kept_by_their_content,
    c57_a_file_is_moved_in_by_its_content,
    c58_a_blob_that_is_gone_is_said_to_be,
    c59_what_the_chain_rests_on_is_named_and_nothing_else,
)
