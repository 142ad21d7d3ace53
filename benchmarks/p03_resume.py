"""P3: after `kill -9` at event 20,000, the time to the next decision in a new process."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.counting import LOOP, counting_store, counting_world
from benchmarks.measuring import Figure, in_turn, seconds
from loopwright.engine.driver import drive

SHORT, LONG = 200, 20_000


def run_until(folder: Path, events: int) -> None:
    """Drive a loop and kill this process right after that event."""

    async def run() -> None:
        store = await counting_store(folder, 10 * LONG)

        def heard(seq: int) -> None:
            if seq == events:
                os.kill(os.getpid(), signal.SIGKILL)

        await drive(counting_world(store, heard), LOOP)

    asyncio.run(run())


def decide_next(folder: Path) -> None:
    """What a new process does: open, claim, fold, and come to the first new event."""

    async def run() -> None:
        store = await counting_store(folder, 10 * LONG)

        def heard(_: int) -> None:
            os._exit(0)

        await drive(counting_world(store, heard), LOOP)

    asyncio.run(run())


def _process(code: str, ending: int = 0) -> float:
    argv = [sys.executable, "-c", f"import benchmarks.p03_resume as b; from pathlib import Path; {code}"]
    endings: list[int] = []
    took = seconds(lambda: endings.append(subprocess.run(argv, check=False).returncode))
    if endings != [ending]:
        raise RuntimeError(f"`{code}` ended with {endings[0]}, not {ending}")
    return took


def measure(*, smoke: bool = False) -> Figure:
    long_log, rounds = (SHORT, 1) if smoke else (LONG, 11)
    with tempfile.TemporaryDirectory() as top:
        for events in {SHORT, long_log}:
            (Path(top) / str(events)).mkdir()
            _process(f"b.run_until(Path({top!r}) / '{events}', {events})", -signal.SIGKILL)
        long = in_turn(
            lambda: _process(f"b.decide_next(Path({top!r}) / '{long_log}')"), lambda: _process("pass"), rounds
        )
        short = in_turn(lambda: _process(f"b.decide_next(Path({top!r}) / '{SHORT}')"), lambda: _process("pass"), rounds)
    return Figure(
        name="P3",
        what=f"kill -9 at event {LONG:,}, to the next decision in a new process",
        against="interpreter start with the same imports",
        value=long.median,
        low=min(long.ratios),
        high=max(long.ratios),
        goal="<= 1.5",
        met=long.median <= 1.5,
        details={
            "ours_ms": statistics.median(long.ours) * 1000,
            "start_ms": statistics.median(long.theirs) * 1000,
            "ratio_after_200_events": short.median,
        },
    )
