"""What a ticket session remembers: the tickets that are over, the one under way, and the questions its rules ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from loopwright.kernel.ledger import Ledger
from loopwright.kernel.limits import reached
from loopwright.kernel.model import (
    NO_COMMIT,
    Change,
    CheckResult,
    Commit,
    Demand,
    Ending,
    Finding,
    Question,
    Severity,
    Tree,
    Verdict,
)
from loopwright.kernel.trust import LandedBefore, Trust
from loopwright.kernel.wording import counted
from loopwright.loops import course as c
from loopwright.loops.accepting import ShownRed
from loopwright.loops.course import Course, Inquiry, Station
from loopwright.loops.parts import TaskFacts
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.weighing import has_to_be_shown

CRITIC, CHECKS, JUDGE, ENGINE, LANDING = "critic", "checks", "judge", "engine", "landing"  # for the ledger: who says it
_SOMEWHERE, AS_IT_WAS = ("(made before it was adopted)",), ("(nothing: it was done already)",)
ACCEPT = "consider accept"  # the level whose lines must hold; the lines of every other level must not


class TicketsPhase(StrEnum):
    CREATE = "CREATE"
    CHECKPOINT = "CHECKPOINT"
    CRITIQUE = "CRITIQUE"
    CHECK = "CHECK"
    JUDGE = "JUDGE"
    VERDICT = "VERDICT"


class Decision(StrEnum):
    APPROVE = "APPROVE"
    ROUTE_BACK = "ROUTE_BACK"
    ESCALATE = "ESCALATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """An acceptance criterion. Findings name it by its id or its words."""

    id: str
    text: str


SHOWN = "shown"  # the aspect that a test fails without the change; accuracy does not count it


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
    about: str = ""  # what the task is about


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
    unmade: str = ""  # of a part: why the creator made nothing of it
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
    refused: str = ""  # why it could not be landed, although nothing spoke against it
    gated: tuple[Change, ...] = ()  # what its commit changes of protected files
    onto: Commit = NO_COMMIT  # what it is measured against, if that is not the base the session began with
    tree: Tree = Tree("")  # of its commit
    heard: int = 0  # how much people had said by then
    repeats: int = 0  # the ticket that was judged by the very same tree
    idle: bool = False  # its creator has changed nothing, and a person is asked why
    failed_with: tuple[str, ...] | None = None  # the approvals with which its checks failed; None: they did not


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A critic's place at the table, and what it said. Its step is known by the seat's number, from 1."""

    role: str
    agent: str = ""
    critique: Critique | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketParams:
    """What a session is started with. A child (`lands` false) leaves its result to its parent."""

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
    stands: str = ""  # the status of an adopted ticket that is under way, where it is not its creator's turn
    hold: str = ""  # why that ticket is blocked
    firm: bool = False  # a no stays a no; a session that began before that rule is told by those it began with
    trust: Trust = Trust()
    accepts_checked: bool = False  # what is accepted runs the checks, too; one that began before lands it as it did
    part: TaskFacts | None = None  # of a larger thing
    answers: tuple[str, ...] = ()  # what people said to whoever had it begun
    before: tuple[Finding, ...] = ()  # what was wrong before that began
    after: LandedBefore = LandedBefore()  # what landed before it in the same work
    also: tuple[Demand, ...] = ()  # commands that must pass besides the checks
    lands: bool = True
    about: str = ""  # code, text, tests or cleanup; empty: the critics say so


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFacts(TaskFacts):
    """What every role is told besides what the roles of every loop are."""

    story: str  # the id of the ticket
    feedback: tuple[str, ...] = ()  # where the last one fell short, lowest score first


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketsState:
    plan: TicketParams
    allowance: int  # tickets that may be written in all
    ticket: Ticket
    commit: Commit  # where the next creator starts
    phase: TicketsPhase = TicketsPhase.CREATE
    course: Course = Course()
    past: tuple[Ticket, ...] = ()
    ledger: Ledger = ()
    seats: tuple[Seat, ...] = ()
    cast: tuple[tuple[str, str], ...] = ()  # a role and the agent a person gave it to
    extra_critics: tuple[str, ...] = ()  # agents that a person set beside the critic
    groups: tuple[tuple[str, ...], ...] = ()  # what a split left to do after the present ticket's criteria
    onto: Commit = NO_COMMIT  # where a landing that was refused found the target: the next ticket begins there
    taken: int = 0  # the ticket that a person has accepted
    verified: bool = False  # the checks have passed on that
    red: ShownRed | None = None  # what of a ticket that a person would accept they saw fail; until the next is judged


