"""`loop status`: what is running, what needs you, and why."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.choice import listed_as, refuse_record
from loopwright.app.loops import OVER
from loopwright.app.project import Project
from loopwright.app.views import status
from loopwright.app.views.standing import kept_beside, status_document
from loopwright.app.views.status import LoopStatus, StatusDocument
from loopwright.cli.here import Here
from loopwright.cli.opened import has_log, opened
from loopwright.cli.output import json_option, loop_option, put, put_json, put_next
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.kernel.model import LoopId

_RECENT = 3  # of those that are over, for people
_POLL = 0.5  # seconds between looks at a number that changes with the log
_CLEAR = "\x1b[H\x1b[2J"
_NONE = """\
No loops yet. One of these begins one:
  loop start "REQUEST"       a request, taken apart into tasks
  loop feedback "TASK"       one task, until reviewer and checks pass it
  loop review PATH           what is there, reviewed and fixed
  loop ticket new "TITLE"    a ticket for the queue; `loop ticket run` works on it"""
_NAMED = 20  # parts that are told one by one


@click.command("status")
@click.option("--watch", is_flag=True, help="Stay, and show it again whenever something happens.")
@click.option("--all", "everything", is_flag=True, help="Also what is long over.")
@loop_option
@json_option(StatusDocument)
@click.pass_obj
def command(here: Here, *, watch: bool, everything: bool, loop_id: str, as_json: bool) -> int:
    """What is running, what needs you, and why."""
    if not has_log(here) and not watch and not loop_id:
        put_json(StatusDocument(loops=())) if as_json else put(_NONE)
        return 0
    with opened(here, create=watch) as project:
        if not watch:
            shown = asyncio.run(_look(project, loop_id))
            beside = asyncio.run(kept_beside(project)) if not shown.loops else ()
            told = "\n".join(beside) or text(shown, everything=everything or bool(loop_id))
            put_json(shown) if as_json else put(told)
            return 0
        result = complete(_watch(project, here, loop_id, as_json=as_json))
        return result.exit_code if isinstance(result, StoppedBySignal) else 0


async def _look(project: Project, loop_id: str) -> StatusDocument:
    """Of the loop that is named, a root or a part of one, with all below it; else of all."""
    if not loop_id:
        return await status_document(project)
    refuse_record(await listed_as(project, loop_id))
    return status.only(await status_document(project), LoopId(loop_id))


def text(shown: StatusDocument, *, everything: bool) -> str:
    """For people: what is open, and the last few that are over; of its parts, those that are stuck."""
    loops = [loop for loop in shown.loops if loop.parent is None] or list(shown.loops[:1])  # a part that was named
    over = [loop.id for loop in loops if loop.status in OVER]
    hidden = [] if everything else over[_RECENT:]
    blocks = [_block(loop, shown.loops) for loop in loops if loop.id not in hidden]
    if not blocks:
        return _NONE
    more = [f"({len(hidden)} more {'is' if len(hidden) == 1 else 'are'} over; --all shows them)"] if hidden else []
    return "\n\n".join([*blocks, *more])


def _block(root: LoopStatus, loops: tuple[LoopStatus, ...]) -> str:
    block = status.human(root).rstrip("\n")
    parts = [loop for loop in loops if loop.parent == root.id]
    if not parts:
        return block
    stuck = [loop for loop in parts if status.part_word(loop) in ("paused", "blocked")]
    lines = [f"  {loop.task}: {loop.state}, {status.how_far(loop)}" for loop in stuck]
    more = [f"  and {len(stuck) - _NAMED} more"] if len(stuck) > _NAMED else []
    return "\n".join([block, "", f"Parts: {status.parts_line(root, parts)}", *lines[:_NAMED], *more])


async def _watch(project: Project, here: Here, loop_id: str, *, as_json: bool) -> None:
    """Looks at one number until it changes: a watch costs next to nothing."""
    before: int | None = None
    last: StatusDocument | None = None
    while True:
        version = await project.store.version()
        shown = await _look(project, loop_id) if version != before else last
        if shown != last and shown is not None:
            await _show(shown, here, as_json=as_json)
        before, last = version, shown
        await asyncio.sleep(_POLL)


async def _show(shown: StatusDocument, here: Here, *, as_json: bool) -> None:
    if as_json:
        await put_next(shown)
    else:
        await put_next(text(shown, everything=False) + "\n", before=_CLEAR if here.draws else "")
