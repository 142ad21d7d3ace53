"""`loop setup`: writes loop.toml for this repository, from what it finds; or begins a new log where one was lost."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path

import click

from loopwright.adapters.checks.detect import detect
from loopwright.adapters.checks.order import strength
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.files import write_whole
from loopwright.adapters.git.program import persons_git
from loopwright.adapters.git.repository import find_repository
from loopwright.adapters.setup_writer import KNOWN_AGENTS, Surroundings, render_config
from loopwright.app.project import begin_log, log_file
from loopwright.app.views.answers import FoundCheck, NewLogAnswer, SetupAnswer
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.people_only import only_outside_of_steps
from loopwright.config.loop_toml import FILE_NAME
from loopwright.config.settings import VERIFYING, CheckSettings
from loopwright.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    stack: str
    checks: tuple[CheckSettings, ...]
    agents: tuple[str, ...]
    notes: tuple[str, ...]
    text: str


@click.command("setup")
@click.option("--force", is_flag=True, help="Replace a loop.toml that is there.")
@click.option("--dry-run", is_flag=True, help="Print it and write nothing.")
@click.option("--new-log", is_flag=True, help="Only begin an empty log, where that of earlier loops was lost.")
@json_option(SetupAnswer, NewLogAnswer)
@click.pass_obj
def command(here: Here, *, force: bool, dry_run: bool, new_log: bool, as_json: bool) -> int:
    """Write loop.toml for this repository: detects how it is built and tested, and which agents are installed."""
    if new_log:
        if force or dry_run:
            raise UsageError("--new-log goes with neither --force nor --dry-run; run `loop setup --new-log` alone")
        return _begin_log(here, as_json=as_json)
    root = find_repository(here.cwd, here.environ).top
    file = root / FILE_NAME
    if file.exists() and not (force or dry_run):
        raise UsageError(f"{file} is there already; edit it, or replace it with `loop setup --force`")
    found = _look(here)
    if not dry_run:
        try:
            write_whole(file, found.text)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    if as_json:
        put_json(_answer(found, str(file), written=not dry_run))
    elif dry_run:
        put(found.text.rstrip("\n"))
    else:
        put("\n".join(_lines(found, str(file))))
    return 0


def _begin_log(here: Here, *, as_json: bool) -> int:
    only_outside_of_steps(find_repository(here.cwd, here.environ).top, here, "setup --new-log")
    project = begin_log(here.cwd, here.environ)
    asyncio.run(project.store.close())
    log = str(log_file(project.root))
    if as_json:
        put_json(NewLogAnswer(log=log, created=True))
    else:
        put(f"Began a new, empty log: {log}. Commits of earlier loops stay under refs/loopwright/.")
    return 0


def _look(here: Here) -> _Found:
    root = find_repository(here.cwd, here.environ).top

    def on_path(program: str) -> bool:
        return shutil.which(program, path=here.environ.get("PATH", "")) is not None

    seen = detect(root, found=on_path)
    agents = tuple(filter(on_path, KNOWN_AGENTS))
    files = tuple(persons_git(here.environ, root).names("ls-files", "-z"))
    around = Surroundings(checks=seen.checks, files=files, agents=agents)
    return _Found(stack=seen.stack, checks=seen.checks, agents=agents, notes=seen.notes, text=render_config(around))


def _answer(found: _Found, file: str, *, written: bool) -> SetupAnswer:
    texts = texts_in(Path(file).parent, (check.run for check in found.checks))
    return SetupAnswer(
        file=file,
        written=written,
        stack=found.stack,
        checks=tuple(FoundCheck(name=c.name, run=tuple(c.run), strength=strength(c, texts)) for c in found.checks),
        agents=found.agents,
        notes=found.notes,
        text=found.text,
    )


def _lines(found: _Found, file: str) -> list[str]:
    texts = texts_in(Path(file).parent, (check.run for check in found.checks))
    checks = [f"  {check.name:<10} {' '.join(check.run)} ({strength(check, texts)})" for check in found.checks]
    lines = [f"Wrote {file} ({found.stack}).", "Checks:", *(checks or ["  none found"])]
    lines.append(f"Agents: {', '.join(found.agents) or 'none found on the PATH; name one in loop.toml'}")
    lines += [f"Note: {note}" for note in found.notes]
    if not any(check.name in VERIFYING for check in found.checks):
        lines.append("Without a build or a test check only `loop review` starts: add [checks.test].")
    return [*lines, "Next: read it, commit it, and run `loop doctor`."]
