"""`loop status`: what is running, what needs you, and why."""

from __future__ import annotations

import asyncio

import click

from loopwright.assembly import Project, views
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json, put_json_line
from loopwright.cli.picking import has_log, opened
from loopwright.cli.running import Interrupted, complete
from loopwright.cli.showing import Data, status_of_loop
from loopwright.projections import status

_RECENT = 3  # of those that are over, for people
_POLL = 0.5  # seconds between looks at a number that changes with the log
_CLEAR = "\x1b[H\x1b[2J"
_NONE = 'No loops yet; `loop feedback "TASK"` starts one.'
_OVER = ("complete", "cancelled")


@click.command("status")
@click.option("--watch", is_flag=True, help="Stay, and show it again whenever something happens.")
@click.option("--all", "everything", is_flag=True, help="Also what is long over.")
@json_option
@click.pass_obj
def command(here: Here, *, watch: bool, everything: bool, as_json: bool) -> int:
    """What is running, what needs you, and why."""
    if not has_log(here) and not watch:
        put_json({"loops": []}) if as_json else put(_NONE)
        return 0
    with opened(here, create=watch) as project:
        if not watch:
            shown = asyncio.run(document(project))
            put_json(shown) if as_json else put(text(shown, everything=everything))
            return 0
        result = complete(_watch(project, here, as_json=as_json))
        return result.exit_code if isinstance(result, Interrupted) else 0


async def document(project: Project) -> Data:
    """Every loop, in the order and shape of the format."""
    return status.document([await status_of_loop(project, view) for view in await views(project)])


def text(shown: Data, *, everything: bool) -> str:
    """For people: what is open, and the last few that are over."""
    loops = shown["loops"]
    over = [loop for loop in loops if loop["status"] in _OVER]
    hidden = [] if everything else over[_RECENT:]
    blocks = [status.human(loop).rstrip("\n") for loop in loops if loop not in hidden]
    if not blocks:
        return _NONE
    more = [f"({len(hidden)} more are over; --all shows them)"] if hidden else []
    return "\n\n".join(blocks + more)


async def _watch(project: Project, here: Here, *, as_json: bool) -> None:
    """Looks at one number until it changes: a watch costs next to nothing."""
    before: int | None = None
    last: Data | None = None
    while True:
        version = await project.store.version()
        shown = await document(project) if version != before else last
        if shown != last and shown is not None:
            _show(shown, here, as_json=as_json)
        before, last = version, shown
        await asyncio.sleep(_POLL)


def _show(shown: Data, here: Here, *, as_json: bool) -> None:
    if as_json:
        put_json_line(shown)
        return
    if here.draws:
        click.echo(_CLEAR, nl=False)
    put(text(shown, everything=False) + "\n")
