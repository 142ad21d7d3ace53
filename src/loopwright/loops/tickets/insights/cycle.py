"""A ticket session reduced to what can be learned from it. Everything else about insights is a function of these."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import AgentReported, Answered
from loopwright.kernel.model import Ending, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.record import Record
from loopwright.loops.course import Station
from loopwright.loops.tickets.chronicle import step_of
from loopwright.loops.tickets.convergence import EXAMPLES
from loopwright.loops.tickets.insights.categories import PERSON, category, guidance_form
from loopwright.loops.tickets.state import Aspect, Decision, Ticket, TicketParams, TicketsState, ticket_id

Close = Literal["approved", "escalated", "accepted", "cancelled", "under way"]
_NAMED = 80
# What a later ticket writes to name the one whose fault it mends. A bare mention is not enough: work that builds on a
# ticket mentions it too.
_DEFECT = re.compile(r"\b(?i:defect|regression|bug)[ _-](?i:of|in|from)\b\W{0,4}(TICKET-[a-z0-9-]{1,40}-\d{3})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A requirement that failed in a ticket, by its kind, and what the next creator was told about it."""

    category: str
    guidance: str = "none"  # the sort of advice


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One ticket that was decided."""

    ticket: str
    number: int
    decision: Decision
    accuracy: float
    score: float
    trend: str = ""
    gaps: tuple[Gap, ...] = ()
    creator: str = ""
    critics: tuple[str, ...] = ()
    new_coverage: float | None = None  # percent of new lines covered; None: no check counted them
    open_high: bool = False  # a finding of severity high was still open

    @property
    def approved(self) -> bool:
        return self.decision is Decision.APPROVE

    @property
    def categories(self) -> frozenset[str]:
        return frozenset(gap.category for gap in self.gaps)

    @property
    def pair(self) -> str:
        """Who made it and who criticised it; empty when the log does not name them."""
        return " + ".join((self.creator, *self.critics)) if self.creator and self.critics else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One session, from its first ticket to its end or as far as it has come."""

    session: str
    cycle_type: str = "development"
    kinds: tuple[str, ...] = ()  # of its requirements
    tries: tuple[Try, ...] = ()
    close: Close = "under way"
    limit: int = 5  # tickets that were allowed at the start
    cost: float = 0.0
    estimated: bool = False  # whether some of the cost is a guess
    at: float = 0.0
    answers: tuple[str, ...] = ()  # what a coordinator chose, in order
    defect_of: tuple[str, ...] = ()  # tickets of other sessions that this one mends

    @property
    def approved(self) -> bool:
        return self.close == "approved"

    @property
    def escalated(self) -> bool:
        """Whether a person was needed at any time, whatever came of it."""
        return any(each.decision is Decision.ESCALATE for each in self.tries)

    @property
    def runs(self) -> tuple[int, ...]:
        """How many tickets each approval took; a session that was split has several."""
        ends = [0, *(at for at, each in enumerate(self.tries, start=1) if each.approved)]
        return tuple(end - begin for begin, end in pairwise(ends))

    @property
    def pairs(self) -> tuple[tuple[Try, Try], ...]:
        """Each ticket that was sent back, with the one after it."""
        return tuple((before, after) for before, after in pairwise(self.tries) if not before.approved)


def cycle_of(
    state: TicketsState, records: Iterable[Record], *, cost: float, estimated: bool = False, at: float
) -> Cycle:
    """The session as its folded state and its log have it. Of the log only agents' names and answers are taken."""
    plan, heard = state.plan, _heard(records)
    return Cycle(
        session=plan.session,
        cycle_type=plan.cycle,
        kinds=tuple(sorted({category("", each.text) for each in plan.criteria})) or (category("", plan.title),),
        tries=tuple(_try(state, ticket, ticket.decision, heard) for ticket in state.past if ticket.decision),
        close=_close(state),
        limit=plan.limits.max,
        cost=cost,
        estimated=estimated,
        at=at,
        answers=heard.answers,
        defect_of=_defects(plan),
    )


def _close(state: TicketsState) -> Close:
    match state.course.outcome.ending if state.course.outcome else None:
        case Ending.VERIFIED:
            return "approved"
        case Ending.ACCEPTED:
            return "accepted"
        case None:
            return "escalated" if state.course.station is Station.ESCALATED else "under way"
        case _:
            return "cancelled"


def _defects(plan: TicketParams) -> tuple[str, ...]:
    text = f"{plan.title}\n{plan.what}\n{plan.context}"
    return tuple(named for named in dict.fromkeys(_DEFECT.findall(text)) if session_of(named) != plan.session)


def session_of(ticket: str) -> str:
    return ticket.removeprefix("TICKET-").rpartition("-")[0]


# --- from the log -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the log says beyond the state: who reported on which step of which ticket, in order, and the answers."""

    names: dict[tuple[str, int], list[str]]
    answers: tuple[str, ...]

    def creator(self, number: int) -> str:
        return self.names.get(("create", number), [""])[-1]

    def critics(self, number: int) -> tuple[str, ...]:
        return tuple(sorted(set(self.names.get(("critique", number), ()))))


def _heard(records: Iterable[Record]) -> _Heard:
    names: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    answers: list[str] = []
    for event in map(_event, records):
        if isinstance(event, Answered):
            answers.append(event.choice)
        elif event is not None and event.report.agent:
            names[step_of(event)].append(one_line(event.report.agent, _NAMED))
    return _Heard(dict(names), tuple(answers))


def _event(record: Record) -> AgentReported | Answered | None:
    """The rest is not even read, and what cannot be read teaches nothing."""
    try:
        match record.kind:
            case "AgentReported":
                return decode(AgentReported, record.data)
            case "Answered":
                return decode(Answered, record.data)
            case _:
                return None
    except DecodeError:
        return None


# --- one ticket ---------------------------------------------------------------------------------


def _try(state: TicketsState, ticket: Ticket, decision: Decision, heard: _Heard) -> Try:
    by_person = any(each.parent == ticket.number and each.move == EXAMPLES for each in (*state.past, state.ticket))
    return Try(
        ticket=ticket_id(state.plan.session, ticket.number),
        number=ticket.number,
        decision=decision,
        accuracy=ticket.accuracy,
        score=ticket.score,
        trend=ticket.trend,
        gaps=_gaps(ticket, by_person=by_person),
        creator=heard.creator(ticket.number),
        critics=heard.critics(ticket.number),
        new_coverage=_new_coverage(ticket),
        open_high=any(finding.severity is Severity.HIGH for finding in ticket.findings),
    )


def _gaps(ticket: Ticket, *, by_person: bool) -> tuple[Gap, ...]:
    """One for each category that failed, with the advice of its lowest score: that is what a creator is told first."""
    found: dict[str, Gap] = {}
    for aspect in sorted((each for each in ticket.aspects if not each.passed), key=lambda each: each.score):
        name = _category(ticket, aspect)
        form = PERSON if by_person else guidance_form(aspect.guidance)
        found.setdefault(name, Gap(category=name, guidance=form))
    return tuple(sorted(found.values(), key=lambda gap: gap.category))


def _category(ticket: Ticket, aspect: Aspect) -> str:
    """That of the finding the aspect was made of; a check by its name."""
    said = next((each.category for each in ticket.findings if (each.rule or each.issue) == aspect.aspect), "")
    return category("" if said == "engine" else said, aspect.requirement, aspect.aspect)


def _new_coverage(ticket: Ticket) -> float | None:
    counted = (check.coverage for check in ticket.checks or () if check.coverage is not None)
    return next((each.new_percent for each in counted if each.new_total), None)
