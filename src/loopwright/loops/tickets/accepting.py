"""What becomes of a ticket that a person accepts: it runs the checks like everything that lands."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported, IntegrationRefused
from loopwright.kernel.model import NO_COMMIT, Commit, Finding
from loopwright.loops import course as c
from loopwright.loops.accepting import ShownRed, asked_once_more, tried_as_accepted
from loopwright.loops.tickets.ending import marks_of_red, open_now, taken_or_left, to_land
from loopwright.loops.tickets.state import Ticket, TicketsPhase, TicketsState, best_to_take, stepped


def accepted(state: TicketsState) -> TicketsState:
    """It has run the checks as it would land now, or the person saw it fail so, or a parent checks it."""
    state = replace(state, taken=0, verified=False)
    best = best_to_take(state)
    if best is None or not state.plan.accepts_checked:
        return taken_or_left(state)
    state = replace(state, taken=best.number)
    if not state.plan.lands or _is_seen_red(state, best):
        return taken_or_left(state)
    return stepped(replace(state, red=None), TicketsPhase.CHECK)


def _is_seen_red(state: TicketsState, taken: Ticket) -> bool:
    """They are shown the last ticket, which may have other faults; and an approval makes it another tree."""
    red = state.red is not None and state.red.is_of(taken.commit, state.course)
    shown = {finding.fingerprint for finding in open_now(state)}
    return red or (taken.failed_with == state.course.approvals and marks_of_red(taken) <= shown)


def checked_as_accepted(state: TicketsState, event: ChecksReported) -> TicketsState:
    """Red, nothing is taken yet: a person hears what fails, and may still accept it."""
    commit = to_land(state)
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
    red = ShownRed(of=to_land(state), approvals=state.course.approvals, faults=faults, onto=onto)
    return replace(state, red=red)
