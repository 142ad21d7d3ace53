"""The ticket cycle as one value: a creator, critics side by side, a judge; each try is a new ticket.

| phase      | asks for                      | on success                           | otherwise                  |
|------------|-------------------------------|--------------------------------------|----------------------------|
| CREATE     | creator                       | CHECKPOINT                           | CLARIFY                    |
| CHECKPOINT | checkpoint                    | CRITIQUE                             | -                          |
| CRITIQUE   | every critic at once          | CHECK                                | CLARIFY                    |
| CHECK      | checks                        | JUDGE, VERDICT, GATE; LAND, if it is | ESCALATED, if it is        |
|            |                               | accepted                             | accepted                   |
| JUDGE      | judge, if one is named        | VERDICT, GATE                        | CLARIFY                    |
| VERDICT    | the line on record            | LAND, CREATE (next group) (APPROVE)  | CREATE (ROUTE_BACK),       |
|            |                               |                                      | ESCALATED (ESCALATE)       |
| GATE       | a person, on protected files  | CHECK                                | VERDICT                    |
| LAND       | integrate                     | DONE                                 | CREATE (from the new tip), |
|            |                               |                                      | ESCALATED                  |
| CLARIFY    | a person                      | whoever asked                        | CLEAN_UP                   |
| ESCALATED  | a person                      | CREATE, CHECK or LAND (accepted)     | CLEAN_UP                   |
| CLEAN_UP   | clean up                      | DONE                                 | -                          |
| DONE       | stop                          | -                                    | -                          |

The phases from GATE on are the floor's. A part of a larger loop (`lands` false) is DONE where others LAND: its parent
has the result. Its parent also hears where others ask (CLARIFY) because the creator is blocked or has changed nothing:
that is a ticket that was not approved. Agents never loop: what comes after a ticket is decided here, and it is always
a new ticket.
"""

from __future__ import annotations

from functools import partial

from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import NO_COMMIT
from loopwright.loops import floor
from loopwright.loops.course import where
from loopwright.loops.hooks import Machine
from loopwright.loops.tickets.accepting import accepted
from loopwright.loops.tickets.apply import continued, decided, refused, relimited, revised, took
from loopwright.loops.tickets.convergence import intervention, persistent_gaps, without_progress
from loopwright.loops.tickets.decide import land, work
from loopwright.loops.tickets.ending import ended, open_now
from loopwright.loops.tickets.escalation import DONE, answered, escalation
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.state import Decision, TicketParams, TicketsState, can_split, start, ticket_id

MACHINE: Machine[TicketsState, TicketLimits] = Machine(
    limits=TicketLimits,
    base=lambda state: state.plan.base,
    trust=lambda state: state.plan.trust,
    work=work,
    took=took,
    landing=land,
    outcome=ended,
    escalation=escalation,
    continued=continued,
    revised=revised,
    relimited=relimited,
    decided=decided,
    accepted=accepted,
    refused=refused,
    answered=answered,
    noun="session",
    on_hold="CLARIFICATION NEEDED: the work is on hold until a person answers",
    beside_answer=(DONE, "cancel"),
    asked_before=("create", "judge"),
)


def stand(state: TicketsState) -> Standpoint:
    last = state.past[-1] if state.past else None
    session = state.plan.session
    return Standpoint(
        state=where(state),
        attempt=state.ticket.number,
        limit=state.allowance,
        failures=sum(ticket.decision is not Decision.APPROVE for ticket in state.past),
        findings=open_now(state),
        headline=f"{last.decision}: {ticket_id(session, last.number)}" if last else "",
        commit=state.commit if state.commit != state.plan.base else NO_COMMIT,
        lines=(*_counts(state), *_rules(state)),
    )


def _counts(state: TicketsState) -> tuple[str, ...]:
    used = f"tickets used: {len(state.past)} of {state.allowance}"
    if not state.past:
        return (used,)
    last = state.past[-1]
    worse = ", worse than the ticket before" if last.worse else ""
    return (used, f"accuracy {last.accuracy:.2f}, score {last.score:.2f}, {last.trend}{worse}")


def _rules(state: TicketsState) -> tuple[str, ...]:
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


TICKETS: Loop[TicketParams, TicketsState] = Loop(
    name="tickets",
    params=TicketParams,
    state=TicketsState,
    start=start,
    decide=partial(floor.decide, MACHINE),
    apply=partial(floor.apply, MACHINE),
    stand=stand,
)
