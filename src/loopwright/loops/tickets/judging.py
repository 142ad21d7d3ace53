"""The engine's own judgement of a ticket: what is open, what it scored, which thresholds it met, and the decision."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.limits import reached
from loopwright.kernel.model import AgentReport, AgentStatus, CheckResult, Finding
from loopwright.loops.tickets.convergence import is_worse, trend
from loopwright.loops.tickets.findings import closing_ledger, open_findings
from loopwright.loops.tickets.scoring import accuracy, agent_aspects, engine_aspects, mean_score
from loopwright.loops.tickets.state import (
    JUDGE,
    Critique,
    Decision,
    Phase,
    Ticket,
    Tickets,
    entered,
    gate_is_open,
    in_focus,
)
from loopwright.loops.tickets.thresholds import is_acceptable, rules


def heard_critics(state: Tickets) -> Tickets:
    critiques = tuple(seat.critique for seat in state.seats if seat.critique is not None)
    return replace(state, ticket=replace(state.ticket, critiques=critiques))


def heard_checks(state: Tickets, results: tuple[CheckResult, ...], own: tuple[Finding, ...]) -> Tickets:
    return _compared(replace(state, ticket=replace(state.ticket, checks=results, own=own)))


def heard_judge(state: Tickets, report: AgentReport) -> Tickets:
    """A judge that is not done has not approved."""
    done = report.status is AgentStatus.DONE
    verdict = report.verdict if done else None
    judgement = Critique(role=JUDGE, verdict=verdict, summary=report.summary, findings=report.findings)
    added = agent_aspects(report.extras)
    return replace(state, ticket=replace(state.ticket, judgement=judgement, added=added, advice=report.summary))


def unheard(state: Tickets) -> Tickets:
    """Ready to be checked and judged once more: what was heard is of other versions of the checks."""
    return replace(
        state, ticket=replace(state.ticket, checks=None, own=(), judgement=None, added=(), advice="", findings=())
    )


def _compared(state: Tickets) -> Tickets:
    """The ticket with what is open now, told apart by what was open before it."""
    findings = open_findings(closing_ledger(state))
    before = state.past[-1].findings if state.past else ()
    marks_before, marks = {f.fingerprint for f in before}, {f.fingerprint for f in findings}
    ticket = replace(
        state.ticket,
        findings=findings,
        ongoing=tuple(f.fingerprint for f in findings if f.fingerprint in marks_before),
        resolved=tuple(f for f in before if f.fingerprint not in marks),
    )
    return replace(state, ticket=ticket)


def decided(state: Tickets) -> Tickets:
    """The decision by the thresholds. It is final and stays on record: a gate that is still open comes first."""
    state = _compared(state)
    ticket = _scored(state)
    if ticket.decision is Decision.APPROVE and gate_is_open(state):
        return entered(state, Phase.GATE)
    ledger, following = closing_ledger(state), (*state.past, ticket)
    ticket = replace(ticket, trend=trend(following, ledger), worse=is_worse(following))
    return entered(replace(state, ticket=ticket, past=(*state.past, ticket), ledger=ledger), Phase.VERDICT)


def _scored(state: Tickets) -> Ticket:
    ticket = state.ticket
    relevant = in_focus(state, ticket.findings)
    aspects = engine_aspects(state, relevant) + ticket.added
    found = rules(relevant, ticket.checks or (), ticket.judgement)
    return replace(
        ticket,
        aspects=aspects,
        rules=found,
        decision=_decision(state, is_good=is_acceptable(found)),
        accuracy=round(accuracy(aspects), 4),
        score=round(mean_score(aspects), 4),
    )


def _decision(state: Tickets, *, is_good: bool) -> Decision:
    if is_good:
        return Decision.APPROVE
    return Decision.ESCALATE if reached(state.ticket.number, state.allowance) else Decision.ROUTE_BACK
