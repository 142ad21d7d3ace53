"""One ticket of a session as its file shows it: what came before it, what it is waiting for, how it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.model import Ending, Finding
from loopwright.loops.tickets.chronicle import Chronicle
from loopwright.loops.tickets.state import Criterion, Decision, Phase, Ticket, Tickets, criterion_of, ticket_id

_DECIDED = {Decision.APPROVE: "approved", Decision.ROUTE_BACK: "route_back", Decision.ESCALATE: "escalated"}
_DONE = {Ending.VERIFIED: "approved", Ending.ACCEPTED: "escalated"}  # a person took it, it was never approved


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    state: Tickets
    ticket: Ticket
    before: tuple[Ticket, ...]  # the attempts that came first, oldest first
    chronicle: Chronicle = Chronicle()
    worktree: str | None = None

    @property
    def name(self) -> str:
        return ticket_id(self.state.plan.session, self.ticket.number)

    @property
    def is_current(self) -> bool:
        return self.ticket.number == self.state.ticket.number

    @property
    def parent(self) -> Ticket | None:
        return next((each for each in self.before if each.number == self.ticket.parent), None)

    @property
    def parent_name(self) -> str | None:
        return ticket_id(self.state.plan.session, self.ticket.parent) if self.ticket.parent else None

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        focus = self.ticket.focus
        return tuple(each for each in self.state.plan.criteria if not focus or each.id in focus)

    @property
    def claimed_at(self) -> str | None:
        return self.chronicle.when(self.ticket.number, "claimed")

    @property
    def status(self) -> str:
        if not self.is_current:
            return _DECIDED[self.ticket.decision] if self.ticket.decision else "blocked"
        return _status(self.state, is_claimed=self.claimed_at is not None)

    def asks(self, who: Phase) -> bool:
        """Whether the ticket is on hold for a question of whoever works in that phase."""
        return self.is_current and self.state.phase is Phase.CLARIFY and self.state.held is who

    def criterion(self, finding: Finding) -> str:
        """The criterion a finding is about, by its id."""
        found = criterion_of(self.state.plan, finding)
        return found.id if found else "not mapped"


def views(state: Tickets, chronicle: Chronicle, worktree: str | None = None) -> tuple[View, ...]:
    """Of every ticket of the session that is ours; what was over when it was taken over stays where it came from."""
    tickets = all_tickets(state)
    adopted = {ticket.number for ticket in state.plan.adopted if ticket.decision is not None}
    return tuple(
        View(state=state, ticket=ticket, before=tickets[:index], chronicle=chronicle, worktree=worktree)
        for index, ticket in enumerate(tickets)
        if ticket.number not in adopted
    )


def all_tickets(state: Tickets) -> tuple[Ticket, ...]:
    """Oldest first, the one under way last."""
    known = {ticket.number: ticket for ticket in (*state.past, state.ticket)}
    return tuple(known[number] for number in sorted(known))


def is_completed(state: Tickets) -> bool:
    """Whether the session's files belong into `completed/`: its result was taken."""
    return state.outcome is not None and state.outcome.ending in _DONE


def _status(state: Tickets, *, is_claimed: bool) -> str:
    match state.phase:
        case Phase.CREATE:
            return ("claimed" if state.until is not None else "in_progress") if is_claimed else "open"
        case Phase.CHECKPOINT | Phase.CRITIQUE:
            return "critic_review"
        case Phase.CHECK | Phase.JUDGE | Phase.VERDICT:
            return "expediter_review"
        case Phase.GATE | Phase.CLARIFY | Phase.CLEAN_UP:
            return "blocked"
        case Phase.LAND:
            return "escalated" if state.accepted else "approved"
        case Phase.ESCALATED:
            return "escalated"
        case Phase.DONE:
            return _DONE.get(state.outcome.ending, "blocked") if state.outcome else "blocked"
        case _:
            assert_never(state.phase)
