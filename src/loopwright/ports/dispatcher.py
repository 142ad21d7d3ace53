"""Where a child loop runs."""

from __future__ import annotations

from typing import Protocol

from loopwright.kernel.model import LoopId, Outcome


class Dispatcher(Protocol):
    async def run(self, child: LoopId) -> Outcome:
        """Drive a loop that exists in the store until it ends, or would ask a person. Safe to repeat."""
