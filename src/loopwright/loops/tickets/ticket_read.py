"""A ticket that somebody else wrote, as data, and what a session makes of it: a start, or a place to go on from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from loopwright.errors import ConfigError
from loopwright.kernel.findings import cut
from loopwright.kernel.model import Commit, Finding, Severity, Verdict
from loopwright.loops.tickets.body import Body, Box, boxes_of, what_of
from loopwright.loops.tickets.convergence import FIRST, IMPROVING, STALLED
from loopwright.loops.tickets.earlier import (
    Attempt,
    FeedbackRow,
    ToldEntry,
    attempts_of,
    changelog_of,
    feedback_of,
    told_accuracy,
)
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.shape import ticket_parts
from loopwright.loops.tickets.state import CRITIC, Aspect, Criterion, Critique, Decision, Ticket, TicketParams

Front = dict[str, Any]

_PREFIX = re.compile(r"(?:\[Iteration [0-9]+/[0-9]+\] ?)+")
_NOT_THE_CREATORS = ("critic_review", "expediter_review", "blocked")
_LONGEST = 2000
_NOTHING = re.compile(r"[\s*_>()-]*(?:none|nothing|n/a|no concerns)?[\s*_.()-]*", re.IGNORECASE)  # as people write it
_DECIDED = {
    "approved": Decision.APPROVE,
    "route_back": Decision.ROUTE_BACK,
    "needs_changes": Decision.ROUTE_BACK,
    "escalated": Decision.ESCALATE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTicket:
    """Empty and None stand for what the file does not say."""

    file: str
    title: str
    criteria: tuple[Box, ...]
    session: str = ""
    sequence: int | None = None
    parent: str = ""
    cycle: str = "development"
    status: str = "open"
    created: str = ""
    worktree: str = ""
    claimed_by: str = ""
    claimed_at: str = ""
    index: int | None = None
    max: int | None = None
    accuracy: float | None = None  # of the parent
    score: float | None = None
    what: str = ""
    context: str = ""
    history: tuple[Attempt, ...] = ()
    feedback: tuple[FeedbackRow, ...] = ()
    issues: str = ""
    creator: str = ""
    critic: str = ""
    expediter: str = ""
    reached: float | None = None  # its own accuracy, where its expediter tells it
    changelog: tuple[ToldEntry, ...] = ()
    critics_word: str = ""  # APPROVED or NEEDS_CHANGES
    concerns: str = ""


def build(front: Front, body: Body, *, name: str = "") -> ReadTicket:
    """From frontmatter that has its shape. `name` is that of the file, without `.md`: it may tell session and sequence.

    Raises `ConfigError` for what is missing or is not of the form.
    """
    title = front.get("title", body.title)
    if not title.strip():
        says = "there is no title; give one in the frontmatter or as the first heading"
        raise ConfigError(body.file, "title", says, line=1)
    session, sequence = _identity(front, body.file, name)
    step = front.get("iteration", {})
    return ReadTicket(
        file=body.file,
        title=_PREFIX.sub("", title, count=1).strip() or title,
        criteria=boxes_of(body),
        session=session,
        sequence=sequence,
        parent=front.get("parent_ticket") or step.get("parent_ticket", ""),
        cycle=front.get("cycle_type", "development"),
        status=front.get("status", "open"),
        created=front.get("created", ""),
        worktree=front.get("worktree_path", ""),
        claimed_by=front.get("claimed_by", ""),
        claimed_at=front.get("claimed_at", ""),
        index=step.get("index"),
        max=step.get("max"),
        accuracy=step.get("accuracy_score"),
        score=step.get("score"),
        what=what_of(body),
        context=_lead(body, "Context"),
        history=_listed_attempts(front) or attempts_of(body),
        feedback=_listed_rows(front) or feedback_of(body),
        issues=body.text("Accumulated Issues"),
        creator=_notes(body),
        critic=body.text("Critic Section"),
        expediter=body.text("Expediter Section"),
        reached=told_accuracy(body),
        changelog=changelog_of(body),
        critics_word=_under(body, "Critic Section", "Approval Decision"),
        concerns=_under(body, "Creator Section", "Concerns"),
    )


def _under(body: Body, name: str, title: str) -> str:
    section = body.section(name)
    return section.under(title).strip() if section else ""


def _lead(body: Body, name: str) -> str:
    section = body.section(name)
    return section.lead if section else ""


def _notes(body: Body) -> str:
    section = body.section("Creator Section")
    return (section.under("Implementation Notes") or section.under("")) if section else ""


def _identity(front: Front, file: str, name: str) -> tuple[str, int | None]:
    """The frontmatter's word; else the name's, if it has a sequence. Both have to agree."""
    own, told = ticket_parts(front.get("ticket_id", "")), ticket_parts(name)
    if own and told and own != told:
        raise ConfigError(file, "ticket_id", f"has to be {name}, as the file is called", line=2)
    session, sequence = own or told or ("", front.get("sequence"))
    return front.get("session_id", session), sequence


def _listed_attempts(front: Front) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(
            ticket=entry["ticket"],
            outcome=entry["outcome"],
            accuracy=entry.get("accuracy"),
            gaps=tuple(entry.get("gaps", ())),
        )
        for entry in front.get("attempt_history", ())
    )


def _listed_rows(front: Front) -> tuple[FeedbackRow, ...]:
    return tuple(
        FeedbackRow(
            requirement=entry["requirement"],
            expected=entry.get("expected", ""),
            actual=entry.get("actual", ""),
            score=entry.get("score"),
            guidance=entry.get("guidance", ""),
        )
        for entry in front.get("structured_feedback", ())
    )


# What a session makes of it


def params(read: ReadTicket, *, session: str, base: Commit) -> TicketParams:
    """The session that a ticket asks for; agents, target and limits are the configuration's to add."""
    return TicketParams(
        firm=True,
        accepts_checked=True,
        session=session,
        title=read.title,
        base=base,
        what=read.what,
        criteria=tuple(Criterion(id=box.id, text=box.text) for box in read.criteria),
        context=read.context,
        cycle=read.cycle,
        limits=TicketLimits(max=read.max) if read.max else TicketLimits(),
    )


