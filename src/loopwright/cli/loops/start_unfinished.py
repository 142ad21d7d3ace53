"""What becomes of a workflow that is not finished when another is to begin: gone on with, looked at, or cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import click

from loopwright.app.loops import Listed, whole_view
from loopwright.app.project import Project
from loopwright.app.starts.workflow.creation import unfinished
from loopwright.cli import resume, status
from loopwright.cli.drive import Manner, driven
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import UNSET, note
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import AlreadyRunning, NeedsPerson, UsageError
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested
from loopwright.kernel.model import Cleanup
from loopwright.kernel.quoting import one_line

Beginning = Literal["resume", "fresh", "status"]

_FOR_A_NEW_ONE = {
    "max_iterations": "settings",
    "budget": "settings",
    "shape": "",
    "merge": None,
    "allow": (),
    "keeps_behaviour": False,
    "about": "",
    "task_list": None,
}


def found_unfinished(here: Here) -> Listed | None:
    """The newest, if there is any."""
    if not has_log(here):
        return None
    with opened(here) as project:
        found = asyncio.run(unfinished(project))
    return found[0] if found else None


def how_to_begin(found: Listed | None, *, goes_on: bool, fresh: bool, anew: bool, asks: bool) -> Beginning:
    """`anew`: there is something to begin. What the command line does not say is asked where somebody is."""
    if goes_on and fresh:
        raise UsageError("--resume goes on with what is there and --fresh begins anew; give one of them")
    if goes_on and anew:
        raise UsageError("--resume goes on with what is there; leave the request out, or give --fresh to begin it")
    if found is None:
        if goes_on:
            raise UsageError('there is no workflow to go on with; begin one with `loop start "REQUEST"`')
        return "fresh"
    if fresh:
        return "fresh"
    if goes_on or not anew:
        return "resume"
    if found.alive is not None:
        raise AlreadyRunning(found.row.id, found.alive)  # to go on with it is what its controller does
    if asks:
        return _asked(found)
    raise NeedsPerson(
        f"loop {found.row.id} is not finished ({found.status}: {one_line(found.title, 100)}); go on with it with"
        " `loop start --resume`, or give --fresh to cancel it, which keeps its files and commits, and begin this one"
    )


def _asked(found: Listed) -> Beginning:
    note(f"Loop {found.row.id} is not finished ({found.status}): {one_line(found.title, 200)}")
    said: Beginning = click.prompt(
        "Resume it, start fresh (it is cancelled, its files and commits stay), or show its status?",
        type=click.Choice(("resume", "fresh", "status")),
        default="resume",
        err=True,
    )
    return said


def refuse_what_is_for_a_new_one(given: Mapping[str, object]) -> None:
    """What was said when it began stays so: a word that would be passed over is refused."""
    named = [name for name, usual in _FOR_A_NEW_ONE.items() if given.get(name) not in (usual, None, "", ())]
    if named:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        raise UsageError(
            f"{flags} is for a new one, and this goes on as it was begun; raise a limit with `loop answer continue N`"
            " or `loop resume --budget USD`, or begin anew with --fresh"
        )


def gone_on(found: Listed, how: Beginning, *, unattended: bool, as_json: bool) -> int:
    """By the commands that do it otherwise."""
    again = click.get_current_context().invoke
    if how == "status":
        return int(again(status.command, watch=False, everything=False, as_json=as_json))
    return int(again(resume.command, loop_id=found.row.id, budget=UNSET, unattended=unattended, as_json=as_json))


def ended(project: Project, here: Here, found: Listed) -> int | None:
    """The one that was not finished is cancelled; what it made stays. A number: a signal came meanwhile."""
    if found.alive is not None:
        raise AlreadyRunning(found.row.id, found.alive)
    said = CancelRequested(cleanup=Cleanup.KEEP_EVERYTHING, by=here.who)
    asyncio.run(project.store.post(found.row.id, type(said).__name__, encode(said)))
    seen = asyncio.run(whole_view(project, found))
    done = complete(driven(project, here, seen, Manner(unattended=True, cancels=True)))
    if isinstance(done, StoppedBySignal):
        return done.exit_code
    note(f"loop {found.row.id} is cancelled; its files are in .loop/workflow/{found.row.id}, every commit is kept")
    return None
