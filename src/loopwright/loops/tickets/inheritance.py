"""What earlier tickets leave to the next one, as its file has it: their history, feedback, and accumulated issues."""

from __future__ import annotations

import json
from collections.abc import Mapping

from loopwright.kernel.model import Finding
from loopwright.kernel.quoting import inline, quoted
from loopwright.kernel.wording import told
from loopwright.loops.tickets.convergence import URGENT, gaps
from loopwright.loops.tickets.findings import marks_of_checks
from loopwright.loops.tickets.markdown import table
from loopwright.loops.tickets.state import ENGINE, Aspect, Ticket, TicketParams, criterion_of, ticket_id
from loopwright.loops.tickets.thresholds import DEFERRABLE, place

LONG = 2000
_GAPS, _GAP = 10, 160
_PLACES = ("must fix: CRITICAL", "must fix: HIGH", DEFERRABLE, "deferred: MEDIUM")


def inherited(
    plan: TicketParams,
    ticket: Ticket,
    before: tuple[Ticket, ...],
    attempts: tuple[str, ...],
    resolved: Mapping[str, str],
) -> tuple[str, ...]:
    """What earlier tickets left to one: their history, the feedback of its parent, and every issue there was.

    `attempts` and `resolved` are of `before`, as they are shown.
    """
    parent = _numbered(before, ticket.parent)
    history = ("# Attempt History", *attempts) if attempts else ()
    if parent is None:
        return history
    issues = _issues(plan, parent, _numbered(before, parent.parent))
    left = {finding.fingerprint for finding in before[-1].findings}
    gone = "\n".join([line for mark, line in resolved.items() if mark not in left])
    return (*history, *_feedback(parent), *issues, "### Resolved", gone or "None.")


def _numbered(before: tuple[Ticket, ...], number: int) -> Ticket | None:
    """Most often the last of them."""
    return next((each for each in reversed(before) if each.number == number), None)


def attempt(session: str, index: int, ticket: Ticket) -> str:
    """One of the history, counted from 1."""
    named = [" ".join(gap.split())[:_GAP] for gap in gaps(ticket)[:_GAPS]]
    lines = (
        f"## Attempt {index}: {ticket_id(session, ticket.number)}",
        f"- **Outcome**: {ticket.decision or 'not decided'}",
        f"- **Accuracy**: {ticket.accuracy:.2f}",
        f"- **Key Gaps**: {inline(json.dumps(named, ensure_ascii=False), _GAPS * 2 * _GAP)}",
        f"- **Approach**: {inline(ticket.notes) or 'not told'}",
        *(("- **Worse**: more is wrong than in the attempt before",) if ticket.worse else ()),
        *((f"- **Not landed**: {inline(ticket.refused)}",) if ticket.refused else ()),
    )
    return "\n".join(lines)


def resolved_line(finding: Finding) -> str:
    return f"- RESOLVED {_named(finding)}"


def _feedback(parent: Ticket) -> tuple[str, ...]:
    """What the judge of the parent saw, requirement by requirement, the lowest score first."""
    by_requirement: dict[str, list[Aspect]] = {}
    for aspect in parent.aspects:
        by_requirement.setdefault(aspect.requirement, []).append(aspect)
    ordered = sorted(by_requirement.items(), key=lambda pair: min(aspect.score for aspect in pair[1]))
    blocks = (_requirement(name, tuple(aspects)) for name, aspects in ordered)
    advice = (f"**Judge**:\n\n{quoted(parent.advice)}",) if parent.advice.strip() else ()
    return ("# Structured Feedback", *(blocks if ordered else ("Nothing was judged.",)), *advice)


def _requirement(name: str, aspects: tuple[Aspect, ...]) -> str:
    rows = tuple((aspect.expected, aspect.actual, f"{aspect.score:.2f}") for aspect in aspects)
    lowest = min(aspect.score for aspect in aspects)
    urgent = f"\n**Priority**: fix first, {lowest:.2f} is below {URGENT}" if lowest < URGENT else ""
    head = f"### Requirement: {inline(name)}\n{table(('Expected', 'Actual', 'Score'), rows)}"
    return f"{head}\n\n**Guidance**: {inline(guidance_for(aspects), LONG)}{urgent}"


def guidance_for(aspects: tuple[Aspect, ...]) -> str:
    """What judges and critics said to do; where they said nothing, what is missing."""
    failed = [aspect for aspect in aspects if not aspect.passed]
    if not failed:
        return "Met; keep it so."
    advised = [aspect for aspect in failed if aspect.guidance.strip()]
    judged = [aspect for aspect in advised if aspect.source != ENGINE]  # who looked knows more than what was counted
    advice = tuple(dict.fromkeys(aspect.guidance for aspect in judged or advised))
    return "; ".join(advice) or "; ".join(f"Reach: {aspect.expected} (now: {aspect.actual})" for aspect in failed)


def _issues(plan: TicketParams, parent: Ticket, earlier: Ticket | None) -> tuple[str, ...]:
    """Everything that was ever found, as it stands after the parent."""
    lines = (
        f"- **Previous accuracy**: {f'{earlier.accuracy:.2f}' if earlier else 'none'}",
        f"- **Current accuracy**: {parent.accuracy:.2f}",
        f"- **Delta**: {f'{parent.accuracy - earlier.accuracy:+.2f}' if earlier else 'none'}",
    )
    marks = {finding.fingerprint: "ONGOING" for finding in parent.findings if finding.fingerprint in parent.ongoing}
    return ("# Accumulated Issues", "\n".join(lines), *placed(plan, parent, marks))


def placed(plan: TicketParams, ticket: Ticket, marks: dict[str, str] | None = None) -> tuple[str, ...]:
    """The open findings by what is to be done about them, each with the reason; with `marks`, also since when."""
    listed: dict[str, list[str]] = {name: [] for name in _PLACES}
    failing = marks_of_checks(ticket)
    for finding in ticket.findings:
        name, why = place(plan, finding, ticket.findings, failing)
        mark = "" if marks is None else f"{marks.get(finding.fingerprint, 'NEW')} "
        requirement = criterion_name(plan, finding)
        listed[name].append(f"- {mark}{_named(finding)}; requirement: {requirement}; rationale: {inline(why)}")
    return tuple(
        part
        for name, lines in listed.items()
        for part in (f"### {name[0].upper()}{name[1:]}", "\n".join(lines) or "None.")
    )


def _named(finding: Finding) -> str:
    return f"[{finding.severity.value.upper()}] {inline(told(finding))}"


def criterion_name(plan: TicketParams, finding: Finding) -> str:
    """The criterion a finding is about, by its id."""
    found = criterion_of(plan, finding)
    return found.id if found else "not mapped"
