"""What the observer layer is told of a ticket session: every dispatch of an agent, and everything that broke a rule.

Lines come from the log alone and in its order, so that the files can be made anew from it with the same bytes. They
carry their place in the log (`log`); `sequence`, the line's number in its file, is the file's to give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from loopwright.kernel.codec import plain
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Cancelled,
    Checkpointed,
    ChecksReported,
    GateDecided,
    IntegrationRefused,
    Interrupted,
    Logged,
    Refused,
    Started,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.model import AgentStatus, Finding, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import Record
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import date_of
from loopwright.loops.kind import Noted
from loopwright.loops.tickets.chronicle import step_of
from loopwright.loops.tickets.state import TicketParams, ticket_id
from loopwright.loops.tickets.thresholds import weighed

OFTEN = 3  # sightings of one finding that make a pattern
_LEAST = Severity.MEDIUM  # what is milder is no violation
_CODING = ("development",)
_HEAVY = (Severity.CRITICAL, Severity.HIGH)

Observed = Literal["coding", "plugin", "prompt", "tech"]  # what kind of cycle
Weight = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
Doer = Literal["creator", "critic", "judge"]
Progress = Literal["started", "completed", "blocked"]
Breach = Literal["quality-cycle", "blocking", "patterns"]
Resource = Literal["file", "finding", "gate", "branch", "loop"]
_ROLES: Mapping[str, Doer] = {"create": "creator", "critique": "critic", "judge": "judge"}
_WEIGHTS: Mapping[Severity, Weight] = dict(zip(Severity, get_args(Weight), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedFinding:
    severity: Weight
    category: str
    requirement: str
    file: str
    issue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchedAgent:
    loop: Literal[1, 2, 3]  # 1: within a cycle; insights are the second and the third
    cycle: Observed
    agent: str  # its name once it has reported, else its role
    role: Doer
    status: Progress
    findings: tuple[ObservedFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """A line of `iterations.jsonl`."""

    type: Literal["agent-dispatch"]
    timestamp: str  # UTC, to the microsecond
    resource: Literal["agent"]
    correlation: str  # the ticket
    iteration: DispatchedAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A line of `violations.jsonl`."""

    type: Literal["violation"]
    timestamp: str
    observation_type: Breach
    resource: Resource
    correlation: str  # the ticket, or the session where it is of none
    cycle: Observed
    session_id: str
    agent: str | None
    tool: str  # what noticed it
    file: str | None
    violation: str
    severity: Weight
    blocking: bool
    context: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """Where an event happened."""

    plan: TicketParams
    verb: str
    number: int
    timestamp: str

    @property
    def correlation(self) -> str:
        return ticket_id(self.plan.session, self.number) if self.number else self.plan.session

    @property
    def cycle(self) -> Observed:
        return "coding" if self.plan.cycle in _CODING else "tech"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """How far the log has been watched, and the lines that came of it, oldest first."""

    seq: int = 0
    latest: str = ""  # moment
    number: int = 0  # of the ticket
    seen: Mapping[str, int] = field(default_factory=dict)  # how often each finding was
    dispatches: tuple[Noted, ...] = ()  # `iterations.jsonl`: an agent was started, is done, or could not go on
    breaches: tuple[Noted, ...] = ()  # `violations.jsonl`: findings, guarded files, refusals, what is found repeatedly

    def newest(self, lines: tuple[Noted, ...]) -> tuple[Noted, ...]:
        """Those that came of the last record."""
        begin = len(lines)
        while begin and lines[begin - 1].seq == self.seq:
            begin -= 1
        return lines[begin:]


def watched(known: Watch, plan: TicketParams, record: Record, event: Logged) -> Watch:
    """Time never goes back within a session, whatever the clock of the machine did."""
    verb, own = step_of(event)
    number, latest, seen = own or known.number, max(known.latest, precise(record.at)), dict(known.seen)
    scene = _Scene(plan=plan, verb=verb, number=number, timestamp=latest)
    return Watch(
        seq=record.seq,
        latest=latest,
        number=number,
        dispatches=known.dispatches + _noted(record, latest, _dispatches(scene, event)),
        breaches=known.breaches + _noted(record, latest, _violations(scene, event, seen)),
        seen=seen,
    )


def _noted(record: Record, timestamp: str, told: Iterator[Dispatch] | Iterator[Violation]) -> tuple[Noted, ...]:
    return tuple(
        Noted(timestamp=timestamp, loop=record.loop, seq=record.seq, part=part, data=plain(data))
        for part, data in enumerate(told)
    )


def precise(at: float) -> str:
    """ISO-8601 in UTC to the microsecond: lines of several sessions are put in order by it."""
    return date_of(at).isoformat(timespec="microseconds").replace("+00:00", "Z")


# Dispatches


