"""How a ticket session is told when it is over or has stopped: every ticket in a line, and the pattern in them."""

from __future__ import annotations

from loopwright.kernel.gates import UNSHOWN, UNTESTED
from loopwright.kernel.model import Ending, Finding, Outcome
from loopwright.kernel.quoting import inline, one_line
from loopwright.kernel.wording import counted
from loopwright.loops import closing
from loopwright.loops.course import Station
from loopwright.loops.kind import Lane
from loopwright.loops.parts import row
from loopwright.loops.tickets.convergence import in_a_line, intervention, persistent_gaps
from loopwright.loops.tickets.ending import known_of, open_now
from loopwright.loops.tickets.findings import open_findings
from loopwright.loops.tickets.state import (
    Ticket,
    TicketsPhase,
    TicketsState,
    best_ticket,
    best_to_take,
    can_split,
    ticket_id,
)

_SHOWN = 20
_AT: dict[str, str] = {
    TicketsPhase.CREATE: "being made",
    TicketsPhase.CHECKPOINT: "being kept",
    TicketsPhase.CRITIQUE: "in review",
    TicketsPhase.CHECK: "being tested",
    TicketsPhase.JUDGE: "being judged",
    TicketsPhase.VERDICT: "being judged",
}


def lines(state: TicketsState, outcome: Outcome) -> tuple[str, ...]:
    elsewhere = _elsewhere(state) if outcome.ending is Ending.ACCEPTED else ()
    left = closing.known_issues(outcome.findings, elsewhere, "tickets")
    put_off = outcome.ending is Ending.VERIFIED and bool(outcome.findings)
    deferred = f" with {counted(len(outcome.findings), 'deferred issue')}, recorded in .loop/debt.md" if put_off else ""
    return (
        *attempts(state),
        closing.headline(outcome, promise="Approved", after=f"after {_numbers(state)}{deferred}", left=left),
        *closing.findings((*outcome.findings, *elsewhere), _SHOWN),
        *_result(state, outcome),
    )


def lane(state: TicketsState, _working: bool) -> Lane | None:  # noqa: FBT001 - a port's signature
    held = open_now(state)
    shown = Lane(
        name=one_line(state.plan.title, 120),
        count=f"ticket {state.ticket.number}",
        detail=counted(len(held), "finding") if held else "",
    )
    return row(state, shown, _AT, lands=state.plan.lands)


def so_far(state: TicketsState) -> tuple[str, ...]:
    """All of the history; where a ticket was sent back, also what it shows, and what would most likely help."""
    if not state.past or state.course.station is Station.GATE:
        return (*attempts(state), _under_way(state))
    advised, why = intervention(state.past, can_split=can_split(state))
    stubborn = ", ".join(f"{one_line(gap, 120)} (in {count} tickets)" for gap, count in persistent_gaps(state.past))
    return (
        *attempts(state),
        f"Pattern: {state.past[-1].trend or 'adopted'}; persistent gaps: {stubborn or 'none'}",
        f"Recommended: {advised} ({one_line(why, 300)})",
        *unresolved(state),
    )


def _under_way(state: TicketsState) -> str:
    number = ticket_id(state.plan.session, state.ticket.number)
    if state.course.station is Station.GATE:
        return f"{number}: nothing speaks against it, but it {' and '.join(_waits_since(state))} and waits at its gate."
    return f"{number}: under way; no ticket has been decided yet."


def _waits_since(state: TicketsState) -> tuple[str, ...]:
    """Return the reason for each open gate that has to be decided before the ticket can go on."""
    awaited = (gate for gate in state.course.open_gates if not gate.lasting)
    why = {UNTESTED: "is untested", UNSHOWN: "is shown by no test"}
    return tuple(
        f"{why[gate.gate]} ({one_line(gate.why, 300).rstrip('.')})" if gate.gate in why else "changes protected files"
        for gate in awaited
    )


def attempts(state: TicketsState) -> tuple[str, ...]:
    return tuple(one_line(in_a_line(state.plan.session, ticket), 500) for ticket in state.past)


def unresolved(state: TicketsState) -> tuple[str, ...]:
    """Which thresholds the last ticket did not meet, and everything that is open, worst first."""
    if not state.past:
        return ()
    last = state.past[-1]
    against = tuple(f"  {rule.line} ({one_line(rule.why, 200)})" for rule in last.rules if rule.is_against)
    head = (f"Not met by {ticket_id(state.plan.session, last.number)}:",) if against else ()
    left = open_now(state)
    found = (f"Unresolved, {counted(len(left), 'finding')}:",) if left else ()
    return (*head, *against, *found, *closing.findings(left, _SHOWN))


def _numbers(state: TicketsState) -> str:
    """Tickets that were taken over were written, though not here."""
    taken = sum(ticket.decision is not None for ticket in state.plan.adopted)
    return counted(len(state.past), "ticket") + (f", {taken} of them adopted" if taken else "")


def _result(state: TicketsState, outcome: Outcome) -> tuple[str, ...]:
    # Without a note of its own the outcome carries the last decision, which has been told.
    known = {f"{each.decision}: {ticket_id(state.plan.session, each.number)}" for each in state.past}
    said = () if outcome.note in known else closing.note(outcome)
    if landed := closing.landed(outcome, said):
        return landed
    kept = best_ticket(state.past)
    # What a person said no to is kept as well, but nobody is told to take it.
    best = best_ticket(state.course.not_rejected(state.past))
    if best is None:
        why = "every ticket holds a change that a person rejected" if kept else "no ticket left a change"
        return (f"Result: none; {why}.", *said)
    return closing.kept(
        f"the best ticket, {ticket_id(state.plan.session, best.number)},", state.plan.base, best.commit, said
    )


def _taken(state: TicketsState) -> Ticket:
    return best_to_take(state) or Ticket(number=state.ticket.number)


def _elsewhere(state: TicketsState) -> tuple[Finding, ...]:
    """Return what other tickets than the accepted one left open."""
    taken = _taken(state)
    return closing.besides(open_findings(state.ledger), taken.findings + known_of(state, taken))


def owed(state: TicketsState, by: str) -> tuple[str, ...]:
    """Why it was not approved is owed as well: a threshold may have no finding of its own."""
    taken, others = _taken(state), _elsewhere(state)
    known = known_of(state, taken)
    against = "; ".join(rule.line for rule in taken.rules if rule.is_against)
    return (
        f"- **Ticket**: {ticket_id(state.plan.session, taken.number)}, {inline(state.plan.title)}",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: ticket {taken.number} of {counted(len(state.past), 'ticket')}",
        f"- **Accuracy**: {taken.accuracy:.2f}, score {taken.score:.2f}",
        *closing.owed_where(state.course.outcome, state.plan.branch, taken.commit),
        f"- **Not met**: {inline(against, 1_000) or 'none'}",
        *closing.owed_findings("Open findings", known),
        *(closing.owed_checks(state.course.outcome, (), verified=True) if state.verified else ()),
        *(closing.owed_findings("Seen in other tickets and not resolved", others) if others else ()),
    )
