"""How a ticket session moves. Total: every event is taken in or refused, and then nothing happened."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Announced,
    Answered,
    ArtifactsLoaded,
    BudgetChanged,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    ConfigChanged,
    Event,
    GateDecided,
    Integrated,
    IntegrationRefused,
    LoopEnded,
    TimeReached,
)
from loopwright.kernel.limits import TicketLimits
from loopwright.kernel.machine import answers_one_of
from loopwright.kernel.model import AgentReport, AgentStatus, Ending
from loopwright.kernel.said import new_limits
from loopwright.kernel.trying import again, asked_to_repair, failure, question, tried_again, waiting_until
from loopwright.loops.tickets.answers import answered
from loopwright.loops.tickets.critics import critic_event, seated
from loopwright.loops.tickets.decide import decide
from loopwright.loops.tickets.ending import ended, next_group, reworked
from loopwright.loops.tickets.findings import judge_is_mute
from loopwright.loops.tickets.gate import gate_decided
from loopwright.loops.tickets.judging import decided, heard_checks, heard_judge
from loopwright.loops.tickets.state import JUDGE, Critique, Decision, Phase, Tickets, entered, escalated

_FromAgent = AgentReported | AgentFailed | AgentUnavailable | TimeReached
_InFiles = Checkpointed | ChecksReported | Integrated | IntegrationRefused | CleanedUp
_AskedFor = _FromAgent | _InFiles | Announced | Answered | GateDecided


def apply(state: Tickets, event: Event) -> Tickets:
    match event:
        case CancelRequested():
            return _cancelled(state, event)
        case ConfigChanged():
            return _reconfigured(state, event)
        case BudgetChanged():
            return state  # money is the engine's business
        case ArtifactsLoaded() | Combined() | LoopEnded():
            raise InvalidTransition(state.phase, type(event).__name__, "a ticket never asks for it")
        case _:
            if not answers_one_of(decide(state), event):
                what = f"{getattr(event, 'key', '')} is not asked for"
                raise InvalidTransition(state.phase, type(event).__name__, what)
            return _took_in(state, event)


def _took_in(state: Tickets, event: _AskedFor) -> Tickets:
    """`event` answers what was asked for."""
    match event:
        case Answered():
            return answered(state, event)
        case GateDecided():
            return gate_decided(state, event)
        case AgentReported() | AgentFailed() | AgentUnavailable() | TimeReached():
            return critic_event(state, event) if state.phase is Phase.CRITIQUE else _from_agent(state, event)
        case Checkpointed():
            return _checkpointed(state, event)
        case ChecksReported():
            state = heard_checks(state, event.results, event.findings)
            return entered(state, Phase.JUDGE) if state.plan.judge else decided(state)
        case Announced():
            return _announced(state)
        case Integrated() | IntegrationRefused():
            return _landed(state, event)
        case CleanedUp():
            return replace(state, phase=Phase.DONE, outcome=ended(state, Ending.CANCELLED))
        case _:
            assert_never(event)


# --- creator and judge --------------------------------------------------------------------------


def _from_agent(state: Tickets, event: _FromAgent) -> Tickets:
    match event:
        case AgentUnavailable():
            return waiting_until(state, event.until)
        case TimeReached():
            return again(state)
        case AgentFailed():
            return _agent_failed(state, event)
        case AgentReported():
            return _judged(state, event.report) if state.phase is Phase.JUDGE else _created(state, event.report)
        case _:
            assert_never(event)


def _agent_failed(state: Tickets, event: AgentFailed) -> Tickets:
    """One free respawn, or one request to repair; then the ticket goes on without it, and its judges see that."""
    if event.reason == "needs_person":
        return _clarify(state, event.detail or "The agent needs a person.")
    if (once_more := tried_again(state, event)) is not None:
        return once_more
    sentence = failure(event)
    if state.phase is Phase.JUDGE:
        silence = Critique(role=JUDGE, verdict=None, summary=sentence)
        return decided(replace(state, ticket=replace(state.ticket, judgement=silence)))
    ticket = replace(state.ticket, notes=f"(the creator gave no result: {sentence})")
    return entered(replace(state, ticket=ticket), Phase.CHECKPOINT)


def _created(state: Tickets, report: AgentReport) -> Tickets:
    if report.status is AgentStatus.NEEDS_CLARIFICATION:
        return _clarify(state, question(report, "creator"))
    if report.status is AgentStatus.BLOCKED:
        return _clarify(state, f"The creator is blocked: {report.summary or 'no reason given'}")
    return entered(replace(state, ticket=replace(state.ticket, notes=report.summary)), Phase.CHECKPOINT)


def _judged(state: Tickets, report: AgentReport) -> Tickets:
    """A no that nothing explains is asked for once more, and then stays a no."""
    if report.status is AgentStatus.NEEDS_CLARIFICATION:
        return _clarify(state, question(report, JUDGE))
    heard = heard_judge(state, report)
    why = "there is no verdict, or it is not a pass and neither a finding nor an aspect says why"
    once_more = asked_to_repair(state, why) if judge_is_mute(heard.ticket) else None
    return decided(heard) if once_more is None else once_more


def _clarify(state: Tickets, asks: str) -> Tickets:
    """On hold: the ticket stays the same, and whoever asks goes on with the answer."""
    return replace(state, phase=Phase.CLARIFY, held=state.phase, question=asks, asked=state.asked + 1, repair="")


def _checkpointed(state: Tickets, event: Checkpointed) -> Tickets:
    # What is known is that files changed; which ones only as far as the event names them.
    files = event.paths or ("(not named)",) * min(event.files, 1)
    ticket = replace(state.ticket, commit=event.commit, files=files)
    state = replace(state, commit=event.commit, ticket=ticket, protected=event.protected, evidence=event.evidence)
    return entered(replace(state, seats=seated(state)), Phase.CRITIQUE)


# --- after the verdict --------------------------------------------------------------------------


def _announced(state: Tickets) -> Tickets:
    """An approved group of a split opens the next one; only the last of them lands."""
    match state.ticket.decision:
        case Decision.APPROVE:
            return next_group(state) if state.groups else entered(state, Phase.LAND)
        case Decision.ESCALATE:
            return escalated(state, (f"ticket {state.ticket.number} of {state.allowance} was not approved",))
        case _:
            return reworked(state)


def _landed(state: Tickets, event: Integrated | IntegrationRefused) -> Tickets:
    if isinstance(event, IntegrationRefused):
        return _not_landed(state, event)
    ending = Ending.ACCEPTED if state.accepted else Ending.VERIFIED
    facts = {"commit": event.commit, "branch": event.branch, "merged_into": event.merged_into, "note": event.note}
    return replace(entered(state, Phase.DONE), outcome=ended(replace(state, cancel=None), ending, **facts))


def _not_landed(state: Tickets, event: IntegrationRefused) -> Tickets:
    """A person hears of it, and so does whoever works on it next: what is on record stays as it is."""
    if state.cancel is not None:
        return entered(state, Phase.CLEAN_UP)
    why = f"the result could not be landed: {event.detail or event.reason}"
    told = "; ".join((why, *(finding.issue for finding in event.findings)))
    return escalated(replace(state, accepted=False, answers=(*state.answers, told)), (why,))


def _cancelled(state: Tickets, event: CancelRequested) -> Tickets:
    if state.phase in (Phase.DONE, Phase.CLEAN_UP):
        raise InvalidTransition(state.phase, "CancelRequested", "the session has ended")
    state = replace(state, cancel=event.cleanup)
    # Once landing has begun exactly one of the two happens: it lands, or it is refused and then cancelled.
    return state if state.phase is Phase.LAND else entered(state, Phase.CLEAN_UP)


def _reconfigured(state: Tickets, event: ConfigChanged) -> Tickets:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    if state.phase is Phase.DONE:
        raise InvalidTransition(state.phase, "ConfigChanged", "the session has ended")
    limits = new_limits(state.phase, TicketLimits, event)
    # What has been decided stands: a ticket under way may end, and one that was routed back has a successor.
    least = state.ticket.number + (state.phase is Phase.VERDICT and state.ticket.decision is Decision.ROUTE_BACK)
    allowance = max(least, state.allowance + limits.max - state.plan.limits.max)
    return replace(state, plan=replace(state.plan, limits=limits), allowance=allowance)
