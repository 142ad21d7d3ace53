"""`loop doctor`: what is here and what to fix."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

import click

from loopwright.adapters.git.conditions import conditions
from loopwright.adapters.git.repository import Repository, find_repository
from loopwright.app.kinds import KINDS
from loopwright.app.preconditions import DISK_FLOOR
from loopwright.app.project import has_log
from loopwright.app.views.answers import DoctorAnswer, DoctorLine
from loopwright.cli.checkup import (
    Remark,
    agent_lines,
    check_lines,
    containment_line,
    disk_line,
    file_system_line,
    git_line,
    identity_line,
    log_lines,
    sandbox_line,
    sqlite_line,
    tools_line,
)
from loopwright.cli.class_lines import class_lines
from loopwright.cli.here import Here
from loopwright.cli.opened import opened
from loopwright.cli.output import json_option, put, put_json
from loopwright.config.loop_toml import load_settings
from loopwright.errors import EngineError
from loopwright.kernel.wording import counted


@click.command("doctor")
@json_option(DoctorAnswer)
@click.pass_obj
def command(here: Here, *, as_json: bool) -> int:
    """What is here (git, agents, sandbox, SQLite, checks) and what to fix. Exit 1 if something must be fixed."""
    lines = list(examine(here))
    broken = any(line.word == "fix" for line in lines)
    if as_json:
        shown = tuple(DoctorLine(status=line.word, what=line.what, text=line.text) for line in lines)
        put_json(DoctorAnswer(ok=not broken, lines=shown))
    else:
        put("\n".join(f"{line.word:<5} {line.what:<12} {line.text}" for line in lines))
        put(
            "\nSomething must be fixed before a loop can start."
            if broken
            else f"\nReady: {', '.join(_startable(here))}"
        )
    return 1 if broken else 0


def _startable(here: Here) -> Iterator[str]:
    """The commands that begin a loop which has an agent for every role it needs."""
    settings = load_settings(find_repository(here.cwd, here.environ).top, lambda _refused: None)
    for kind in KINDS.values():
        if kind.starts and all(settings.agents_for(role) for role in kind.needs.roles):
            yield kind.starts


def examine(here: Here) -> Iterator[Remark]:
    """Everything that is looked at, in the order in which it matters."""
    yield git_line(here.environ)
    yield sqlite_line()
    yield containment_line()
    try:
        repository = find_repository(here.cwd, here.environ)
    except EngineError as error:
        yield Remark("fix", "repository", str(error))
        return
    yield from _in_repository(here, repository)


def _in_repository(here: Here, repository: Repository) -> Iterator[Remark]:
    where = repository.branch_ref.removeprefix("refs/heads/") or "detached HEAD"
    if repository.dirty:
        yield Remark("warn", "repository", f"{repository.top} ({where}): uncommitted changes are not seen by a loop")
    else:
        yield Remark("ok", "repository", f"{repository.top} ({where})")
    for said in conditions(repository.top, here.environ, repository.head):
        yield Remark(said.word, said.what, said.text)
    yield identity_line(here.environ, repository.top)
    yield disk_line(repository.top, shutil.disk_usage(repository.top).free, DISK_FLOOR)
    yield file_system_line(repository.top)
    yield from _in_log(here, repository)
    refused: list[str] = []
    try:
        settings = load_settings(repository.top, refused.append)
    except EngineError as error:
        yield Remark("fix", "loop.toml", str(error))
        return
    yield from (Remark("fix", "loop.toml", sentence) for sentence in refused)
    yield Remark("ok", "loop.toml", f"version {settings.version}, {counted(len(settings.checks), 'check')}")
    yield sandbox_line(settings, here.environ)
    yield from agent_lines(settings, repository.top, here.environ)
    yield tools_line(settings, repository.top, here.environ)
    yield from check_lines(settings, repository.top, here.environ)
    yield from class_lines(settings, repository.top, here.environ)


def _in_log(here: Here, repository: Repository) -> Iterator[Remark]:
    try:
        if has_log(repository, here.environ):
            with opened(here) as project:
                yield from asyncio.run(log_lines(project.store, project.loops))
    except EngineError as error:
        yield Remark("fix", "log", str(error))
