"""The parts of a ticket that are there before its creator starts: requirements, context, history, feedback, issues."""

from __future__ import annotations

import json
from itertools import chain

from loopwright.kernel.model import Finding
from loopwright.kernel.quoting import inline, quoted
from loopwright.kernel.wording import told
from loopwright.loops.tickets.convergence import gaps
from loopwright.loops.tickets.state import ENGINE, Aspect, Phase, Ticket, ticket_id
from loopwright.loops.tickets.thresholds import place
from loopwright.loops.tickets.ticket_text import said, table
from loopwright.loops.tickets.ticket_view import View

URGENT = 0.5  # a score below it comes first
_GAPS, _GAP = 10, 160
_LONG = 2000
PLACES = ("must fix: CRITICAL", "must fix: HIGH", "deferrable: HIGH", "deferred: MEDIUM")


def requirements(view: View) -> tuple[str, ...]:
    mark = "x" if view.status == "approved" else " "
    listed = "\n".join(f"- [{mark}] {each.id}: {inline(each.text, _LONG)}" for each in view.criteria)
    return (
        "# Requirements",
        "## What We're Building",
        quoted(view.state.plan.what if view.state.plan.what.strip() else view.state.plan.title),
        "## Acceptance Criteria",
        listed or "None named.",
    )


def context(view: View) -> tuple[str, ...]:
    attached = (("Guidance", view.ticket.guidance), ("Answers", view.state.answers if view.is_current else ()))
    parts = (
        (f"## {heading} from the coordinator", "\n\n".join(map(quoted, texts))) for heading, texts in attached if texts
    )
    given = (quoted(view.state.plan.context),) if view.state.plan.context.strip() else ()
    move = ("## Move", f"- {inline(view.ticket.move)}") if view.before else ()
    return ("# Context", *given, *move, *chain.from_iterable(parts))


def history(view: View) -> tuple[str, ...]:
    if not view.before:
        return ()
    return ("# Attempt History", *(_attempt(view, index) for index in range(len(view.before))))


def _attempt(view: View, index: int) -> str:
    ticket = view.before[index]
    named = [" ".join(gap.split())[:_GAP] for gap in gaps(ticket)[:_GAPS]]
    lines = (
        f"## Attempt {index + 1}: {ticket_id(view.state.plan.session, ticket.number)}",
        f"- **Outcome**: {ticket.decision or 'not decided'}",
        f"- **Accuracy**: {ticket.accuracy:.2f}",
        f"- **Key Gaps**: {inline(json.dumps(named, ensure_ascii=False), _GAPS * 2 * _GAP)}",
        f"- **Approach**: {inline(ticket.notes) or 'not told'}",
        *(("- **Worse**: more is wrong than in the attempt before",) if ticket.worse else ()),
    )
    return "\n".join(lines)


def feedback(view: View) -> tuple[str, ...]:
    """What the judge of the parent saw, requirement by requirement, the lowest score first."""
    if view.parent is None:
        return ()
    by_requirement: dict[str, list[Aspect]] = {}
    for aspect in view.parent.aspects:
        by_requirement.setdefault(aspect.requirement, []).append(aspect)
    ordered = sorted(by_requirement.items(), key=lambda pair: min(aspect.score for aspect in pair[1]))
    blocks = (_requirement(name, tuple(aspects)) for name, aspects in ordered)
    advice = (f"**Judge**:\n\n{quoted(view.parent.advice)}",) if view.parent.advice.strip() else ()
    return ("# Structured Feedback", *(blocks if ordered else ("Nothing was judged.",)), *advice)


def _requirement(name: str, aspects: tuple[Aspect, ...]) -> str:
    rows = tuple((aspect.expected, aspect.actual, f"{aspect.score:.2f}") for aspect in aspects)
    lowest = min(aspect.score for aspect in aspects)
    urgent = f"\n**Priority**: fix first, {lowest:.2f} is below {URGENT}" if lowest < URGENT else ""
    head = f"### Requirement: {inline(name)}\n{table(('Expected', 'Actual', 'Score'), rows)}"
    return f"{head}\n\n**Guidance**: {inline(guidance_for(aspects), _LONG)}{urgent}"


def guidance_for(aspects: tuple[Aspect, ...]) -> str:
    """What judges and critics said to do; where they said nothing, what is missing."""
    failed = [aspect for aspect in aspects if not aspect.passed]
    if not failed:
        return "Met; keep it so."
    advised = [aspect for aspect in failed if aspect.guidance.strip()]
    judged = [aspect for aspect in advised if aspect.source != ENGINE]  # who looked knows more than what was counted
    advice = tuple(dict.fromkeys(aspect.guidance for aspect in judged or advised))
    return "; ".join(advice) or "; ".join(f"Reach: {aspect.expected} (now: {aspect.actual})" for aspect in failed)


def issues(view: View) -> tuple[str, ...]:
    """Everything that was ever found, as it stands after the parent."""
    parent = view.parent
    if parent is None:
        return ()
    earlier = next((each for each in view.before if each.number == parent.parent), None)
    lines = (
        f"- **Previous accuracy**: {f'{earlier.accuracy:.2f}' if earlier else 'none'}",
        f"- **Current accuracy**: {parent.accuracy:.2f}",
        f"- **Delta**: {f'{parent.accuracy - earlier.accuracy:+.2f}' if earlier else 'none'}",
    )
    marks = {finding.fingerprint: "ONGOING" for finding in parent.findings if finding.fingerprint in parent.ongoing}
    return (
        "# Accumulated Issues",
        "\n".join(lines),
        *placed(view, parent.findings, marks),
        "### Resolved",
        "\n".join(f"- RESOLVED {_named(finding)}" for finding in _resolved(view.before)) or "None.",
    )


def _resolved(before: tuple[Ticket, ...]) -> tuple[Finding, ...]:
    left = {finding.fingerprint for finding in before[-1].findings}
    gone = {finding.fingerprint: finding for ticket in before for finding in ticket.resolved}
    return tuple(finding for mark, finding in gone.items() if mark not in left)


def placed(view: View, findings: tuple[Finding, ...], marks: dict[str, str] | None = None) -> tuple[str, ...]:
    """The open findings by what is to be done about them, each with the reason; with `marks`, also since when."""
    listed: dict[str, list[str]] = {name: [] for name in PLACES}
    for finding in findings:
        name, why = place(finding, findings)
        mark = "" if marks is None else f"{marks.get(finding.fingerprint, 'NEW')} "
        requirement = view.criterion(finding)
        listed[name].append(f"- {mark}{_named(finding)}; requirement: {requirement}; rationale: {inline(why)}")
    return tuple(
        part
        for name, lines in listed.items()
        for part in (f"### {name[0].upper()}{name[1:]}", "\n".join(lines) or "None.")
    )


def _named(finding: Finding) -> str:
    return f"[{finding.severity.value.upper()}] {inline(told(finding))}"


def creator(view: View) -> tuple[str, ...]:
    ticket = view.ticket
    files = "\n".join(f"- {inline(path)}" for path in ticket.files)
    return (
        "# Creator Section",
        "## Implementation Notes",
        said(ticket.notes, "Waiting for the creator." if not ticket.commit else "The creator left no notes."),
        "## Concerns",
        quoted(view.state.question) if view.asks(Phase.CREATE) else "None.",
        "## Changes Made",
        files or ("No file was changed." if ticket.commit else "None yet."),
        *((f"- **Commit**: {inline(ticket.commit)}",) if ticket.commit else ()),
    )
