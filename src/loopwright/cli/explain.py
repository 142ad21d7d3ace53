"""`loop explain`: why the engine will do what it does next."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.choice import only
from loopwright.app.exhibits import show_exhibit
from loopwright.app.loops import listing, view
from loopwright.app.project import Project
from loopwright.app.views.explanation import Explained, explain
from loopwright.app.views.standing import status_of_loop
from loopwright.cli.here import Here
from loopwright.cli.log import newest
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, loop_option, put, put_json


@click.command("explain")
@loop_option
@json_option(Explained)
@click.pass_obj
def command(here: Here, *, loop_id: str, as_json: bool) -> int:
    """Why the engine will do what it does next: counters, rules, open findings, budget."""
    with opened(here) as project:
        told = asyncio.run(_look(project, loop_id))
    put_json(told) if as_json else put("\n".join(filter(None, (told.explanation.rstrip("\n"), told.exhibit))))
    return 0


async def _look(project: Project, loop_id: str) -> Explained:
    """The only open loop is meant; when all are over, the newest."""
    open_one = None if loop_id else only(await listing(project), lambda each: not each.is_over)
    chosen = await view(project, open_one or await newest(project, loop_id))
    return explain(chosen, await status_of_loop(project, chosen), await show_exhibit(project, chosen))
