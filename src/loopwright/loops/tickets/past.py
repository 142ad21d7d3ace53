"""What the log of a session comes to for its files, record by record: no record is looked at twice.

What earlier tickets left to a ticket is written once, when it is opened: nothing changes it from then on. So the page
of the 64th ticket costs what that of the 4th does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loopwright.kernel.events import AgentReported, Logged, Started
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.wording import moment
from loopwright.loops.course import Station, at_work
from loopwright.loops.tickets.chronicle import CLAIMED, ChangelogEntry, entries, opening, step_of
from loopwright.loops.tickets.inheritance import attempt, inherited, resolved_line
from loopwright.loops.tickets.observer import Watch, watched
from loopwright.loops.tickets.state import TicketsPhase, TicketsState, is_completed

ALL: tuple[int, ...] = ()  # pages: every one


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketPast:
    """What the log says of one ticket."""

    entries: tuple[ChangelogEntry, ...] = ()
    creator: str = ""  # the agent that did its work; before it reports, the one that is to do it
    inherited: tuple[str, ...] = ()  # what earlier tickets left to it, as its file has it

    def when(self, what: str) -> str | None:
        """The moment of the first such entry."""
        return next((moment(entry.at) for entry in self.entries if entry.what == what), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPast:
    newest: int = 0  # ticket
    tickets: Mapping[int, TicketPast] = field(default_factory=dict)
    attempts: tuple[str, ...] = ()  # those before the newest, as histories have them
    resolved: Mapping[str, str] = field(default_factory=dict)  # what they resolved, by its mark
    verdict: str = ""  # the line that is being put on record
    watch: Watch = Watch()
    shared: tuple[object, ...] = ()  # what all pages show
    stale: tuple[int, ...] = ALL  # the pages that the last record may have changed

    def of(self, number: int) -> TicketPast:
        return self.tickets.get(number) or TicketPast()


def folded(known: SessionPast | None, record: Record, state: TicketsState) -> SessionPast:
    """With one record more; `state` is the session after it."""
    before = known or SessionPast()
    event = event_of(record)
    if event is None:
        return replace(before, stale=(before.newest,))
    now = _noted(before, event, record.at, state)
    if state.ticket.number > before.newest:
        now = opened(now, state)
        is_tried = state.course.station is Station.PREFLIGHT and state.phase is TicketsPhase.CREATE
        if is_tried or at_work(state, TicketsPhase.CREATE):
            now = _with_entries(now, state.ticket.number, (opening(event, record.at),))
    shared = (state.allowance, state.course.station is Station.DONE, is_completed(state))
    return replace(
        now,
        watch=watched(before.watch, state.plan, record, event),
        shared=shared,
        stale=(before.newest, now.newest) if shared == before.shared else ALL,
    )


def opened(known: SessionPast, state: TicketsState) -> SessionPast:
    """With the newest ticket, and what those before it have left to it."""
    number = state.ticket.number
    earlier = state.past if not state.past or state.past[-1].number < number else state.past[:-1]
    session, done = state.plan.session, len(known.attempts)
    fresh = earlier[done:]
    attempts = known.attempts + tuple([attempt(session, at, each) for at, each in enumerate(fresh, start=done + 1)])
    gone = {finding.fingerprint: resolved_line(finding) for each in fresh for finding in each.resolved}
    now = replace(known, newest=number, attempts=attempts, resolved={**known.resolved, **gone})
    left = inherited(state.plan, state.ticket, earlier, attempts, now.resolved)
    return _with(now, number, replace(known.of(number), inherited=left))


def _noted(known: SessionPast, event: Logged, at: float, state: TicketsState) -> SessionPast:
    """Whatever happens belongs to the ticket that was the newest then."""
    number, (verb, _) = known.newest, step_of(event)
    told = known.of(number)
    match event:
        case Started(action="Announce"):
            return replace(known, verdict=event.what)
        case Started() if told.when(CLAIMED):
            return known
        case Started() if verb == "create":
            meant = (dict(state.cast).get("creator"), *state.plan.creators[:1])
            known = _with(known, number, replace(told, creator=next(filter(None, meant), "")))
        case AgentReported() if verb == "create" and event.report.agent:
            known = _with(known, number, replace(told, creator=event.report.agent))
        case _:
            pass
    return _with_entries(known, number, tuple(entries(event, at, known.verdict)))


def _with_entries(known: SessionPast, number: int, more: tuple[ChangelogEntry, ...]) -> SessionPast:
    told = known.of(number)
    return _with(known, number, replace(told, entries=told.entries + more)) if more else known


def _with(known: SessionPast, number: int, told: TicketPast) -> SessionPast:
    return replace(known, tickets={**known.tickets, number: told})
