"""`loop adopt`: goes on with a progress.json that another tool wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from loopwright.assembly import Project, adopt_progress, settings_of, view
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.picking import opened
from loopwright.cli.showing import Data
from loopwright.errors import UsageError

_KNOWN = "progress.json"


@click.command("adopt")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--task", default="", metavar="TEXT", help="What is to be done, where the file does not say.")
@json_option
@click.pass_obj
def command(here: Here, *, path: Path, task: str, as_json: bool) -> int:
    """Take over the feedback loop that PATH (a progress.json) describes, with its iterations and counters.

    The file is only read. `loop resume` then goes on.
    """
    file = here.cwd / path
    if file.is_dir():
        file = file / _KNOWN
    if not file.is_file():
        raise UsageError(f"{path}: there is no such file; name a {_KNOWN}")
    with opened(here, create=True) as project:
        data = asyncio.run(_adopt(project, file, task))
    if as_json:
        put_json(data)
    else:
        put(f"Adopted as loop {data['loop']} in {data['state']}. Go on with: loop resume --loop {data['loop']}")
    return 0


async def _adopt(project: Project, file: Path, task: str) -> Data:
    loop = await adopt_progress(project, settings_of(project), file, task or None)
    now = await view(project, loop)
    return {"kind": now.row.kind, "loop": loop, "state": now.standpoint.state}
