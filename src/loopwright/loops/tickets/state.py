"""What a ticket session remembers: the tickets that are over, the one under way, and the questions its rules ask."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from loopwright.kernel.ledger import Ledger
from loopwright.kernel.limits import TicketLimits, reached
from loopwright.kernel.model import NO_COMMIT, Change, CheckResult, Cleanup, Commit, Finding, Outcome, Verdict
from loopwright.kernel.trying import rested

CRITIC, CHECKS, JUDGE, ENGINE = "critic", "checks", "judge", "engine"  # who judges, for the ledger
ACCEPT = "consider accept"  # the level whose lines must hold; the lines of every other level must not


class Phase(StrEnum):
    CREATE = "CREATE"
    CHECKPOINT = "CHECKPOINT"
    CRITIQUE = "CRITIQUE"
    CHECK = "CHECK"
    JUDGE = "JUDGE"
    VERDICT = "VERDICT"
    GATE = "GATE"
    LAND = "LAND"
    CLARIFY = "CLARIFY"
    ESCALATED = "ESCALATED"
    CLEAN_UP = "CLEAN_UP"
    DONE = "DONE"


class Decision(StrEnum):
    APPROVE = "APPROVE"
    ROUTE_BACK = "ROUTE_BACK"
    ESCALATE = "ESCALATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """An acceptance criterion. Findings name it by its id or its words."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One thing a ticket is judged by. `passed` is what counts, `score` says how near it came."""

    requirement: str
    aspect: str
    expected: str
    actual: str
    passed: bool
    score: float
    guidance: str = ""
    source: str = ENGINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique:
    role: str
    verdict: Verdict | None
    summary: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A line of the thresholds, whether it holds, and why."""

    level: str  # automatic reject, strong reject, judge agent, consider accept
    name: str
    holds: bool
    why: str

    @property
    def is_against(self) -> bool:
        """A reason to reject that holds, or a condition for accepting that does not."""
        return self.holds != (self.level == ACCEPT)

    @property
    def line(self) -> str:
        """The rule as a reason against the ticket."""
        return f"{self.level}, not met: {self.name}" if self.level == ACCEPT else f"{self.level}: {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One try. `None` means that this part was not reached."""

    number: int
    parent: int = 0  # 0: the first
    focus: tuple[str, ...] = ()  # ids of the criteria it is about; empty: all
    move: str = "retry"  # how it goes about it: the policy's next move, or what a coordinator answered
    guidance: tuple[str, ...] = ()  # what a person attached to this very ticket
    notes: str = ""  # what the creator says it did
    commit: Commit = NO_COMMIT
    files: tuple[str, ...] = ()
    critiques: tuple[Critique, ...] = ()
    checks: tuple[CheckResult, ...] | None = None
    own: tuple[Finding, ...] = ()  # what the change itself gives away, as the checks saw it
    judgement: Critique | None = None  # of a judge agent
    added: tuple[Aspect, ...] = ()  # what a judge agent adds
    findings: tuple[Finding, ...] = ()  # everything open after critics and checks, worst first
    resolved: tuple[Finding, ...] = ()  # open before this ticket, gone with it
    ongoing: tuple[str, ...] = ()  # fingerprints that were open before and still are
    aspects: tuple[Aspect, ...] = ()
    rules: tuple[Rule, ...] = ()
    advice: str = ""  # what a judge agent adds
    decision: Decision | None = None
    accuracy: float = 0.0
    score: float = 0.0
    trend: str = ""
    worse: bool = False  # more is wrong than in the ticket before


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A critic's place at the table, and how its step is going."""

    role: str
    agent: str = ""
    tries: int = 1
    respawned: bool = False
    repaired: bool = False
    repair: str = ""
    until: float | None = None
    critique: Critique | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketParams:
    session: str
    title: str
    base: Commit
    what: str = ""
    criteria: tuple[Criterion, ...] = ()
    context: str = ""
    cycle: str = "development"
    target: str = ""
    branch: str = ""
    merge: bool = False
    creators: tuple[str, ...] = ()  # the agents that can play the creator, in their order
    critics: tuple[str, ...] = ("critic",)  # roles that criticise side by side; there is always one
    judge: bool = False  # a judge agent is named
    limits: TicketLimits = TicketLimits()
    adopted: tuple[Ticket, ...] = ()  # tickets that other tools wrote; the last may be under way


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    plan: TicketParams
    allowance: int  # tickets that may be written in all
    ticket: Ticket
    commit: Commit  # where the next creator starts
    phase: Phase = Phase.CREATE
    past: tuple[Ticket, ...] = ()
    ledger: Ledger = ()
    seats: tuple[Seat, ...] = ()
    tries: int = 1
    respawned: bool = False
    repaired: bool = False
    repair: str = ""
    until: float | None = None
    protected: tuple[Change, ...] = ()
    evidence: str = ""
    approved: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    cast: tuple[tuple[str, str], ...] = ()  # a role and the agent a person gave it to
    extra_critics: tuple[str, ...] = ()  # agents that a person set beside the critic
    groups: tuple[tuple[str, ...], ...] = ()  # what a split left to do after the present ticket's criteria
    answers: tuple[str, ...] = ()  # what a person said about the work, for every role
    refusals: tuple[str, ...] = ()  # protected changes that a person rejected, for the creator
    question: str = ""
    held: Phase = Phase.CREATE  # who asked the question, and goes on with the answer
    asked: int = 0
    reasons: tuple[str, ...] = ()
    accepted: bool = False
    merge_accepted: bool = False
    cancel: Cleanup | None = None
    outcome: Outcome | None = field(default=None)


