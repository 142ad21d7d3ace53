"""`loop adopt`: goes on with what another tool began: a progress.json or a handoff.yml."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from loopwright.adapters.handoffs import FILE_NAME as HANDOFF
from loopwright.assembly.adopting import HandoffRequest, adopt_handoff
from loopwright.assembly.feedback import adopt_progress
from loopwright.assembly.project import Project, settings_of, view
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.picking import opened
from loopwright.cli.showing import Data
from loopwright.errors import UsageError

_PROGRESS = "progress.json"
_YAML = (".yml", ".yaml")


@click.command("adopt")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--task", default="", metavar="TEXT", help="What is to be done, where the file does not say.")
@click.option("--artifact", default="", metavar="PATH", help="What is to be reviewed, where a handoff does not say.")
@json_option
@click.pass_obj
def command(here: Here, *, path: Path, task: str, artifact: str, as_json: bool) -> int:
    """Take over what PATH describes: the feedback loop of a progress.json, or the story of a handoff.yml.

    A feedback loop keeps its iterations and counters, a story its findings; its review goes on at the gate of the
    first phase that is not complete. The file is only read. `loop resume` then goes on.
    """
    file = _file(here, path)
    if artifact and file.suffix not in _YAML:
        raise UsageError(f"--artifact goes with a {HANDOFF}; {path} is none")
    with opened(here, create=True) as project:
        request = HandoffRequest(file=file, cwd=here.cwd, artifact=artifact, task=task)
        data = asyncio.run(_adopt(project, request))
    if as_json:
        put_json(data)
    else:
        put(f"Adopted as loop {data['loop']} in {data['state']}. Go on with: loop resume --loop {data['loop']}")
    return 0


def _file(here: Here, path: Path) -> Path:
    file = here.cwd / path
    if not file.is_dir():
        if not file.is_file():
            raise UsageError(f"{path}: there is no such file; name a {_PROGRESS} or a {HANDOFF}")
        return file
    there = [file / name for name in (_PROGRESS, HANDOFF) if (file / name).is_file()]
    if len(there) != 1:
        has = "both" if there else "neither"
        raise UsageError(f"{path} has {has} a {_PROGRESS} {'and' if there else 'nor'} a {HANDOFF}; name the file")
    return there[0]


async def _adopt(project: Project, request: HandoffRequest) -> Data:
    settings = settings_of(project)
    if request.file.suffix in _YAML:
        loop = await adopt_handoff(project, settings, request)
    else:
        loop = await adopt_progress(project, settings, request.file, request.task or None)
    now = await view(project, loop)
    return {"kind": now.row.kind, "loop": loop, "state": now.standpoint.state}
