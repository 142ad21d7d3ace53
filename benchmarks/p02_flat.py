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

WINDOW = 1000  # events
EARLY, LATE = 100, 20_000


async def _run(folder: Path) -> tuple[float, float]:
    """Seconds per event in a window from EARLY on, and in one that ends at LATE."""
    at: dict[int, float] = {}
    store = await counting_store(folder, LATE // 2)
    await drive(counting_world(store, lambda seq: at.__setitem__(seq, time.perf_counter())), LOOP)
    await store.close()
    return (at[EARLY + WINDOW] - at[EARLY]) / WINDOW, (at[LATE] - at[LATE - WINDOW]) / WINDOW


def measure() -> Figure:
    runs = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(asyncio.run(_run(Path(folder))))
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
