"""Nobody is there to ask: a loop that needs a person stays as it is."""

from __future__ import annotations

from loopwright.ports.people import Reply, Waiting


class Nobody:
    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:  # noqa: ARG002 - the port's own names
        return None
