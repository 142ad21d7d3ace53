"""`loop adopt`: goes on with what another tool began."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.door import AdoptedCommand, Adopter, PointedAt, adopters
from loopwright.cli.here import Here
from loopwright.cli.opened import kinds, opened
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.errors import UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptAnswer:
    """What `loop adopt --json` answers."""

    kind: str
    loop: LoopId
    state: str
    kept: str = ""  # the folder with copies of the files that were read, where a loop's own take their places
    remarks: tuple[str, ...] = ()
    commands: tuple[AdoptedCommand, ...] = ()  # that it brings, and that will be run


@click.command("adopt")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--task", default="", metavar="TEXT", help="What is to be done, where the file does not say.")
@click.option("--artifact", default="", metavar="PATH", help="What is to be reviewed, where a handoff does not say.")
@click.option("--session", default="", metavar="NAME", help="Which session of a folder of tickets; else the newest.")
@json_option(AdoptAnswer)
@click.pass_obj
def command(here: Here, *, path: Path, task: str, artifact: str, session: str, as_json: bool) -> int:
    """Take over what PATH describes: a progress.json, a handoff.yml, tickets, a workflow-state.json, a loop-state.json.

    A feedback loop keeps its iterations and counters. A story keeps its findings; its review goes on at the gate of
    the first phase that is not complete. A ticket session keeps its tickets with decision, accuracy and gaps, and goes
    on with the next number. A workflow keeps its scores, its reviews, the SHAPE.md beside it, and the tasks of the
    list that CLAUDE_CODE_TASK_LIST_ID names. A system keeps its state, its capabilities, its failures and what was
    approved. The files are only read, or copied where the loop's own take their places. `loop resume` then goes on.
    """
    found = PointedAt(path=here.cwd / path, cwd=here.cwd, task=task, artifact=artifact, session=session)
    known = adopters(kinds(here))
    adopter, file = _meant(known, found.path, path)
    for option in ("artifact", "session"):
        if getattr(found, option) and option not in adopter.takes:
            goes = next(each.named for each in known if option in each.takes)
            raise UsageError(f"--{option} goes with {goes}; {path} is none")
    with opened(here, create=True) as project:
        started_by_people(project, here, "adopt")
        done = asyncio.run(_adopt(project, adopter, replace(found, path=file)))
    if as_json:
        put_json(done)
    else:
        put("\n".join(_lines(done)))
    return 0


def _lines(done: AdoptAnswer) -> Iterator[str]:
    """What it brings is shown whole: whoever goes on lets it run."""
    yield from done.remarks
    if done.kept:
        yield f"The files that were read are kept in {done.kept}."
    adopted, go_on = f"Adopted as loop {done.loop} in {done.state}.", f"Go on with: loop resume --loop {done.loop}"
    if not done.commands:
        yield f"{adopted} {go_on}"
        return
    yield f"{adopted} It brings {counted(len(done.commands), 'command')} that will be run:"
    for each in done.commands:
        words = visible(shlex.join(each.argv)).replace("\n", "\\n")
        yield f"  {each.of}: {words}"
    yield f"Read what will be run. {go_on}"


def _meant(known: tuple[Adopter, ...], file: Path, path: Path) -> tuple[Adopter, Path]:
    sorts = f"{', '.join(each.named for each in known[:-1])} or {known[-1].named}"
    if not file.exists():
        raise UsageError(f"{path}: there is no such file; name {sorts}")
    fits = [(each, found) for each in known if (found := each.finds(file)) is not None]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise UsageError(f"{path} has both {' and '.join(each.named for each, _ in fits)}; name the file")
    raise UsageError(f"{path} is, or has, none of these: {sorts}; name the file")


async def _adopt(project: Project, adopter: Adopter, found: PointedAt) -> AdoptAnswer:
    now = await adopter.adopt(project, settings_of(project), found)
    told = adopter.told(now)
    return AdoptAnswer(
        kind=now.row.kind,
        loop=now.row.id,
        state=now.standpoint.state,
        kept=told.kept,
        remarks=told.remarks,
        commands=told.commands,
    )
