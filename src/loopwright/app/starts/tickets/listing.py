"""What the ticket commands answer: what was made, every ticket there is with where it stands, one of them, a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.publication import scene_of
from loopwright.app.starts.tickets.new_tickets import Put
from loopwright.app.starts.tickets.queue import Queued, read_queued, waiting
from loopwright.app.starts.tickets.sessions import JUDGE, TicketRequest, planned, session_of, sessions
from loopwright.app.starts.tickets.ticket_text import ENDING, ticket_text
from loopwright.config.settings import Settings
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.model import LoopId
from loopwright.loops.tickets.files import pages, ticket_path
from loopwright.loops.tickets.insights.cycle import Cycle, cycle_of
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Decision, TicketParams, is_completed, ticket_id, told_of
from loopwright.loops.tickets.ticket_view import views

# --- new ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketMade:
    session: str
    ticket: str
    file: str  # from the root of the repository


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketsImported:
    """The first of them also stands for all, where a program asks for one."""

    session: str | None
    ticket: str | None
    file: str | None
    tickets: tuple[TicketMade, ...]
    skipped: tuple[str, ...]  # sessions that are known here already


def made(root: Path, each: Put) -> TicketMade:
    name = ticket_id(each.session, each.sequence)
    return TicketMade(session=each.session, ticket=name, file=str(each.file.relative_to(root)))


def imported(root: Path, put: list[Put], left: list[str]) -> TicketsImported:
    tickets = tuple(made(root, each) for each in put)
    first = tickets[0] if tickets else None
    return TicketsImported(
        session=first.session if first else None,
        ticket=first.ticket if first else None,
        file=first.file if first else None,
        tickets=tickets,
        skipped=tuple(left),
    )


# --- list -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedTicket:
    session: str
    ticket: str
    title: str
    status: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableTicket:
    session: None
    ticket: str  # the name of the file
    file: str
    error: str  # why it cannot be read, with file and line


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationCount:
    index: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session with its newest ticket."""

    session: str
    ticket: str
    title: str
    status: str  # as the ticket's file says it
    iteration: IterationCount
    accuracy: float | None  # of the last ticket that was decided
    file: str
    loop: LoopId


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketList:
    """Oldest first. What a person cancelled is told apart: nothing goes on with it."""

    queue: tuple[QueuedTicket | UnreadableTicket, ...]
    active: tuple[ListedSession, ...] = ()
    completed: tuple[ListedSession, ...] = ()
    cancelled: tuple[ListedSession, ...] = ()


async def listed(project: Project) -> TicketList:
    found: dict[str, list[ListedSession]] = {"active": [], "completed": [], "cancelled": []}
    for each in await sessions(project):
        over = "completed" if is_completed(each.now.state) else "active"
        found["cancelled" if each.row.status == "cancelled" else over].append(await _listed(project, each))
    queue = tuple(_waits(project.root, path) for path in waiting(project.root))
    return TicketList(queue=queue, **{name: tuple(rows) for name, rows in found.items()})


async def _listed(project: Project, session: View) -> ListedSession:
    """One that was over when it was taken over can only be escalated."""
    state = session.now.state
    told = told_of(state)
    shown = views(state) if session.is_over else views(state, (await scene_of(project, session)).past)
    return ListedSession(
        session=state.plan.session,
        ticket=ticket_id(state.plan.session, state.ticket.number),
        title=state.plan.title,
        status=shown[-1].status if shown else "escalated",
        iteration=IterationCount(index=state.ticket.number, max=state.allowance),
        accuracy=told.accuracy if told else None,
        file=ticket_path(state),
        loop=session.row.id,
    )


def _waits(root: Path, path: Path) -> QueuedTicket | UnreadableTicket:
    """A ticket that cannot be read is listed too, with the sentence that says why."""
    file = str(path.relative_to(root))
    try:
        queued = read_queued(root, path)
    except ConfigError as error:
        return UnreadableTicket(session=None, ticket=path.name.removesuffix(ENDING), file=file, error=str(error))
    return QueuedTicket(
        session=queued.session,
        ticket=ticket_id(queued.session, queued.sequence),
        title=queued.ticket.title,
        status=queued.ticket.status,
        file=file,
    )


