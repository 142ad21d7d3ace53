"""The person at the terminal, if there is one."""

from __future__ import annotations

from typing import Protocol

from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import Said
from loopwright.kernel.model import LoopId


class People(Protocol):
    """Asked only when nothing else can go on."""

    async def ask(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> Said | None:
        """What the person said, or None when nobody is there: then the loop stays as it is.

        May be cancelled at any time, when the answer came another way.
        """
