"""`loop cancel`: ends a loop; every commit is kept."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.choice import listed_as, pick
from loopwright.app.loops import Listed, view, whole_view
from loopwright.app.project import Project
from loopwright.app.views.answers import NothingDone
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option, told_of_ended
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import loop_option, note, put, put_json
from loopwright.cli.people_only import only_for_people
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.engine.hearing import end_unread
from loopwright.errors import AlreadyRunning, Forbidden, LoopUnreadable
from loopwright.kernel.codec import encode
from loopwright.kernel.events import CancelRequested
from loopwright.kernel.model import Cleanup, LoopId

_PATIENCE = 60.0  # seconds for a running controller to stop its steps
_POLL = 0.1


@click.command("cancel")
@loop_option
@click.option(
    "--cleanup",
    type=click.Choice([choice.value for choice in Cleanup]),
    default=Cleanup.KEEP_EVERYTHING.value,
    show_default=True,
    help="What is left behind. No choice loses a commit.",
)
@run_json_option(object, NothingDone)
@click.pass_obj
def command(here: Here, *, loop_id: str, cleanup: str, as_json: bool) -> int:
    """End a loop, running or not. Every commit of every attempt is kept."""
    if not has_log(here):
        return _nothing(as_json=as_json)
    with opened(here) as project:
        chosen = complete(_ask_to_end(project, here, loop_id, Cleanup(cleanup)))
        if isinstance(chosen, StoppedBySignal):
            return chosen.exit_code
        if chosen is None:
            return _nothing(as_json=as_json)
        return _see_it_end(project, here, chosen, as_json=as_json)


def _nothing(*, as_json: bool) -> int:
    put_json(NothingDone(loop=None, note="nothing to cancel")) if as_json else put("Nothing to cancel.")
    return 0


async def _ask_to_end(project: Project, here: Here, loop_id: str, cleanup: Cleanup) -> Listed | None:
    await only_for_people(project, here, "cancel")
    chosen = await pick(project, loop_id, lambda each: not each.is_over)
    if chosen is None:
        return None
    if chosen.is_over:
        raise Forbidden(f"loop {chosen.row.id} has ended ({chosen.row.status}); there is nothing to cancel")
    said = CancelRequested(cleanup=cleanup, by=here.who)
    await project.store.post(chosen.row.id, type(said).__name__, encode(said))
    return chosen


def _see_it_end(project: Project, here: Here, chosen: Listed, *, as_json: bool) -> int:
    """Whoever drives the loop hears of it; with nobody driving, this command does. A log that says nothing more to
    anybody is not read: then the loop is ended without.
    """
    loop = chosen.row.id
    if chosen.alive is None:
        try:
            seen = asyncio.run(whole_view(project, chosen))
            return drive_and_tell(project, here, seen, Manner(unattended=True, as_json=as_json, cancels=True))
        except LoopUnreadable as error:
            return _ended_unread(project, here, error, loop, as_json=as_json)
        except AlreadyRunning:
            note("another controller has just taken it up; it was told")
    waited = complete(_wait(project, loop))
    if isinstance(waited, StoppedBySignal):
        return waited.exit_code
    if not waited.is_over:
        raise AlreadyRunning(loop, f"{waited.alive}; told to end, and has not within {_PATIENCE:.0f} s")
    try:
        ended = asyncio.run(view(project, waited))
        done = asyncio.run(told_of_ended(project, ended))
    except LoopUnreadable as error:
        return _said(loop, f"Loop {loop} has ended ({error}).", as_json=as_json)
    put_json(done.answer) if as_json else put("\n".join(done.lines))
    return 0


def _ended_unread(project: Project, here: Here, error: LoopUnreadable, loop: LoopId, *, as_json: bool) -> int:
    asyncio.run(end_unread(project.store, loop, CancelRequested(by=here.who)))
    note(f"{error.path}: {error.where}: {error.why}")
    return _said(loop, f"Loop {loop} is cancelled without its log being read; every commit is kept.", as_json=as_json)


def _said(loop: LoopId, sentence: str, *, as_json: bool) -> int:
    put_json(NothingDone(loop=loop, note=sentence)) if as_json else put(sentence)
    return 0


async def _wait(project: Project, loop: LoopId) -> Listed:
    """The loop once it has ended or lost its controller, or as it is when patience ends."""
    until = project.clock.monotonic() + _PATIENCE
    while True:
        now = await listed_as(project, loop)
        if now.is_over or project.clock.monotonic() > until:
            return now
        await asyncio.sleep(_POLL)
