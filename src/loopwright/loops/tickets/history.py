"""What earlier tickets tell the next one: each in a line, and the last one's shortfalls as feedback."""

from __future__ import annotations

from loopwright.kernel.findings import cut
from loopwright.loops.tickets.convergence import gaps
from loopwright.loops.tickets.state import Aspect, Ticket, Tickets, criteria_in_force, ticket_id

_URGENT = 0.5  # a score below it comes first
_MOST_GAPS, _LONGEST = 5, 200


def in_a_line(session: str, ticket: Ticket) -> str:
    """Outcome, accuracy, trend, gaps, and the approach, so that it is not tried twice."""
    named = ", ".join(_one_line(gap) for gap in gaps(ticket)[:_MOST_GAPS]) or "none"
    worse = ", worse than before" if ticket.worse else ""
    tried = f"; tried: {_one_line(ticket.notes)}" if ticket.notes.strip() else ""
    return (
        f"{ticket_id(session, ticket.number)}: {ticket.decision}, accuracy {ticket.accuracy:.2f},"
        f" {ticket.trend or 'adopted'}{worse}; gaps: {named}{tried}"
    )


def feedback(state: Tickets) -> tuple[str, ...]:
    """The last ticket's shortfalls as lines for the next creator: lowest score first, the urgent ones marked."""
    if not state.past:
        return ()
    last = state.past[-1]
    later = {criterion.text for criterion in state.plan.criteria} - {each.text for each in criteria_in_force(state)}
    failed = [aspect for aspect in last.aspects if not aspect.passed and aspect.requirement not in later]
    said = (f"The judge says: {last.advice}",) if last.advice else ()
    return (*(_row(aspect) for aspect in sorted(failed, key=lambda aspect: aspect.score)), *said)


def _row(aspect: Aspect) -> str:
    urgent = "PRIORITY " if aspect.score < _URGENT else ""
    guidance = f"; guidance: {aspect.guidance}" if aspect.guidance else ""
    return (
        f"{urgent}{aspect.requirement} / {aspect.aspect}: expected {aspect.expected}; actual {aspect.actual};"
        f" score {aspect.score:.2f}{guidance}"
    )


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST)
