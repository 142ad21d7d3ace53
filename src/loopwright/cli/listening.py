"""Who is listened to while a loop is driven, the person at the terminal or nobody, and once more when it is over."""

from __future__ import annotations

import sys
from dataclasses import replace

from loopwright.adapters.terminal.lines import TerminalLines
from loopwright.adapters.terminal.prompt import Nobody
from loopwright.adapters.terminal.replies import Unclear, afterwards
from loopwright.app.project import Project
from loopwright.app.readiness import Ready
from loopwright.app.views.gates import ShownGate
from loopwright.app.worlds import build_world
from loopwright.cli.output import note, show
from loopwright.cli.person import person
from loopwright.cli.watch import Watching
from loopwright.engine.world import World
from loopwright.kernel.events import Answered, CancelRequested, GateDecided
from loopwright.kernel.gates import gate_key
from loopwright.ports.people import People, Reply, Waiting


class HeardPeople:
    """People, with a memory of whether it was they who cancelled."""

    def __init__(self, people: People) -> None:
        self._people, self.cancelled = people, False

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        reply = await self._people.ask(waiting)
        said = reply.said if reply else None
        if isinstance(said, CancelRequested) or (isinstance(said, Answered) and said.choice == "cancel"):
            self.cancelled = True
        return reply


def peopled(project: Project, ready: Ready, watching: Watching, by: str) -> tuple[World, HeardPeople]:
    """The world of a loop with whoever is there to be asked; without a name it is nobody."""
    world = build_world(project, ready, people=Nobody(), observer=watching.observer)
    heard = HeardPeople(person(project, world, ready.settings, by, watching.aside) if by else Nobody())
    return replace(world, people=heard), heard


async def heard_on(gate: ShownGate, question: str, by: str) -> GateDecided | None:
    """The decision of the person at the terminal when the loop is over; None: later, or they went away."""
    lines = TerminalLines(sys.stdin.fileno())
    note(question)
    lines.forget()
    while True:
        show("> ")
        line = await lines.next()
        if line is None:
            note("")
            return None
        typed = afterwards(line, tuple(reason.file for reason in gate.because))
        if isinstance(typed, Unclear):
            note(f"{typed.sentence}.")
        elif typed.choice == "later":
            return None
        else:
            return GateDecided(
                key=gate_key(gate.name, gate.evidence),
                gate=gate.name,
                approved=typed.choice == "approve",
                evidence=gate.evidence,
                reason=typed.reason,
                only=typed.only,
                by=by,
            )
