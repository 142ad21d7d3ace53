"""How the feedback loop's state moves. Total: every event is taken in or refused, and then nothing happened."""

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
    Said,
    TimeReached,
)
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.ledger import Ledger, record, unresolved
from loopwright.kernel.limits import Allowance, FeedbackLimits
from loopwright.kernel.machine import answers_one_of
from loopwright.kernel.model import AgentStatus, CheckResult, Ending, Finding, Severity, Verdict
from loopwright.kernel.said import new_limits
from loopwright.kernel.trying import again, asked_to_repair, failure, question, rested, tried_again, waiting_until
from loopwright.loops.feedback.answers import answered
from loopwright.loops.feedback.decide import decide
from loopwright.loops.feedback.state import (
    ENGINE,
    REVIEW,
    TESTS,
    Feedback,
    Phase,
    ended,
    escalated,
    gate_is_open,
    limits_reached,
    with_open_iteration,
)

_BLOCKING = (Severity.CRITICAL, Severity.HIGH)


def apply(state: Feedback, event: Event) -> Feedback:
    match event:
        case Answered() | GateDecided() | CancelRequested() | BudgetChanged() | ConfigChanged():
            return _said(state, event)
        case AgentReported() | AgentFailed() | AgentUnavailable() | TimeReached():
            return _from_agent(_asked_for(state, event), event)
        case Checkpointed():
            return _checkpointed(_asked_for(state, event), event)
        case ChecksReported():
            return _tested(_asked_for(state, event), event)
        case Integrated() | IntegrationRefused():
            return _landed(_asked_for(state, event), event)
        case CleanedUp():
            state = _asked_for(state, event)
            return replace(state, phase=Phase.DONE, outcome=ended(state, Ending.CANCELLED))
        case LoopEnded() | ArtifactsLoaded() | Announced() | Combined():
            raise InvalidTransition(state.phase, type(event).__name__, "this loop never asks for it")
        case _:
            assert_never(event)


def _said(state: Feedback, event: Said) -> Feedback:
    match event:
        case Answered():
            return answered(_asked_for(state, event), event)
        case GateDecided():
            return _gate_decided(_asked_for(state, event), event)
        case CancelRequested():
            return _cancelled(state, event)
        case ConfigChanged():
            return _reconfigured(state, event)
        case BudgetChanged():
            return state  # money is the engine's business
        case _:
            assert_never(event)


def _asked_for(state: Feedback, event: Event) -> Feedback:
    """The state, if `event` answers something `decide` wants now."""
    if not answers_one_of(decide(state), event):
        raise InvalidTransition(state.phase, type(event).__name__, f"{getattr(event, 'key', '')} is not asked for")
    return state


def _enter(state: Feedback, phase: Phase) -> Feedback:
    return replace(rested(state, tries=1), phase=phase)


# --- agents -----------------------------------------------------------------------------------


def _from_agent(state: Feedback, event: AgentReported | AgentFailed | AgentUnavailable | TimeReached) -> Feedback:
    match event:
        case AgentUnavailable():
            return waiting_until(state, event.until)
        case TimeReached():
            return again(state)
        case AgentFailed():
            return _agent_failed(state, event)
        case AgentReported():
            return _agent_reported(state, event)
        case _:
            assert_never(event)


def _agent_failed(state: Feedback, event: AgentFailed) -> Feedback:
    if event.reason == "needs_person" and state.phase is Phase.IMPLEMENT:
        return _clarify(state, event.detail or "The developer needs a person.")
    if (once_more := tried_again(state, event)) is not None:
        return once_more
    sentence = failure(event)
    if state.phase is Phase.ADD_TESTS:
        return _enter(state, Phase.TEST)
    if state.phase is Phase.REVIEW:
        return _unjudged(state, _engine_finding("no-verdict", f"The reviewer gave no verdict ({sentence})"))
    current = replace(state.current, implementation=f"(the developer gave no result: {sentence})")
    return _next_iteration(replace(state, current=current))


def _agent_reported(state: Feedback, event: AgentReported) -> Feedback:
    report = event.report
    if state.phase is Phase.REVIEW:
        return _reviewed(state, event)
    if state.phase is Phase.ADD_TESTS:
        return _enter(state, Phase.CHECKPOINT_TESTS)
    if report.status is AgentStatus.NEEDS_CLARIFICATION:
        return _clarify(state, question(report, "developer"))
    if report.status is AgentStatus.BLOCKED:
        return escalated(state, (f"the developer is blocked: {report.summary or 'no reason given'}",))
    current = replace(state.current, implementation=report.summary)
    return _enter(replace(state, current=current), Phase.CHECKPOINT)


