"""Where the loops below a root are driven, how many steps run at once, and what all of them together have taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from loopwright.kernel.model import LoopId, Outcome, Point
from loopwright.ports.people import Waiting

Tell = Callable[[tuple[Waiting, ...]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a parent has its child do: go on until it ends, is held, or waits for what the parent takes itself."""

    path: tuple[LoopId, ...]  # down to the child, the root first
    upto: tuple[Point, ...] = ()  # points at which the child is held
    takes: tuple[str, ...] = ()  # sorts of waits: escalation, question, gate

    @property
    def child(self) -> LoopId:
        return self.path[-1]


Short = Literal["budget", "time", "tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Why nothing more may begin for now."""

    reason: Short
    detail: str


class Dispatcher(Protocol):
    """One for a root and everything below it."""

    async def run(self, errand: Errand, tell: Tell, here: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Have the child driven and say what became of it. Raises `Suspended` where it stopped at a limit.

        `here` drives it in this process. A dispatcher that has other machines leaves it alone: what a driver there
        needs is the errand and the store. While the child waits for people, `tell` hears for what; with nothing to
        wait for any more, it hears that too.
        """

    def slot(self) -> AbstractAsyncContextManager[object]:
        """Held by a step while it runs, be it an agent or checks; never by a loop that waits for another."""

    def took(self, loop: LoopId, tokens: int, seconds: float) -> None:
        """What the loop itself has taken since it was created."""

    def shortage(self, loop: LoopId, tokens: int, seconds: float) -> Shortage | None:
        """Why the loop, which has taken this much, may not start an agent; money is the store's to refuse."""

    def seconds_left(self) -> float | None:
        """How long a step that begins now may run, before the time of all is used up; None: there is no limit."""

    @property
    def counts(self) -> bool:
        """Whether there is a limit, so that it matters what was taken before."""
