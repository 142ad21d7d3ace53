"""What becomes of a ticket that a person accepts: it runs the checks like everything that lands."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported, IntegrationRefused
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops import course as c
from loopwright.loops.accepting import ShownRed, asked_once_more, tried_as_accepted, with_shown
from loopwright.loops.tickets.findings import PROTECTED_FILE, marks_of_checks
from loopwright.loops.tickets.state import Ticket, TicketsPhase, TicketsState, best_to_take, stepped


def accepted(state: TicketsState) -> TicketsState:
    """It has run the checks as it would land now, or the person saw it fail so."""
    state = replace(state, taken=0, verified=False)
    best = best_to_take(state)
    if best is None or not state.plan.accepts_checked:
        return c.taking(state)
    state = replace(state, taken=best.number)
    if _is_seen_red(state, best):
        return c.taking(state)
    return stepped(replace(state, red=None), TicketsPhase.CHECK)


def _is_seen_red(state: TicketsState, taken: Ticket) -> bool:
    """They are shown the last ticket, which may have other faults; and an approval makes it another tree."""
    red = state.red is not None and state.red.is_of(taken.commit, state.course)
    shown = {finding.fingerprint for finding in open_now(state)}
    return red or (taken.failed_with == state.course.approved and _marks_of_red(taken) <= shown)


def checked_as_accepted(state: TicketsState, event: ChecksReported) -> TicketsState:
    """Red, nothing is taken yet: a person hears what fails, and may still accept it."""
    commit = _to_land(state)
    state, faults = tried_as_accepted(state, event, commit)
    if faults is None:
        return stepped(state, TicketsPhase.CHECK)
    if not faults:
        return c.taking(replace(state, verified=True))
    return asked_once_more(_shown_red(state, faults), event, faults)


def not_landed(state: TicketsState, event: IntegrationRefused) -> TicketsState:
    """A person hears why, and whoever goes on with it, too; what fails with what the target has by now besides."""
    why = f"the result could not be landed: {event.detail or event.reason}"
    told = "; ".join((why, *(each.issue for each in event.findings)))
    state = c.steered(state, answers=(*state.course.answers, told))
    if state.plan.accepts_checked and event.reason == "checks" and event.findings:
        state = _shown_red(state, event.findings, event.onto)
    return c.not_landed(replace(state, verified=False), event)


def _shown_red(state: TicketsState, faults: tuple[Finding, ...], onto: Commit = NO_COMMIT) -> TicketsState:
    red = ShownRed(of=_to_land(state), approved=state.course.approved, faults=faults, onto=onto)
    return replace(state, red=red)


def _to_land(state: TicketsState) -> Commit:
    best = best_to_take(state) if state.course.accepted else None
    return (best or state.ticket).commit


def known_of(state: TicketsState, ticket: Ticket) -> tuple[Finding, ...]:
    """What is wrong with a ticket that a person takes or may take, as far as they know."""
    if not state.verified:
        return with_shown(ticket.findings, state.red if state.red and state.red.of == ticket.commit else None)
    settled = _marks_of_red(ticket)
    return tuple(
        finding
        for finding in ticket.findings
        if finding.fingerprint not in settled and not finding.rule.startswith(PROTECTED_FILE)
    )


def _marks_of_red(ticket: Ticket) -> frozenset[str]:
    """Of what its checks, or what they saw of the change, speak against it with."""
    marks = marks_of_checks(ticket) | {finding.fingerprint for finding in ticket.own}
    return frozenset(finding.fingerprint for finding in ticket.findings if finding.fingerprint in marks)


def open_now(state: TicketsState) -> tuple[Finding, ...]:
    """What a person who is asked has to know: of the last ticket, and what they saw fail of the one they would take."""
    return with_shown(state.past[-1].findings if state.past else (), state.red)
