"""The ticket cycle as one value: a creator, critics side by side, a judge; each try is a new ticket.

| phase      | asks for                      | on success                           | otherwise                  |
|------------|-------------------------------|--------------------------------------|----------------------------|
| CREATE     | creator                       | CHECKPOINT                           | CLARIFY                    |
| CHECKPOINT | checkpoint                    | CRITIQUE                             | -                          |
| CRITIQUE   | every critic at once          | CHECK                                | -                          |
| CHECK      | checks                        | JUDGE, VERDICT, GATE                 | -                          |
| JUDGE      | judge, if one is named        | VERDICT, GATE                        | CLARIFY                    |
| GATE       | a person, on protected files  | CHECK                                | VERDICT                    |
| VERDICT    | the line on record            | LAND, CREATE (next group) (APPROVE)  | CREATE (ROUTE_BACK),       |
|            |                               |                                      | ESCALATED (ESCALATE)       |
| LAND       | integrate                     | DONE                                 | ESCALATED                  |
| CLARIFY    | a person                      | CREATE, JUDGE, whoever asked         | CLEAN_UP                   |
| ESCALATED  | a person                      | CREATE, LAND                         | CLEAN_UP                   |
| CLEAN_UP   | clean up                      | DONE                                 | -                          |
| DONE       | stop                          | -                                    | -                          |

Agents never loop: what comes after a ticket is decided here, and it is always a new ticket.
"""

from __future__ import annotations

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.loops.tickets.apply import apply
from loopwright.loops.tickets.asking import can_split
from loopwright.loops.tickets.convergence import intervention, persistent_gaps, without_progress
from loopwright.loops.tickets.decide import decide
from loopwright.loops.tickets.state import Decision, TicketParams, Tickets, start, ticket_id


def stand(state: Tickets) -> Standpoint:
    last = state.past[-1] if state.past else None
    session = state.plan.session
    return Standpoint(
        state=state.phase.value,
        attempt=state.ticket.number,
        limit=state.allowance,
        failures=sum(ticket.decision is not Decision.APPROVE for ticket in state.past),
        findings=last.findings if last else (),
        headline=f"{last.decision}: {ticket_id(session, last.number)}" if last else "",
        lines=(*_counts(state), *_rules(state)),
    )


def _counts(state: Tickets) -> tuple[str, ...]:
    used = f"tickets used: {len(state.past)} of {state.allowance}"
    if not state.past:
        return (used,)
    last = state.past[-1]
    worse = ", worse than the ticket before" if last.worse else ""
    return (used, f"accuracy {last.accuracy:.2f}, score {last.score:.2f}, {last.trend}{worse}")


def _rules(state: Tickets) -> tuple[str, ...]:
    if not state.past:
        return ()
    last, (advised, why) = state.past[-1], intervention(state.past, can_split=can_split(state))
    against = tuple(f"{rule.line} ({rule.why})" for rule in last.rules if rule.is_against)
    gaps = tuple(f"persistent gap: {gap}, in {count} tickets" for gap, count in persistent_gaps(state.past))
    return (
        *against,
        *gaps,
        f"tickets without progress in a row: {without_progress(state.past)}; this ticket's move: {state.ticket.move}",
        f"if it escalates: {advised} ({why})",
    )


TICKETS: Loop[TicketParams, Tickets] = Loop(
    name="tickets",
    params=TicketParams,
    state=Tickets,
    start=start,
    decide=decide,
    apply=apply,
    stand=stand,
)
