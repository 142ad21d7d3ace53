"""The clock on the wall."""

from __future__ import annotations

import asyncio
import time

_LONGEST_NAP = 30.0  # a laptop that slept, or a clock that was set, is noticed after this many seconds


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep_until(self, when: float) -> None:
        while True:
            left = when - time.time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, _LONGEST_NAP))
