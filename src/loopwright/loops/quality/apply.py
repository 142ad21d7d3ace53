"""How the quality loop's state moves. Total: every event is taken in or refused, and then nothing happened."""

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
from loopwright.kernel.findings import identify
from loopwright.kernel.ledger import record, unresolved
from loopwright.kernel.limits import QualityLimits, reached
from loopwright.kernel.machine import answers_one_of
from loopwright.kernel.model import AgentStatus, Ending, Finding, Severity, Verdict
from loopwright.kernel.said import new_limits
from loopwright.kernel.trying import again, asked_to_repair, failure, question, tried_again, waiting_until
from loopwright.loops.quality.answers import answered, fix_or_review
from loopwright.loops.quality.decide import decide
from loopwright.loops.quality.ending import done, landed_or_done
from loopwright.loops.quality.escalation import limit_reached
from loopwright.loops.quality.judging import judge, usable
from loopwright.loops.quality.state import (
    ENGINE,
    Phase,
    Quality,
    Round,
    ended,
    enter,
    escalated,
    next_review,
    open_findings,
    tokens,
)

_FromAgent = AgentReported | AgentFailed | AgentUnavailable | TimeReached
_InFiles = ArtifactsLoaded | Checkpointed | Integrated | IntegrationRefused | CleanedUp
_AskedFor = _FromAgent | _InFiles | Announced | Answered


def apply(state: Quality, event: Event) -> Quality:
    match event:
        case CancelRequested():
            return _cancelled(state, event)
        case ConfigChanged():
            return _reconfigured(state, event)
        case BudgetChanged():
            return state  # money is the engine's business
        case ChecksReported() | GateDecided() | LoopEnded() | Combined():
            raise InvalidTransition(state.phase, type(event).__name__, "a review never asks for it")
        case _:
            if not answers_one_of(decide(state), event):
                what = f"{getattr(event, 'key', '')} is not asked for"
                raise InvalidTransition(state.phase, type(event).__name__, what)
            return _took_in(state, event)


def _took_in(state: Quality, event: _AskedFor) -> Quality:
    """`event` answers what was asked for."""
    match event:
        case Answered():
            return answered(state, event)
        case AgentReported() | AgentFailed() | AgentUnavailable() | TimeReached():
            return _from_agent(state, event)
        case ArtifactsLoaded():
            return _loaded(state, event)
        case Announced():
            return _announced(state)
        case Checkpointed():
            return _checkpointed(state, event)
        case Integrated() | IntegrationRefused():
            return _landed(state, event)
        case CleanedUp():
            return replace(state, phase=Phase.DONE, outcome=ended(state, Ending.CANCELLED))
        case _:
            assert_never(event)


# --- the three steps of a review ----------------------------------------------------------------


def _loaded(state: Quality, event: ArtifactsLoaded) -> Quality:
    before = {content.path: content.object for content in state.contents}
    if state.rounds and state.rounds[-1].fix:
        untouched = all(before.get(each.path) == each.object for each in event.contents)
        state = replace(state, untouched=untouched)
    state = replace(state, contents=event.contents)
    if any(not content.object for content in event.contents):
        return _gone(state)
    return enter(state, Phase.RUN_CHECKS)


def _gone(state: Quality) -> Quality:
    """There is nothing to review; the creator is told to bring it back."""
    plan = state.plan
    lost = identify(
        Finding(
            severity=Severity.CRITICAL,
            rule="artifact-gone",
            file=plan.artifact,
            issue=f"{plan.artifact} is not there",
            evidence=f"{state.commit} has nothing at {plan.artifact}",
            guidance="bring it back",
            category="engine",
        )
    )
    found = (*unresolved(state.ledger, plan.gate), lost)
    ledger = record(state.ledger, plan.gate, found, state.number)
    return _closed(replace(state, ledger=ledger), Verdict.FAIL, lost.issue, gone=True)


def _reviewed(state: Quality, event: AgentReported) -> Quality:
    report = event.report
    found, dropped = usable(report)
    state = replace(state, dropped=dropped)
    if report.verdict is None or (report.verdict is Verdict.PASS and report.status is not AgentStatus.DONE):
        return _unusable(state, "no-verdict", "the review is not done or has no verdict")
    if report.verdict is Verdict.FAIL and not found:
        return _unfounded(state)
    result = judge(state, report, found)
    if report.verdict is Verdict.FAIL and result.verdict is Verdict.PASS and dropped:
        return _unfounded(state)  # what could be shown does not count, so that the no rests on what could not
    return _closed(result.state, result.verdict, result.why)


def _unfounded(state: Quality) -> Quality:
    """A no that shows nothing is asked for once more, and then stays a no."""
    if state.dropped:
        return _unusable(state, "no-evidence", "it is not passed, but what says why lacks evidence or guidance")
    return _unusable(state, "no-finding", "it is not passed, but no finding says why")


def _unusable(state: Quality, rule: str, lack: str) -> Quality:
    if (once_more := asked_to_repair(state, lack)) is not None:
        return once_more
    return _unjudged(state, _engine_finding(rule, f"The reviewer gave no usable verdict: {lack}"))


