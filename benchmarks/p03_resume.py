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


def _killed_at(folder: Path, events: int) -> None:
    """A loop whose controller was killed right after that event."""
    child = os.fork()
    if child == 0:

        async def run() -> None:
            store = await counting_store(folder, 10 * LONG)

            def heard(seq: int) -> None:
                if seq == events:
                    os.kill(os.getpid(), signal.SIGKILL)

            await drive(counting_world(store, heard), LOOP)

        asyncio.run(run())
        os._exit(1)
    os.waitpid(child, 0)


def decide_next(folder: Path) -> None:
    """What a new process does: open, claim, fold, and come to the first new event."""

    async def run() -> None:
        store = await counting_store(folder, 10 * LONG)

        def heard(_: int) -> None:
            os._exit(0)

        await drive(counting_world(store, heard), LOOP)

    asyncio.run(run())


def _process(code: str) -> float:
    argv = [sys.executable, "-c", f"import benchmarks.p03_resume as b; from pathlib import Path; {code}"]
    return seconds(lambda: subprocess.run(argv, check=True))


def measure() -> Figure:
    with tempfile.TemporaryDirectory() as top:
        for events in (SHORT, LONG):
            (Path(top) / str(events)).mkdir()
            _killed_at(Path(top) / str(events), events)
        long = in_turn(
            lambda: _process(f"b.decide_next(Path({top!r}) / '{LONG}')"), lambda: _process("pass"), rounds=11
        )
        short = in_turn(
            lambda: _process(f"b.decide_next(Path({top!r}) / '{SHORT}')"), lambda: _process("pass"), rounds=11
        )
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
