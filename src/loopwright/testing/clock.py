"""A clock that stands still until it is told otherwise."""

from __future__ import annotations

import asyncio


class ManualClock:
    """`advance` moves it; `sleep_until` jumps to the moment waited for."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self._monotonic += seconds

    async def sleep_until(self, when: float) -> None:
        # Others get their turn first, as they would while a real clock runs.
        await asyncio.sleep(0)
        if when > self._now:
            self.advance(when - self._now)
