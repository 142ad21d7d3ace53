"""The parts of a ticket's file: what is asked for, and what its creator, its critics and its judge fill."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from loopwright.kernel.findings import identify
from loopwright.kernel.gates import UNTESTED
from loopwright.kernel.model import NOT_RUN, CheckResult, Finding, Severity, Verdict
from loopwright.kernel.quoting import inline, quoted
from loopwright.kernel.wording import counted
from loopwright.kernel.wording import place as location
from loopwright.loops.tickets.convergence import gaps, intervention, persistent_gaps
from loopwright.loops.tickets.inheritance import LONG, criterion_name, placed
from loopwright.loops.tickets.markdown import said, table
from loopwright.loops.tickets.state import (
    Criterion,
    Critique,
    Decision,
    Ticket,
    TicketsPhase,
    best_ticket,
    can_split,
    ticket_id,
)
from loopwright.loops.tickets.thresholds import weighed
from loopwright.loops.tickets.ticket_view import TicketView

DECISIONS = {
    Decision.APPROVE: "APPROVE",
    Decision.ROUTE_BACK: "CREATE_REWORK_TICKET",
    Decision.ESCALATE: "ESCALATE",
}
_CHECKS = {
    "test": "Tests",
    "lint": "Lint",
    "typecheck": "Types",
    "security": "Security",
    "build": "Build",
    "coverage": "Coverage",
}
_PATTERNS = {"stalled": "stuck", "first": "one attempt only", "": "one attempt only"}
_OPTIONS = (
    ("continue", "continue with more tickets"),
    ("split", "name the criteria to do first; they and the rest become tickets of their own"),
    ("examples", "attach guidance to a new ticket"),
    ("reassign", "give a role to another agent, or pair two critics"),
    ("accept", "take the best ticket with what is known against it"),
    ("history", "show all attempts and ask again"),
    ("revise", "give new guidance and start the count anew"),
    ("cancel", "end the session"),
)


# What is asked for


def requirements(view: TicketView) -> tuple[str, ...]:
    listed = "\n".join(f"- [{_tick(view, each)}] {each.id}: {inline(each.text, LONG)}" for each in view.criteria)
    return (
        "# Requirements",
        "## What We're Building",
        quoted(view.state.plan.what if view.state.plan.what.strip() else view.state.plan.title),
        "## Acceptance Criteria",
        listed or "None named.",
    )


def _tick(view: TicketView, criterion: Criterion) -> str:
    """Only where the ticket was approved and nothing it was judged by speaks against the criterion."""
    unmet = {aspect.requirement for aspect in view.ticket.aspects if not aspect.passed}
    return "x" if view.status == "approved" and criterion.text not in unmet else " "


def context(view: TicketView) -> tuple[str, ...]:
    course = view.state.course
    attached = (
        ("Guidance from the coordinator", view.ticket.guidance),
        ("Answers from the coordinator", course.answers if view.is_current else ()),
        ("Advice of a panel of agents", course.advised if view.is_current else ()),
    )
    parts = ((f"## {heading}", "\n\n".join(map(quoted, texts))) for heading, texts in attached if texts)
    given = (quoted(view.state.plan.context),) if view.state.plan.context.strip() else ()
    move = ("## Move", f"- {inline(view.ticket.move)}") if view.before else ()
    return ("# Context", *given, *move, *chain.from_iterable(parts))


# The creator


def creator(view: TicketView) -> tuple[str, ...]:
    ticket = view.ticket
    files = "\n".join(f"- {inline(path)}" for path in ticket.files)
    return (
        "# Creator Section",
        "## Implementation Notes",
        said(ticket.notes, "Waiting for the creator." if not ticket.commit else "The creator left no notes."),
        "## Concerns",
        quoted(view.question) if view.asks(TicketsPhase.CREATE) else "None.",
        "## Changes Made",
        files or ("No file was changed." if ticket.commit else "None yet."),
        *((f"- **Commit**: {inline(ticket.commit)}",) if ticket.commit else ()),
    )


# The critics


def critic(view: TicketView) -> tuple[str, ...]:
    critiques = view.ticket.critiques
    if not critiques:
        asked = ("CLARIFICATION NEEDED", quoted(view.question)) if view.asks(TicketsPhase.CRITIQUE) else ()
        return ("# Critic Section", *(asked or ("Waiting for the critics.",)))
    findings = tuple(weighed(identify(finding)) for each in critiques for finding in each.findings)
    listed = (part for severity in Severity for part in _of_severity(view, severity, findings))
    return (
        "# Critic Section",
        "## Audit Findings",
        *(tuple(listed) or ("None.",)),
        "## Summary",
        _counts(findings),
        "## Approval Decision",
        "APPROVED" if _is_approved(critiques, findings) else "NEEDS_CHANGES",
        "## Rationale",
        *(_rationale(each) for each in critiques),
    )


def _of_severity(view: TicketView, severity: Severity, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    own = [finding for finding in findings if finding.severity is severity]
    return (f"### {severity.value.upper()} Issues", *(_finding(view, each) for each in own)) if own else ()


def _finding(view: TicketView, finding: Finding) -> str:
    rows = (
        ("Location", location(finding) or "not told"),
        ("Category", finding.category or "not told"),
        ("Requirement", criterion_name(view.state.plan, finding)),
        ("Expected", finding.expected),
        ("Actual", finding.actual),
        ("Evidence", finding.evidence),
        ("Recommendation", finding.guidance),
    )
    lines = (f"  - **{name}**: {inline(text)}" for name, text in rows if text.strip())
    return "\n".join((f"- **{inline(finding.issue)}**", *lines))


def _counts(findings: tuple[Finding, ...]) -> str:
    found = Counter(finding.severity for finding in findings)
    return ", ".join(f"{severity.value.upper()} {found[severity]}" for severity in Severity)


def _is_approved(critiques: tuple[Critique, ...], findings: tuple[Finding, ...]) -> bool:
    """A pass with a critical finding is none."""
    passed = all(each.verdict is Verdict.PASS for each in critiques)
    return passed and not any(finding.severity is Severity.CRITICAL for finding in findings)


def _rationale(critique: Critique) -> str:
    verdict = critique.verdict.value if critique.verdict else "no verdict"
    return f"- {inline(critique.role)}, {verdict}:\n\n{said(critique.summary, 'No reason was given.')}"


# The judge


def expediter(view: TicketView) -> tuple[str, ...]:
    ticket = view.ticket
    if ticket.decision is None:
        return ("# Expediter Section", *_undecided(view))
    return (
        "# Expediter Section",
        "## Validation Results",
        table(("Check", "Result", "Detail"), _validation(ticket.checks or ())),
        "## Quality Thresholds",
        table(("Level", "Rule", "Holds", "Why"), tuple(_rules(ticket))),
        "## Scores",
        "\n".join((_accuracy(ticket), f"- **Score**: {ticket.score:.2f} (graded mean)")),
        "## Quality Gate Decision",
        DECISIONS[ticket.decision],
        *((quoted(ticket.advice),) if ticket.advice.strip() else ()),
        "## Next Steps",
        *_next_steps(view),
    )


def _undecided(view: TicketView) -> tuple[str, ...]:
    if view.asks(TicketsPhase.JUDGE):
        return ("## Quality Gate Decision", "CLARIFICATION NEEDED", quoted(view.question))
    return ("Waiting for the expediter.",)


def _validation(checks: tuple[CheckResult, ...]) -> tuple[tuple[str, ...], ...]:
    """The six that the page always names, then what else was configured."""
    by_name = {check.name: check for check in checks}
    others = {name: name for name in by_name if name not in _CHECKS}
    return tuple((title, *_result(by_name.get(name))) for name, title in (_CHECKS | others).items())


def _result(check: CheckResult | None) -> tuple[str, str]:
    if check is None:
        return "not judged", "no such check is configured"
    if not check.ran:
        return "not judged", NOT_RUN
    parts = (
        "" if check.tests is None else counted(check.tests, "test"),
        f"{check.coverage.percent:g}% of all lines, {check.coverage.new_percent:g}% of new" if check.coverage else "",
        counted(len(check.failures), "failure") if check.failures else "",
        f"{len(check.flaky)} flaky" if check.flaky else "",
        check.note,
    )
    return "PASS" if check.passed else "FAIL", "; ".join(part for part in parts if part)


def _rules(ticket: Ticket) -> list[tuple[str, ...]]:
    return [(rule.level, rule.name, "yes" if rule.holds else "no", rule.why) for rule in ticket.rules]


def _accuracy(ticket: Ticket) -> str:
    passing = sum(aspect.passed for aspect in ticket.aspects)
    judged = f"{passing} of {counted(len(ticket.aspects), 'aspect')} passing" if ticket.aspects else "not judged"
    return f"- **Accuracy**: {ticket.accuracy:.2f} ({judged})"


def _next_steps(view: TicketView) -> tuple[str, ...]:
    held = tuple(f"- {inline(reason)}" for reason in view.state.course.reasons) if view.is_current else ()
    held = (f"- **Not landed**: {inline(view.ticket.refused)}", *held) if view.ticket.refused else held
    match view.ticket.decision:
        case Decision.APPROVE:
            left = placed(view.state.plan, view.ticket) if view.ticket.findings else ()
            return (*held, *_untested(view), *left, *_where(view))
        case Decision.ESCALATE:
            return (*held, *placed(view.state.plan, view.ticket), *_escalation(view), *_where(view))
        case _:
            following = ticket_id(view.state.plan.session, view.ticket.number + 1)
            told = f"{following} carries the history, the feedback and the issues below."
            return (*held, told, *placed(view.state.plan, view.ticket), *_where(view))


def _untested(view: TicketView) -> tuple[str, ...]:
    """What a person has taken although no check looks at it."""
    gate = view.state.course.due(UNTESTED) if view.is_current and view.state.course.untested else None
    by = f" by {inline(gate.by)}" if gate and gate.by else ""
    return (f"- **Taken untested**{by}: {inline(gate.why)}",) if gate else ()


def _where(view: TicketView) -> tuple[str, ...]:
    """Where the result is, once the session has one."""
    outcome = view.state.course.outcome
    if not view.is_current:
        return ()
    if outcome is None or not outcome.branch:
        lands = view.ticket.decision is Decision.APPROVE and view.status == "approved"
        return ("The work is landed on the session's branch.",) if lands else ()
    taken = f"{outcome.ending.value}, on {inline(outcome.branch)} at {inline(outcome.commit)}"
    merged = f", merged into {inline(outcome.merged_into)}" if outcome.merged_into else ""
    return (f"- **Result**: {taken}{merged}",)


def _escalation(view: TicketView) -> tuple[str, ...]:
    past = (*view.before, view.ticket)
    stubborn = persistent_gaps(past)
    advised, why = intervention(past, can_split=can_split(view.state))
    analysis = (
        f"- **Trend**: {_PATTERNS.get(view.ticket.trend) or inline(view.ticket.trend)}",
        *(f"- **Persistent gap**: {inline(gap)}, in {counted(count, 'ticket')}" for gap, count in stubborn),
        f"- **Hypothesis**: {inline(why)}",
    )
    names = {gap for gap, _ in stubborn}
    offered = (f"- **{choice}**: {label}" for choice, label in _OPTIONS if _is_offered(view, choice))
    return (
        "### Attempts",
        table(("Iteration", "Ticket", "Accuracy", "Persistent Gaps"), tuple(_row(view, each, names) for each in past)),
        "### Pattern Analysis",
        "\n".join(analysis),
        "### Recommended Intervention",
        f"- **{advised}**: {inline(why)}",
        "### Options",
        "\n".join(offered),
    )


def _row(view: TicketView, ticket: Ticket, stubborn: set[str]) -> tuple[str, ...]:
    name = ticket_id(view.state.plan.session, ticket.number)
    persisting = ", ".join(gap for gap in gaps(ticket) if gap in stubborn)
    return str(ticket.number), name, f"{ticket.accuracy:.2f}", persisting or "none"


def _is_offered(view: TicketView, choice: str) -> bool:
    if choice == "split":
        return can_split(view.state)
    return choice != "accept" or best_ticket((*view.before, view.ticket)) is not None