def start(params: TicketParams) -> Tickets:
    """A new session, or one that goes on where adopted tickets leave off."""
    closed = tuple(ticket for ticket in params.adopted if ticket.decision is not None)
    state = Tickets(plan=params, allowance=params.limits.max, ticket=Ticket(number=1), commit=params.base, past=closed)
    if params.adopted and params.adopted[-1].decision is None:
        begun = params.adopted[-1]
        kept = Ticket(number=begun.number, parent=begun.parent, focus=begun.focus, guidance=begun.guidance)
        return replace(state, ticket=kept)
    if not closed:
        return state
    state = replace(state, ticket=closed[-1])
    if closed[-1].decision is Decision.ESCALATE:
        return escalated(state, ("the last ticket that was adopted is escalated",))
    if reached(closed[-1].number, state.allowance):
        return escalated(state, (f"{closed[-1].number} tickets were adopted, and {state.allowance} are allowed",))
    return opened(state)


def opened(state: Tickets, *, move: str = "retry", guidance: tuple[str, ...] = ()) -> Tickets:
    """The next ticket of the session: a new one, always, with a number one higher."""
    last = state.ticket
    ticket = Ticket(number=last.number + 1, parent=last.number, focus=last.focus, move=move, guidance=guidance)
    return replace(rested(state, tries=1), phase=Phase.CREATE, ticket=ticket, seats=(), reasons=())


def entered(state: Tickets, phase: Phase) -> Tickets:
    """The next step of the same ticket. Its tries go on, so that no key is ever used twice."""
    return replace(rested(state, tries=state.tries + 1), phase=phase)


def escalated(state: Tickets, reasons: tuple[str, ...]) -> Tickets:
    return replace(state, phase=Phase.ESCALATED, reasons=reasons, asked=state.asked + 1)


def ticket_id(session: str, number: int) -> str:
    return f"TICKET-{session}-{number:03d}"


def criteria_of(state: Tickets) -> tuple[Criterion, ...]:
    """What the present ticket is about."""
    focus = state.ticket.focus
    return tuple(each for each in state.plan.criteria if not focus or each.id in focus)


def criteria_in_force(state: Tickets) -> tuple[Criterion, ...]:
    """What the present ticket answers for: its own and what was approved before, but not what a split put off."""
    later = {each for group in state.groups for each in group}
    return tuple(each for each in state.plan.criteria if each.id not in later)


def in_focus(state: Tickets, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What is held against the present ticket; what maps to no criterion always is."""
    held = criteria_in_force(state)
    mapped = ((finding, criterion_of(state.plan, finding)) for finding in findings)
    return tuple(finding for finding, criterion in mapped if criterion is None or criterion in held)


def criterion_of(plan: TicketParams, finding: Finding) -> Criterion | None:
    """The criterion a finding is about: by its id, by its very words, or by both as a brief shows them."""
    said = _plain(finding.requirement)
    return next((each for each in plan.criteria if said and said in _names(each)), None)


def _names(criterion: Criterion) -> tuple[str, ...]:
    return _plain(criterion.id), _plain(criterion.text), _plain(f"{criterion.id}: {criterion.text}")


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def gate_is_open(state: Tickets) -> bool:
    return bool(state.evidence) and state.evidence not in state.approved + state.rejected


def best_ticket(past: tuple[Ticket, ...]) -> Ticket | None:
    """The ticket that came nearest to approval, of those that changed anything; of equals, the later one."""
    tried = [ticket for ticket in past if ticket.commit and ticket.files]
    return min(tried, key=_distance_from_approval, default=None)


def _distance_from_approval(ticket: Ticket) -> tuple[bool, int, float, float, int]:
    against = sum(rule.is_against for rule in ticket.rules)
    return (ticket.decision is not Decision.APPROVE, against, -ticket.accuracy, -ticket.score, -ticket.number)
