"""The engine's own judgement of a ticket: what is open, what it scored, which thresholds it met, and the decision."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import faults_of, unmet
from loopwright.kernel.limits import reached
from loopwright.kernel.model import AgentReport, CheckResult, Finding, demand_rule
from loopwright.loops import course as c
from loopwright.loops.tickets.aspects import accuracy, agent_aspects, engine_aspects, mean_score, of_criteria
from loopwright.loops.tickets.convergence import is_worse, trend
from loopwright.loops.tickets.findings import closing_ledger, critique_of, is_no, marks_of_checks, open_findings
from loopwright.loops.tickets.state import JUDGE, Decision, Ticket, TicketsPhase, TicketsState, in_focus, stepped
from loopwright.loops.tickets.thresholds import is_acceptable, noes, rules


def heard_checks(state: TicketsState, event: ChecksReported, told: tuple[Finding, ...] = ()) -> TicketsState:
    """`told` is what the creator is to hear of the verification besides what the checks say."""
    ticket = replace(
        state.ticket,
        checks=(*_both(event), *map(_demanded, event.also)),
        own=(*event.findings, *told),
        failed_with=state.course.approvals if faults_of(event) else None,
    )
    return _compared(replace(state, ticket=ticket))


def _both(event: ChecksReported) -> tuple[CheckResult, ...]:
    """Of the two runs the one that says no; what would land counts its own tests too."""
    landing = {result.name: result for result in event.landing}
    judging = {result.name: result for result in event.results}
    return tuple(
        judging[name] if name in judging and not judging[name].passed else landing.get(name) or judging[name]
        for name in dict.fromkeys((*judging, *landing))
    )


def _demanded(command: CheckResult) -> CheckResult:
    """A command of the task is judged as a check is, and says which task it is about."""
    failures = () if command.passed else unmet(command)
    return replace(command, name=demand_rule(command.name), failures=failures)


def heard_judge(state: TicketsState, report: AgentReport) -> TicketsState:
    judgement, added = critique_of(JUDGE, report), agent_aspects(report.extras)
    return replace(state, ticket=replace(state.ticket, judgement=judgement, added=added, advice=report.summary))


def unheard(state: TicketsState) -> TicketsState:
    """Ready to be checked and judged once more: what was heard is of other versions of the checks."""
    return replace(
        state,
        ticket=replace(
            state.ticket, checks=None, own=(), failed_with=None, judgement=None, added=(), advice="", findings=()
        ),
    )


def judged_before(state: TicketsState) -> Ticket | None:
    """The ticket whose verdict stands: it was judged by this very tree, and nobody has said anything since."""
    now = state.ticket
    same = (now.tree, now.heard, now.focus, now.onto)
    past = [each for each in reversed(state.past) if (each.tree, each.heard, each.focus, each.onto) == same]
    return next((each for each in past if _is_judged(each)), None) if now.tree else None


def _is_judged(ticket: Ticket) -> bool:
    """Where a critic gave no verdict it is asked again, unless somebody else has said no."""
    if not ticket.checks or ticket.decision is Decision.APPROVE:
        return False
    said_no = any(map(is_no, (*ticket.critiques, ticket.judgement))) or not all(each.passed for each in ticket.checks)
    return said_no or all(each.verdict is not None for each in ticket.critiques)


def as_before(state: TicketsState, same: Ticket) -> TicketsState:
    """No critic, check or judge is asked about what it has judged; that nothing changed is a failure of its own."""
    return replace(
        state,
        ticket=replace(
            state.ticket,
            repeats=same.number,
            critiques=same.critiques,
            checks=same.checks,
            own=same.own,
            failed_with=same.failed_with,
            judgement=same.judgement,
            added=same.added,
            advice=same.advice,
        ),
    )


def _compared(state: TicketsState) -> TicketsState:
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


def judged(state: TicketsState) -> TicketsState:
    """The decision by the thresholds. It is final and stays on record: a gate that is still open comes first."""
    state = _compared(state)
    ticket = _scored(state)
    if ticket.decision is Decision.APPROVE and any(not gate.lasting for gate in state.course.open_gates):
        return c.at_the_gate(stepped(state, state.phase))
    ledger, following = closing_ledger(state), (*state.past, ticket)
    ticket = replace(ticket, trend=trend(following, ledger), worse=is_worse(following))
    state = replace(state, ticket=ticket, past=(*state.past, ticket), ledger=ledger, red=None)
    return stepped(state, TicketsPhase.VERDICT)


def _scored(state: TicketsState) -> Ticket:
    ticket = state.ticket
    relevant = in_focus(state, ticket.findings)
    aspects = engine_aspects(state, relevant) + ticket.added
    found = rules(relevant, ticket.checks or (), ticket.judgement, marks_of_checks(ticket))
    if state.plan.firm:
        judged_by = of_criteria(state, relevant) + ticket.added
        # A critic whose every word is about what a person has put off with a split says nothing of this ticket.
        heard = tuple(each for each in ticket.critiques if not each.findings or in_focus(state, each.findings))
        found += noes(heard, tuple(aspect for aspect in judged_by if not aspect.passed))
    return replace(
        ticket,
        aspects=aspects,
        rules=found,
        decision=Decision.APPROVE if is_acceptable(found) else sent_back(state),
        accuracy=round(accuracy(aspects), 4),
        score=round(mean_score(aspects), 4),
    )


def sent_back(state: TicketsState) -> Decision:
    """What becomes of a ticket that is not good: the last that may be written goes to a person."""
    return Decision.ESCALATE if reached(state.ticket.number, state.allowance) else Decision.ROUTE_BACK
