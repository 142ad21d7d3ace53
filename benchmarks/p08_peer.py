"""P8's second half: what one iteration of ralph-orchestrator costs over its own bare commands."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measuring import in_turn, seconds
from benchmarks.peer_runs import Against, PeerFailed, PeerLine, run_peer
from benchmarks.sample import git, make_repository

FAIR = (
    "an iteration is the same agent and a commit in the person's own tree, timed inside its process: no worktree, no "
    "reviewer, no check, and without the 2 s it sleeps before a next iteration. It is the last release on PyPI; 2.x "
    "comes as an npm package that fetches a program from GitHub, and was not taken"
)


def _bare(repository: Path) -> None:
    """What its iteration comes to without it: the agent and a commit."""
    result = {"LOOP_ROLE": "developer", "LOOP_RESULT": str(repository.parent / "result.json")}
    subprocess.run([repository.parent / "agent"], cwd=repository, check=True, env={**os.environ, **result})
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "work")


def against_ralph(ours_over: float) -> Against:
    """`ours_over` is what our iteration takes over our bare commands, in seconds."""
    lines: list[PeerLine] = []
    with tempfile.TemporaryDirectory() as folder:
        repository = make_repository(Path(folder))

        def ralph() -> float:
            lines.append(run_peer("ralph_iteration", "seconds", str(repository)))
            return lines[-1].value

        try:
            pairs = in_turn(ralph, lambda: seconds(lambda: _bare(repository)))
        except PeerFailed as failure:
            return Against(details={}, notes=(f"ralph-orchestrator: not taken, {failure}.",), met=False)
    over = statistics.median(mine - other for mine, other in zip(pairs.ours, pairs.theirs, strict=True))
    return Against(
        details={"ralph_ms": statistics.median(pairs.ours) * 1000, "ralph_overhead_ms": over * 1000},
        notes=(f"ralph-orchestrator {lines[-1].version}: {FAIR}.",),
        met=ours_over <= over,
    )
