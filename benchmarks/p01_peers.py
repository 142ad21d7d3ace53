"""P1's second half: full transitions through our engine against the durable steps of the peers, in turn.

What each side syncs was counted with strace: two fdatasync per transition of ours, one per step of DBOS, two per
superstep of LangGraph, none per task of Prefect.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.counting import LOOP, counting_store, counting_world
from benchmarks.measuring import ROUNDS, Pairs, in_turn
from benchmarks.peer_runs import Against, PeerFailed, PeerLine, run_peer
from loopwright.adapters.clock import SystemClock
from loopwright.engine.driver import drive

TRANSITIONS = 300
GOAL = 3.0
OURS = (
    "Ours is a whole transition through the engine, intent and result: a result is synced together with the next "
    "intent, before anything else happens (SQLite, WAL, synchronous = full)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    name: str
    script: str
    rounds: int
    fair: str


PEERS = (
    Peer(
        name="dbos",
        script="dbos_steps",
        rounds=ROUNDS,
        fair="a step is one synced commit of its result, with no record of the intent; its file is put into WAL mode, "
        "which is faster than the rollback journal DBOS ships with",
    ),
    Peer(
        name="langgraph",
        script="langgraph_steps",
        rounds=ROUNDS,
        fair="a step is one superstep with `durability='sync'`: the node's writes and the checkpoint, synced like ours",
    ),
    Peer(
        name="prefect",
        script="prefect_steps",
        rounds=3,  # every round starts a server
        fair="a step is one task with a persisted result; nothing is synced before the next task begins, the result is "
        "a plain file and the server hears of the run later, so this is less durable than ours",
    ),
)


async def _count(folder: Path, transitions: int) -> float:
    store = await counting_store(folder, transitions)
    clock = SystemClock()
    start = clock.monotonic()
    halt = await drive(counting_world(store, lambda _: None), LOOP)
    taken = clock.monotonic() - start
    await store.close()
    assert halt.why == "ended", halt
    return transitions / taken


def transitions(count: int = TRANSITIONS) -> float:
    """Return whole transitions per second: intent and result, one sync."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_count(Path(folder), count))


def _taken(peer: Peer) -> tuple[str, Pairs]:
    lines: list[PeerLine] = []

    def theirs() -> float:
        lines.append(run_peer(peer.script, "per_second"))
        return lines[-1].value

    pairs = in_turn(transitions, theirs, peer.rounds)
    return lines[-1].version, pairs


def against_peers() -> Against:
    details: dict[str, float] = {}
    notes = [OURS]
    met = True
    for peer in PEERS:
        try:
            version, pairs = _taken(peer)
        except PeerFailed as failure:
            notes.append(f"{peer.name}: not taken, {failure}.")
            met = False
            continue
        details[f"times_{peer.name}"] = pairs.median
        details[f"ours_beside_{peer.name}_per_second"] = statistics.median(pairs.ours)
        details[f"{peer.name}_per_second"] = statistics.median(pairs.theirs)
        met = met and pairs.median >= GOAL
        spread = f"{min(pairs.ratios):.3g}-{max(pairs.ratios):.3g}"
        notes.append(f"{peer.name} {version}, {pairs.median:.3g} times ({spread}, {peer.rounds} rounds): {peer.fair}.")
    return Against(details=details, notes=tuple(notes), met=met)
