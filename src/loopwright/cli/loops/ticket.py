"""`loop ticket`: creator, critics and judge: make tickets, have them done, and look at them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import assert_never

import click

from loopwright.adapters.importers.task_files import FORMATS
from loopwright.app.starts.tickets.choice import named, number_in
from loopwright.app.starts.tickets.listing import (
    ListedSession,
    QueuedTicket,
    ShownDraft,
    ShownTicket,
    TicketList,
    TicketMade,
    TicketsImported,
    UnreadableTicket,
    imported,
    listed,
    made,
    shown,
)
from loopwright.app.starts.tickets.new_tickets import Described, described_in, import_tickets, new_ticket
from loopwright.cli.here import Here
from loopwright.cli.loops import ticket_run
from loopwright.cli.opened import looking, opened
from loopwright.cli.output import json_option, put, put_json
from loopwright.cli.people_only import started_by_people
from loopwright.errors import UsageError
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.tickets.shape import CYCLES


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
@json_option(TicketMade, TicketsImported)
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
        started_by_people(project, here, "ticket new")
        if listing is not None:
            put_in, left = asyncio.run(import_tickets(project, here.cwd / listing, str(form), said.cycle))
            answer = imported(project.root, put_in, left)
            put_json(answer) if as_json else put("\n".join(_imported(answer)))
        else:
            wanted = described_in(here.cwd / file, said) if file is not None else said
            ticket = made(project.root, asyncio.run(new_ticket(project, wanted)))
            put_json(ticket) if as_json else put(_made(ticket))
    return 0


command.add_command(ticket_run.command)


def _made(ticket: TicketMade) -> str:
    return f"{ticket.ticket} is in the queue ({ticket.file}). Have it done with: loop ticket run {ticket.session}"


def _imported(answer: TicketsImported) -> list[str]:
    known = f"; known here already: {', '.join(answer.skipped)}" if answer.skipped else ""
    rows = [f"{each.ticket}  {each.file}" for each in answer.tickets]
    return [*rows, f"{counted(len(answer.tickets), 'ticket')} put into the queue{known}."]


# --- list, show -------------------------------------------------------------------------------------


@command.command("list")
@json_option(TicketList)
@click.pass_obj
def listing(here: Here, *, as_json: bool) -> int:
    """Every ticket in the queue and every session, with status, iteration and accuracy."""
    with looking(here) as project:
        found = asyncio.run(listed(project))
    put_json(found) if as_json else put(_text(found))
    return 0


def _text(found: TicketList) -> str:
    """A line each, with what stands where."""
    parts = {"Queue": found.queue, "Active": found.active, "Completed": found.completed, "Cancelled": found.cancelled}
    blocks = ["\n".join([f"{name}:", *map(_line, rows)]) for name, rows in parts.items() if rows]
    return "\n\n".join(blocks) or "No tickets yet; `loop ticket new TITLE` makes one."


def _line(each: QueuedTicket | UnreadableTicket | ListedSession) -> str:
    match each:
        case UnreadableTicket():
            return f"  {_named(each.ticket)}  cannot be read: {one_line(each.error, 500)}"
        case QueuedTicket():
            return f"  {_named(each.ticket)}  {each.status}  {one_line(each.title)}"
        case ListedSession():
            count = f", iteration {each.iteration.index}/{each.iteration.max}"
            accuracy = "" if each.accuracy is None else f", accuracy {each.accuracy:.2f}"
            return f"  {_named(each.ticket)}  {each.status}{count}{accuracy}  {one_line(each.title)}"
        case _:
            assert_never(each)


def _named(ticket: str) -> str:
    """A file in the queue may have any name: one with an end of the line in it makes no second line."""
    return one_line(ticket.replace("\n", "\\n"))


@command.command("show")
@click.argument("ticket")
@json_option(ShownTicket, ShownDraft)
@click.pass_obj
def show(here: Here, *, ticket: str, as_json: bool) -> int:
    """A ticket as its file has it; of a session, the newest."""
    with looking(here) as project:
        found = asyncio.run(named(project, here.cwd, ticket))
        answer = asyncio.run(shown(project, found, number_in(ticket)))
    put_json(answer) if as_json else put(answer.text.rstrip("\n"))
    return 0