# --- show -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTicket:
    """Made from the log: a file that was removed or changed is told as it should be."""

    ticket: str
    session: str
    loop: LoopId
    file: str
    decision: Decision | None
    accuracy: float | None
    score: float | None
    front: Mapping[str, object]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDraft:
    """A ticket as it waits in the queue."""

    session: str
    ticket: str
    file: str
    title: str
    status: str
    text: str


async def shown(project: Project, found: View | Queued, number: int | None) -> ShownTicket | ShownDraft:
    """Of a session the newest, if none is named. Raises `UsageError` for one that is not ours."""
    if isinstance(found, Queued):
        return ShownDraft(
            session=found.session,
            ticket=ticket_id(found.session, found.sequence),
            file=str(found.path.relative_to(project.root)),
            title=found.ticket.title,
            status=found.ticket.status,
            text=ticket_text(found.path),
        )
    state = found.now.state
    number = number or state.ticket.number
    made = pages(found.row.id, state, (await scene_of(project, found)).past, (number,))
    if not made:
        known = any(ticket.number == number for ticket in state.plan.adopted)
        why = "was adopted, and its file stays where it came from" if known else "is not there"
        newest = ticket_id(state.plan.session, state.ticket.number)
        raise UsageError(f"{ticket_id(state.plan.session, number)} {why}; the newest of the session is {newest}")
    ticket = next((each for each in state.past if each.number == number), None)
    return ShownTicket(
        ticket=made[0].name,
        session=state.plan.session,
        loop=found.row.id,
        file=ticket_path(state, number),
        decision=ticket.decision if ticket else None,
        accuracy=ticket.accuracy if ticket else None,
        score=ticket.score if ticket else None,
        front=made[0].front,
        text=made[0].text,
    )


# --- what would be done -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketForetold:
    """What `loop ticket run --dry-run` says: what would be done, by whom, judged by what. Nothing was created."""

    session: str
    ticket: str
    title: str
    where: Literal["queue", "active"]
    cycle: str
    base: str
    branch: str
    merge: bool
    criteria: tuple[str, ...]
    agents: Mapping[str, tuple[str, ...]]  # by role
    checks: Mapping[str, str]
    protected: tuple[str, ...]
    max: int
    budget: float | None
    loop: LoopId | None = None
    dry_run: bool = True


async def foretold(
    project: Project, settings: Settings, found: View | Queued, request: TicketRequest
) -> TicketForetold:
    """Raises what the real thing would be refused with."""
    if isinstance(found, Queued):
        known = await session_of(project, found.session)
        return _foretold(settings, planned(project, settings, found, request, known), request.budget)
    return _foretold(settings, found.now.state.plan, found.row.budget, found.row.id)


def _foretold(
    settings: Settings, plan: TicketParams, budget: float | None, loop: LoopId | None = None
) -> TicketForetold:
    roles = ("creator", *plan.critics, *((JUDGE,) if plan.judge else ()))
    return TicketForetold(
        session=plan.session,
        ticket=ticket_id(plan.session, TICKETS.start(plan).ticket.number),
        title=plan.title,
        where="queue" if loop is None else "active",
        cycle=plan.cycle,
        base=plan.base,
        branch=plan.target.removeprefix("refs/heads/") or "(detached)",
        merge=plan.merge,
        criteria=tuple(f"{each.id}: {each.text}" for each in plan.criteria),
        agents={role: tuple(agent.name for agent in settings.agents_for(role)) for role in roles},
        checks={check.name: " ".join(check.run) for check in settings.checks},
        protected=tuple(settings.workspace.protected),
        max=plan.limits.max,
        budget=settings.budget.usd if budget is None else budget,
        loop=loop,
    )


# --- insights -------------------------------------------------------------------------------------


async def cycles(project: Project) -> tuple[Cycle, ...]:
    """Every ticket session there is, oldest first, a part of another loop or not, as insights are learned from it."""
    found = []
    for row in reversed(await project.store.rows()):
        if row.kind == TICKETS.name:
            now, records = await view(project, row.id), await project.store.read(row.id)
            found.append(cycle_of(now.now.state, records, cost=row.spent, estimated=row.estimated, at=row.created))
    return tuple(found)
