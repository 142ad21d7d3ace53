"""`loop ticket run`: drive a session until a ticket is approved, or escalated."""

from __future__ import annotations

import asyncio

import click

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.settings import settings_of
from loopwright.app.starts.tickets.choice import named, oldest
from loopwright.app.starts.tickets.listing import TicketForetold, foretold
from loopwright.app.starts.tickets.sessions import TicketRequest, activate, clear_queue
from loopwright.cli.drive import Manner, drive_and_tell, run_json_option
from loopwright.cli.here import Here
from loopwright.cli.opened import looking, note_unseen, opened
from loopwright.cli.output import MONEY, UNSET, allow_option, count_to, limit_shown, note, put, put_json, task_options
from loopwright.cli.people_only import started_by_people
from loopwright.cli.resume import prepare
from loopwright.cli.signals import StoppedBySignal, complete
from loopwright.errors import Forbidden, UsageError
from loopwright.loops.tickets.result import TicketsResult


@click.command("run")
@click.argument("ticket", default="")
@click.option("--max", type=count_to(900), default=None, metavar="N", help="Tickets in the session, at most.")
@click.option("--budget", type=MONEY, metavar="USD", help="Instead of the one in loop.toml.")
@click.option("--merge/--no-merge", default=None, help="Integrate an approved result into the current branch.")
@allow_option
@task_options
@click.option("--unattended", is_flag=True, help="Ask nothing: a needed answer ends in exit 4.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and create nothing.")
@run_json_option(TicketsResult, TicketForetold)
@click.pass_obj
def command(here: Here, /, *, as_json: bool, unattended: bool, dry_run: bool, ticket: str, **given: object) -> int:
    """Drive the session of TICKET until a ticket is approved, or escalated to you (exit 4).

    TICKET is an id, a session or a file of the queue. Without one it is the oldest that is under way, else the oldest
    in the queue.
    """
    request = TicketRequest(**given)  # type: ignore[arg-type]  # click has checked the types
    if dry_run:
        return _foretell(here, ticket, request, as_json=as_json)
    with opened(here, create=True) as project:
        started_by_people(project, here, "ticket run")
        ready = complete(_ready(project, here, ticket, request, unattended=unattended))
        if isinstance(ready, StoppedBySignal):
            return ready.exit_code
        return drive_and_tell(project, here, ready, Manner(unattended=unattended, as_json=as_json))


async def _ready(project: Project, here: Here, name: str, request: TicketRequest, *, unattended: bool) -> View:
    """The loop that is to be driven: one that goes on, with what changed taken in, or a new one out of the queue."""
    if not name:
        await clear_queue(project)
    found = await (named(project, here.cwd, name) if name else oldest(project))
    if not isinstance(found, View):
        loop = await activate(project, settings_of(project), found, request)
        note(f"loop {loop.row.id}: session {found.session}, {found.ticket.title}")
        return loop
    _refuse_to_change(found, request)
    budget = UNSET if request.budget is None else request.budget
    goes_on = await prepare(project, here, found.row.id, budget, unattended=unattended)
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
    if request.max is not None or request.merge is not None or request.allow:
        raise UsageError(
            f"session {session.now.state.plan.session} is under way: --max, --merge and --allow are for a new one;"
            " grant more tickets with `loop answer continue N`"
        )


def _foretell(here: Here, name: str, request: TicketRequest, *, as_json: bool) -> int:
    with looking(here) as project:
        found = asyncio.run(named(project, here.cwd, name) if name else oldest(project))
        plan = asyncio.run(foretold(project, settings_of(project), found, request))
        if not isinstance(found, View):
            note_unseen(project)
    put_json(plan) if as_json else put("\n".join(_lines(plan)))
    return 0


def _lines(plan: TicketForetold) -> tuple[str, ...]:
    agents = "; ".join(f"{role}: {', '.join(names) or 'nobody'}" for role, names in plan.agents.items())
    checks = "; ".join(f"{name}: {run}" for name, run in plan.checks.items())
    return (
        f"Would {'go on with' if plan.where == 'active' else 'begin'} {plan.ticket}: {plan.title}",
        *(f"  {criterion}" for criterion in plan.criteria),
        f"  agents      {agents}",
        f"  checks      {checks}",
        f"  protected   {', '.join(plan.protected) or 'none'}",
        f"  tickets     at most {plan.max}; budget {limit_shown(plan.budget)}",
        f"  result      a branch of its own{', merged into ' + plan.branch if plan.merge else ''}",
        "Nothing was created.",
    )
