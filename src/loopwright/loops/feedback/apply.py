"""How the feedback loop's state moves. Total: every event is taken in or refused, and then nothing happened."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.codec import decode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    BudgetChanged,
    CancelRequested,
    Checkpointed,
    ChecksReported,
    CleanedUp,
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
from loopwright.kernel.ledger import record
from loopwright.kernel.limits import Allowance, FeedbackLimits
from loopwright.kernel.model import AgentStatus, Ending, Finding, Severity, Verdict
from loopwright.loops.feedback.answers import answered
from loopwright.loops.feedback.decide import decide
from loopwright.loops.feedback.state import (
    REVIEW,
    TESTS,
    Feedback,
    Iteration,
    Phase,
    ended,
    gate_is_open,
    limits_reached,
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
        case LoopEnded():
            raise InvalidTransition(state.phase, "LoopEnded", "this loop has no children")
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
    key = getattr(event, "key", "")
    if all(action.key != key for action in decide(state)):
        raise InvalidTransition(state.phase, type(event).__name__, f"{key} is not asked for")
    return state


def _enter(state: Feedback, phase: Phase) -> Feedback:
    return replace(state, phase=phase, tries=1, respawned=False, repaired=False, repair="", until=None)


def _again(state: Feedback, *, repair: str = "") -> Feedback:
    return replace(state, tries=state.tries + 1, repair=repair, until=None)


# --- agents -----------------------------------------------------------------------------------


def _from_agent(state: Feedback, event: AgentReported | AgentFailed | AgentUnavailable | TimeReached) -> Feedback:
    match event:
        case AgentUnavailable():
            return replace(state, until=event.until)
        case TimeReached():
            return _again(state, repair=state.repair)
        case AgentFailed():
            return _agent_failed(state, event)
        case AgentReported():
            return _agent_reported(state, event)
        case _:
            assert_never(event)


def _agent_failed(state: Feedback, event: AgentFailed) -> Feedback:
    if event.reason == "needs_person" and state.phase is Phase.IMPLEMENT:
        return _clarify(state, event.detail or "The developer needs a person.")
    if event.reason == "garbled" and not state.repaired:
        return replace(_again(state, repair=event.detail), repaired=True)
    if event.reason != "garbled" and not state.respawned:
        return replace(_again(state, repair=state.repair), respawned=True)
    sentence = f"{event.reason}: {event.detail}" if event.detail else event.reason
    if state.phase is Phase.ADD_TESTS:
        return _enter(state, Phase.TEST)
    if state.phase is Phase.REVIEW:
        return _review_failed(state, (_engine_finding("no-verdict", f"The reviewer gave no verdict ({sentence})"),))
    current = replace(state.current, implementation=f"(the developer gave no result: {sentence})")
    return _next_iteration(replace(state, current=current))


def _agent_reported(state: Feedback, event: AgentReported) -> Feedback:
    report = event.report
    if state.phase is Phase.REVIEW:
        return _reviewed(state, event)
    if state.phase is Phase.ADD_TESTS:
        return _enter(state, Phase.CHECKPOINT_TESTS)
    if report.status is AgentStatus.NEEDS_CLARIFICATION:
        questions = "\n".join(question.question for question in report.questions) or report.summary
        return _clarify(state, questions or "The developer asks for clarification without a question.")
    if report.status is AgentStatus.BLOCKED:
        return _escalate(state, (f"the developer is blocked: {report.summary or 'no reason given'}",))
    current = replace(state.current, implementation=report.summary)
    return _enter(replace(state, current=current), Phase.CHECKPOINT)


def _clarify(state: Feedback, question: str) -> Feedback:
    return replace(state, phase=Phase.CLARIFY, question=question, asked=state.asked + 1)


def _reviewed(state: Feedback, event: AgentReported) -> Feedback:
    report = event.report
    blocking = tuple(finding for finding in report.findings if finding.severity in _BLOCKING)
    if report.verdict is Verdict.PASS and not blocking:
        ledger = record(state.ledger, REVIEW, report.findings, state.current.number)
        current = replace(state.current, review=Verdict.PASS, issues=_with_protected(state, report.findings))
        state = replace(state, ledger=ledger, current=current, review_failures=0)
        return _enter(state, Phase.ADD_TESTS if state.plan.tester else Phase.TEST)
    if not report.findings and not state.repaired:
        return replace(_again(state, repair="the verdict is fail but no finding says why"), repaired=True)
    return _review_failed(
        state, report.findings or (_engine_finding("no-finding", "The reviewer failed it without saying why"),)
    )


def _review_failed(state: Feedback, issues: tuple[Finding, ...]) -> Feedback:
    ledger = record(state.ledger, REVIEW, issues, state.current.number)
    current = replace(state.current, review=Verdict.FAIL, issues=_with_protected(state, issues))
    return _next_iteration(replace(state, ledger=ledger, current=current, review_failures=state.review_failures + 1))


# --- files and checks -----------------------------------------------------------------------------


def _checkpointed(state: Feedback, event: Checkpointed) -> Feedback:
    current = replace(state.current, commit=event.commit)
    state = replace(state, commit=event.commit, current=current, protected=event.protected, evidence=event.evidence)
    if state.phase is Phase.CHECKPOINT_TESTS:
        return _enter(state, Phase.TEST)
    if not event.files:
        return _review_failed(state, (_engine_finding("no-change", "No file was changed against the base"),))
    return _enter(state, Phase.REVIEW)


def _tested(state: Feedback, event: ChecksReported) -> Feedback:
    failures = tuple(failure for result in event.results if not result.passed for failure in result.failures)
    failures += tuple(finding for finding in event.findings if finding.severity in _BLOCKING)
    passed = bool(event.results) and all(result.passed for result in event.results) and not failures
    if not passed:
        return _tests_failed(state, failures or (_engine_finding("no-result", "The checks gave no passing result"),))
    ledger = record(state.ledger, TESTS, (), state.current.number)
    current = replace(state.current, tests=Verdict.PASS)
    state = replace(state, ledger=ledger, current=current, test_failures=0)
    if state.evidence in state.rejected:
        return _gate_rejected(state, "the protected change was rejected and is still there")
    if gate_is_open(state):
        return _enter(state, Phase.GATE)
    return _enter(replace(state, past=(*state.past, state.current)), Phase.LAND)


def _tests_failed(state: Feedback, failures: tuple[Finding, ...]) -> Feedback:
    ledger = record(state.ledger, TESTS, failures, state.current.number)
    current = replace(state.current, tests=Verdict.FAIL, failures=failures)
    return _next_iteration(replace(state, ledger=ledger, current=current, test_failures=state.test_failures + 1))


def _landed(state: Feedback, event: Integrated | IntegrationRefused) -> Feedback:
    if isinstance(event, IntegrationRefused):
        if state.cancel is not None:
            return _enter(state, Phase.CLEAN_UP)
        return _escalate(state, (f"the result could not be landed: {event.detail or event.reason}",))
    ending = Ending.ACCEPTED if state.accepted else Ending.VERIFIED
    facts = {"commit": event.commit, "branch": event.branch, "merged_into": event.merged_into, "note": event.note}
    return replace(_enter(state, Phase.DONE), outcome=ended(replace(state, cancel=None), ending, **facts))


# --- iterations and people ----------------------------------------------------------------------------


def _next_iteration(state: Feedback) -> Feedback:
    state = replace(state, past=(*state.past, state.current), answers=())
    state = _enter(replace(state, current=Iteration(number=state.current.number + 1)), Phase.IMPLEMENT)
    reasons = limits_reached(state)
    return _escalate(state, reasons) if reasons else state


def _escalate(state: Feedback, reasons: tuple[str, ...]) -> Feedback:
    return replace(state, phase=Phase.ESCALATED, reasons=reasons, asked=state.asked + 1)


def _gate_decided(state: Feedback, event: GateDecided) -> Feedback:
    if event.gate != PROTECTED or event.evidence != state.evidence:
        raise InvalidTransition(state.phase, "GateDecided", "it was decided for other changes than the present ones")
    if event.approved:
        state = replace(state, approved=(*state.approved, event.evidence))
        return replace(_enter(state, Phase.TEST), tries=state.tries + 1) if state.phase is Phase.GATE else state
    state = replace(state, rejected=(*state.rejected, event.evidence))
    reason = event.reason or "no reason given"
    if state.phase is Phase.GATE:
        return _gate_rejected(state, reason)
    return replace(state, answers=(*state.answers, f"A person rejected the change to protected files: {reason}"))


def _gate_rejected(state: Feedback, reason: str) -> Feedback:
    """A person's no is a failed review: it counts, and it is told to the developer."""
    paths = ", ".join(change.path for change in state.protected)
    issue = _engine_finding("gate-rejected", f"Restore {paths}: a person rejected the change ({reason})")
    current = replace(state.current, tests=None)
    return _review_failed(replace(state, current=current), (issue,))


def _cancelled(state: Feedback, event: CancelRequested) -> Feedback:
    if state.phase in (Phase.DONE, Phase.CLEAN_UP):
        raise InvalidTransition(state.phase, "CancelRequested", "the loop has ended")
    state = replace(state, cancel=event.cleanup)
    # Once landing has begun exactly one of the two happens: it lands, or it is refused and then cancelled.
    return state if state.phase is Phase.LAND else _enter(state, Phase.CLEAN_UP)


def _reconfigured(state: Feedback, event: ConfigChanged) -> Feedback:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
    old, new = Allowance.of(state.plan.limits), Allowance.of(decode(FeedbackLimits, event.limits))
    has = state.allowance
    allowance = Allowance(
        iterations=has.iterations + new.iterations - old.iterations,
        review_failures=has.review_failures + new.review_failures - old.review_failures,
        test_failures=has.test_failures + new.test_failures - old.test_failures,
        same_review=has.same_review + new.same_review - old.same_review,
        same_test=has.same_test + new.same_test - old.same_test,
    )
    plan = replace(state.plan, limits=decode(FeedbackLimits, event.limits))
    return replace(state, plan=plan, allowance=allowance)


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
