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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a person said, and to which of the loops."""

    loop: LoopId
    said: Said


class People(Protocol):
    """Asked for a root and everything below it, and only when nothing else can go on."""

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        """What the person said, or None when nobody is there: then the loops stay as they are.

        May be cancelled at any time, when the answer came another way.
        """
