"""`loop render`: writes every file made from the log anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from loopwright.adapters.tickets import observer_log
from loopwright.app.project import LOOPS, Project, View, views
from loopwright.app.publication import publisher_of
from loopwright.app.publisher import rebuild_debt
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.cli.picking import opened
from loopwright.errors import UsageError
from loopwright.loops.tickets.machine import TICKETS


@click.command("render")
@json_option
@click.pass_obj
def command(here: Here, *, as_json: bool) -> int:
    """Write every file made from the log anew; the log itself is only read."""
    with opened(here) as project:
        try:
            written = asyncio.run(_render(project))
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror}; make it writable and try again") from error
    if as_json:
        put_json({"files": written})
    else:
        put("\n".join(written) or "Nothing to render: no loop was ever started here.")
    return 0


async def _render(project: Project) -> list[str]:
    """Oldest first: later reviews of a story add to what earlier ones put on file."""
    publisher = await publisher_of(project, note)
    written: list[Path] = []
    known = tuple(reversed(await views(project)))
    for view in known:
        written += publisher.files(view.row.id, view.now.state, view.row.status)
    written += await _observed(project, known)
    debt = await rebuild_debt(project.root, project.store, LOOPS)
    written += [debt] if debt is not None else []
    return [str(path.relative_to(project.root)) for path in dict.fromkeys(written)]


async def _observed(project: Project, known: tuple[View, ...]) -> tuple[Path, ...]:
    """What the observer noted of all ticket sessions."""
    sessions = [view for view in known if view.row.kind == TICKETS.name]
    logs = [(view.now.state.plan, await project.store.read(view.row.id)) for view in sessions]
    return observer_log.rebuild(project.root, logs) if logs else ()
