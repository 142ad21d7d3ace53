"""`loop queue`: the systems that wait to be built, with dependencies and priority."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, get_args

import click

from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.domains import domain_of
from loopwright.app.starts.lifecycle.queue import is_edited
from loopwright.app.starts.lifecycle.queue_edits import (
    MOST,
    SETTABLE,
    QueueExported,
    QueueListing,
    QueueTakenIn,
    Speaker,
    SystemNamed,
    add,
    change,
    export,
    listed,
    remove,
    shown,
    take_in,
)
from loopwright.cli.here import Here
from loopwright.cli.opened import looking, opened
from loopwright.cli.output import count_to, json_option, note, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.queue.files import SystemEntry, place
from loopwright.loops.queue.state import AutonomyMode, NewSystem, SystemAutonomy

domain_option = click.option("--domain", default="", metavar="NAME", help="Which domain; else that of loop.toml.")


@click.group("queue")
def command() -> None:
    """The systems that wait to be built, with dependencies and priority.

    The next one is that which is specified or ready, depends on nothing that is not complete, and has the lowest number
    of priority. The queue is in the log; domain-memory/<domain>/system-queue.json is written from it.
    """


def _speaker(project: Project, here: Here, domain: str, what: str) -> Speaker:
    started_by_people(project, here, f"queue {what}")
    return Speaker(project=project, domain=domain_of(project, domain), by=here.who, failed=note)


# --- what changes it ----------------------------------------------------------------------------------


@command.command("add")
@click.argument("name")
@click.option(
    "--capability", "capabilities", multiple=True, metavar="TEXT", help="What it is to be able to do; repeatable."
)
@click.option("--depends-on", "dependencies", multiple=True, metavar="SYS", help="Built before it; repeatable.")
@click.option(
    "--priority", type=count_to(MOST), default=None, metavar="N", help="1 is the highest.  [behind all others]"
)
@click.option("--description", default="", metavar="TEXT", help="What it is to do.")
@click.option(
    "--issue", "github_issue", type=count_to(MOST), default=None, metavar="N", help="The issue that tells more."
)
@click.option("--mode", type=click.Choice(get_args(AutonomyMode)), default=None, help="Instead of that of loop.toml.")
@click.option("--status", type=click.Choice(["discovered", "specified", "ready"]), default="ready", show_default=True)
@domain_option
@json_option(SystemNamed)
@click.pass_obj
def adding(here: Here, /, *, as_json: bool, domain: str, mode: Any, **given: Any) -> int:  # noqa: ANN401 - as click has it
    """Add a system to the queue."""
    new = NewSystem(**given, autonomy=SystemAutonomy(mode=mode) if mode else None)
    with opened(here, create=True) as project:
        answer = asyncio.run(add(_speaker(project, here, domain, "add"), new))
    put_json(answer) if as_json else put(f"{answer.id} is in the queue.")
    return 0


@command.command("set")
@click.argument("system", metavar="SYS")
@click.argument("field", type=click.Choice(SETTABLE), metavar="FIELD")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--reason", default="", metavar="TEXT", help="With status blocked: why.")
@domain_option
@json_option(SystemEntry)
@click.pass_obj
def setting(here: Here, /, *, as_json: bool, domain: str, system: str, **given: Any) -> int:  # noqa: ANN401 - as above
    """Change one FIELD of a system: status, priority, depends, description, notes or mode.

    `depends` takes any number of systems, and replaces those there were. A status can only become what may follow it.
    """
    with opened(here) as project:
        speaker = _speaker(project, here, domain, "set")
        answer = asyncio.run(change(speaker, system, given["field"], given["values"], given["reason"]))
    put_json(answer) if as_json else put(_told(answer))
    return 0


@command.command("remove")
@click.argument("system", metavar="SYS")
@domain_option
@json_option(SystemNamed)
@click.pass_obj
def removing(here: Here, *, as_json: bool, domain: str, system: str) -> int:
    """Take a system out of the queue, if none depends on it and no loop has claimed it."""
    with opened(here) as project:
        answer = asyncio.run(remove(_speaker(project, here, domain, "remove"), system))
    put_json(answer) if as_json else put(f"{answer.id} is no longer in the queue.")
    return 0


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--merge", is_flag=True, help="Into a queue that has systems: add what is new, take over what differs.")
@domain_option
@json_option(QueueTakenIn)
@click.pass_obj
def importing(here: Here, *, as_json: bool, domain: str, file: Path, merge: bool) -> int:
    """Take in the system-queue.json of another tool, or your own edit of ours. The ids stay."""
    with opened(here, create=True) as project:
        speaker = _speaker(project, here, domain, "import")
        answer = asyncio.run(take_in(speaker, here.cwd / file, merge=merge))
    more = f"; known already, and taken over where it differs: {', '.join(answer.known)}" if answer.known else ""
    put_json(answer) if as_json else put(f"{counted(len(answer.added), 'system')} added{more}.")
    return 0


# --- what looks at it ---------------------------------------------------------------------------------


@command.command("list")
@domain_option
@json_option(QueueListing)
@click.pass_obj
def listing(here: Here, *, as_json: bool, domain: str) -> int:
    """Every system with its status and priority, how many per cent are complete, and which is next."""
    with looking(here) as project:
        meant = domain_of(project, domain)
        answer = asyncio.run(listed(project, meant))
        if is_edited(project, meant):
            file = place(meant)
            note(f"{file} is not what the log has; take it in with `loop queue import {file} --merge`")
    put_json(answer) if as_json else put(_table(answer))
    return 0


@command.command("show")
@click.argument("system", metavar="SYS")
@domain_option
@json_option(SystemEntry)
@click.pass_obj
def showing(here: Here, *, as_json: bool, domain: str, system: str) -> int:
    """One system, with all that is known of it."""
    with looking(here) as project:
        answer = asyncio.run(shown(project, domain_of(project, domain), system))
    put_json(answer) if as_json else put(_told(answer))
    return 0


@command.command("export")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@domain_option
@json_option(QueueExported)
@click.pass_obj
def exporting(here: Here, *, as_json: bool, domain: str, file: Path | None) -> int:
    """The queue as system-queue.json has it: into FILE, which must not be there yet, or onto stdout."""
    with looking(here) as project:
        answer, text = asyncio.run(export(project, domain_of(project, domain), here.cwd / file if file else None))
    if as_json:
        put_json(answer)
    else:
        put(f"Written: {answer.file}" if answer.file else text.rstrip("\n"))
    return 0


def _table(answer: QueueListing) -> str:
    if not answer.systems:
        return f"No systems in {one_line(answer.domain, 100)} yet; `loop queue add NAME` adds one."
    rows = [("id", "status", "priority", "needs", "name"), *map(_row, answer.systems)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = [
        "  ".join((*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1])) for row in rows
    ]
    return "\n".join([*lines, "", f"{answer.progress} % complete; next: {answer.nextReady or 'none is ready'}"])


def _row(each: SystemEntry) -> tuple[str, ...]:
    return each.id, each.status, str(each.priority), ", ".join(each.dependencies) or "-", one_line(each.name, 100)


def _told(each: SystemEntry) -> str:
    autonomy = each.autonomy.mode if each.autonomy else ""
    facts = {
        "status": each.status,
        "blocked": each.blockedReason,
        "priority": str(each.priority),
        "needs": ", ".join(each.dependencies),
        "loop": each.loop,
        "mode": autonomy,
        "issue": str(each.githubIssue) if each.githubIssue else "",
        "created": each.createdAt,
        "started": each.startedAt,
        "completed": each.completedAt,
        "description": one_line(each.description, 500),
        "notes": one_line(each.notes, 500),
    }
    lines = [f"  {name:<12}{value}" for name, value in facts.items() if value]
    return "\n".join(
        [f"{each.id}: {one_line(each.name, 200)}", *lines, *(f"  - {one_line(c, 200)}" for c in each.capabilities)]
    )
