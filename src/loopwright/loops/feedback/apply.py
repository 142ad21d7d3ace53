"""How the feedback loop moves through its own phases, and what the common turns mean to its counters."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from loopwright.errors import InvalidTransition
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Answer,
    Answered,
    Checkpointed,
    ChecksReported,
    Combined,
    IntegrationRefused,
)
from loopwright.kernel.faults import engine_finding, faults_of
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.ledger import Ledger, record, unresolved
from loopwright.kernel.limits import granted_iterations
from loopwright.kernel.model import AgentStatus, Commit, Finding, Severity, Verdict
from loopwright.kernel.wording import name_causes
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Ruling, Station
from loopwright.loops.examination import taken_paths
from loopwright.loops.feedback import examining
from loopwright.loops.feedback.accepting import checked_as_accepted, not_taken
from loopwright.loops.feedback.ending import landed_or_left
from loopwright.loops.feedback.limits import Allowance, FeedbackLimits, grant
from loopwright.loops.feedback.state import (
    ENGINE,
    EVIDENCE,
    LANDING,
    NO_VERDICT,
    NOTHING_CHANGED,
    PROTECTED_FILE,
    REVIEW,
    TESTS,
    FeedbackPhase,
    FeedbackState,
    Iteration,
    base_of,
    counts,
    limits_reached,
    with_open_iteration,
)
from loopwright.loops.parts import NO_CHANGE, describe_same_product, is_left_as_it_was
from loopwright.loops.weighing import (
    Failed,
    Passed,
    Rejected,
    ShowPolicy,
    Waits,
    asks_for_witness,
    is_told_once,
    rejection,
    weighed,
)

_BLOCKING = (Severity.CRITICAL, Severity.HIGH)
_WHY_GATE = "protected files were changed; until a person approves, the base versions run"


def took(state: FeedbackState, event: Answer) -> FeedbackState:
    match event:
        case AgentFailed():
            return _agent_failed(state, event)
        case AgentReported():
            return _agent_reported(state, event)
        case Checkpointed():
            is_of_examiner = state.phase is FeedbackPhase.KEEP_TESTS
            return examining.tests_kept(state, event) if is_of_examiner else _checkpointed(state, event)
        case Combined():
            return examining.combined(state, event)
        case ChecksReported() if state.phase is FeedbackPhase.TRY_TESTS:
            return examining.tests_tried(state, event)
        case ChecksReported():
            return checked_as_accepted(state, event) if state.course.accepted else _tested(state, event)
        case _:
            raise InvalidTransition(c.where(state), type(event).__name__, "this loop never asks for it")


# --- agents -----------------------------------------------------------------------------------


def _agent_failed(state: FeedbackState, event: AgentFailed) -> FeedbackState:
    sentence = c.sentence_of(event)
    if state.phase is FeedbackPhase.EXAMINE:
        return examining.examiner_failed(state, event)
    if state.phase is FeedbackPhase.ADD_TESTS:
        return examining.enter_tests(state)
    if state.phase is FeedbackPhase.REVIEW:
        return _unjudged(state, engine_finding(NO_VERDICT, f"The reviewer gave no verdict ({sentence})"))
    current = replace(state.current, implementation=f"(the developer gave no result: {sentence})")
    return _next_iteration(replace(state, current=current))


def _agent_reported(state: FeedbackState, event: AgentReported) -> FeedbackState:
    report = event.report
    if state.phase is FeedbackPhase.EXAMINE:
        return examining.examiner_reported(state, event)
    if state.phase is FeedbackPhase.REVIEW:
        return _reviewed(state, event)
    if state.phase is FeedbackPhase.ADD_TESTS:
        return c.entered(state, FeedbackPhase.CHECKPOINT_TESTS)
    if report.status is AgentStatus.BLOCKED:
        reasons = (f"the developer is blocked: {report.summary or 'no reason given'}",)
        if state.examination.failing:
            return examining.dispute(state, reasons)
        return c.escalated(state, reasons, _failing(state.past[-1]) if state.past else ())
    current = replace(state.current, implementation=report.summary)
    state = c.steered(replace(state, current=current), no_test=report.no_test or state.course.no_test)
    return c.entered(state, FeedbackPhase.CHECKPOINT)


def _reviewed(state: FeedbackState, event: AgentReported) -> FeedbackState:
    report = event.report
    ledger = _judged(state, tuple(identify(finding) for finding in report.findings))
    findings = unresolved(ledger, REVIEW)  # a reopened one weighs more than the reviewer says
    passes = report.verdict is Verdict.PASS and report.status is AgentStatus.DONE
    if passes and state.course.trial.said_no and state.plan.trust.in_force:
        told = "The reviewer did not pass it, and asked why, passed it: on the same tree a no stays a no"
        return _unjudged(state, engine_finding("no-finding", told))
    if passes and not any(finding.severity in _BLOCKING for finding in findings):
        issues = _with_protected(state, findings)
        current = replace(state.current, review=Verdict.PASS, issues=issues, about=report.about)
        state = replace(state, ledger=ledger, current=current)
        state = replace(state, review_failures=0, review_failures_before=state.review_failures)
        return c.entered(state, FeedbackPhase.ADD_TESTS) if state.plan.tester else examining.enter_tests(state)
    if findings:
        return _review_failed(replace(state, ledger=ledger), findings)
    once_more = state.course.trial.to_explain("the verdict is not a pass but no finding says why")
    if once_more is not None:
        return c.with_trial(state, once_more)
    return _unjudged(state, engine_finding("no-finding", "The reviewer did not pass it and did not say why"))


def _judged(state: FeedbackState, findings: tuple[Finding, ...]) -> Ledger:
    """A real verdict also settles what stood there for want of one."""
    ledger = record(state.ledger, REVIEW, findings, state.current.number)
    return record(ledger, ENGINE, (), state.current.number)


def _unjudged(state: FeedbackState, *issues: Finding) -> FeedbackState:
    """Fails closed, but says nothing about what the reviewer found before."""
    ledger = record(state.ledger, ENGINE, issues, state.current.number)
    return _review_failed(replace(state, ledger=ledger), issues)


def _left_as_it_was(state: FeedbackState, told: Finding) -> FeedbackState:
    """Nothing was changed, so that nothing is settled: what fails, and what a person said of it, is told once more."""
    if not state.past:
        return _unjudged(state, told)
    last = state.past[-1]
    stands = (each for each in unresolved(state.ledger, ENGINE) if each.rule not in (NO_CHANGE, NOTHING_CHANGED))
    return _unjudged(replace(state, current=replace(state.current, failures=last.failures)), told, *stands)


def _review_failed(state: FeedbackState, issues: tuple[Finding, ...]) -> FeedbackState:
    current = replace(state.current, review=Verdict.FAIL, issues=_with_protected(state, issues))
    return _next_iteration(replace(state, current=current, review_failures=state.review_failures + 1))


# --- files and checks -----------------------------------------------------------------------------


def _checkpointed(state: FeedbackState, event: Checkpointed) -> FeedbackState:
    gate = GateRecord(
        gate=PROTECTED,
        evidence=event.evidence,
        because=event.protected,
        commit=event.commit,
        tree=event.tree,
        why=_WHY_GATE,
    )
    state = replace(state, commit=event.commit)
    state = c.called_for(c.steered(state, put_back=event.put_back, altered_tests=event.altered_tests), gate)
    tests = state.phase is FeedbackPhase.CHECKPOINT_TESTS
    state = state if tests else c.note_made(state, base_of(state), event.commit)
    if not tests and not event.files:
        return _nothing_done(state, event.commit, "No file was changed against the base")
    heard, last = len(state.course.answers), state.past[-1] if state.past else state.current
    current = replace(
        state.current,
        commit=event.commit,
        gated=event.protected,
        tree=event.tree,
        heard=heard,
        paths=event.paths,
    )
    same = (last.tree, last.heard, last.onto) == (event.tree, heard, current.onto)
    if same and state.past and state.plan.trust.in_force and not tests:
        return _nothing_changed(replace(state, current=current), last)
    state = replace(state, current=current)
    if (taken := taken_paths(state.examination, event.paths)) is not None:
        return _unjudged(state, taken)
    return examining.enter_tests(state) if tests else c.entered(state, FeedbackPhase.REVIEW)


def _nothing_done(state: FeedbackState, commit: Commit, why: str, kind: str = "") -> FeedbackState:
    """At the first attempt only a person can say whether there was nothing to do: then they accept it as it is.

    `kind`: nobody says what the task is about, and this is what changed. Accepted, that is no debt.
    """
    if state.past or not state.plan.trust.in_force:
        return _left_as_it_was(state, engine_finding(NO_CHANGE, why))
    told = engine_finding(NO_CHANGE, why, severity=Severity.LOW if kind else Severity.HIGH)
    state = _unjudged(replace(state, current=replace(state.current, commit=commit)), told)
    tests = name_causes(state.course.before)
    failing = (f"failing on the base: {tests}",) if tests else ()
    asked = f"the developer changed nothing at the first attempt: {why[0].lower()}{why[1:]}; it may be done already"
    if kind:
        way = f"if the task is about {kind}, accept it as it is, or start it with `--about {kind}`"
        asked = f"{why[0].lower()}{why[1:]} at the first attempt; {way}"
    return c.escalated(state, (asked, *failing))


def _nothing_changed(state: FeedbackState, last: Iteration) -> FeedbackState:
    """The same tree has the same verdict: nobody is asked again, and what was wrong still is.

    Where the developer was told to leave it so if it has to be, the checks lead on to a person.
    """
    if last.review is Verdict.PASS and is_told_once(last.failures):
        state = replace(state, current=replace(state.current, review=Verdict.PASS, issues=last.issues))
        return examining.enter_tests(state)
    told = engine_finding(NOTHING_CHANGED, "The developer changed nothing since the last attempt: its faults stand")
    return _left_as_it_was(state, told)


def _tested(state: FeedbackState, event: ChecksReported) -> FeedbackState:
    state, event = examining.note_report(state, event)
    words, now = (state.plan.task, *state.plan.criteria), state.current
    about = state.plan.about or now.about
    if not state.plan.trust.keeps_behaviour and is_left_as_it_was(event, about, words, now.paths):
        state = replace(state, review_failures=state.review_failures_before)
        why, kind = describe_same_product(event, about, now.paths)
        return _nothing_done(state, state.commit, why, kind)
    failed_with = state.course.approvals if faults_of(event) else None
    before = replace(state, current=replace(state.current, failed_with=failed_with))
    is_changed = now.commit != base_of(state)  # else an earlier part of the work has done it
    asks = state.plan.trust.asks_witness and is_changed
    merges = state.plan.merge and bool(state.plan.target)
    is_code = state.plan.about == "code"
    policy = ShowPolicy(about=about, is_code=is_code, asks=asks, grants=not state.plan.lands, merges=merges)
    state, said = weighed(before, event, now.commit, words, policy=policy)
    is_asked = isinstance(said, Failed) and asks_for_witness(said.faults)
    if is_asked and policy.grants:
        state = _with_attempt_left(state)
    may_be_last = event.claim is not None or is_asked
    if may_be_last and isinstance(said, Failed) and _is_over(_tests_failed(state, said.faults)):
        state, said = weighed(before, event, now.commit, words, is_last=True, policy=policy)
    state = examining.forget_hidden_tests(state)
    if isinstance(said, Failed):
        return _tests_failed(state, said.faults)
    faults = faults_of(event)
    state = _with_failures(state, faults) if faults else _tests_passed(state)
    match said:
        case Rejected():
            return _gate_rejected(state, said.gate)
        case Waits():
            return c.at_the_gate(state)
        case Passed():
            return landed_or_left(replace(state, past=(*state.past, state.current)))
        case _:
            assert_never(said)


def _with_attempt_left(state: FeedbackState) -> FeedbackState:
    """A part has one attempt at a time from its parent; that it is asked for a test uses up none of them."""
    most = granted_iterations(state.current.number, state.allowance.iterations, 1)
    return replace(state, allowance=replace(state.allowance, iterations=most))


def _with_failures(state: FeedbackState, faults: tuple[Finding, ...]) -> FeedbackState:
    """What is red until a person decides, for whoever has to do without their approval."""
    return replace(state, current=replace(state.current, failures=faults))


def _is_over(state: FeedbackState) -> bool:
    return state.course.station is Station.ESCALATED


def _tests_passed(state: FeedbackState) -> FeedbackState:
    ledger = record(record(state.ledger, TESTS, (), state.current.number), EVIDENCE, (), state.current.number)
    state = replace(state, ledger=ledger, current=replace(state.current, tests=Verdict.PASS, failures=()))
    return replace(state, test_failures=0, test_failures_before=state.test_failures)


def _tests_failed(state: FeedbackState, failures: tuple[Finding, ...]) -> FeedbackState:
    if asks_for_witness(failures):  # every test passed: no counter of failures moves
        ledger = record(state.ledger, EVIDENCE, failures, state.current.number)
        current = replace(state.current, tests=Verdict.FAIL, failures=failures)
        return _next_iteration(replace(state, ledger=ledger, current=current))
    ledger = record(state.ledger, TESTS, failures, state.current.number)
    current = replace(state.current, tests=Verdict.FAIL, failures=failures)
    return _next_iteration(replace(state, ledger=ledger, current=current, test_failures=state.test_failures + 1))


def _next_iteration(state: FeedbackState) -> FeedbackState:
    return _after_iteration(replace(state, past=(*state.past, state.current)))


def _after_iteration(state: FeedbackState) -> FeedbackState:
    reasons = limits_reached(state)
    if not reasons:
        return with_open_iteration(state)
    if examining.have_failed_again(state) or examining.has_idle_maker(state):
        return examining.dispute(state, reasons)
    return c.escalated(state, reasons, _failing(state.past[-1]))


def _failing(last: Iteration) -> tuple[Finding, ...]:
    """What the checks hold against an attempt, or that it changed nothing."""
    return (*last.failures, *(each for each in last.issues if each.rule in (NO_CHANGE, NOTHING_CHANGED)))


# --- landing ----------------------------------------------------------------------------------------


def refused(state: FeedbackState, event: IntegrationRefused) -> FeedbackState:
    """Where the target stands is known: a failed attempt, and the next one starts from there. Else a person decides."""
    if state.course.accepted:
        return not_taken(state, event)
    again = bool(event.onto) and event.reason in ("conflict", "checks")
    failures = tuple(identify(finding) for finding in event.findings)
    if event.reason == "conflict":
        failures = tuple(replace(finding, category=LANDING) for finding in failures)
    if again and not (failures and event.merged):
        failures += (_not_merged(state, event),)
    *earlier, last = state.past
    failed_with = state.course.approvals if failures and event.reason == "checks" else None
    last = replace(last, refused=event.detail or event.reason, failures=failures, failed_with=failed_with)
    if not again:
        return not_taken(replace(state, past=(*earlier, last)), event)
    return _after_iteration(
        replace(
            state,
            past=(*earlier, replace(last, tests=Verdict.FAIL)),
            current=replace(state.current, onto=event.onto),
            commit=event.merged or event.onto,
            examination=replace(state.examination, laid=bool(event.merged and state.examination.files)),
            ledger=record(state.ledger, LANDING, failures, last.number),
            test_failures=state.test_failures_before + 1,
        )
    )


def _not_merged(state: FeedbackState, event: IntegrationRefused) -> Finding:
    why = f"It does not go together with what was landed meanwhile: {event.detail or event.reason}"
    kept = f"the change so far is commit {state.commit}; it has to be made again on top of {event.onto}"
    told = engine_finding("not-merged", why if event.merged else f"{why}; {kept}")
    return replace(told, category=LANDING)


# --- people -----------------------------------------------------------------------------------------


def decided(state: FeedbackState, gate: GateRecord) -> FeedbackState:
    waits = state.course.station is Station.GATE
    if gate.ruling is Ruling.APPROVED:
        # Checks in flight or done without the approval ran the base versions: they are run anew.
        stale = waits or c.at_work(state, FeedbackPhase.TEST)
        return c.entered(state, FeedbackPhase.TEST, tries=state.course.trial.tries + 1) if stale else state
    if waits and not gate.lasting:
        return _gate_rejected(state, gate)
    told = f"A person rejected the change to {gate.paths}: {gate.reason or 'no reason given'}"
    state = c.steered(state, refusals=(*state.course.refusals, told))
    if not c.at_work(state, FeedbackPhase.IMPLEMENT):
        return state
    # A developer at work does not know it yet, and a brief never changes under its key: a new try.
    trial = state.course.trial
    return c.with_trial(state, replace(trial, tries=trial.tries + 1))


def _gate_rejected(state: FeedbackState, gate: GateRecord) -> FeedbackState:
    """A person's no is a failed review: it counts, and it is told to the developer with what fails without."""
    current = replace(state.current, tests=None, rejected=True)
    state = replace(state, current=current, review_failures=state.review_failures_before)
    return _unjudged(state, rejection(gate))


