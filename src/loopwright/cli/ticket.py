"""`loop ticket`: make tickets, have them done, and look at them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from loopwright.adapters.git.repository import find_repository
from loopwright.adapters.importers.task_files import FORMATS
from loopwright.app.loops import View
from loopwright.app.project import Project, settings_of
from loopwright.app.starts.tickets.folders import next_sequence
from loopwright.app.starts.tickets.new_tickets import Described, Put, described_in, import_tickets, new_ticket
from loopwright.app.starts.tickets.queue import Queued
from loopwright.app.starts.tickets.sessions import TicketRequest, activate, clear_queue, sessions
from loopwright.app.starts.tickets.ticket_text import ticket_text
from loopwright.cli.driving import Manner, drive_and_tell
from loopwright.cli.here import Here
from loopwright.cli.output import json_option, note, put, put_json
from loopwright.cli.picking import has_log, only_looked_at, opened
from loopwright.cli.resume import prepare
from loopwright.cli.running import StoppedBySignal, complete
from loopwright.cli.ticket_choosing import named, oldest
from loopwright.cli.ticket_plan import foretell
from loopwright.cli.ticketed import listed, shown, text_of
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import counted
from loopwright.loops.tickets.shape import CYCLES, ticket_parts
from loopwright.loops.tickets.state import ticket_id


@click.group("ticket")
def command() -> None:
    """Creator, critics and judge: make tickets, have them done, and look at them.

    A session is what is to be built; each try at it is a new ticket, until one is approved, or the last one that may
    be written is escalated to you.
    """


# --- new --------------------------------------------------------------------------------------------


@command.command("new")
@click.argument("title", default="")
@click.option("--file", type=click.Path(path_type=Path), help="A ticket, or a text that says what is to be built.")
@click.option("--accept", "criteria", multiple=True, metavar="TEXT", help="What must hold; repeatable.")
@click.option("--session", default="", metavar="NAME", help="What the session is called; else after the title.")
@click.option("--context", default="", metavar="TEXT", help="What whoever does it should know besides.")
@click.option("--cycle", type=click.Choice(CYCLES), default=None, help="What kind of work it is.  [development]")
@click.option("--import", "listing", type=click.Path(path_type=Path), help="One ticket for each task of this list.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default=None, help="Whose list; else by content.")
@json_option
@click.pass_obj
def new(here: Here, /, *, as_json: bool, file: Path | None, listing: Path | None, **given: object) -> int:
    """Put a ticket into the queue. Without --accept, TITLE itself is what must hold.

    Lists that --import reads: prd.json of Ralph, tasks.json of Task Master, tasks.md of spec-kit, and what
    `gh issue list --json number,title,body,labels` prints.
    """
    form = given.pop("form") or ""
    said = Described(**{**given, "cycle": given["cycle"] or ""})  # type: ignore[arg-type]  # click has checked it
    if listing is not None and (said != Described(cycle=said.cycle) or file is not None):
        raise UsageError("--import makes its tickets from the list alone; give only --format and --cycle with it")
    if form and listing is None:
        raise UsageError("--format goes with --import")
    with opened(here, create=True) as project:
        if listing is not None:
            made, left = asyncio.run(import_tickets(project, here.cwd / listing, str(form), said.cycle))
            return _tell_import(project, made, left, as_json=as_json)
        wanted = described_in(here.cwd / file, said) if file is not None else said
        return _tell_new(project, asyncio.run(new_ticket(project, wanted)), as_json=as_json)


def _data(project: Project, each: Put) -> dict[str, Any]:
    number = next_sequence(project.root, each.session)
    file = str(each.file.relative_to(project.root))
    return {"session": each.session, "ticket": ticket_id(each.session, number), "file": file}


def _tell_new(project: Project, each: Put, *, as_json: bool) -> int:
    data = _data(project, each)
    if as_json:
        put_json(data)
    else:
        put(f"{data['ticket']} is in the queue ({data['file']}). Have it done with: loop ticket run {each.session}")
    return 0


def _tell_import(project: Project, made: list[Put], left: list[str], *, as_json: bool) -> int:
    """The first of them also stands for all, where a program asks for one."""
    tickets = [_data(project, each) for each in made]
    if as_json:
        first = tickets[0] if tickets else {"session": None, "ticket": None, "file": None}
        put_json({**first, "tickets": tickets, "skipped": left})
        return 0
    for each in tickets:
        put(f"{each['ticket']}  {each['file']}")
    known = f"; known here already: {', '.join(left)}" if left else ""
    put(f"{counted(len(tickets), 'ticket')} put into the queue{known}.")
    return 0


# --- run --------------------------------------------------------------------------------------------


@command.command("run")
@click.argument("ticket", default="")
@click.option("--max", type=click.IntRange(1, 900), default=None, metavar="N", help="Tickets in the session, at most.")
@click.option("--budget", type=click.FloatRange(min=0), metavar="USD", help="Instead of the one in loop.toml.")
@click.option("--merge/--no-merge", default=None, help="Integrate an approved result into the current branch.")
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@json_option
@click.pass_obj
def run(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, ticket: str, **given: object) -> int:
    """Drive the session of TICKET until a ticket is approved, or escalated to you (exit 4).

    TICKET is an id, a session or a file of the queue. Without one it is the oldest that is under way, else the oldest
    in the queue.
    """
    request = TicketRequest(**given)  # type: ignore[arg-type]  # click has checked the types
    if dry_run:
        return _foretell(here, ticket, request, as_json=as_json)
    with opened(here, create=True) as project:
        ready = complete(_ready(project, here, ticket, request))
        if isinstance(ready, StoppedBySignal):
            return ready.exit_code
        return drive_and_tell(project, here, ready, Manner(unattended=unattended, as_json=as_json))


async def _ready(project: Project, here: Here, name: str, request: TicketRequest) -> LoopId | View:
    """The loop that is to be driven: one that goes on, with what changed taken in, or a new one out of the queue."""
    if not name:
        await clear_queue(project)
    found = await (named(project, here.cwd, name) if name else oldest(project))
    if isinstance(found, Queued):
        loop = await activate(project, settings_of(project), found, request)
        note(f"loop {loop}: session {found.session}, {found.ticket.title}")
        return loop
    _refuse_to_change(found, request)
    goes_on = await prepare(project, here, found.row.id, request.budget)
    if isinstance(goes_on, str):
        raise Forbidden(goes_on)
    note(f"loop {found.row.id}: session {found.now.state.plan.session} goes on")
    return goes_on


def _refuse_to_change(session: View, request: TicketRequest) -> None:
    if session.is_over:
        raise Forbidden(
            f"session {session.now.state.plan.session} is over ({session.row.status}, loop {session.row.id}); make a"
            " new ticket with `loop ticket new`"
        )
    if request.max is not None or request.merge is not None:
        raise UsageError(
            f"session {session.now.state.plan.session} is under way, and --max and --merge are for one that begins;"
            " grant more tickets with `loop answer continue N`"
        )


def _foretell(here: Here, name: str, request: TicketRequest, *, as_json: bool) -> int:
    """With the real log where there is one, which is only read."""
    with opened(here) if has_log(here) else only_looked_at(here) as project:
        found = asyncio.run(named(project, here.cwd, name) if name else oldest(project))
        data, lines = asyncio.run(foretell(project, settings_of(project), found, request))
        put_json(data) if as_json else put("\n".join(lines))
    return 0


# --- list, show -------------------------------------------------------------------------------------


@command.command("list")
@json_option
@click.pass_obj
def listing(here: Here, *, as_json: bool) -> int:
    """Every ticket in the queue and every session, with status, iteration and accuracy."""
    data = _listed(here)
    put_json(data) if as_json else put(text_of(data))
    return 0


def _listed(here: Here) -> dict[str, Any]:
    if not has_log(here):
        return listed(find_repository(here.cwd, here.environ).top, (), {})
    with opened(here) as project:
        return asyncio.run(_sessions(project))


async def _sessions(project: Project) -> dict[str, Any]:
    found = await sessions(project)
    logs = {each.row.id: await project.store.read(each.row.id) for each in found if not each.is_over}
    return listed(project.root, found, logs)


@command.command("show")
@click.argument("ticket")
@json_option
@click.pass_obj
def show(here: Here, *, ticket: str, as_json: bool) -> int:
    """A ticket as its file has it; of a session, the newest."""
    with opened(here) if has_log(here) else only_looked_at(here) as project:
        data = asyncio.run(_shown(project, here, ticket))
    put_json(data) if as_json else put(data["text"].rstrip("\n"))
    return 0


async def _shown(project: Project, here: Here, name: str) -> dict[str, Any]:
    found = await named(project, here.cwd, name)
    if isinstance(found, Queued):
        file = str(found.path.relative_to(project.root))
        shared = {"session": found.session, "ticket": ticket_id(found.session, found.sequence), "file": file}
        return {**shared, "title": found.ticket.title, "status": found.ticket.status, "text": ticket_text(found.path)}
    parts = ticket_parts(Path(name).name.removesuffix(".md"))
    log = await project.store.read(found.row.id)
    return shown(found, log, parts[1] if parts else found.now.state.ticket.number)