def _unjudged(state: Quality, finding: Finding) -> Quality:
    """Fails closed, and says nothing about what was found before."""
    state = replace(state, ledger=record(state.ledger, ENGINE, (finding,), state.number))
    return _closed(state, Verdict.FAIL, finding.issue, judged=False)


def _closed(state: Quality, verdict: Verdict, why: str, *, judged: bool = True, gone: bool = False) -> Quality:
    """The verdict is decided: one more review is used, and the line is put on record next."""
    passed, blocked = tokens(state.plan)
    notes = f"; {len(state.dropped)} dropped for want of evidence or guidance" if state.dropped else ""
    this = Round(
        number=state.number,
        commit=state.commit,
        verdict=verdict,
        line=f"{passed if verdict is Verdict.PASS else blocked}: {state.plan.artifact}",
        why=why + notes,
        findings=open_findings(state),
        judged=judged,
        gone=gone,
        changed=state.changed,
    )
    return enter(replace(state, rounds=(*state.rounds, this)), Phase.EMIT_VERDICT)


def _announced(state: Quality) -> Quality:
    """Passed; or blocked, and then a fix that another review will see; or blocked for good."""
    if state.rounds[-1].verdict is Verdict.PASS:
        return landed_or_done(state)
    if reached(len(state.rounds), state.allowance):
        return escalated(state, (limit_reached(state),))
    return fix_or_review(state)


# --- agents -------------------------------------------------------------------------------------


def _from_agent(state: Quality, event: _FromAgent) -> Quality:
    match event:
        case AgentUnavailable():
            return waiting_until(state, event.until)
        case TimeReached():
            return again(state)
        case AgentFailed():
            return _agent_failed(state, event)
        case AgentReported():
            return _reviewed(state, event) if state.phase is Phase.RUN_CHECKS else _fixed(state, event)
        case _:
            assert_never(event)


def _agent_failed(state: Quality, event: AgentFailed) -> Quality:
    """One free respawn, or one request to repair; then it counts."""
    if event.reason == "needs_person" and state.phase is Phase.FIX:
        return _clarify(state, event.detail or "The creator needs a person.")
    if (once_more := tried_again(state, event)) is not None:
        return once_more
    sentence = failure(event)
    if state.phase is Phase.RUN_CHECKS:
        state = replace(state, dropped=())
        return _unjudged(state, _engine_finding("no-verdict", f"The reviewer gave no verdict ({sentence})"))
    return next_review(_with_fix(state, f"(the creator gave no result: {sentence})"))


def _fixed(state: Quality, event: AgentReported) -> Quality:
    report = event.report
    if report.status is AgentStatus.NEEDS_CLARIFICATION:
        return _clarify(state, question(report, "creator"))
    if report.status is AgentStatus.BLOCKED:
        return escalated(state, (f"the creator is blocked: {report.summary or 'no reason given'}",))
    return enter(_with_fix(state, report.summary or "(no summary)"), Phase.CHECKPOINT)


def _with_fix(state: Quality, said: str) -> Quality:
    *earlier, last = state.rounds
    return replace(state, rounds=(*earlier, replace(last, fix=said)), fixes=state.fixes + 1, ignored=())


def _clarify(state: Quality, asks: str) -> Quality:
    return replace(state, phase=Phase.CLARIFY, question=asks, asked=state.asked + 1)


def _checkpointed(state: Quality, event: Checkpointed) -> Quality:
    changed = event.files > 0
    return next_review(replace(state, commit=event.commit, changed=changed, ignored=event.dropped))


# --- ending -------------------------------------------------------------------------------------


def _landed(state: Quality, event: Integrated | IntegrationRefused) -> Quality:
    if isinstance(event, Integrated):
        facts = {"commit": event.commit, "branch": event.branch, "merged_into": event.merged_into, "note": event.note}
        return done(state, **facts)
    if state.cancel is not None:
        return enter(state, Phase.CLEAN_UP)
    why = f"the result could not be landed: {event.detail or event.reason}"
    return escalated(replace(state, accepted=False), (why,))


def _cancelled(state: Quality, event: CancelRequested) -> Quality:
    if state.phase in (Phase.DONE, Phase.CLEAN_UP):
        raise InvalidTransition(state.phase, "CancelRequested", "the loop has ended")
    state = replace(state, cancel=event.cleanup)
    # Once landing has begun exactly one of the two happens: it lands, or it is refused and then cancelled.
    return state if state.phase is Phase.LAND else enter(state, Phase.CLEAN_UP)


def _reconfigured(state: Quality, event: ConfigChanged) -> Quality:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    if state.phase is Phase.DONE:
        raise InvalidTransition(state.phase, "ConfigChanged", "the loop has ended")
    limits = new_limits(state.phase, QualityLimits, event)
    allowance = state.allowance + limits.max_attempts - state.plan.limits.max_attempts
    return replace(state, plan=replace(state.plan, limits=limits), allowance=allowance)


def _engine_finding(rule: str, issue: str) -> Finding:
    return identify(Finding(severity=Severity.HIGH, rule=rule, issue=issue, category="engine"))
