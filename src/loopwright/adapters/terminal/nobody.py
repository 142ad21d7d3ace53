"""Nobody is there to ask: a loop that needs a person stays as it is."""

from __future__ import annotations

from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import Said
from loopwright.kernel.model import LoopId


class Nobody:
    async def ask(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> Said | None:  # noqa: ARG002 - the port's own names
        return None