def _clarify(state: Feedback, asks: str) -> Feedback:
    return replace(state, phase=Phase.CLARIFY, question=asks, asked=state.asked + 1)


def _reviewed(state: Feedback, event: AgentReported) -> Feedback:
    report = event.report
    ledger = _judged(state, tuple(identify(finding) for finding in report.findings))
    findings = unresolved(ledger, REVIEW)  # a reopened one weighs more than the reviewer says
    passes = report.verdict is Verdict.PASS and report.status is AgentStatus.DONE
    if passes and not any(finding.severity in _BLOCKING for finding in findings):
        current = replace(state.current, review=Verdict.PASS, issues=_with_protected(state, findings))
        state = replace(state, ledger=ledger, current=current)
        state = replace(state, review_failures=0, failures_before_pass=state.review_failures)
        return _enter(state, Phase.ADD_TESTS if state.plan.tester else Phase.TEST)
    if findings:
        return _review_failed(replace(state, ledger=ledger), findings)
    if (once_more := asked_to_repair(state, "the verdict is not a pass but no finding says why")) is not None:
        return once_more
    return _unjudged(state, _engine_finding("no-finding", "The reviewer did not pass it and did not say why"))


def _judged(state: Feedback, findings: tuple[Finding, ...]) -> Ledger:
    """A real verdict also settles what stood there for want of one."""
    ledger = record(state.ledger, REVIEW, findings, state.current.number)
    return record(ledger, ENGINE, (), state.current.number)


def _unjudged(state: Feedback, issue: Finding) -> Feedback:
    """Fails closed, but says nothing about what the reviewer found before."""
    ledger = record(state.ledger, ENGINE, (issue,), state.current.number)
    return _review_failed(replace(state, ledger=ledger), (issue,))


def _review_failed(state: Feedback, issues: tuple[Finding, ...]) -> Feedback:
    current = replace(state.current, review=Verdict.FAIL, issues=_with_protected(state, issues))
    return _next_iteration(replace(state, current=current, review_failures=state.review_failures + 1))


# --- files and checks -----------------------------------------------------------------------------


def _checkpointed(state: Feedback, event: Checkpointed) -> Feedback:
    state = replace(state, commit=event.commit, protected=event.protected, evidence=event.evidence)
    if state.phase is Phase.CHECKPOINT and not event.files:
        return _unjudged(state, _engine_finding("no-change", "No file was changed against the base"))
    following = Phase.TEST if state.phase is Phase.CHECKPOINT_TESTS else Phase.REVIEW
    return _enter(replace(state, current=replace(state.current, commit=event.commit)), following)


def _tested(state: Feedback, event: ChecksReported) -> Feedback:
    failures = tuple(failure for result in event.results if not result.passed for failure in _failures(result))
    failures += tuple(identify(finding) for finding in event.findings if finding.severity in _BLOCKING)
    if not event.results:
        failures += (_engine_finding("no-result", "No check gave a result"),)
    if failures:
        return _tests_failed(state, failures)
    ledger = record(state.ledger, TESTS, (), state.current.number)
    current = replace(state.current, tests=Verdict.PASS)
    state = replace(state, ledger=ledger, current=current, test_failures=0)
    if state.evidence in state.rejected:
        return _gate_rejected(state, "the protected change was rejected and is still there")
    if gate_is_open(state):
        return _enter(state, Phase.GATE)
    return _enter(replace(state, past=(*state.past, state.current)), Phase.LAND)


def _failures(result: CheckResult) -> tuple[Finding, ...]:
    """Never empty: a check that fails without saying why is a failure of that name."""
    why = f"The check {result.name} failed: {result.note or 'it did not say why'}"
    return tuple(identify(failure) for failure in result.failures) or (_engine_finding(f"check-{result.name}", why),)


def _tests_failed(state: Feedback, failures: tuple[Finding, ...]) -> Feedback:
    ledger = record(state.ledger, TESTS, failures, state.current.number)
    current = replace(state.current, tests=Verdict.FAIL, failures=failures)
    return _next_iteration(replace(state, ledger=ledger, current=current, test_failures=state.test_failures + 1))


def _landed(state: Feedback, event: Integrated | IntegrationRefused) -> Feedback:
    if isinstance(event, IntegrationRefused):
        return _not_landed(state, event)
    ending = Ending.ACCEPTED if state.accepted else Ending.VERIFIED
    facts = {"commit": event.commit, "branch": event.branch, "merged_into": event.merged_into, "note": event.note}
    return replace(_enter(state, Phase.DONE), outcome=ended(replace(state, cancel=None), ending, **facts))


