"""Sessions of tickets played step by step, each with the log that the engine would have written."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from loopwright.kernel.actions import Action, Announce, RunAgent
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Created,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    Logged,
    Refused,
    Started,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Commit,
    Coverage,
    Finding,
    Key,
    LoopId,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.record import Record, read_event
from loopwright.loops.kind import Noted
from loopwright.loops.tickets.files import Page, pages
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.observer import Watch, watched
from loopwright.loops.tickets.past import SessionPast, folded, opened
from loopwright.loops.tickets.state import (
    Aspect,
    Criterion,
    Critique,
    Decision,
    Ticket,
    TicketParams,
    TicketsState,
    all_tickets,
)
from loopwright.loops.tickets.thresholds import rules
from tests.loops.harness import taken

LOOP = LoopId("ticket-7")
AT = 1_768_645_800.0  # 2026-01-17T10:30:00Z
PARAMS = TicketParams(
    firm=True,
    session="session",
    title="Time-outs of the client",
    base=Commit("b" * 40),
    what="Every call gives up after a while.\nThe caller hears of it.",
    criteria=(
        Criterion(id="AC-1", text="A call that takes too long raises `Timeout`"),
        Criterion(id="AC-2", text="The time is configurable"),
    ),
    context="src/client.py has the calls.",
    creators=("alpha", "beta"),
)
NO_TESTS = Finding(
    severity=Severity.HIGH,
    issue="handleTimeout() is never called in a test",
    rule="T1",
    file="src/client.py",
    line=12,
    category="correctness",
    requirement="AC-1",
    expected="Error paths tested",
    actual="2 of 6 tested",
    guidance="Add tests for handleTimeout() and processEmpty()",
    evidence="grep finds nothing",
)
LOOSE = Finding(severity=Severity.MEDIUM, issue="x says nothing", rule="N1", file="src/client.py", category="naming")
LEAK = Finding(severity=Severity.LOW, issue="the token is logged", rule="S1", category="security")
FAILING = Finding(severity=Severity.HIGH, issue="assert 1 == 2", rule="test_client::test_a", category="tests")
PROTECTED = (Change(path="tests/test_client.py", how="changed", blob="1"),)

Step = Callable[[TicketsState], Logged]


@dataclass(frozen=True, slots=True)
class Story:
    state: TicketsState
    records: tuple[Record, ...]
    states: tuple[TicketsState, ...]  # after each record

    def first(self, records: int) -> "Story":
        """As far as that many records tell it."""
        return Story(self.states[records - 1], self.records[:records], self.states[:records])

    @property
    def pasts(self) -> tuple[SessionPast, ...]:
        """After each record."""
        known: list[SessionPast] = []
        for record, state in zip(self.records, self.states, strict=True):
            known.append(folded(known[-1] if known else None, record, state))
        return tuple(known)

    @property
    def past(self) -> SessionPast:
        return self.pasts[-1]

    @property
    def pages(self) -> tuple[Page, ...]:
        return pages(LOOP, self.state, self.past)


def alone(state: TicketsState) -> tuple[Page, ...]:
    """The pages of a session that has no log: nothing is known but its tickets."""
    known, tickets = SessionPast(), all_tickets(state)
    for at, ticket in enumerate(tickets):
        known = opened(known, replace(state, past=tickets[:at], ticket=ticket))
    return tuple(replace(page, front=page.front | {"worktree_path": None}) for page in pages(LOOP, state, known))


def played(*steps: Step, params: TicketParams = PARAMS) -> Story:
    """The session after these steps. As in the engine, what is wanted is on record before it is answered."""
    created = Created(kind="tickets", params=encode(params), by="ann")
    state, records, flying = TICKETS.start(params), [_record(1, created)], set[Key]()
    states = [state]
    for step in (*steps, None):
        for action in TICKETS.decide(state):
            if action.key not in flying:
                flying.add(action.key)
                records.append(_record(len(records) + 1, _started(action)))
                states.append(state)
        if step is None:
            break
        event = step(state)
        records.append(_record(len(records) + 1, event))
        state = state if isinstance(event, Refused) else taken(TICKETS, state, _as_event(event))
        states.append(state)
    return Story(state, tuple(records), tuple(states))


def _as_event(event: Logged) -> Event:
    assert isinstance(event, Event)
    return event


def _started(action: Action) -> Started:
    return Started(key=action.key, action=type(action).__name__, what=_subject(action), why=action.why)


def _subject(action: Action) -> str:
    """What the engine writes down about an action: who is to do it, or the line to be put on record."""
    match action:
        case RunAgent():
            return action.role
        case Announce():
            return action.text
        case _:
            return ""


def _record(seq: int, event: Logged) -> Record:
    return Record(loop=LOOP, seq=seq, at=AT + 60 * seq, kind=type(event).__name__, data=encode(event))


def iterations(plan: TicketParams, records: tuple[Record, ...]) -> tuple[Noted, ...]:
    return watch(plan, records).dispatches


def violations(plan: TicketParams, records: tuple[Record, ...]) -> tuple[Noted, ...]:
    return watch(plan, records).breaches


def watch(plan: TicketParams, records: tuple[Record, ...]) -> Watch:
    return reduce(lambda known, record: watched(known, plan, record, read_event(record)), records, Watch())


def key(state: TicketsState, at: int = 0) -> Key:
    return TICKETS.decide(state)[at].key


def made(summary: str, agent: str = "alpha") -> Step:
    return lambda state: AgentReported(key=key(state), report=AgentReport(summary=summary, agent=agent))


def asks(question: str, role: str = "") -> Step:
    report = AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question=question),))
    return lambda state: AgentReported(key=key(state), report=report, role=role)


def blocked(why: str) -> Step:
    report = AgentReport(status=AgentStatus.BLOCKED, summary=why)
    return lambda state: AgentReported(key=key(state), report=report)


def crashed(detail: str = "") -> Step:
    return lambda state: AgentFailed(key=key(state), reason="crashed", detail=detail)


def away(state: TicketsState) -> Event:
    return AgentUnavailable(key=key(state), until=AT + 3600)


def kept(*paths: str, protected: tuple[Change, ...] = ()) -> Step:
    return lambda state: Checkpointed(
        key=key(state),
        commit=Commit(str(state.ticket.number) * 40),
        tree=Tree(f"t{state.ticket.number}"),
        files=len(paths),
        paths=paths,
        protected=protected,
        evidence=evidence(protected),
    )


def criticised(*findings: Finding, summary: str = "", verdict: Verdict = Verdict.PASS) -> Step:
    report = AgentReport(verdict=verdict, findings=findings, summary=summary, agent="gamma")
    return lambda state: AgentReported(key=key(state), report=report)


def checked(*results: CheckResult, findings: tuple[Finding, ...] = ()) -> Step:
    return lambda state: ChecksReported(key=key(state), tree=Tree("t"), results=results, findings=findings)


def judged(summary: str, *findings: Finding) -> Step:
    report = AgentReport(verdict=Verdict.FAIL if findings else Verdict.PASS, summary=summary, findings=findings)
    return lambda state: AgentReported(key=key(state), report=report)


def announced(state: TicketsState) -> Event:
    return Announced(key=key(state))


def landed(state: TicketsState) -> Event:
    return Integrated(key=key(state), branch="loop/ticket-7", commit=Commit("c" * 40))


def merged(state: TicketsState) -> Event:
    return Integrated(key=key(state), branch="loop/ticket-7", commit=Commit("c" * 40), merged_into="refs/heads/main")


def conflicted(state: TicketsState) -> Event:
    return IntegrationRefused(key=key(state), reason="conflict", detail="src/client.py", onto=Commit("d" * 40))


def not_landed(state: TicketsState) -> Event:
    return IntegrationRefused(key=key(state), reason="conflict", detail="src/client.py")


def answered(choice: str, text: str = "", by: str = "ann") -> Step:
    return lambda state: Answered(key=key(state), choice=choice, text=text, by=by)


def gate(approved: bool, reason: str = "") -> Step:  # noqa: FBT001 - the answer itself
    def decided(state: TicketsState) -> Event:
        return GateDecided(
            key=TICKETS.decide(state)[-1].key,
            gate="protected",
            approved=approved,
            evidence=state.course.open_gates[0].evidence,
            reason=reason,
            by="ann",
        )

    return decided


def cancelled(state: TicketsState) -> Event:
    return CancelRequested(by="ann")


def cleaned_up(state: TicketsState) -> Event:
    return CleanedUp(key=key(state))


def refused(state: TicketsState) -> Logged:
    return Refused(what="GateDecided", why="an agent may not decide", by="agent of ticket-7")


GREEN = (CheckResult(name="build", passed=True), CheckResult(name="test", passed=True, tests=12))
RED = (
    CheckResult(name="build", passed=True),
    CheckResult(name="test", passed=False, tests=12, failures=(FAILING,), flaky=("test_b",)),
    CheckResult(
        name="coverage",
        passed=False,
        coverage=Coverage(covered=45, total=100, new_covered=1, new_total=4, floor=80.0),
        note="45% line coverage, 80% asked for",
    ),
    CheckResult(name="links", passed=True, note="12 links"),
)
ROUTED_BACK = (
    made("Added the time-out"),
    kept("src/client.py", "tests/test_new.py"),
    criticised(NO_TESTS, LOOSE, LEAK, summary="Untested.", verdict=Verdict.FAIL),
    checked(*RED),
    announced,
)
APPROVED = (made("Tested both", "beta"), kept("src/client.py"), criticised(summary="Good."), checked(*GREEN), announced)
TWICE = replace(PARAMS, limits=TicketLimits(max=2))

STORIES = {
    "start": played(),
    "routed-back": played(*ROUTED_BACK),
    "approved": played(*ROUTED_BACK, *APPROVED, landed),
    "escalated": played(*ROUTED_BACK, *ROUTED_BACK, params=TWICE),
}

# The seed's own example: six of ten aspects pass, 45 of 80 percent are 0.56, 2 of 6 are 0.33.


def _aspect(requirement: str, expected: str, actual: str, score: float, guidance: str = "") -> Aspect:
    return Aspect(
        requirement=requirement,
        aspect=expected,
        expected=expected,
        actual=actual,
        passed=score == 1.0,
        score=score,
        guidance=guidance,
    )


SEED_ASPECTS = (
    _aspect("Test Coverage", ">= 80% line coverage", "45% coverage", 0.56, NO_TESTS.guidance),
    _aspect("Test Coverage", "Error paths tested", "2 of 6 tested", 0.33, NO_TESTS.guidance),
    _aspect("Error Handling", "every call has a time-out", "3 of 4 calls", 0.75),
    _aspect("Lint", "no finding", "1 finding", 0.0),
    *(_aspect(f"Requirement {number}", "works", "works", 1.0) for number in range(1, 7)),
)
SEED_FIRST = Ticket(
    number=1,
    notes="Implemented the client",
    commit=Commit("1" * 40),
    files=("src/client.py",),
    critiques=(Critique(role="critic", verdict=Verdict.FAIL, summary="Coverage is low.", findings=(NO_TESTS,)),),
    checks=GREEN,
    findings=(identify(NO_TESTS),),
    rules=rules((NO_TESTS,), GREEN),
    aspects=SEED_ASPECTS,
    decision=Decision.ROUTE_BACK,
    accuracy=0.6,
    score=0.764,
    trend="first",
)
SEED = TicketsState(
    plan=replace(PARAMS, criteria=(Criterion(id="AC-1", text="Test coverage is at least 80%"),)),
    allowance=5,
    ticket=Ticket(number=2, parent=1),
    commit=Commit("1" * 40),
    past=(SEED_FIRST,),
)
