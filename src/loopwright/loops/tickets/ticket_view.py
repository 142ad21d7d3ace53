"""One ticket of a session as its file shows it: what came before it, what it is waiting for, how it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.model import Ending
from loopwright.loops.course import Course, Station
from loopwright.loops.tickets.chronicle import CLAIMED
from loopwright.loops.tickets.past import ALL, SessionPast, TicketPast
from loopwright.loops.tickets.state import (
    Criterion,
    Decision,
    Ticket,
    TicketsPhase,
    TicketsState,
    all_tickets,
    ticket_id,
)

_DECIDED = {Decision.APPROVE: "approved", Decision.ROUTE_BACK: "route_back", Decision.ESCALATE: "escalated"}
_NO_PAST = SessionPast()
_DONE = {Ending.VERIFIED: "approved", Ending.ACCEPTED: "escalated"}  # a person took it, it was never approved


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketView:
    state: TicketsState
    ticket: Ticket
    before: tuple[Ticket, ...]  # the attempts that came first, oldest first
    told: TicketPast = TicketPast()

    @property
    def name(self) -> str:
        return ticket_id(self.state.plan.session, self.ticket.number)

    @property
    def is_current(self) -> bool:
        return self.ticket.number == self.state.ticket.number

    @property
    def parent(self) -> Ticket | None:
        return next((each for each in reversed(self.before) if each.number == self.ticket.parent), None)

    @property
    def parent_name(self) -> str | None:
        return ticket_id(self.state.plan.session, self.ticket.parent) if self.ticket.parent else None

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        focus = self.ticket.focus
        return tuple(each for each in self.state.plan.criteria if not focus or each.id in focus)

    @property
    def status(self) -> str:
        if not self.is_current:
            return _DECIDED[self.ticket.decision] if self.ticket.decision else "blocked"
        return _status(self.state, is_claimed=self.told.when(CLAIMED) is not None)

    def asks(self, who: TicketsPhase) -> bool:
        """Whether the ticket is on hold for a question of whoever works in that phase."""
        return self.is_current and self.state.course.station is Station.CLARIFY and self.state.phase is who

    @property
    def question(self) -> str:
        inquiries = self.state.course.inquiries
        return "\n".join(each.question for inquiry in inquiries for each in inquiry.questions)


def views(state: TicketsState, past: SessionPast = _NO_PAST, numbers: tuple[int, ...] = ALL) -> tuple[TicketView, ...]:
    """Of the tickets that are ours, or of these; what was over when it was taken over stays where it came from."""
    adopted = {ticket.number for ticket in state.plan.adopted if ticket.decision is not None}
    tickets = all_tickets(state)
    wanted = [each.number for each in tickets if each.number not in adopted and (not numbers or each.number in numbers)]
    places = {each.number: place for place, each in enumerate(tickets)}
    return tuple(
        TicketView(state=state, ticket=tickets[at], before=tickets[:at], told=past.of(number))
        for number, at in ((each, places[each]) for each in wanted)
    )


def _status(state: TicketsState, *, is_claimed: bool) -> str:
    course = state.course
    match course.station or state.phase:
        case Station.PREFLIGHT:
            return "open"
        case TicketsPhase.CREATE:
            return ("claimed" if course.trial.until is not None else "in_progress") if is_claimed else "open"
        case TicketsPhase.CHECKPOINT | TicketsPhase.CRITIQUE:
            return "critic_review"
        case TicketsPhase.CHECK if course.accepted:
            return "escalated"
        case TicketsPhase.CHECK | TicketsPhase.JUDGE | TicketsPhase.VERDICT:
            return "expediter_review"
        case Station.GATE | Station.CLARIFY | Station.CLEAN_UP:
            return "blocked"
        case Station.LAND | Station.HELD_CHECK | Station.HELD_LAND:
            return "escalated" if course.accepted else "approved"
        case Station.ESCALATED:
            return "escalated"
        case Station.DONE:
            return _how_it_ended(course)
        case _ as never:
            assert_never(never)


def _how_it_ended(course: Course) -> str:
    """What a person took at a gate only, untested, was approved all the same."""
    if course.outcome is None:
        return "blocked"
    at_a_gate = course.outcome.ending is Ending.ACCEPTED and not course.accepted
    return "approved" if at_a_gate else _DONE.get(course.outcome.ending, "blocked")
