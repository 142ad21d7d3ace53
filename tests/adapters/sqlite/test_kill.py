import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.adapters.sqlite.migrations import MIGRATIONS
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.testing.clock import ManualClock
from tests.adapters.sqlite.store_history import everything, write_history
from tests.ports.conformance.store_parts import LOOP, begin

PROJECT = Path(__file__).parent.parent.parent.parent
KILLS = 30


def child(what: str, path: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "tests.adapters.sqlite.store_child", what, str(path)]
    return subprocess.Popen(argv, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


def acknowledged_before_the_kill(path: Path, count: int) -> int:
    """Kill a process that appends once it has acknowledged `count` times; what it said until then counts too."""
    with child("append", path) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(count)]
        process.kill()
        said += process.stdout.readlines()
    return int([text for text in said if text.endswith("\n")][-1])


async def inspect(path: Path, acknowledged: int) -> None:
    store = SqliteStore.open(path, ManualClock())
    try:
        await store.verify(LOOP)
        loaded = await store.load(LOOP)
        row, last = loaded.row, (await store.read(LOOP))[-1]
        assert row.seq >= acknowledged
        assert await store.holder(LOOP) is None
        # One append carries all of this, so all of it stands or falls together.
        assert row.spent == pytest.approx(0.01 * (row.seq - 1))
        assert len(await store.inbox(LOOP)) <= KILLS
        assert last.seq == row.seq
        assert loaded.snapshot in (None, f'{{"seq":{loaded.snapshot_seq}}}')
    finally:
        await store.close()


@pytest.mark.slow
def test_every_acknowledged_event_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / ".loop" / "loop.db"

    async def start() -> None:
        store = SqliteStore.open(path, ManualClock())
        await begin(store)
        await store.close()

    asyncio.run(start())
    chance = random.Random(os.urandom(8))  # noqa: S311 -- moments to kill at, not secrets
    for _ in range(KILLS):
        acknowledged = acknowledged_before_the_kill(path, chance.randint(1, 30))
        asyncio.run(inspect(path, acknowledged))


def test_a_kill_in_the_middle_of_a_migration_leaves_the_old_version_and_its_copy(tmp_path: Path) -> None:
    path = tmp_path / ".loop" / "loop.db"
    asyncio.run(write_history(path))
    before = asyncio.run(everything(path))
    with child("migrate", path) as process:
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    kept = path.with_name(f"loop.db.backup-v{len(MIGRATIONS)}")
    copy = tmp_path / "restored" / "loop.db"
    copy.parent.mkdir()
    copy.write_bytes(kept.read_bytes())
    assert asyncio.run(everything(path)) == before
    assert asyncio.run(everything(copy)) == before
