"""`.loop/debt.md`: what a person accepted although it was known to be wrong. One block per acceptance."""

from __future__ import annotations

from typing import assert_never

from loopwright.kernel.ledger import unresolved
from loopwright.kernel.model import Finding, Outcome
from loopwright.loops.batch.state import Batch, Standing
from loopwright.loops.feedback.state import FeedbackState, Iteration, best_iteration
from loopwright.loops.quality.state import Quality, best_round, open_findings
from loopwright.loops.tickets.findings import open_findings as open_in_tickets
from loopwright.loops.tickets.state import Ticket, Tickets, best_ticket, ticket_id
from loopwright.projections.batch_closing import findings_file
from loopwright.projections.quoting import inline
from loopwright.projections.wording import counted, moment, told

State = FeedbackState | Quality | Batch | Tickets


def entry(loop_id: str, state: State, at: float, by: str) -> str:
    """The faults are those of what was taken; a batch names its artifacts, each of which has a block of its own."""
    head = (f"## {inline(loop_id)}: accepted {moment(at)}", "")
    return "\n".join((*head, *_lines(state, inline(by) or "(not said)"))) + "\n"


def _lines(state: State, by: str) -> tuple[str, ...]:
    match state:
        case FeedbackState():
            return _feedback(state, by)
        case Quality():
            return _quality(state, by)
        case Batch():
            return _batch(state, by)
        case Tickets():
            return _tickets(state, by)
        case _:
            assert_never(state)


def _feedback(state: FeedbackState, by: str) -> tuple[str, ...]:
    """Faults that other attempts left open are named apart."""
    taken = best_iteration(state.past) or Iteration(number=state.current.number)
    others = _besides(unresolved(state.ledger), taken.issues + taken.failures)
    return (
        f"- **Task**: {inline(state.plan.task)}",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: iteration {taken.number} of {counted(len(state.past), 'iteration')}",
        *_where(state.plan.branch, state.course.outcome, taken.commit),
        *_listed("Open findings", taken.issues),
        *_listed("Failing tests", taken.failures),
        *(_listed("Seen in other iterations and not resolved", others) if others else ()),
    )


def _quality(state: Quality, by: str) -> tuple[str, ...]:
    """What was put off was found all the same, and is owed with the rest."""
    taken, plan = best_round(state.rounds), state.plan
    found = taken.findings if taken else ()
    others = _besides(open_findings(state), found)
    deferred = tuple(each.finding for each in state.deferred)
    number = f"review {taken.number} of " if taken else ""
    return (
        f"- **Artifact**: {inline(plan.artifact)}, at the {plan.gate} gate",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: {number}{counted(len(state.rounds), 'review')}, {counted(state.fixes, 'fix', 'fixes')}",
        *_where(state.plan.branch, state.outcome, taken.commit if taken else ""),
        *_listed("Open findings", found),
        *(_listed("Seen in other reviews and not resolved", others) if others else ()),
        *(_listed("Deferred", deferred) if deferred else ()),
    )


def _batch(state: Batch, by: str) -> tuple[str, ...]:
    return (
        f"- **Accepted by**: {by}",
        f"- **Accepted**: after {counted(state.round, 'round')} with {counted(len(state.items), 'artifact')}",
        *_where(state.plan.branch, state.outcome, ""),
        *(f"- **{inline(item.path)}**: {_owed(state, index)}" for index, item in enumerate(state.items)),
    )


def _tickets(state: Tickets, by: str) -> tuple[str, ...]:
    """Why it was not approved is owed as well: a threshold may have no finding of its own."""
    taken = best_ticket(state.past) or Ticket(number=state.ticket.number)
    others = _besides(open_in_tickets(state.ledger), taken.findings)
    against = "; ".join(rule.line for rule in taken.rules if rule.is_against)
    return (
        f"- **Ticket**: {ticket_id(state.plan.session, taken.number)}, {inline(state.plan.title)}",
        f"- **Accepted by**: {by}",
        f"- **Accepted**: ticket {taken.number} of {counted(len(state.past), 'ticket')}",
        f"- **Accuracy**: {taken.accuracy:.2f}, score {taken.score:.2f}",
        *_where(state.plan.branch, state.outcome, taken.commit),
        f"- **Not met**: {inline(against, 1_000) or 'none'}",
        *_listed("Open findings", taken.findings),
        *(_listed("Seen in other tickets and not resolved", others) if others else ()),
    )


def _owed(state: Batch, index: int) -> str:
    item, file = state.items[index], findings_file(state, index)
    if item.standing is Standing.PASSED:
        return "passed"
    there = f"; its findings are in the block of {inline(item.loop)}" if item.standing is Standing.ACCEPTED else ""
    handed = f"; {inline(file)}" if file else ""
    return f"{item.standing.value}, {inline(item.line) or 'not reviewed'}{there}{handed}"


def _where(planned: str, outcome: Outcome | None, commit: str) -> tuple[str, ...]:
    branch = outcome.branch if outcome else planned
    landed = (outcome.commit if outcome else "") or commit
    return (f"- **Commit**: {inline(landed) or '(none)'}", f"- **Branch**: {inline(branch) or '(none)'}")


def _besides(findings: tuple[Finding, ...], named: tuple[Finding, ...]) -> tuple[Finding, ...]:
    known = {finding.fingerprint for finding in named}
    return tuple(finding for finding in findings if finding.fingerprint not in known)


def _listed(heading: str, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """All of them: a debt that is not written down is lost."""
    if not findings:
        return (f"- **{heading}**: none",)
    ordered = sorted(findings, key=lambda finding: finding.severity.rank)
    return (f"- **{heading}**:", *(f"  - [{f.severity.value}] {inline(told(f, 500), 600)}" for f in ordered))