def start(params: TicketParams) -> TicketsState:
    return c.tried_on_the_base(_begun(_as_part(params)), params.trust)


def _as_part(params: TicketParams) -> TicketParams:
    """A task is its own criterion: what its command finds, and what critics say of it, is held against that."""
    if params.part is None or params.criteria:
        return params
    name = params.part.task_id
    return replace(params, criteria=(Criterion(id=name, text=params.title.removeprefix(f"{name}: ")),))


def _begun(params: TicketParams) -> TicketsState:
    """A new session, or one that goes on where adopted tickets leave off."""
    closed = tuple(ticket for ticket in params.adopted if ticket.decision is not None)
    first = Ticket(number=1)
    state = TicketsState(
        plan=params,
        allowance=params.limits.max,
        ticket=first,
        commit=params.base,
        past=closed,
        course=Course(answers=params.answers, before=params.before),
    )
    if params.adopted and params.adopted[-1].decision is None:
        begun = params.adopted[-1]
        kept = Ticket(number=begun.number, parent=begun.parent, focus=begun.focus, guidance=begun.guidance)
        return _dispatched(replace(state, ticket=kept), begun)
    if params.part is not None and params.part.done_before:
        return criticised_by(replace(state, ticket=replace(first, commit=params.base, files=AS_IT_WAS)))
    if not closed:
        return _dispatched(state, first)
    state = replace(state, ticket=closed[-1])
    if closed[-1].decision is Decision.ESCALATE:
        return c.escalated(state, ("the last ticket that was adopted is escalated",))
    if reached(closed[-1].number, state.allowance):
        adopted = counted(closed[-1].number, "ticket was", "tickets were")
        return c.escalated(state, (f"{adopted} adopted, and {state.allowance} are allowed",))
    return opened(state)


def _dispatched(state: TicketsState, begun: Ticket) -> TicketsState:
    """At the role whose turn it is by the ticket's own word. What others made of it is in the tree the session has."""
    match state.plan.stands:
        case "blocked":
            why = f": {state.plan.hold}" if state.plan.hold else " and does not say why. How can it go on?"
            question = Question(question=f"The ticket is blocked{why}")
            held = replace(state.course.trial, held=True)
            inquiry = Inquiry(role="creator", questions=(question,))
            return c.steered(c.stationed(state, Station.CLARIFY), trials=(held,), inquiries=(inquiry,), asked=1)
        case "critic_review":
            return criticised_by(_made_by_others(state, begun))
        case "expediter_review" if begun.critiques:
            return stepped(replace(_made_by_others(state, begun), seats=()), TicketsPhase.CHECK)
        case "expediter_review":
            return criticised_by(_made_by_others(state, begun))
        case _:
            return state


def _made_by_others(state: TicketsState, begun: Ticket) -> TicketsState:
    kept = replace(state.ticket, notes=begun.notes, critiques=begun.critiques, commit=state.commit, files=_SOMEWHERE)
    return replace(state, ticket=kept)


def criticised_by(state: TicketsState) -> TicketsState:
    """All critics look at what was made, side by side."""
    state = stepped(replace(state, seats=_seated(state)), TicketsPhase.CRITIQUE)
    beside = tuple(c.Trial(part=seat_key(at)) for at in range(len(state.seats)))
    return c.steered(state, trials=(state.course.trial, *beside))


def _seated(state: TicketsState) -> tuple[Seat, ...]:
    """The configured critics, each with the agent a person gave it, and the ones a person set beside them."""
    chosen, roles = dict(state.cast), state.plan.critics or (CRITIC,)
    own = tuple(Seat(role=role, agent=chosen.get(role, "")) for role in roles)
    return own + tuple(Seat(role=roles[0], agent=agent) for agent in state.extra_critics)


