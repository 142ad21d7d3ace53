"""How a session ends: it lands what it came to, or leaves it to the parent that waits for it; and what is known of that
then."""

from __future__ import annotations

from loopwright.kernel.ledger import mended_in
from loopwright.kernel.model import Commit, Ending, Finding, Outcome
from loopwright.loops import course as c
from loopwright.loops.accepting import with_shown
from loopwright.loops.parts import left
from loopwright.loops.tickets.findings import PROTECTED_FILE, marks_of_checks
from loopwright.loops.tickets.state import CRITIC, JUDGE, Ticket, TicketsState, best_to_take, ticket_id


def landed_or_left(state: TicketsState) -> TicketsState:
    """What was approved."""
    if state.plan.lands:
        return c.landing(state, tries=state.course.trial.tries + 1)
    return left(state, ended, to_land(state))


def taken_or_left(state: TicketsState) -> TicketsState:
    """What a person accepted."""
    return c.taking(state) if state.plan.lands else left(state, ended, to_land(state))


def to_land(state: TicketsState) -> Commit:
    best = best_to_take(state) if state.course.accepted else None
    return (best or state.ticket).commit


def ended(state: TicketsState, ending: Ending) -> Outcome:
    last, best = state.past[-1] if state.past else None, best_to_take(state)
    shown = best if ending is Ending.ACCEPTED and best else last
    return Outcome(
        ending=ending,
        attempts=len(state.past),
        note=f"{shown.decision}: {ticket_id(state.plan.session, shown.number)}" if shown else "",
        findings=known_of(state, shown) if shown else (),  # of an approved ticket, what was deferred
        waiting=mended_in(state.ledger, state.course.unlanded, CRITIC, JUDGE),
    )


def known_of(state: TicketsState, ticket: Ticket) -> tuple[Finding, ...]:
    """What is wrong with a ticket that a person takes or may take, as far as they know."""
    if not state.verified:
        return with_shown(ticket.findings, state.red if state.red and state.red.of == ticket.commit else None)
    settled = marks_of_red(ticket)
    return tuple(
        finding
        for finding in ticket.findings
        if finding.fingerprint not in settled and not finding.rule.startswith(PROTECTED_FILE)
    )


def marks_of_red(ticket: Ticket) -> frozenset[str]:
    """Of what its checks, or what they saw of the change, speak against it with."""
    marks = marks_of_checks(ticket) | {finding.fingerprint for finding in ticket.own}
    return frozenset(finding.fingerprint for finding in ticket.findings if finding.fingerprint in marks)


def open_now(state: TicketsState) -> tuple[Finding, ...]:
    """What a person who is asked has to know: of the last ticket, and what they saw fail of the one they would take."""
    return with_shown(state.past[-1].findings if state.past else (), state.red)