def with_turn(params: TicketParams, read: ReadTicket) -> TicketParams:
    """The session at the role whose turn the ticket under way says it is, with what is known of it by then."""
    if read.status not in _NOT_THE_CREATORS:
        return params
    *before, begun = params.adopted or (Ticket(number=1),)
    begun = replace(begun, notes=read.creator, critiques=_critiques(read))
    return replace(params, adopted=(*before, begun), stands=read.status, hold=cut(_why_blocked(read), _LONGEST))


def _why_blocked(read: ReadTicket) -> str:
    """Its creator's concerns; where there are none, what the changelog says last of it."""
    if not _NOTHING.fullmatch(read.concerns):
        return read.concerns
    said = (each.text for each in reversed(read.changelog) if each.what.lower() == "blocked")
    return next(said, "")


def _critiques(read: ReadTicket) -> tuple[Critique, ...]:
    """What its critic came to, where the file says so; a no is a finding, in the words it was written with."""
    said, words = cut(read.critic, _LONGEST), read.critics_word.upper()
    if words.startswith("APPROVED"):
        return (Critique(role=CRITIC, verdict=Verdict.PASS, summary=said),)
    if not words.startswith("NEEDS_CHANGES"):
        return ()
    finding = Finding(severity=Severity.CRITICAL, rule="needs-changes", issue="The critic wants changes", evidence=said)
    return (Critique(role=CRITIC, verdict=Verdict.FAIL, summary=said, findings=(finding,)),)


def adopted(reads: tuple[ReadTicket, ...]) -> tuple[Ticket, ...]:
    """The tickets of one session, oldest first, also those that only a later one's history tells of.

    Without a decision is only the last, if it was under way. Raises `ConfigError` for a history of another session, and
    for a session that is approved.
    """
    files = {read.sequence: read for read in reads if read.sequence}
    told = {_number_of(read, attempt): attempt for read in reads for attempt in read.history}
    tickets: list[Ticket] = []
    for number in sorted({*files, *told}):
        before = tickets[-1] if tickets else None
        tickets.append(_ticket(number, before, files, told.get(number)))
    if tickets and tickets[-1].decision is Decision.APPROVE:
        raise ConfigError(reads[-1].file, "status", "is approved; there is nothing to go on with")
    return tuple(tickets)


def _number_of(read: ReadTicket, attempt: Attempt) -> int:
    parts = ticket_parts(attempt.ticket)
    if parts is None or parts[0] != read.session:
        raise ConfigError(read.file, "Attempt History", f"{attempt.ticket!a} is no ticket of this session")
    return parts[1]


def _ticket(number: int, before: Ticket | None, files: dict[int, ReadTicket], told: Attempt | None) -> Ticket:
    read, after = files.get(number), files.get(number + 1)
    accuracy = _first(
        told.accuracy if told else None, after.accuracy if after else None, read.reached if read else None
    )
    aspects = tuple(map(_aspect, after.feedback if after else ())) or tuple(map(_gap, told.gaps if told else ()))
    decision = Decision(told.outcome) if told else _DECIDED.get(read.status if read else "")
    is_last = after is None and told is None
    return Ticket(
        number=number,
        parent=before.number if before else 0,
        notes=read.creator if read else "",
        aspects=aspects,
        decision=decision or (None if is_last else Decision.ROUTE_BACK),
        accuracy=accuracy,
        score=_first(after.score if after else None, accuracy),
        trend=FIRST if before is None else IMPROVING if accuracy > before.accuracy else STALLED,
    )


def _first(*numbers: float | None) -> float:
    return next((number for number in numbers if number is not None), 0.0)


def _aspect(row: FeedbackRow) -> Aspect:
    """Whoever gives no score has met nothing."""
    score = row.score or 0.0
    return Aspect(
        requirement=row.requirement,
        aspect=row.expected or row.requirement,
        expected=row.expected,
        actual=row.actual,
        passed=score >= 1,
        score=score,
        guidance=row.guidance,
    )


def _gap(gap: str) -> Aspect:
    return Aspect(requirement=gap, aspect=gap, expected=gap, actual="missing", passed=False, score=0.0)
