import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopwright.adapters.stores.opening import ROLLBACK, WRITE_AHEAD, Durability, Options
from loopwright.adapters.stores.sqlite import SqliteStore
from loopwright.ports.store import Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.conformance.store import CONTRACTS
from loopwright.testing.conformance.store_parts import Contract, Fresh, Opened
from loopwright.testing.memory_store import Memory, MemoryStore


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
