"""The changelog of a ticket: what each event of the session's log adds to it, once, when it happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

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
from loopwright.kernel.model import NOT_RUN, AgentReport, AgentStatus, CheckResult
from loopwright.kernel.wording import counted, moment

CREATOR, CRITIC, EXPEDITER, COORDINATOR = "Creator", "Critic", "Expediter", "Coordinator"
CREATED, CLAIMED = "created", "claimed"
_STEPS = ("create", "checkpoint", "critique", "checks", "judge", "verdict", "land")
_ROLES = {"create": CREATOR, "critique": CRITIC, "judge": EXPEDITER}
_DONE = {"create": "work_done", "critique": "reviewed", "judge": "validated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangelogEntry:
    at: float
    role: str
    what: str
    text: str = ""


def step_of(event: Logged) -> tuple[str, int]:
    """What a step of a ticket does and which ticket that is; nothing and 0 for what belongs to no step."""
    key = key_of(event)
    return (key.step, key.attempt or 0) if key.step in _STEPS else ("", 0)


def opening(event: Logged, at: float) -> ChangelogEntry:
    """A ticket is opened by whoever begins the session or answers for it, else by the decision on the one before."""
    match event:
        case Created():
            by = f"by {event.by}" if event.by else ""
            return ChangelogEntry(at=at, role=COORDINATOR, what=CREATED, text=by)
        case Answered():
            return ChangelogEntry(at=at, role=COORDINATOR, what=CREATED)
        case _:
            return ChangelogEntry(at=at, role=EXPEDITER, what=CREATED)


def entries(event: Logged, at: float, verdict: str) -> Iterator[ChangelogEntry]:
    """`verdict` is the line that was to be put on record."""
    verb, _ = step_of(event)
    match event:
        case Started(action="RunAgent") if verb == "create":
            yield ChangelogEntry(at=at, role=CREATOR, what=CLAIMED, text=event.why)
            yield ChangelogEntry(at=at, role=COORDINATOR, what="activated")
        case Announced():
            yield ChangelogEntry(at=at, role=EXPEDITER, what="decided", text=verdict)
        case AgentReported() | AgentFailed() | AgentUnavailable() if verb in _ROLES:
            yield ChangelogEntry(at=at, role=_ROLES[verb], what=_what_agent(event, verb), text=_agent(event, verb))
        case ChecksReported() if verb == "checks":
            yield ChangelogEntry(at=at, role=EXPEDITER, what="validated", text=_checks(event.results))
        case Integrated():
            merged = f", merged into {event.merged_into}" if event.merged_into else ""
            yield ChangelogEntry(at=at, role=EXPEDITER, what="completed", text=f"landed on {event.branch}{merged}")
        case IntegrationRefused():
            told = f"not landed: {event.detail or event.reason}"
            yield ChangelogEntry(at=at, role=EXPEDITER, what="blocked", text=told)
        case Answered() | GateDecided() | CancelRequested():
            yield _by_person(event, at)
        case _:
            return


def _by_person(event: Answered | GateDecided | CancelRequested, at: float) -> ChangelogEntry:
    by = f" (by {event.by})" if event.by else ""
    match event:
        case Answered():
            text = f"{event.choice}: {event.text}" if event.text else event.choice
            return ChangelogEntry(at=at, role=COORDINATOR, what="answered", text=text + by)
        case GateDecided():
            what = "gate_approved" if event.approved else "gate_rejected"
            why = f": {event.reason}" if event.reason else ""
            return ChangelogEntry(at=at, role=COORDINATOR, what=what, text=event.gate + why + by)
        case CancelRequested():
            return ChangelogEntry(at=at, role=COORDINATOR, what="cancelled", text=event.cleanup.value + by)
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
    return ", ".join(f"{each.name} {_word(each)}" for each in results) or "no check ran"


def _word(result: CheckResult) -> str:
    if not result.ran:
        return NOT_RUN
    return "passed" if result.passed else "failed"
