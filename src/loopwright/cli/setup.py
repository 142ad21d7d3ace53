"""`loop setup`: writes loop.toml for this repository, with checks that ran; or begins a new log where one was lost."""

from __future__ import annotations

import asyncio
from typing import Literal

import click

from loopwright.adapters.checks.first_run import said_of
from loopwright.adapters.files import write_whole
from loopwright.adapters.git.repository import find_repository
from loopwright.app.project import begin_log, log_file
from loopwright.app.suggestion import Suggestion, suggest
from loopwright.app.views.answers import FoundCheck, NewLogAnswer, SetupAnswer
from loopwright.cli.here import Here
from loopwright.cli.opened import only_looked_at
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.cli.people_only import only_outside_of_steps
from loopwright.config.loop_toml import FILE_NAME
from loopwright.config.settings import CheckSettings
from loopwright.errors import UsageError

_ADD = "add [checks.test]"


@click.command("setup")
@click.option("--force", is_flag=True, help="Replace a loop.toml that is there.")
@click.option("--dry-run", is_flag=True, help="Print it and write no file.")
@click.option("--no-run", is_flag=True, help="Write the checks that seem right without running them once.")
@click.option("--new-log", is_flag=True, help="Only begin an empty log, where that of earlier loops was lost.")
@json_option(SetupAnswer, NewLogAnswer)
@click.pass_obj
def command(here: Here, *, force: bool, dry_run: bool, no_run: bool, new_log: bool, as_json: bool) -> int:
    """Write loop.toml for this repository: finds how it is built and tested, and runs each check once on HEAD."""
    if new_log:
        if force or dry_run or no_run:
            raise UsageError("--new-log goes with no other option; run `loop setup --new-log` alone")
        return _begin_log(here, as_json=as_json)
    root = find_repository(here.cwd, here.environ).top
    if not dry_run:
        only_outside_of_steps(root, here, "setup")
    file = root / FILE_NAME
    if file.exists() and not (force or dry_run):
        raise UsageError(f"{file} is there already; edit it, or replace it with `loop setup --force`")
    found = _look(here, runs=not no_run)
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


def _look(here: Here, *, runs: bool) -> Suggestion:
    """Every way is run in a real checkout of HEAD, with a log that is thrown away."""
    with only_looked_at(here) as project:
        return asyncio.run(suggest(project, note, runs=runs))


def _answer(found: Suggestion, file: str, *, written: bool) -> SetupAnswer:
    return SetupAnswer(
        file=file,
        written=written,
        stack=found.stack,
        checks=tuple(FoundCheck(name=c.name, run=tuple(c.run), strength=_strength(c, found)) for c in found.checks),
        agents=found.around.agents,
        notes=found.notes,
        text=found.text,
    )


def _strength(check: CheckSettings, found: Suggestion) -> Literal["counting", "weak"]:
    return "weak" if check.name in found.around.weak else "counting"


def _lines(found: Suggestion, file: str) -> list[str]:
    checks = []
    for each in found.chosen:
        check = each.way.check
        seen = f": {said_of(each.run)}" if each.run else ""
        state = "written but not in force" if check.name in found.around.asleep else _strength(check, found)
        checks.append(f"  {check.name:<10} {' '.join(check.run)} ({state}){seen}")
    lines = [f"Wrote {file} ({found.stack}).", "Checks:", *(checks or ["  none found"])]
    agents = found.around.agents
    lines.append(f"Agents: {', '.join(agents) or 'none found on the PATH; name one in loop.toml'}")
    lines += [f"Note: {said}" for said in found.notes]
    if not found.around.can_verify:
        has_tests = any(check.name == "test" for check in found.checks)
        how = 'let [checks.test] count them (`report`), or give it trust = "exit-code"' if has_tests else _ADD
        lines.append(f"Without a check that counts tests only `loop review` starts: {how}.")
    return [*lines, "Next: read it, commit it, and run `loop doctor`."]
