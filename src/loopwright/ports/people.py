"""The person at the terminal, if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import Said
from loopwright.kernel.model import LoopId


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a loop waits for, and the loops that lead to it: the root first, the one that waits last."""

    path: tuple[LoopId, ...]
    what: ForPeople

    @property
    def loop(self) -> LoopId:
        return self.path[-1]


class People(Protocol):
    """Asked only when nothing else can go on."""

    async def ask(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> Said | None:
        """What the person said, or None when nobody is there: then the loop stays as it is.

        May be cancelled at any time, when the answer came another way.
        """
