"""P4: the stop hook, whole process, which every turn of an agent pays, against an interpreter that imports json."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Figure, Pairs, in_turn, seconds
from loopwright.hook import LIST_ID, expiry, lease_text

LOOP = Path(sys.executable).with_name("loop")
PLAIN = [sys.executable, "-c", "import json"]
TASKS = 25  # as many as a loop may have
GOAL = 1.3
ROUNDS = 41  # each takes some hundredths of a second


def _project(top: Path) -> dict[str, str]:
    """A loop with all of its tasks open, shared with a session that holds the lease; the environment to ask in."""
    folder, tasks = top / "project" / ".loop", top / ".claude" / "tasks" / "bench"
    for each in (folder, tasks):
        each.mkdir(parents=True)
    (folder / "workflow-state.json").write_text('{"version": 1, "stage": "executing", "task": "measure"}')
    for number in range(1, TASKS + 1):
        task = {"id": str(number), "subject": f"Task {number}", "description": "x" * 500, "status": "pending"}
        (tasks / f"{number}.json").write_text(json.dumps(task))
    # Compiled files are there on every machine but the first time; and nobody measures what is measured.
    left_out = ("PYTHONDONTWRITEBYTECODE", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
    return {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": str(top), LIST_ID: "bench"}


def _against_plain(environ: dict[str, str], cwd: Path, rounds: int, *, active: bool) -> Pairs:
    said = json.dumps({"session_id": "one", "cwd": str(cwd), "stop_hook_active": active}).encode()
    lease = cwd / ".loop" / "lease.json"

    def process(argv: list[str]) -> float:
        lease.write_text(lease_text(loop="bench", list_id="bench", session="one", expires=expiry(time.time())))
        answers: list[bytes] = []
        took = seconds(
            lambda: answers.append(
                subprocess.run(argv, input=said, env=environ, cwd=cwd, stdout=subprocess.PIPE, check=True).stdout
            )
        )
        if argv is not PLAIN:
            assert (b"pending tasks" in answers[0]) is not active
        return took

    ours = [str(LOOP), "hook", "stop"]
    process(ours)  # compiles what was never compiled
    return in_turn(lambda: process(ours), lambda: process(PLAIN), rounds)


def measure(*, smoke: bool = False) -> Figure:
    rounds = 1 if smoke else ROUNDS
    with tempfile.TemporaryDirectory() as top:
        environ = _project(Path(top))
        holds = _against_plain(environ, Path(top) / "project", rounds, active=False)
        lets_go = _against_plain(environ, Path(top) / "project", rounds, active=True)
    return Figure(
        name="P4",
        what=f"the stop hook, whole process: {TASKS} task files read, the lease prolonged, the turn held",
        against='`python -c "import json"` of the same environment',
        value=holds.median,
        low=min(holds.ratios),
        high=max(holds.ratios),
        goal=f"<= {GOAL}",
        met=holds.median <= GOAL,
        details={
            "ours_ms": statistics.median(holds.ours) * 1000,
            "plain_ms": statistics.median(holds.theirs) * 1000,
            "ratio_when_active": lets_go.median,
        },
    )
