"""`loop adopt`: goes on with what another tool began: a progress.json, a handoff.yml or a folder of tickets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from loopwright.app.feedback import adopt_progress
from loopwright.app.handoff_adoption import HandoffRequest, adopt_handoff
from loopwright.app.project import Project, settings_of, view
from loopwright.app.stories import FILE_NAME as HANDOFF
from loopwright.app.ticket_adoption import FolderRequest, adopt_tickets, ticket_files
from loopwright.app.ticket_reading import ENDING
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.picking import opened
from loopwright.errors import UsageError

_PROGRESS = "progress.json"
_YAML = (".yml", ".yaml")


@click.command("adopt")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--task", default="", metavar="TEXT", help="What is to be done, where the file does not say.")
@click.option("--artifact", default="", metavar="PATH", help="What is to be reviewed, where a handoff does not say.")
@click.option("--session", default="", metavar="NAME", help="Which session of a folder of tickets; else the newest.")
@json_option
@click.pass_obj
def command(here: Here, *, path: Path, task: str, artifact: str, session: str, as_json: bool) -> int:
    """Take over what PATH describes: a progress.json, a handoff.yml, or a folder of tickets.

    A feedback loop keeps its iterations and counters. A story keeps its findings; its review goes on at the gate of
    the first phase that is not complete. A ticket session keeps its tickets with decision, accuracy and gaps, and goes
    on with the next number. The files are only read. `loop resume` then goes on.
    """
    file = _file(here, path)
    if artifact and file.suffix not in _YAML:
        raise UsageError(f"--artifact goes with a {HANDOFF}; {path} is none")
    if session and not _is_of_tickets(file):
        raise UsageError(f"--session goes with a folder of tickets; {path} is none")
    with opened(here, create=True) as project:
        request = HandoffRequest(file=file, cwd=here.cwd, artifact=artifact, task=task)
        data = asyncio.run(_adopt(project, request, session))
    if as_json:
        put_json(data)
    else:
        put(f"Adopted as loop {data['loop']} in {data['state']}. Go on with: loop resume --loop {data['loop']}")
    return 0


def _file(here: Here, path: Path) -> Path:
    file = here.cwd / path
    if not file.is_dir():
        if not file.is_file():
            raise UsageError(f"{path}: there is no such file; name a {_PROGRESS}, a {HANDOFF} or a folder of tickets")
        return file
    there = [file / name for name in (_PROGRESS, HANDOFF) if (file / name).is_file()]
    if not there and ticket_files(file):
        return file
    if len(there) != 1:
        has = f"both a {_PROGRESS} and a {HANDOFF}" if there else f"neither a {_PROGRESS} nor a {HANDOFF} nor tickets"
        raise UsageError(f"{path} has {has}; name the file")
    return there[0]


def _is_of_tickets(file: Path) -> bool:
    return file.is_dir() or bool(file.suffix == ENDING and ticket_files(file))


async def _adopt(project: Project, request: HandoffRequest, session: str) -> dict[str, Any]:
    settings = settings_of(project)
    if _is_of_tickets(request.file):
        loop = await adopt_tickets(project, settings, FolderRequest(path=request.file, session=session))
    elif request.file.suffix in _YAML:
        loop = await adopt_handoff(project, settings, request)
    else:
        loop = await adopt_progress(project, settings, request.file, request.task or None)
    now = await view(project, loop)
    return {"kind": now.row.kind, "loop": loop, "state": now.standpoint.state}
