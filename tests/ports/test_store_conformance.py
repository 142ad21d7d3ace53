import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.sqlite.database_file import ROLLBACK, WRITE_AHEAD, Durability, Options
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.errors import StoreCorrupt, StoreFailed
from loopwright.ports.store import Append, Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.ports.conformance.store import CONTRACTS
from tests.ports.conformance.store_parts import LOOP, Contract, Fresh, Opened, begin, entries


def sqlite(path: Path, durability: Durability) -> Fresh:
    clock = ManualClock()
    return closing(lambda: SqliteStore.open(path, clock, Options(durability=durability)))


def memory(path: Path) -> Fresh:
    shared, clock = Memory(), ManualClock()
    return closing(lambda: MemoryStore(shared, clock))


def closing(make: Callable[[], Store]) -> Fresh:
    @asynccontextmanager
    async def fresh() -> AsyncIterator[Opened]:
        handles: list[Store] = []

        async def opened() -> Store:
            handles.append(make())
            return handles[-1]

        yield opened
        for handle in handles:
            await handle.close()

    return fresh


STORES: dict[str, Callable[[Path], Fresh]] = {
    "memory": memory,
    "sqlite": lambda path: sqlite(path, WRITE_AHEAD),
    "sqlite-rollback": lambda path: sqlite(path, ROLLBACK),
}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
def test_every_store_keeps_every_contract(contract: Contract, store: str, tmp_path: Path) -> None:
    asyncio.run(contract(STORES[store](tmp_path / ".loop" / "loop.db")))


def test_contracts_are_numbered_in_order() -> None:
    numbers = [contract.__name__[:3] for contract in CONTRACTS]
    assert numbers == sorted(set(numbers))


def test_a_damaged_memory_is_found_as_a_damaged_file_is() -> None:
    async def use() -> None:
        shared = Memory()
        store = MemoryStore(shared, ManualClock())
        fence = await begin(store)
        await store.append(LOOP, fence=fence, expected=1, batch=Append(entries=entries(2)))
        records = shared.loops[LOOP].records
        records[1] = replace(records[1], data="changed")
        with pytest.raises(StoreCorrupt, match="loop l-1, event 2: "):
            await store.verify(LOOP)
        del records[1:]
        with pytest.raises(StoreCorrupt, match="loop l-1, event 2: it is missing"):
            await store.load(LOOP)
        await store.close()
        with pytest.raises(StoreFailed, match="the store is closed"):
            await store.rows()

    asyncio.run(use())
