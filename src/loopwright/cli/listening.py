"""Who is listened to while a loop is driven: the person at the terminal, or nobody; and whether they cancelled."""

from __future__ import annotations

from dataclasses import replace

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.project import Project
from loopwright.app.readiness import Ready
from loopwright.app.worlds import build_world
from loopwright.cli.person import person
from loopwright.cli.watch import Watching
from loopwright.engine.world import World
from loopwright.kernel.events import Answered, CancelRequested
from loopwright.ports.people import People, Reply, Waiting


class Heard:
    """People, with a memory of whether it was they who cancelled."""

    def __init__(self, people: People) -> None:
        self._people, self.cancelled = people, False

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        reply = await self._people.ask(waiting)
        said = reply.said if reply else None
        if isinstance(said, CancelRequested) or (isinstance(said, Answered) and said.choice == "cancel"):
            self.cancelled = True
        return reply


def peopled(project: Project, ready: Ready, watching: Watching, by: str) -> tuple[World, Heard]:
    """The world of a loop with whoever is there to be asked; without a name it is nobody."""
    world = build_world(project, ready, people=Nobody(), observer=watching.observer)
    heard = Heard(person(project, world, ready.settings, by, watching.aside) if by else Nobody())
    return replace(world, people=heard), heard
