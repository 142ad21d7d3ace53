"""The dispatcher of one process: every child is driven here, beside its parent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from loopwright.kernel.model import LoopId, Outcome
from loopwright.ports.dispatcher import Errand, Shortage, Tell

_SLOTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Limits beside money, for a root and everything below it together. None: no limit."""

    tokens: int | None = None
    seconds: float | None = None


class InProcess:
    def __init__(self, *, slots: int = _SLOTS, spending: Spending | None = None) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._most = spending or Spending()
        self._taken: dict[LoopId, tuple[int, float]] = {}

    async def run(self, errand: Errand, tell: Tell, here: Callable[[], Awaitable[Outcome]]) -> Outcome:  # noqa: ARG002 - the port's own names
        return await here()

    def slot(self) -> asyncio.Semaphore:
        return self._slots

    def took(self, loop: LoopId, tokens: int, seconds: float) -> None:
        self._taken[loop] = (tokens, seconds)

    def shortage(self, loop: LoopId, tokens: int, seconds: float) -> Shortage | None:
        if not self.counts:
            return None
        others = [taken for other, taken in self._taken.items() if other != loop]
        tokens += sum(each for each, _ in others)
        seconds += sum(each for _, each in others)
        if self._most.tokens is not None and tokens >= self._most.tokens:
            detail = f"{tokens} of {self._most.tokens} tokens are used (where a run did not say, estimated)"
            return Shortage(reason="tokens", detail=detail)
        if self._most.seconds is not None and seconds >= self._most.seconds:
            return Shortage(reason="time", detail=f"{seconds:.0f} of {self._most.seconds:.0f} seconds of work are used")
        return None

    def seconds_left(self) -> float | None:
        if self._most.seconds is None:
            return None
        return max(0.0, self._most.seconds - sum(seconds for _, seconds in self._taken.values()))

    @property
    def counts(self) -> bool:
        return self._most != Spending()
