"""What came of a ticket session, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.model import Ending, LoopId
from loopwright.loops.tickets.state import Decision, Phase, Ticket, Tickets, best_ticket, ticket_id
from loopwright.loops.tickets.ticket_view import all_tickets


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketsResult:
    """What `loop ticket run --json` adds to what every loop answers."""

    session: str
    tickets: tuple[str, ...]
    verdict: Literal["APPROVE", "ESCALATE"] | None  # the session's, not the last ticket's
    accuracy: float | None
    score: float | None


def result(state: Tickets, _parts: Mapping[LoopId, object]) -> TicketsResult:
    told = told_of(state)
    return TicketsResult(
        session=state.plan.session,
        tickets=tuple(ticket_id(state.plan.session, ticket.number) for ticket in all_tickets(state)),
        verdict=_verdict(state),
        accuracy=told.accuracy if told else None,
        score=told.score if told else None,
    )


def told_of(state: Tickets) -> Ticket | None:
    """The ticket that is spoken of: the one that was taken, else the last that was decided."""
    taken = best_ticket(state.past) if state.accepted else None
    return taken or (state.past[-1] if state.past else None)


def _verdict(state: Tickets) -> Literal["APPROVE", "ESCALATE"] | None:
    """Routed back it has none yet, and refused landing is not approved."""
    if state.outcome is not None and state.outcome.ending is Ending.VERIFIED:
        return "APPROVE"
    last = state.past[-1].decision if state.past else None
    return "ESCALATE" if state.phase is Phase.ESCALATED or last is Decision.ESCALATE else None
