"""What came of a ticket session, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.model import Ending, LoopId
from loopwright.loops.course import Station
from loopwright.loops.tickets.state import Decision, TicketsState, all_tickets, ticket_id, told_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketsResult:
    """What `loop ticket run --json` adds to what every loop answers."""

    session: str
    tickets: tuple[str, ...]
    verdict: Literal["APPROVE", "ESCALATE"] | None  # the session's, not the last ticket's
    accuracy: float | None
    score: float | None


def result(_loop: LoopId, state: TicketsState, _parts: Mapping[LoopId, object]) -> TicketsResult:
    told = told_of(state)
    return TicketsResult(
        session=state.plan.session,
        tickets=tuple(ticket_id(state.plan.session, ticket.number) for ticket in all_tickets(state)),
        verdict=_verdict(state),
        accuracy=told.accuracy if told else None,
        score=told.score if told else None,
    )


def _verdict(state: TicketsState) -> Literal["APPROVE", "ESCALATE"] | None:
    """Routed back it has none yet, and refused landing is not approved."""
    course = state.course
    if course.outcome is not None and course.outcome.ending is Ending.VERIFIED:
        return "APPROVE"
    last = state.past[-1].decision if state.past else None
    return "ESCALATE" if course.station is Station.ESCALATED or last is Decision.ESCALATE else None
