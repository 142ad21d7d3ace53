"""The changelog of every ticket of a session, from the session's log alone.

An entry is made of the record it comes from and of earlier ones, never of the present state: a longer log can only
add to the changelog, and the same log always gives the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.codec import decode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    CancelRequested,
    ChecksReported,
    Created,
    GateDecided,
    Integrated,
    IntegrationRefused,
    Logged,
    Started,
    key_of,
)
from loopwright.kernel.model import AgentReport, AgentStatus, CheckResult
from loopwright.kernel.record import Record, event_of
from loopwright.kernel.wording import counted, moment
from loopwright.loops.tickets.state import Phase, TicketParams, start

CREATOR, CRITIC, EXPEDITER, COORDINATOR = "Creator", "Critic", "Expediter", "Coordinator"
_STEPS = ("create", "checkpoint", "critique", "checks", "judge", "verdict", "land")
_ROLES = {"create": CREATOR, "critique": CRITIC, "judge": EXPEDITER}
_DONE = {"create": "work_done", "critique": "reviewed", "judge": "validated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    at: float
    role: str
    what: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chronicle:
    """Entries with the number of the ticket they belong to, oldest first."""

    entries: tuple[tuple[int, Entry], ...] = ()
    creators: tuple[tuple[int, str], ...] = ()  # the agent that last did a ticket's work

    def of(self, number: int) -> tuple[Entry, ...]:
        return tuple(entry for owner, entry in self.entries if owner == number)

    def when(self, number: int, what: str) -> str | None:
        """The moment of the first such entry of a ticket."""
        return next((moment(entry.at) for entry in self.of(number) if entry.what == what), None)


@dataclass(slots=True)
class _Walk:
    """How far the log has been read."""

    current: int = 0
    claimed: int = 0
    opener: Entry | None = None  # what may have opened the ticket that comes next
    verdict: str = ""  # the line that is being put on record


def chronicle(records: tuple[Record, ...], latest: int) -> Chronicle:
    """`latest` is the newest ticket there is: it may be open without a record of its own."""
    walk = _Walk()
    entries: list[tuple[int, Entry]] = []
    creators: dict[int, str] = {}
    for record in records:
        event = event_of(record)
        if event is None:
            continue
        verb, number = step_of(event)
        entries += _opened(walk, number)
        entries += ((walk.current, entry) for entry in _entries(walk, event, verb, record.at))
        walk.opener = _opener(event, record.at) or walk.opener
        if isinstance(event, Created):
            entries += _begun(walk, event.params)
        if isinstance(event, AgentReported) and verb == "create" and event.report.agent:
            creators[number] = event.report.agent
    entries += _opened(walk, latest)
    return Chronicle(entries=tuple(entries), creators=tuple(creators.items()))


def step_of(event: Logged) -> tuple[str, int]:
    """What a step of a ticket does and which ticket that is; nothing and 0 for what belongs to no step."""
    key = key_of(event)
    return (key.step, key.attempt or 0) if key.step in _STEPS else ("", 0)


def _opener(event: Logged, at: float) -> Entry | None:
    """Only the log's beginning, a verdict that is on record, and a person's answer open a ticket."""
    match event:
        case Created():
            return Entry(at=at, role=COORDINATOR, what="created", text=f"by {event.by}" if event.by else "")
        case Announced():
            return Entry(at=at, role=EXPEDITER, what="created")
        case Answered():
            return Entry(at=at, role=COORDINATOR, what="created")
        case _:
            return None


def _begun(walk: _Walk, params: str) -> Iterator[tuple[int, Entry]]:
    """A session that took tickets over goes on with the next number, unless it has to ask a person first."""
    state = start(decode(TicketParams, params))
    is_open = state.phase is Phase.CREATE
    walk.current = state.ticket.number - is_open
    return _opened(walk, state.ticket.number)


def _opened(walk: _Walk, number: int) -> Iterator[tuple[int, Entry]]:
    """The ticket before `number` is over: the next one was opened by what came last."""
    while walk.current < number and walk.opener is not None:
        walk.current += 1
        yield walk.current, walk.opener


def _entries(walk: _Walk, event: Logged, verb: str, at: float) -> Iterator[Entry]:
    match event:
        case Started(action="RunAgent") if verb == "create":
            if walk.claimed < walk.current:
                walk.claimed = walk.current
                yield Entry(at=at, role=CREATOR, what="claimed", text=event.why)
                yield Entry(at=at, role=COORDINATOR, what="activated")
        case Started(action="Announce"):
            walk.verdict = event.what
        case Announced():
            yield Entry(at=at, role=EXPEDITER, what="decided", text=walk.verdict)
        case AgentReported() | AgentFailed() | AgentUnavailable() if verb in _ROLES:
            yield Entry(at=at, role=_ROLES[verb], what=_what_agent(event, verb), text=_agent(event, verb))
        case ChecksReported():
            yield Entry(at=at, role=EXPEDITER, what="validated", text=_checks(event.results))
        case Integrated():
            merged = f", merged into {event.merged_into}" if event.merged_into else ""
            yield Entry(at=at, role=EXPEDITER, what="completed", text=f"landed on {event.branch}{merged}")
        case IntegrationRefused():
            yield Entry(at=at, role=EXPEDITER, what="blocked", text=f"not landed: {event.detail or event.reason}")
        case Answered() | GateDecided() | CancelRequested():
            yield _by_person(event, at)
        case _:
            return


def _by_person(event: Answered | GateDecided | CancelRequested, at: float) -> Entry:
    by = f" (by {event.by})" if event.by else ""
    match event:
        case Answered():
            text = f"{event.choice}: {event.text}" if event.text else event.choice
            return Entry(at=at, role=COORDINATOR, what="answered", text=text + by)
        case GateDecided():
            what = "gate_approved" if event.approved else "gate_rejected"
            why = f": {event.reason}" if event.reason else ""
            return Entry(at=at, role=COORDINATOR, what=what, text=event.gate + why + by)
        case CancelRequested():
            return Entry(at=at, role=COORDINATOR, what="cancelled", text=event.cleanup.value + by)
        case _:
            assert_never(event)


def _what_agent(event: AgentReported | AgentFailed | AgentUnavailable, verb: str) -> str:
    match event:
        case AgentReported(report=AgentReport(status=AgentStatus.DONE)):
            return _DONE[verb]
        case AgentReported(report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION)):
            return "clarification_needed"
        case _:
            return "blocked"


def _agent(event: AgentReported | AgentFailed | AgentUnavailable, verb: str) -> str:
    match event:
        case AgentFailed():
            return f"no result ({event.reason}){': ' if event.detail else ''}{event.detail}"
        case AgentUnavailable():
            return f"not available before {moment(event.until)}"
        case AgentReported():
            report = event.report
            verdict = f"{report.verdict.value if report.verdict else 'no verdict'}, " if verb != "create" else ""
            found = counted(len(report.findings), "finding") if verb != "create" else ""
            asked = "; ".join(question.question for question in report.questions)
            return verdict + found + (": " if found and report.summary else "") + (report.summary or asked)
        case _:
            assert_never(event)


def _checks(results: tuple[CheckResult, ...]) -> str:
    return ", ".join(f"{each.name} {'passed' if each.passed else 'failed'}" for each in results) or "no check ran"