def opened(state: TicketsState, *, move: str = "retry", guidance: tuple[str, ...] = ()) -> TicketsState:
    """The next ticket of the session: a new one, always, with a number one higher."""
    last = state.ticket
    ticket = Ticket(
        number=last.number + 1,
        parent=last.number,
        focus=last.focus,
        move=move,
        guidance=guidance,
        onto=state.onto,
    )
    return c.steered(c.entered(replace(state, ticket=ticket, seats=()), TicketsPhase.CREATE), reasons=())


def seat_key(at: int) -> str:
    """The part of a step's key that says which seat it is for."""
    return str(at + 1)


def stepped(state: TicketsState, phase: TicketsPhase) -> TicketsState:
    """The next step of the same ticket. Its tries go on, so that no key is ever used twice."""
    return c.entered(state, phase, tries=state.course.trial.tries + 1)


def ticket_id(session: str, number: int) -> str:
    return f"TICKET-{session}-{number:03d}"


def criteria_of(state: TicketsState) -> tuple[Criterion, ...]:
    """What the present ticket is about."""
    focus = state.ticket.focus
    return tuple(each for each in state.plan.criteria if not focus or each.id in focus)


def criteria_in_force(state: TicketsState) -> tuple[Criterion, ...]:
    """What the present ticket answers for: its own and what was approved before, but not what a split put off."""
    later = {each for group in state.groups for each in group}
    return tuple(each for each in state.plan.criteria if each.id not in later)


def can_split(state: TicketsState) -> bool:
    return len(state.plan.criteria) > 1


def in_focus(state: TicketsState, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
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


def all_tickets(state: TicketsState) -> tuple[Ticket, ...]:
    """Oldest first, the one under way last."""
    is_decided = bool(state.past) and state.past[-1].number == state.ticket.number
    return (*(state.past[:-1] if is_decided else state.past), state.ticket)


def heard(state: TicketsState) -> int:
    """How much people have said so far that may change a judgement."""
    course, attached = state.course, sum(len(ticket.guidance) for ticket in all_tickets(state))
    return len(course.answers) + len(course.refusals) + len(course.approvals) + attached


def is_completed(state: TicketsState) -> bool:
    """Whether the session's result was taken: its files belong into `completed/` then."""
    outcome = state.course.outcome
    return outcome is not None and outcome.ending in (Ending.VERIFIED, Ending.ACCEPTED)


def base_of(state: TicketsState) -> Commit:
    """What the change is measured against: a landing that was refused moves it to where the target stands."""
    return state.ticket.onto or state.plan.base


def best_to_take(state: TicketsState) -> Ticket | None:
    """What is accepted. A change that a person rejected is in it only if no ticket is without one."""
    if state.course.accepted and state.taken:
        return next(each for each in state.past if each.number == state.taken)
    return best_ticket(state.course.not_rejected(state.past)) or best_ticket(state.past)


def best_ticket(past: tuple[Ticket, ...]) -> Ticket | None:
    """The ticket that came nearest to approval, of those that changed anything; of equals, the later one."""
    tried = [ticket for ticket in past if ticket.commit and ticket.files]
    return min(tried, key=_distance_from_approval, default=None)


def told_of(state: TicketsState) -> Ticket | None:
    """The ticket that is spoken of: the one that was taken, else the last that was decided."""
    taken = best_to_take(state) if state.course.accepted else None
    return taken or (state.past[-1] if state.past else None)


def _distance_from_approval(ticket: Ticket) -> tuple[bool, int, float, float, int, int]:
    against = sum(rule.is_against for rule in ticket.rules)
    grave = sum(finding.severity in (Severity.CRITICAL, Severity.HIGH) for finding in ticket.findings)
    refused = ticket.decision is not Decision.APPROVE
    return (refused, against, -ticket.accuracy, -ticket.score, grave, -ticket.number)


def about(state: TicketsState) -> str:
    """What the work is about: by the person's or the plan's word, else by a critic's."""
    return state.plan.about or next((each.about for each in state.ticket.critiques if each.about), "")


def asks_witness(state: TicketsState) -> bool:
    """Whether something that failed before the work has to pass now: of tests and clean-ups, once its maker was asked.

    No test tells an empty change from the base.
    """
    told = state.course.told_unshown
    is_asked = has_to_be_shown(about(state), same_product=not told, alters_code=told)
    return state.plan.trust.asks_witness and is_asked and state.ticket.files != AS_IT_WAS
