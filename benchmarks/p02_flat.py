"""P2: the cost of a transition at event 20,000 against event 100, through the whole engine."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.counting import LOOP, counting_store, counting_world
from benchmarks.measuring import ROUNDS, Figure
from loopwright.engine.driver import drive

EARLY, LATE, WINDOW = 100, 20_000, 1000  # events


async def _run(folder: Path, last: int, window: int) -> tuple[float, float]:
    """Return the seconds per event in a window that starts at EARLY, and in one that ends at `last`."""
    at: dict[int, float] = {}
    store = await counting_store(folder, last // 2)
    await drive(counting_world(store, lambda seq: at.__setitem__(seq, time.perf_counter())), LOOP)
    await store.close()
    return (at[EARLY + window] - at[EARLY]) / window, (at[last] - at[last - window]) / window


def measure(*, smoke: bool = False) -> Figure:
    last, window, rounds = (150, 10, 1) if smoke else (LATE, WINDOW, ROUNDS)
    runs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(asyncio.run(_run(Path(folder), last, window)))
    ratios = [late / early for early, late in runs]
    value = statistics.median(ratios)
    return Figure(
        name="P2",
        what=f"cost of a transition at event {LATE:,}",
        against=f"the same at event {EARLY}",
        value=value,
        low=min(ratios),
        high=max(ratios),
        goal="<= 1.1",
        met=value <= 1.1,
        details={
            "early_ms_per_event": statistics.median(early for early, _ in runs) * 1000,
            "late_ms_per_event": statistics.median(late for _, late in runs) * 1000,
        },
    )
