"""Commands that decide are for people: run inside a step of the same repository they refuse, and the log says so."""

from __future__ import annotations

import os
from contextlib import suppress

from loopwright.adapters.ancestry import inside_step
from loopwright.assembly import LOOPS, Project, views
from loopwright.cli.here import Here
from loopwright.cli.plain import Silent
from loopwright.engine.hearing import note_refusal
from loopwright.errors import EngineError, Forbidden
from loopwright.kernel.events import Refused


async def only_for_people(project: Project, here: Here, command: str) -> None:
    """Raises `Forbidden` inside a step, after the attempt was put on record with every loop that runs."""
    if not inside_step(project.root, os.getpid(), here.environ):
        return
    attempt = Refused(what=f"loop {command}", why="it is for people", by="a process inside a step")
    for view in await views(project):
        if view.alive is not None:
            with suppress(EngineError):
                await note_refusal(project.store, LOOPS, view.row.id, attempt, Silent())
    raise Forbidden(f"loop {command} is for people and was run inside a step of this repository; nothing was done")