def _not_landed(state: Feedback, event: IntegrationRefused) -> Feedback:
    if state.cancel is not None:
        return _enter(state, Phase.CLEAN_UP)
    why = event.detail or event.reason
    if not state.accepted:
        *earlier, last = state.past
        last = replace(last, refused=why, failures=tuple(identify(finding) for finding in event.findings))
        state = replace(state, past=(*earlier, last))
    return escalated(replace(state, accepted=False), (f"the result could not be landed: {why}",))


# --- iterations and people ----------------------------------------------------------------------------


def _next_iteration(state: Feedback) -> Feedback:
    state = replace(state, past=(*state.past, state.current))
    reasons = limits_reached(state)
    return escalated(state, reasons) if reasons else with_open_iteration(state)


def _gate_decided(state: Feedback, event: GateDecided) -> Feedback:
    if event.gate != PROTECTED or event.evidence != state.evidence:
        raise InvalidTransition(state.phase, "GateDecided", "it was decided for other changes than the present ones")
    if event.approved:
        state = replace(state, approved=(*state.approved, event.evidence))
        # Checks in flight or done without the approval ran the base versions: they are run anew.
        stale = state.phase in (Phase.GATE, Phase.TEST)
        return replace(state, phase=Phase.TEST, tries=state.tries + 1) if stale else state
    state = replace(state, rejected=(*state.rejected, event.evidence))
    reason = event.reason or "no reason given"
    if state.phase is Phase.GATE:
        return _gate_rejected(state, reason)
    told = (*state.answers, f"A person rejected the change to {_protected_paths(state)}: {reason}")
    # A developer at work does not know it yet, and a brief never changes under its key: a new try.
    tries = state.tries + 1 if state.phase is Phase.IMPLEMENT else state.tries
    return replace(state, answers=told, tries=tries)


def _gate_rejected(state: Feedback, reason: str) -> Feedback:
    """A person's no is a failed review: it counts, and it is told to the developer."""
    restore = f"Restore {_protected_paths(state)}: a person rejected the change ({reason})"
    current = replace(state.current, tests=None)
    state = replace(state, current=current, review_failures=state.failures_before_pass)
    return _unjudged(state, _engine_finding("gate-rejected", restore))


def _protected_paths(state: Feedback) -> str:
    return ", ".join(change.path for change in state.protected)


def _cancelled(state: Feedback, event: CancelRequested) -> Feedback:
    if state.phase in (Phase.DONE, Phase.CLEAN_UP):
        raise InvalidTransition(state.phase, "CancelRequested", "the loop has ended")
    state = replace(state, cancel=event.cleanup)
    # Once landing has begun exactly one of the two happens: it lands, or it is refused and then cancelled.
    return state if state.phase is Phase.LAND else _enter(state, Phase.CLEAN_UP)


def _reconfigured(state: Feedback, event: ConfigChanged) -> Feedback:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    if state.phase is Phase.DONE:
        raise InvalidTransition(state.phase, "ConfigChanged", "the loop has ended")
    limits = new_limits(state.phase, FeedbackLimits, event)
    old, new = Allowance.of(state.plan.limits), Allowance.of(limits)
    has = state.allowance
    allowance = Allowance(
        iterations=has.iterations + new.iterations - old.iterations,
        review_failures=has.review_failures + new.review_failures - old.review_failures,
        test_failures=has.test_failures + new.test_failures - old.test_failures,
        same_review=has.same_review + new.same_review - old.same_review,
        same_test=has.same_test + new.same_test - old.same_test,
    )
    return replace(state, plan=replace(state.plan, limits=limits), allowance=allowance)


def _with_protected(state: Feedback, issues: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Changed protected files are told to the developer: the base versions run until a person approves."""
    if state.evidence in state.approved:
        return issues
    told = tuple(
        _engine_finding(
            "protected",
            f"{change.path} is protected and was {change.how}: the base version runs;"
            " restore it unless the task asks for the change",
            severity=Severity.MEDIUM,
            file=change.path,
        )
        for change in state.protected
    )
    return issues + told


def _engine_finding(rule: str, issue: str, *, severity: Severity = Severity.HIGH, file: str = "") -> Finding:
    return identify(Finding(severity=severity, rule=rule, issue=issue, file=file, category="engine"))
