"""P8: one whole iteration with an agent that does next to nothing, against the bare commands alone."""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import Figure, Pairs, in_turn, seconds
from benchmarks.p08_peer import against_ralph
from benchmarks.peer_runs import MISSING, are_installed
from benchmarks.sample import git, make_repository, open_sample, run_iteration

SLOW_AGENT = 5.0  # seconds, for the relative goal


def _bare(repository: Path, numbers: itertools.count[int]) -> None:
    """What the iteration comes to without an engine: worktree, developer, commit, reviewer, check."""
    tree = repository.parent / f"bare-{next(numbers)}"
    git(repository, "worktree", "add", "-q", "--detach", str(tree))
    for role in ("developer", "reviewer"):
        result = {"LOOP_ROLE": role, "LOOP_RESULT": str(tree.parent / "result.json")}
        subprocess.run([tree.parent / "agent"], cwd=tree, check=True, env={**os.environ, **result})
        if role == "developer":
            git(tree, "add", "-A")
            git(tree, "commit", "-qm", "work")
    subprocess.run([sys.executable, "-c", "pass"], cwd=tree, check=True)


def _pairs(pause: float, rounds: int) -> Pairs:
    with tempfile.TemporaryDirectory() as folder:
        repository = make_repository(Path(folder), pause=pause / 2)  # developer and reviewer share it
        project = open_sample(repository)
        numbers = itertools.count()

        def timed(work: Callable[[], None]) -> Callable[[], float]:
            return lambda: seconds(work)

        run_iteration(project, repository)  # the check's result on the base is recorded once per base
        pairs = in_turn(
            timed(lambda: run_iteration(project, repository)), timed(lambda: _bare(repository, numbers)), rounds
        )
        asyncio.run(project.store.close())
    return pairs


def measure(*, smoke: bool = False) -> Figure:
    quick = _pairs(0.0, 1 if smoke else 9)
    slow = quick if smoke else _pairs(SLOW_AGENT, 5)
    over = statistics.median(mine - other for mine, other in zip(quick.ours, quick.theirs, strict=True))
    peer = against_ralph(over) if are_installed() and not smoke else None
    return Figure(
        name="P8",
        what=f"one iteration with a {SLOW_AGENT:g} s agent (and overhead with an instant one)",
        against="the bare commands: worktree, agent, commit, reviewer, check; "
        + ("ralph-orchestrator" if peer else MISSING),
        value=slow.median,
        low=min(slow.ratios),
        high=max(slow.ratios),
        goal="<= 1.05, and <= bare + 250 ms; less over bare than the peer",
        met=slow.median <= 1.05 and over <= 0.25,
        details={
            "overhead_ms": over * 1000,
            "ours_ms": statistics.median(quick.ours) * 1000,
            "bare_ms": statistics.median(quick.theirs) * 1000,
            **(peer.details if peer else {}),
        },
        peers_met=peer.met if peer else None,
        notes=peer.notes if peer else (),
    )
