"""Whether the tickets get anywhere, told by failing checks and open findings and by no prose; what to try next, and
what earlier tickets tell the next one.
"""

from __future__ import annotations

from collections import Counter

from loopwright.kernel.findings import cut
from loopwright.kernel.ledger import Ledger, Standing
from loopwright.kernel.model import Severity
from loopwright.loops.tickets.aspects import UNMAPPED
from loopwright.loops.tickets.state import Aspect, Decision, Ticket, TicketsState, criteria_in_force, ticket_id

IMPROVING, STALLED, OSCILLATING, FIRST = "improving", "stalled", "oscillating", "first"
RETRY, FRESH, OTHER_AGENT = "retry", "fresh context", "other agent"
SPLIT, EXAMPLES, REASSIGN, REVISE = "split", "examples", "reassign", "revise"  # a coordinator's moves
_BY_PERSON = (SPLIT, EXAMPLES, REASSIGN, REVISE)
_PATIENCE = 1  # tickets without progress before something else is tried
_MANY_GAPS = 3  # more than a person keeps in mind
URGENT = 0.5  # a score below it comes first
_MOST_GAPS, _LONGEST = 5, 200
_HEAVY = (Severity.CRITICAL, Severity.HIGH)


def trouble(ticket: Ticket) -> int:
    """How much is wrong: checks that fail and grave findings that are open."""
    failing = sum(not check.passed for check in ticket.checks or ())
    return failing + sum(finding.severity in _HEAVY for finding in ticket.findings)


def trend(past: tuple[Ticket, ...], ledger: Ledger) -> str:
    """Of the last ticket against the one before it. After an approval something new begins."""
    if _begins(past):
        return FIRST
    now = past[-1].number
    if any(each.standing is Standing.REOPENED and each.streak == 1 and each.last == now for each in ledger):
        return OSCILLATING
    return IMPROVING if trouble(past[-1]) < trouble(past[-2]) else STALLED


def is_worse(past: tuple[Ticket, ...]) -> bool:
    """Whether more is wrong than in the ticket before."""
    return not (_begins(past) or past[-1].repeats) and trouble(past[-1]) > trouble(past[-2])


def _begins(past: tuple[Ticket, ...]) -> bool:
    return len(past) < 2 or past[-2].decision is Decision.APPROVE  # noqa: PLR2004  two make a trend


def without_progress(past: tuple[Ticket, ...]) -> int:
    """Tickets in a row, newest backwards, that did not improve; a coordinator's answer starts the row anew."""
    count = 0
    for ticket in reversed(past):
        if ticket.trend not in (STALLED, OSCILLATING):
            break
        count += 1
        if ticket.move in _BY_PERSON:
            break
    return count


def next_move(past: tuple[Ticket, ...], *, has_others: bool) -> str:
    """Patience first, then a fresh start from the best ticket, then somebody else. After that only a person helps."""
    idle = without_progress(past)
    if idle <= _PATIENCE:
        return RETRY
    return OTHER_AGENT if has_others and idle > _PATIENCE + 1 else FRESH


def persistent_gaps(past: tuple[Ticket, ...]) -> tuple[tuple[str, int], ...]:
    """Requirements that failed in at least half of the tickets, the most stubborn first."""
    failed = Counter(gap for ticket in past for gap in gaps(ticket))
    often = [(gap, count) for gap, count in failed.items() if 2 * count >= len(past) and count > 1]
    return tuple(sorted(often, key=lambda pair: (-pair[1], pair[0])))


def gaps(ticket: Ticket) -> tuple[str, ...]:
    """What fell short, lowest score first: requirements, and what maps to none by its own name."""
    failed = sorted((aspect for aspect in ticket.aspects if not aspect.passed), key=lambda aspect: aspect.score)
    names = (aspect.aspect if aspect.requirement == UNMAPPED else aspect.requirement for aspect in failed)
    return tuple(dict.fromkeys(names))


def intervention(past: tuple[Ticket, ...], *, can_split: bool) -> tuple[str, str]:
    """What a coordinator should do, by the first rule that fits, and why."""
    stubborn, last = persistent_gaps(past), (gaps(past[-1]) if past else ())
    pattern = past[-1].trend if past else FIRST
    if can_split and (len(stubborn) >= _MANY_GAPS or len(last) > _MANY_GAPS):
        return (
            SPLIT,
            f"{max(len(stubborn), len(last))} requirements fail at once: the scope is too large for one ticket",
        )
    if pattern == OSCILLATING:
        return REASSIGN, "what was fixed comes back: the same agent undoes its own work"
    if stubborn:
        return EXAMPLES, f"{stubborn[0][0]} failed in {stubborn[0][1]} tickets: show what is wanted"
    if pattern == STALLED:
        return REASSIGN, "nothing has improved, and no single gap explains it"
    return (
        "continue",
        "it is improving: more tickets may do" if pattern == IMPROVING else "too little was tried to tell",
    )


# --- what earlier tickets tell the next one --------------------------------------------------------


def in_a_line(session: str, ticket: Ticket) -> str:
    """Outcome, accuracy, trend, gaps, and the approach, so that it is not tried twice."""
    named = ", ".join(_one_line(gap) for gap in gaps(ticket)[:_MOST_GAPS]) or "none"
    worse = ", worse than before" if ticket.worse else ""
    refused = f", could not be landed: {_one_line(ticket.refused)}" if ticket.refused else ""
    tried = f"; tried: {_one_line(ticket.notes)}" if ticket.notes.strip() else ""
    return (
        f"{ticket_id(session, ticket.number)}: {ticket.decision}, accuracy {ticket.accuracy:.2f},"
        f" {ticket.trend or 'adopted'}{worse}{refused}; gaps: {named}{tried}"
    )


def feedback(state: TicketsState) -> tuple[str, ...]:
    """The last ticket's shortfalls as lines for the next creator: lowest score first, the urgent ones marked."""
    if not state.past:
        return ()
    last = state.past[-1]
    later = {criterion.text for criterion in state.plan.criteria} - {each.text for each in criteria_in_force(state)}
    failed = [aspect for aspect in last.aspects if not aspect.passed and aspect.requirement not in later]
    said = (f"The judge says: {last.advice}",) if last.advice else ()
    return (*(_row(aspect) for aspect in sorted(failed, key=lambda aspect: aspect.score)), *said)


def _row(aspect: Aspect) -> str:
    urgent = "PRIORITY " if aspect.score < URGENT else ""
    guidance = f"; guidance: {aspect.guidance}" if aspect.guidance else ""
    return (
        f"{urgent}{aspect.requirement} / {aspect.aspect}: expected {aspect.expected}; actual {aspect.actual};"
        f" score {aspect.score:.2f}{guidance}"
    )


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), _LONGEST)