def continued(state: FeedbackState, event: Answered) -> FeedbackState:
    """Grants, never resets: the counts go on from where they are."""
    return with_open_iteration(replace(state, allowance=grant(state.allowance, counts(state), event.count)))


def revised(state: FeedbackState, _: Answered) -> FeedbackState:
    used, full = len(state.past), Allowance.of(state.plan.limits)
    return replace(
        with_open_iteration(state),
        allowance=replace(full, iterations=used + full.iterations),
        review_failures=0,
        test_failures=0,
        ledger=tuple(replace(entry, streak=0) for entry in state.ledger),
    )


def relimited(state: FeedbackState, limits: FeedbackLimits) -> FeedbackState:
    """New limits move the allowance by their difference, so that what a person granted stays granted."""
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


def _with_protected(state: FeedbackState, issues: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Changed protected files are told to the developer: the base versions run until a person approves."""
    gate = state.course.due(PROTECTED)
    if gate is None or gate.ruling is Ruling.APPROVED:
        return issues
    told = tuple(
        engine_finding(
            PROTECTED_FILE,
            f"{change.path} is protected and was {change.words}: the base version runs;"
            " restore it unless the task asks for the change",
            severity=Severity.MEDIUM,
            file=change.path,
        )
        for change in gate.because
    )
    return issues + told
