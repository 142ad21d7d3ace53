"""Time, as an argument, so that tests own it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, for records and for people. Never used to measure a duration."""

    def monotonic(self) -> float:
        """Seconds from somewhere, for durations and deadlines."""

    async def sleep_until(self, when: float) -> None:
        """Return when `now()` has reached `when`."""
