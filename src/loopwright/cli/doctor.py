"""`loop doctor`: what is here and what to fix."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping

import click

from loopwright.adapters.git.conditions import conditions
from loopwright.adapters.git.repository import Repository, find_repository
from loopwright.app.project import has_log
from loopwright.app.views.answers import DoctorAnswer, DoctorLine
from loopwright.cli.check_remarks import check_lines, environment_lines, run_lines
from loopwright.cli.check_runs import Startable, as_answer, counted_before, never_run_lines, run_checks, startable
from loopwright.cli.checkup import (
    Remark,
    agent_lines,
    containment_line,
    disk_line,
    file_system_line,
    git_line,
    identity_line,
    log_lines,
    sandbox_line,
    sqlite_line,
    stand_in_lines,
    tools_line,
)
from loopwright.cli.here import Here
from loopwright.cli.opened import kinds, opened
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.task_list_remarks import task_list_lines
from loopwright.config.loop_toml import load_settings
from loopwright.config.settings import Settings
from loopwright.errors import EngineError
from loopwright.kernel.wording import counted


@click.command("doctor")
@click.option("--run", "runs", is_flag=True, help="Run every check once on HEAD, in a checkout as a loop has it.")
@json_option(DoctorAnswer)
@click.pass_obj
def command(here: Here, *, runs: bool, as_json: bool) -> int:
    """What is here (git, agents, sandbox, SQLite, checks) and what to fix.

    Exit 1 if something must be fixed, 2 if a check cannot run.
    """
    settings = _settings(here)
    seen = run_checks(here, settings) if runs else ()
    known = {run.check.name: run.counted for run in seen} if runs else counted_before(here, settings)
    lines = list(examine(here, known or {}))
    lines += run_lines(seen) if runs else never_run_lines(settings, known)
    broken = any(line.word == "fix" for line in lines)
    begins = Startable() if broken else startable(here, settings, known or {})
    is_ok = bool(begins.ready or begins.doubtful)
    if as_json:
        shown = tuple(DoctorLine(status=line.word, what=line.what, text=line.text) for line in lines)
        put_json(DoctorAnswer(ok=is_ok, lines=shown, ready=begins.ready, runs=tuple(map(as_answer, seen))))
    else:
        put("\n".join(f"{line.word:<5} {line.what:<12} {line.text}" for line in lines))
        put(f"\n{begins.in_words}")
    if any(run.word == "cannot run" for run in seen):
        return 2
    return 0 if is_ok else 1


def _settings(here: Here) -> Settings:
    """Without any check where there are none to go by; why is said elsewhere."""
    try:
        return load_settings(find_repository(here.cwd, here.environ).top, lambda _refused: None)
    except EngineError:
        return Settings()


def examine(here: Here, known: Mapping[str, bool | None]) -> Iterator[Remark]:
    """Everything that is looked at, in the order in which it matters."""
    yield git_line(here.environ)
    yield sqlite_line()
    yield containment_line()
    try:
        repository = find_repository(here.cwd, here.environ)
    except EngineError as error:
        yield Remark("fix", "repository", str(error))
        return
    yield from _in_repository(here, repository, known)


def _in_repository(here: Here, repository: Repository, known: Mapping[str, bool | None]) -> Iterator[Remark]:
    where = repository.branch_ref.removeprefix("refs/heads/") or "detached HEAD"
    if repository.dirty:
        yield Remark("warn", "repository", f"{repository.top} ({where}): uncommitted changes are not seen by a loop")
    else:
        yield Remark("ok", "repository", f"{repository.top} ({where})")
    for said in conditions(repository.top, here.environ, repository.head):
        yield Remark(said.word, said.what, said.text)
    yield identity_line(here.environ, repository.top)
    yield disk_line(repository.top, shutil.disk_usage(repository.top).free)
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
    yield from stand_in_lines(settings, kinds(here))
    yield from task_list_lines(repository.top, here.environ)
    yield tools_line(settings, repository.top, here.environ)
    yield from environment_lines(repository.top, here.environ)
    yield from check_lines(settings, repository.top, here.environ, known)


def _in_log(here: Here, repository: Repository) -> Iterator[Remark]:
    try:
        if has_log(repository, here.environ):
            with opened(here) as project:
                yield from asyncio.run(log_lines(project.store, project.loops))
    except EngineError as error:
        yield Remark("fix", "log", str(error))
