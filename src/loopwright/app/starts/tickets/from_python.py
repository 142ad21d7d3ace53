"""A ticket session that is started from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.app.creation import new_id
from loopwright.app.project import Project
from loopwright.app.starts.door import Start
from loopwright.app.starts.tickets.new_tickets import free_session, identified
from loopwright.app.starts.tickets.sessions import TicketRequest, create_session, plan_session, session_of
from loopwright.config.settings import LimitSettings, Settings
from loopwright.errors import UsageError
from loopwright.kernel.model import LoopId
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.state import TicketParams


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """The ticket cycle: a creator, a critic and a judge, each try a new ticket, until one is approved.

    A criterion may begin with an id of its own, as in `AC-1: …`; without any, the title is what must hold.
    """

    title: str
    criteria: Sequence[str] = ()
    what: str = ""
    context: str = ""
    session: str = ""
    max: int = 5
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)


def _limits(asked: Tickets) -> LimitSettings:
    return LimitSettings(tickets=TicketLimits(max=asked.max))


async def _start(project: Project, settings: Settings, loop: Tickets, roles: tuple[str, ...]) -> LoopId:
    if not loop.title.strip():
        raise UsageError("the ticket has no title; say what is to be built")
    if loop.session and await session_of(project, loop.session) is not None:
        raise UsageError(f"the session {loop.session!r} is known here already; choose another name")
    params = TicketParams(
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


START = Start(request=Tickets, roles=("creator", "critic"), limits=_limits, create=_start)
