"""P12: a step that prints 1 GB: memory of its supervisor, and speed against `cat > /dev/null`."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measuring import Figure, in_turn, seconds
from loopwright.adapters.steps import StepSpec, run_step

SIZE = 1 << 30
FLOOD = ("head", "-c", str(SIZE), "/dev/zero")


def ours() -> float:
    with tempfile.TemporaryDirectory() as folder:
        spec = StepSpec(
            argv=FLOOD, cwd=Path(folder), env={"PATH": os.defpath}, folder=Path(folder) / "run", root=Path(folder)
        )
        taken = seconds(lambda: asyncio.run(run_step(spec)))
    return SIZE / taken


def plain() -> float:
    def pipe() -> None:
        with subprocess.Popen(FLOOD, stdout=subprocess.PIPE) as flood:
            subprocess.run(["cat"], stdin=flood.stdout, stdout=subprocess.DEVNULL, check=True)

    return SIZE / seconds(pipe)


def measure() -> Figure:
    pairs = in_turn(ours, plain)
    # The largest child this process ever had is a supervisor: git and cat stay far below it.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Figure(
        name="P12",
        what="an agent that prints 1 GB, bytes per second",
        against="head | cat > /dev/null",
        value=pairs.median,
        low=min(pairs.ratios),
        high=max(pairs.ratios),
        goal=">= 0.5, flat memory",
        met=pairs.median >= 0.5,
        details={
            "ours_mb_per_second": statistics.median(pairs.ours) / 2**20,
            "cat_mb_per_second": statistics.median(pairs.theirs) / 2**20,
            "largest_child_mb": peak,
        },
    )
