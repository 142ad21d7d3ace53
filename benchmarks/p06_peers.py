"""P6's second half: the same graph of no-op tasks through the schedulers of the peers, ours in turn with each."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import ROUNDS, in_turn
from benchmarks.peer_runs import Against, PeerFailed, PeerLine, run_peer


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    name: str
    script: str
    tasks: int
    rounds: int
    fair: str
    words: tuple[str, ...] = ()
    counts: bool = True  # as a peer that we are to be ahead of


SCHEDULERS = (
    Scheduler(
        name="langgraph",
        script="langgraph_plan",
        tasks=1_000,
        rounds=ROUNDS,
        fair="a node of one compiled graph, with a checkpoint in memory after every superstep; compiling not counted",
    ),
    Scheduler(
        name="langgraph_of_4000",
        script="langgraph_plan",
        tasks=4_000,
        rounds=3,
        fair="the same",
    ),
    Scheduler(
        name="celery",
        script="celery_plan",
        tasks=1_000,
        rounds=ROUNDS,
        fair="a task sent by the benchmark as soon as all it waits for have succeeded, for its canvas has no graph;"
        " Redis on a socket, without a disk; the worker's four threads in the same process",
    ),
    Scheduler(
        name="celery_in_memory",
        script="celery_plan",
        tasks=1_000,
        rounds=ROUNDS,
        fair="the same with its transport for tests, in one process that keeps nothing: what it costs to send and take"
        " a message, told and not counted as a scheduler of graphs",
        words=("in-memory",),
        counts=False,
    ),
    Scheduler(
        name="prefect",
        script="prefect_plan",
        tasks=200,
        rounds=3,  # every round starts a server
        fair="a task submitted with what it waits for, four threads, its own server on loopback",
    ),
)


def against_schedulers(ours: Callable[[int], float], graph: Callable[[int], object]) -> Against:
    """`ours` is the seconds per task of a graph of so many; `graph` is that graph."""
    details: dict[str, float] = {}
    notes: list[str] = []
    met = True
    for peer in SCHEDULERS:
        lines: list[PeerLine] = []
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder) / "plan.json"
            plan.write_text(json.dumps(graph(peer.tasks)))

            def theirs(peer: Scheduler = peer, plan: Path = plan, lines: list[PeerLine] = lines) -> float:
                lines.append(run_peer(peer.script, "seconds", str(plan), *peer.words))
                return lines[-1].value

            try:
                pairs = in_turn(lambda peer=peer: ours(peer.tasks), theirs, peer.rounds)  # type: ignore[misc]
            except PeerFailed as failure:
                notes.append(f"{peer.name}: not taken, {failure}.")
                met = met and not peer.counts
                continue
        times = [1 / ratio for ratio in pairs.ratios]
        details[f"times_{peer.name}"] = statistics.median(times)
        details[f"{peer.name}_ms_per_task"] = statistics.median(pairs.theirs) * 1000
        met = met and (statistics.median(times) > 1 or not peer.counts)
        spread = f"{min(times):.3g}-{max(times):.3g}"
        version = lines[-1].version
        notes.append(
            f"{peer.name} {version}, {peer.tasks} tasks, {statistics.median(times):.3g} times as long as ours"
            f" ({spread}, {peer.rounds} rounds): {peer.fair}."
        )
    return Against(details=details, notes=tuple(notes), met=met)
