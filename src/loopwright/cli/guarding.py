"""Commands that decide are for people: run inside a step of the same repository they refuse, and the log says so."""

from __future__ import annotations

import os
from contextlib import suppress

from loopwright.adapters.ancestry import inside_step
from loopwright.assembly import LOOPS, Project, views
from loopwright.cli.here import Here
from loopwright.cli.plain import Silent
from loopwright.engine.hearing import hear
from loopwright.errors import EngineError, Forbidden
from loopwright.kernel.events import Answered
from loopwright.kernel.model import Key


async def only_for_people(project: Project, here: Here, command: str) -> None:
    """Raises `Forbidden` inside a step, after the attempt was put on record with every loop that runs."""
    if not inside_step(project.root, os.getpid(), here.environ):
        return
    # An answer to a question that nobody asked: whoever holds the loop records it as refused.
    attempt = Answered(key=Key("from-inside-a-step"), choice=command, by=f"loop {command}, run inside a step")
    for view in await views(project):
        if view.alive is not None:
            with suppress(EngineError):
                await hear(project.store, LOOPS, view.row.id, attempt, Silent())
    raise Forbidden(f"loop {command} is for people and was run inside a step of this repository; nothing was done")
