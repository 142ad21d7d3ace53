"""A ticket session that is started from Python."""

from __future__ import annotations

from loopwright.app.creation import new_id
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.door import Start
from loopwright.app.starts.tickets.new_tickets import free_session, identified
from loopwright.app.starts.tickets.sessions import TicketRequest, create_session, plan_session, session_of
from loopwright.config.settings import LimitSettings, Settings
from loopwright.errors import UsageError
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.request import Tickets
from loopwright.loops.tickets.state import TicketParams


def _limits(asked: Tickets) -> LimitSettings:
    return LimitSettings(tickets=TicketLimits(max=asked.max))


async def _start(project: Project, settings: Settings, loop: Tickets, roles: tuple[str, ...]) -> View:
    if not loop.title.strip():
        raise UsageError("the ticket has no title; say what is to be built")
    if loop.session and await session_of(project, loop.session) is not None:
        raise UsageError(f"the session {loop.session!r} is known here already; choose another name")
    params = TicketParams(
        firm=True,
        accepts_checked=True,
        session=loop.session or await free_session(project, loop.title),
        title=loop.title.strip(),
        base=project.head,
        what=loop.what,
        criteria=identified(tuple(loop.criteria) or (loop.title,)),
        context=loop.context,
        limits=settings.limits.tickets,
    )
    planned = plan_session(project, settings, params, TicketRequest(merge=loop.merge), played=roles)
    return await create_session(project, settings, planned, new_id(params.session))


START = Start(limits=_limits, create=_start)
