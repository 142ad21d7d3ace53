"""The critics of a ticket, all at once: each has a seat, and the judge waits until every seat has spoken."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable, TimeReached
from loopwright.kernel.model import AgentReport, AgentStatus
from loopwright.kernel.trying import again, asked_to_repair, failure, tried_again, waiting_until
from loopwright.loops.tickets.decide import seat_of, waiting_seats
from loopwright.loops.tickets.findings import is_mute
from loopwright.loops.tickets.judging import heard_critics
from loopwright.loops.tickets.state import CRITIC, Critique, Phase, Seat, Tickets, entered


def seated(state: Tickets) -> tuple[Seat, ...]:
    """The configured critics, each with the agent a person gave it, and the ones a person set beside them."""
    chosen, roles = dict(state.cast), state.plan.critics or (CRITIC,)
    own = tuple(Seat(role=role, agent=chosen.get(role, "")) for role in roles)
    return own + tuple(Seat(role=roles[0], agent=agent) for agent in state.extra_critics)


def critic_event(state: Tickets, event: AgentReported | AgentFailed | AgentUnavailable | TimeReached) -> Tickets:
    index = seat_of(event.key)
    seats = (*state.seats[:index], _after(state.seats[index], event), *state.seats[index + 1 :])
    state = replace(state, seats=seats)
    return state if waiting_seats(state) else entered(heard_critics(state), Phase.CHECK)


def _after(seat: Seat, event: AgentReported | AgentFailed | AgentUnavailable | TimeReached) -> Seat:
    match event:
        case AgentUnavailable():
            return waiting_until(seat, event.until)
        case TimeReached():
            return again(seat)
        case AgentFailed():
            return _failed(seat, event)
        case AgentReported():
            return _reported(seat, event.report)
        case _:
            assert_never(event)


def _reported(seat: Seat, report: AgentReport) -> Seat:
    """One request to repair what cannot be used; a critic that is not done has given no verdict."""
    verdict = report.verdict if report.status is AgentStatus.DONE else None
    critique = Critique(role=seat.role, verdict=verdict, summary=report.summary, findings=report.findings)
    why = "there is no verdict, or it is not a pass and no finding says why"
    once_more = asked_to_repair(seat, why) if is_mute(critique) else None
    return replace(seat, critique=critique) if once_more is None else once_more


def _failed(seat: Seat, event: AgentFailed) -> Seat:
    """One free respawn, or one request to repair; then the seat stays silent, which counts against the ticket."""
    if (once_more := tried_again(seat, event)) is not None:
        return once_more
    return replace(seat, critique=Critique(role=seat.role, verdict=None, summary=failure(event)))
