"""The person at this terminal, with what they are shown before they decide."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from loopwright.adapters.terminal.lines import TerminalLines
from loopwright.adapters.terminal.prompt import Nobody, Terminal
from loopwright.app.approvers import objection_to
from loopwright.app.exhibits import show_exhibit
from loopwright.app.loops import view
from loopwright.app.project import Project
from loopwright.app.views.ending import history, unresolved_text
from loopwright.app.worlds import ready_agents
from loopwright.cli.output import show
from loopwright.config.settings import Settings
from loopwright.engine.world import World
from loopwright.kernel.actions import AwaitGate
from loopwright.kernel.events import Answered, GateDecided, Said
from loopwright.kernel.model import Commit, LoopId
from loopwright.kernel.visible import visible
from loopwright.ports.workspace import Workspace

NOBODY = Nobody()
_SHOWN_DIFF = 20_000  # characters


def person(
    project: Project,
    world: World,
    settings: Settings,
    by: str,
    aside: Callable[[], AbstractContextManager[None]],
) -> Terminal:
    """Whoever sits at the terminal behind stdin and stderr. `settings` are those the loop is pinned to."""

    async def diff(loop: LoopId, gate: AwaitGate) -> str:
        return await gate_diff(project, world, loop, gate)

    told: set[str] = set()  # a question that is asked again is about the same

    async def about(loop: LoopId) -> str:
        seen = await view(project, loop)
        text = "\n".join(filter(None, (await unresolved_text(project, seen), await show_exhibit(project, seen))))
        is_new = text not in told
        told.add(text)
        return text if is_new else ""

    agents = ready_agents(project, settings)

    async def objection(loop: LoopId, said: Said) -> str:
        if isinstance(said, GateDecided):
            return await objection_to(project, loop, said)
        return (await view(project, loop)).kind.objection(said, agents) if isinstance(said, Answered) else ""

    async def attempts(loop: LoopId) -> str:
        return await history(project, loop)

    return Terminal(
        lines=TerminalLines(sys.stdin.fileno()),
        show=show,
        aside=aside,
        about=about,
        history=attempts,
        diff=diff,
        by=by,
        objection=objection,
    )


async def gate_diff(project: Project, world: World, loop: LoopId, gate: AwaitGate) -> str:
    now = await view(project, loop)
    return await shown_diff(world.workspace, now.compared_with, gate)


async def shown_diff(workspace: Workspace, base: Commit, gate: AwaitGate) -> str:
    """The part of the change that called for the gate. Git cuts it: no line of a file can pass for a header."""
    paths = (*(change.path for change in gate.because), *(risk.file for risk in gate.reasons))
    return visible((await workspace.diff(base, gate.commit, limit=_SHOWN_DIFF, only=paths)).rstrip("\n"))
