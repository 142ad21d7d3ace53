"""Commands that decide are for people: run inside a step of the same repository they refuse, and the log says so."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from loopwright.adapters.ancestry import inside_step
from loopwright.app.loops import listing
from loopwright.app.project import Project
from loopwright.cli.here import Here
from loopwright.cli.plain import Silent
from loopwright.engine.hearing import note_refusal
from loopwright.errors import EngineError, Forbidden
from loopwright.kernel.events import Refused


async def only_for_people(project: Project, here: Here, command: str) -> None:
    """Raises `Forbidden` inside a step, after the attempt was put on record with every loop that runs."""
    if not _inside(project.root, here):
        return
    attempt = Refused(what=f"loop {command}", why="it is for people", by="a process inside a step")
    for loop in await listing(project):
        if loop.alive is not None:
            with suppress(EngineError):
                await note_refusal(project.store, project.loops, loop.row.id, attempt, Silent())
    raise _refused(command)


def started_by_people(project: Project, here: Here, command: str) -> None:
    """A loop is begun with a person's word: what may be changed without asking, what is merged, what is paid."""
    asyncio.run(only_for_people(project, here, command))


def only_outside_of_steps(root: Path, here: Here, command: str) -> None:
    """As `only_for_people`, where there is no log to put the attempt on record in."""
    if _inside(root, here):
        raise _refused(command)


def _inside(root: Path, here: Here) -> bool:
    return inside_step(root, os.getpid(), here.environ)


def _refused(command: str) -> Forbidden:
    return Forbidden(f"loop {command} is for people and was run inside a step of this repository; nothing was done")
