"""P1: events appended per second, fully synced, against raw one-row commits on the same SQLite and settings.

Where `./run bench-setup` was run, whole transitions are taken against the steps of the peers as well.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

import apsw

from benchmarks.measuring import ROUNDS, Figure, in_turn, seconds
from benchmarks.p01_peers import GOAL, PEERS, against_peers, transitions
from benchmarks.peer_runs import MISSING, are_installed
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created, Started
from loopwright.kernel.model import Key, LoopId
from loopwright.ports.store import Append, NewEvent, NewLoop

EVENTS = 2000
APPENDS, WHOLE = 0.6, 0.5  # of the raw commits
LOOP = LoopId("bench")
_COST = (
    "On 2026-11-18 an append took 46 us of processor time and a raw commit 13 (in memory, no disk). It took 39 us"
    " before appends returned their rows, refused a log behind its witnesses and kept an outbox; the shares of these"
    " were not measured apart."
)


def _event(number: int) -> NewEvent:
    started = Started(
        key=Key("implement", number, tries=1), action="RunAgent", what="developer", why="iteration 1 failed"
    )
    return NewEvent(kind="Started", data=encode(started))


async def _ours(folder: Path, events: int) -> float:
    store = SqliteStore.open(folder / "loop.db", SystemClock())
    await store.create(
        NewLoop(id=LOOP, kind="bench", params="{}"),
        NewEvent(kind="Created", data=encode(Created(kind="bench", params="{}"))),
    )
    fence = await store.claim(LOOP, "bench")
    clock = SystemClock()
    start = clock.monotonic()
    for number in range(events):
        await store.append(LOOP, fence=fence, expected=number + 1, batch=Append(entries=(_event(number),)))
    taken = clock.monotonic() - start
    await store.close()
    return events / taken


def ours(events: int = EVENTS) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_ours(Path(folder), events))


def raw(events: int = EVENTS) -> float:
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(str(Path(folder) / "raw.db"))
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, data TEXT NOT NULL)")

        def fill() -> None:
            for number in range(events):
                with connection:
                    connection.execute("INSERT INTO events (data) VALUES (?)", (_event(number).data,))

        taken = seconds(fill)
        connection.close()
        return events / taken


def measure(*, smoke: bool = False) -> Figure:
    events, rounds = (20, 1) if smoke else (EVENTS, ROUNDS)
    pairs = in_turn(lambda: ours(events), lambda: raw(events), rounds)
    whole = in_turn(lambda: transitions(events), lambda: raw(events), rounds)
    peers = against_peers() if are_installed() and not smoke else None
    beside = ", ".join(peer.name for peer in PEERS) if peers else MISSING
    return Figure(
        name="P1",
        what="events appended per second, one loop, fully synced",
        against=f"raw one-row commits, same SQLite and settings; {beside}",
        value=pairs.median,
        low=min(pairs.ratios),
        high=max(pairs.ratios),
        goal=f">= {APPENDS}, whole transitions >= {WHOLE}; >= {GOAL:g} x each peer",
        met=pairs.median >= APPENDS and whole.median >= WHOLE,
        details={
            "ours_per_second": statistics.median(pairs.ours),
            "raw_per_second": statistics.median(pairs.theirs),
            "whole_transitions": whole.median,
            **(peers.details if peers else {}),
        },
        peers_met=peers.met if peers else None,
        notes=(_COST, *(peers.notes if peers else ())),
    )