def _dispatches(scene: _Scene, event: Logged) -> Iterator[Dispatch]:
    role = _ROLES.get(scene.verb)
    if role is None:
        return
    match event:
        case Started(action="RunAgent"):
            yield _dispatch(scene, role, event.what or role, "started")
        case AgentReported():
            done = event.report.status is AgentStatus.DONE
            name = event.report.agent or role
            yield _dispatch(scene, role, name, "completed" if done else "blocked", event.report.findings)
        case AgentFailed() | AgentUnavailable() | Interrupted() | Cancelled():
            yield _dispatch(scene, role, role, "blocked")
        case _:
            return


def _dispatch(scene: _Scene, role: Doer, agent: str, status: Progress, findings: tuple[Finding, ...] = ()) -> Dispatch:
    return Dispatch(
        type="agent-dispatch",
        timestamp=scene.timestamp,
        resource="agent",
        correlation=scene.correlation,
        iteration=DispatchedAgent(
            loop=1,
            cycle=scene.cycle,
            agent=one_line(agent),
            role=role,
            status=status,
            findings=tuple(_told(weighed(finding)) for finding in findings),
        ),
    )


def _told(finding: Finding) -> ObservedFinding:
    return ObservedFinding(
        severity=_WEIGHTS[finding.severity],
        category=one_line(finding.category),
        requirement=one_line(finding.requirement),
        file=visible(finding.file),
        issue=one_line(finding.issue),
    )


# Violations


def _violations(scene: _Scene, event: Logged, seen: dict[str, int]) -> Iterator[Violation]:
    match event:
        case AgentReported() if scene.verb in ("critique", "judge"):
            agent = event.report.agent or _ROLES[scene.verb]
            yield from _of_findings(scene, event.report.findings, seen, tool=_ROLES[scene.verb], agent=agent)
        case ChecksReported() if scene.verb == "checks":
            yield from _of_checks(scene, event, seen)
        case Checkpointed():
            for change in event.protected:
                told = f"a protected file was {visible(change.words)}"
                yield replace(_blocked(scene, "workspace", "file", told), file=visible(change.path) or None)
        case GateDecided(approved=False):
            told = f"a person rejected what the gate {event.gate} guards: {event.reason or 'no reason given'}"
            yield replace(_blocked(scene, "gate", "gate", told, event.by), severity="CRITICAL")
        case IntegrationRefused():
            told = f"the result could not be landed: {event.detail or event.reason}"
            yield _blocked(scene, "landing", "branch", told)
        case Refused():
            told = f"{event.what} was refused: {event.why}"
            yield _blocked(scene, "engine", "loop", told, event.by)
        case _:
            return


def _of_checks(scene: _Scene, event: ChecksReported, seen: dict[str, int]) -> Iterator[Violation]:
    """What failed, and what the change itself gives away: that is never a matter of quality alone."""
    for result in event.results:
        if not result.passed:
            yield from _of_findings(scene, result.failures, seen, tool=result.name)
    for finding in event.findings:
        yield _of_finding(scene, "blocking", identify(finding), tool="engine")


def _of_findings(
    scene: _Scene, found: tuple[Finding, ...], seen: dict[str, int], *, tool: str, agent: str = ""
) -> Iterator[Violation]:
    """Each that counts, and once more as a pattern when it has been seen often."""
    for finding in (weighed(identify(each)) for each in found):
        if finding.severity.rank > _LEAST.rank:
            continue
        yield _of_finding(scene, "quality-cycle", finding, tool=tool, agent=agent)
        seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        if seen[finding.fingerprint] == OFTEN:
            yield _of_finding(scene, "patterns", finding, tool=tool, agent=agent)


def _of_finding(scene: _Scene, kind: Breach, finding: Finding, *, tool: str, agent: str = "") -> Violation:
    context = {
        "rule": one_line(finding.rule),
        "category": one_line(finding.category),
        "requirement": one_line(finding.requirement),
        "line": finding.line,
        "occurrences": OFTEN if kind == "patterns" else 0,
    }
    return replace(
        _blocked(scene, tool, "file" if finding.file else "finding", finding.issue),
        observation_type=kind,
        agent=one_line(agent) or None,
        file=visible(finding.file) or None,
        severity=_WEIGHTS[finding.severity],
        blocking=kind != "patterns" and finding.severity in _HEAVY,
        context={key: value for key, value in context.items() if value},
    )


def _blocked(scene: _Scene, tool: str, resource: Resource, told: str, by: str = "") -> Violation:
    return Violation(
        type="violation",
        timestamp=scene.timestamp,
        observation_type="blocking",
        resource=resource,
        correlation=scene.correlation,
        cycle=scene.cycle,
        session_id=scene.plan.session,
        agent=None,
        tool=one_line(tool),
        file=None,
        violation=one_line(told),
        severity="HIGH",
        blocking=True,
        context={"by": one_line(by)} if by else {},
    )
