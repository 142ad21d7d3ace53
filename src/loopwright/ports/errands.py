"""Commands of the person's own that have an effect outside: run as they would, and never twice."""

from __future__ import annotations

from typing import Protocol

from loopwright.kernel.actions import RunOnce
from loopwright.kernel.sightings import RanOnce


class Errands(Protocol):
    async def run_once(self, wanted: RunOnce, step: str) -> RanOnce:
        """Run it in a checkout of the commit. A `step` that was begun before is not begun again: without a code, nobody
        knows how it ended."""
