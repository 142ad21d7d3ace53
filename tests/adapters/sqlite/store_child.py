"""A process of its own that uses a store: `python -m tests.adapters.sqlite.store_child <what> <path>`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import apsw

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.migrations import MIGRATIONS, upgrade
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.errors import AlreadyRunning
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent

LOOP = LoopId("l-1")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def hold(path: Path) -> None:
    """Claim the loop and keep it until the end of the process."""
    await SqliteStore.open(path, SystemClock()).claim(LOOP, f"pid {os.getpid()} on here")
    say("held")
    sys.stdin.read()


async def claim(path: Path) -> None:
    """Wait for the word, then try to claim, and keep what was won."""
    store = SqliteStore.open(path, SystemClock())
    say("ready")
    sys.stdin.readline()
    try:
        say(f"won {await store.claim(LOOP, 'child')}")
    except AlreadyRunning:
        say("lost")
    sys.stdin.readline()
    await store.close()


async def append(path: Path) -> None:
    """Append for ever, with everything that an append can carry, and say each length that was acknowledged."""
    store = SqliteStore.open(path, SystemClock())
    fence = await store.claim(LOOP, "child")
    seq = (await store.load(LOOP)).row.seq
    while True:
        item = await store.post(LOOP, "Answered", "{}")
        entries = tuple(NewEvent(kind="Happened", data=f'{{"after":{seq}}}', spend=0.01) for _ in range(1 + seq % 3))
        snapshot = f'{{"seq":{seq + len(entries)}}}' if seq % 5 == 0 else None
        batch = Append(entries=entries, taken=(item,), snapshot=snapshot)
        seq = (await store.append(LOOP, fence=fence, expected=seq, batch=batch)).row.seq
        say(str(seq))


async def migrate(path: Path) -> None:
    """Die in the middle of a migration."""

    def half(connection: apsw.Connection) -> None:
        connection.execute("ALTER TABLE loops ADD COLUMN colour TEXT")
        connection.execute("DELETE FROM events")
        os.kill(os.getpid(), signal.SIGKILL)

    upgrade(apsw.Connection(str(path)), path, (*MIGRATIONS, half))


if __name__ == "__main__":
    asyncio.run({"hold": hold, "claim": claim, "append": append, "migrate": migrate}[sys.argv[1]](Path(sys.argv[2])))
