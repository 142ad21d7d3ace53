"""Starting ticket sessions: from the queue, from a ticket that a program made, and from a folder of another tool."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace

from loopwright.app.creation import create_loop
from loopwright.app.loops import View, view
from loopwright.app.preconditions import FreeSpace, check_cast, check_ground, refuse_independent
from loopwright.app.project import Project
from loopwright.app.starts.tickets.folders import next_sequence, session_folder
from loopwright.app.starts.tickets.queue import Queued, read_queued, take_out, waiting, was_taken_out
from loopwright.config.settings import Settings
from loopwright.errors import ConfigError, Forbidden, UsageError
from loopwright.kernel.model import Commit, LoopId
from loopwright.kernel.trust import Trust
from loopwright.loops.tickets import ticket_read
from loopwright.loops.tickets.files import ACTIVE
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Ticket, TicketParams
from loopwright.loops.tickets.ticket_read import ReadTicket

CREATOR, JUDGE = "creator", "judge"
_OVER = ("complete", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRequest:
    """What a command adds to what a ticket says."""

    max: int | None = None
    merge: bool | None = None
    budget: float | None = None
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed
    keeps_behaviour: bool = False
    about: str = ""


async def sessions(project: Project) -> tuple[View, ...]:
    """Every ticket session that a person started, oldest first."""
    rows = [row for row in await project.store.rows() if row.kind == TICKETS.name and row.parent is None]
    return tuple([await view(project, row.id) for row in reversed(rows)])


async def session_of(project: Project, name: str) -> View | None:
    """The newest loop of a session."""
    return next((each for each in reversed(await sessions(project)) if each.now.state.plan.session == name), None)


def plan_session(
    project: Project,
    settings: Settings,
    params: TicketParams,
    request: TicketRequest,
    *,
    played: tuple[str, ...] | None = None,
    free: FreeSpace | None = None,
) -> TicketParams:
    """The session with what the configuration adds. Raises the sentence that says why it could not end well.

    `params.limits` are the ticket's own, or none. `played` are roles from outside the settings.
    """
    session_folder(project.root, ACTIVE, params.session)
    merge = settings.finish.merge if request.merge is None else request.merge
    refuse_independent(settings, "a ticket session")
    check_ground(project, settings, merge=merge, allow=request.allow, free=free)
    critics = settings.tickets.critics
    if played is None:
        check_cast(project, settings, (CREATOR, *critics))
    return replace(
        params,
        base=project.head,
        target=project.branch,
        merge=merge,
        creators=(CREATOR,) if played else tuple(agent.name for agent in settings.agents_for(CREATOR)),
        critics=critics,
        judge=JUDGE in played if played else bool(settings.agents_for(JUDGE)),
        trust=Trust(allow=request.allow, in_force=True, keeps_behaviour=request.keeps_behaviour),
        about=request.about,
    )


def session_params(read: ReadTicket, session: str, base: Commit) -> TicketParams:
    """A ticket that only repeats its title says nothing more with it."""
    params = ticket_read.params(read, session=session, base=base)
    return replace(params, what="") if params.what.strip() == params.title.strip() else params


def limits_for(read: ReadTicket, settings: Settings, request: TicketRequest) -> TicketLimits:
    """The command's word, else the ticket's own, else the configuration's."""
    return TicketLimits(max=request.max or read.max or settings.limits.tickets.max)


def planned(
    project: Project, settings: Settings, queued: Queued, request: TicketRequest, known: View | None
) -> TicketParams:
    """What a ticket of the queue comes to, before anything is made. `known` is the session's last loop."""
    if known is not None and known.row.id != queued.loop and known.row.status not in _OVER:
        raise Forbidden(
            f"{queued.ticket.file}: session {queued.session} is under way as loop {known.row.id}; run or cancel that"
            " first, or give the ticket another session_id"
        )
    if not queued.is_free:
        by = f" by {queued.ticket.claimed_by}" if queued.ticket.claimed_by else ""
        says = f"is {queued.ticket.status}{by}; set it to open to have the ticket done here"
        raise ConfigError(queued.ticket.file, "status", says)
    number = max(next_sequence(project.root, queued.session), known.now.state.ticket.number + 1 if known else 1)
    params = session_params(queued.ticket, queued.session, project.head)
    limits = limits_for(queued.ticket, settings, request)
    begun = _begun(queued.ticket, number)
    if begun and begun[0].number == number:  # it has tries of its own, whatever came before it
        limits = TicketLimits(max=limits.max + number - 1)
    params = ticket_read.with_turn(replace(params, limits=limits, adopted=begun), queued.ticket)
    return plan_session(project, settings, params, request)


def _begun(read: ReadTicket, number: int) -> tuple[Ticket, ...]:
    """The attempts a ticket tells of itself; else the number it begins with, where that is not the first."""
    told = ticket_read.adopted((read,)) if read.sequence and read.history else ()
    if told and told[-1].number >= number:
        return told
    return (Ticket(number=number),) if number > 1 else ()


async def activate(project: Project, settings: Settings, queued: Queued, request: TicketRequest) -> View:
    """The loop of a ticket in the queue, which then leaves the queue. Not yet driven. Safe to repeat."""
    known = await session_of(project, queued.session)
    loop = LoopId(queued.loop)
    if known is not None and known.row.id == loop:  # somebody died before the file was gone
        session = known
        if known.row.status in _OVER:
            raise Forbidden(
                f"{queued.ticket.file}: this very ticket was done before, as loop {loop} ({known.row.status}); change"
                " its text to have it done again, or remove the file"
            )
    else:
        params = planned(project, settings, queued, request, known)
        session = await create_session(project, settings, params, loop, request.budget)
    take_out(project.root, queued)
    return session


async def clear_queue(project: Project) -> None:
    """Take out what somebody left there who died after the ticket's loop was on record: it is done or under way."""
    known = {row.id for row in await project.store.rows()}
    for path in waiting(project.root):
        with suppress(ConfigError):  # a bad ticket is told when it is its turn
            queued = read_queued(project.root, path)
            if queued.loop in known and not was_taken_out(project.root, queued):
                take_out(project.root, queued)


async def create_session(
    project: Project, settings: Settings, params: TicketParams, loop: LoopId, budget: float | None = None
) -> View:
    await _refuse_anothers(project, params.session)
    return await create_loop(project, settings, loop, params, budget=budget)


async def _refuse_anothers(project: Project, session: str) -> None:
    """A session in which a part of a larger thing is made is that thing's own, whether it is under way or over."""
    rows = {row.id: row for row in await project.store.rows()}
    for row in rows.values():
        parent = rows[row.parent] if row.parent and row.kind == TICKETS.name else None
        if parent and json.loads(row.params)["session"] == session:
            raise UsageError(
                f"session {session} is known here already: a part of the {parent.kind} {parent.id} is made in it;"
                f" go on with `loop resume {parent.id}`"
            )
