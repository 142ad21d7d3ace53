"""The limits and verdicts of the feedback loop, each rule as a short story."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, Checkpoint, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import (
    AgentReported,
    BudgetChanged,
    ChecksReported,
    ConfigChanged,
    Event,
    LoopEnded,
)
from loopwright.kernel.ledger import Standing
from loopwright.kernel.model import (
    NO_KEY,
    AgentReport,
    AgentStatus,
    Brief,
    CheckResult,
    Commit,
    Ending,
    Finding,
    Key,
    Outcome,
    Severity,
    Verdict,
)
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.limits import Allowance
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackPhase, FeedbackState, Iteration
from tests.loops.feedback import (
    ALL_PASSES,
    ANOTHER,
    BLOCKED,
    DONE,
    FAILURE,
    GREEN,
    ISSUE,
    LANDED,
    MINOR,
    NO_DEVELOPER,
    NO_RESULT,
    OTHER,
    OTHER_FAILS,
    REVIEW_FAILS,
    TESTS_FAIL,
    TREE,
    developer,
    fails,
    keys,
    loop,
    params,
    passes,
    play,
    red,
    saved,
    wanted,
)

MIXED: tuple[Event, ...] = (*REVIEW_FAILS, *TESTS_FAIL, *OTHER_FAILS, *NO_DEVELOPER)


def reasons(state: FeedbackState) -> tuple[str, ...]:
    assert where(state) == Station.ESCALATED
    return state.course.reasons


# --- the way through ---------------------------------------------------------------------------------------


def test_the_first_iteration_is_implemented_kept_and_reviewed() -> None:
    state = loop()
    assert FEEDBACK.decide(state) == (
        RunAgent(
            key=Key.parse("implement-1.1"),
            role="developer",
            brief=Brief(task="add retry", attempt=1, limit=5, base=Commit("base"), candidate=Commit("base")),
            start=Commit("base"),
            writes=True,
            why="the task is new",
        ),
    )
    state = play(state, DONE)
    assert FEEDBACK.decide(state) == (
        Checkpoint(
            key=Key.parse("checkpoint-1"),
            label="1",
            parent=Commit("base"),
            base=Commit("base"),
            why="every attempt is kept",
        ),
    )
    state = play(state, saved("c1"))
    assert FEEDBACK.decide(state) == (
        RunAgent(
            key=Key.parse("review-1.1"),
            role="reviewer",
            brief=Brief(task="add retry", attempt=1, limit=5, base=Commit("base"), candidate=Commit("c1")),
            start=Commit("c1"),
            writes=False,
            needs_verdict=True,
            why="spec compliance comes before the tests",
        ),
    )


def test_a_passed_review_leads_to_the_checks_and_passed_checks_to_the_end() -> None:
    state = play(loop(), DONE, saved("c1"), passes())
    assert FEEDBACK.decide(state) == (
        RunChecks(
            key=Key.parse("checks-1.1"),
            commit=Commit("c1"),
            base=Commit("base"),
            why="the review passed (SPEC_COMPLIANT); only the checks decide",
        ),
    )
    state = play(state, GREEN)
    assert FEEDBACK.decide(state) == (
        Integrate(
            key=Key.parse("land-1.1"),
            commit=Commit("c1"),
            base=Commit("base"),
            message="add retry",
            why="IMPLEMENTATION_VERIFIED",
        ),
    )
    assert FEEDBACK.decide(play(state, LANDED)) == (
        Stop(
            outcome=Outcome(ending=Ending.VERIFIED, attempts=1, commit=Commit("landed"), branch="loop/1"),
            why="verified",
        ),
    )


def test_a_failed_review_skips_the_tests_of_that_iteration() -> None:
    state = play(loop(), *REVIEW_FAILS)
    assert keys(state) == ["implement-2.1"]
    assert state.past == (
        Iteration(
            number=1, implementation="did it", commit=Commit("c"), tree=TREE, review=Verdict.FAIL, issues=(ISSUE,)
        ),
    )


def test_the_next_brief_has_the_last_iteration_in_full_and_a_line_for_each_earlier_one() -> None:
    state = play(loop(), *REVIEW_FAILS, DONE, saved("c2"), passes(MINOR), red(FAILURE))
    assert developer(state).brief == Brief(
        task="add retry",
        attempt=3,
        limit=5,
        findings=(MINOR,),
        failures=(FAILURE,),
        history=("Iteration 1: review failed with 1 issue", "Iteration 2: review passed, tests failed with 1 failure"),
        base=Commit("base"),
        candidate=Commit("c2"),
    )
    assert developer(state).why == "iteration 2 failed: review passed, tests failed with 1 failure"


def test_two_issues_are_counted_in_the_plural() -> None:
    state = play(loop(), DONE, saved(), fails(ISSUE, OTHER))
    assert developer(state).brief.history == ("Iteration 1: review failed with 2 issues",)


def test_the_reviewer_is_told_what_it_found_before() -> None:
    state = play(loop(), *REVIEW_FAILS, DONE, saved())
    assert wanted(state, RunAgent).brief.findings == (ISSUE,)


# --- limits --------------------------------------------------------------------------------------------------


def test_five_iterations_ask_a_person() -> None:
    state = play(loop(), *MIXED)
    assert keys(state) == ["implement-5.1"]
    state = play(state, *NO_DEVELOPER)
    assert reasons(state) == ("5 of 5 iterations are used",)
    assert keys(state) == ["escalation-1"]
    assert wanted(state, Ask).question == (
        "The feedback loop stopped: 5 of 5 iterations are used. How should it go on?"
    )


def test_three_failed_reviews_ask_a_person() -> None:
    state = play(loop(), *REVIEW_FAILS, *OTHER_FAILS)
    assert state.review_failures == 2
    assert reasons(play(state, *REVIEW_FAILS)) == ("3 reviews in a row failed",)


def test_a_passed_review_starts_the_count_of_failed_ones_anew() -> None:
    state = play(loop(), *REVIEW_FAILS, *OTHER_FAILS, *TESTS_FAIL, *REVIEW_FAILS)
    assert (where(state), state.review_failures) == (FeedbackPhase.IMPLEMENT, 1)


def test_three_failed_test_runs_ask_a_person_though_a_review_failed_in_between() -> None:
    other_tests_fail = (DONE, saved(), passes(), red(ANOTHER))
    state = play(loop(), *TESTS_FAIL, *REVIEW_FAILS, *other_tests_fail)
    assert (where(state), state.test_failures, state.review_failures) == (FeedbackPhase.IMPLEMENT, 2, 0)
    assert reasons(play(state, *TESTS_FAIL))[0] == "3 test runs in a row failed"


def test_a_developer_without_a_result_leaves_both_counts_alone() -> None:
    state = play(loop(), *REVIEW_FAILS, *NO_DEVELOPER, *OTHER_FAILS)
    assert (where(state), state.review_failures, state.test_failures) == (FeedbackPhase.IMPLEMENT, 2, 0)


def test_the_same_issue_seen_three_times_in_a_row_asks_though_a_review_passed_in_between() -> None:
    listed = (DONE, saved(), passes(MINOR), red(FAILURE))
    state = play(loop(), *REVIEW_FAILS, *listed, *REVIEW_FAILS)
    assert state.review_failures == 1
    assert reasons(state) == ("the same review issue came back 3 times in a row",)


def test_an_issue_that_was_gone_for_one_review_starts_anew() -> None:
    state = play(loop(max_consecutive_review_failures=4), *REVIEW_FAILS, *OTHER_FAILS, *REVIEW_FAILS)
    assert where(state) == FeedbackPhase.IMPLEMENT
    by_mark = {entry.finding.rule: entry for entry in state.ledger}
    assert (by_mark["R1"].standing, by_mark["R1"].streak) == (Standing.REOPENED, 1)
    assert by_mark["R1"].finding.severity is Severity.CRITICAL


def test_an_issue_listed_by_passing_reviews_asks_only_when_a_review_fails() -> None:
    listed = (DONE, saved(), passes(MINOR), red(FAILURE))
    relisted = (DONE, saved(), passes(MINOR), red(ANOTHER))
    state = play(loop(max_consecutive_test_failures=4), *listed, *relisted, *listed)
    assert (where(state), state.current.number) == (FeedbackPhase.IMPLEMENT, 4)


def test_the_same_failure_three_times_in_a_row_is_named_beside_the_count() -> None:
    state = play(loop(), *TESTS_FAIL, *TESTS_FAIL, *TESTS_FAIL)
    assert reasons(state)[:2] == ("the same test failure came back 3 times in a row", "3 test runs in a row failed")


def test_every_limit_that_is_reached_is_named() -> None:
    state = play(loop(max_feedback_iterations=3), *REVIEW_FAILS, *REVIEW_FAILS, *REVIEW_FAILS)
    assert reasons(state) == (
        "the same review issue came back 3 times in a row",
        "3 reviews in a row failed",
        "3 of 3 iterations are used",
    )


def test_the_standpoint_tells_the_counters() -> None:
    state = play(loop(), *REVIEW_FAILS, *TESTS_FAIL)
    stand = FEEDBACK.stand(state)
    assert (stand.state, stand.attempt, stand.limit, stand.failures) == ("IMPLEMENT", 3, 5, 2)
    assert stand.findings == (FAILURE,)
    assert stand.lines == (
        "iterations used: 2 of 5",
        "reviews failed in a row: 0 of 3",
        "test runs failed in a row: 1 of 3",
        "the same review issue in a row: 0 of 3",
        "the same test failure in a row: 1 of 3",
    )


def test_an_iteration_that_passed_is_no_failure_and_a_limit_is_not_overrun() -> None:
    assert FEEDBACK.stand(play(loop(), *NO_DEVELOPER, *ALL_PASSES)).failures == 1
    stand = FEEDBACK.stand(play(loop(max_feedback_iterations=1), *REVIEW_FAILS))
    assert (stand.attempt, stand.limit) == (1, 1)


# --- verdicts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.HIGH])
def test_a_pass_with_a_grave_finding_is_a_fail(severity: Severity) -> None:
    grave = replace(ISSUE, severity=severity)
    state = play(loop(), DONE, saved(), passes(grave))
    assert (state.past[0].review, state.past[0].issues, state.review_failures) == (Verdict.FAIL, (grave,), 1)


@pytest.mark.parametrize("severity", [Severity.MEDIUM, Severity.LOW])
def test_a_pass_with_a_light_finding_is_a_pass(severity: Severity) -> None:
    assert play(loop(), DONE, saved(), passes(replace(ISSUE, severity=severity))).phase is FeedbackPhase.TEST


def test_a_fail_without_findings_is_asked_to_say_why_once() -> None:
    state = play(loop(), DONE, saved(), fails())
    action = wanted(state, RunAgent)
    assert (str(action.key), action.brief.repair) == ("review-1.2", "the verdict is not a pass but no finding says why")
    state = play(state, fails())
    assert state.review_failures == 1
    assert [(issue.rule, issue.issue) for issue in state.past[0].issues] == [
        ("no-finding", "The reviewer did not pass it and did not say why")
    ]


def test_a_fail_that_says_why_after_the_repair_is_a_plain_fail() -> None:
    assert play(loop(), DONE, saved(), fails(), fails(ISSUE)).past[0].issues == (ISSUE,)


@pytest.mark.parametrize(
    "report",
    [
        AgentReport(),
        AgentReport(verdict=Verdict.PASS, status=AgentStatus.BLOCKED),
        AgentReport(verdict=Verdict.PASS, status=AgentStatus.NEEDS_CLARIFICATION),
    ],
    ids=["no verdict", "blocked", "unclear"],
)
def test_a_reviewer_that_did_not_finish_has_not_passed_it(report: AgentReport) -> None:
    said = AgentReported(key=NO_KEY, report=report)
    state = play(loop(), DONE, saved(), said, said)
    assert (state.past[0].review, state.review_failures) == (Verdict.FAIL, 1)


def test_findings_without_an_identity_are_given_one() -> None:
    nameless = (replace(ISSUE, fingerprint=""), replace(OTHER, fingerprint=""))
    assert play(loop(), DONE, saved(), fails(*nameless)).past[0].issues == (ISSUE, OTHER)
    state = play(loop(), DONE, saved(), passes(), red(replace(FAILURE, fingerprint="")))
    assert state.past[0].failures == (FAILURE,)


def test_nothing_changed_is_a_failed_review_and_nothing_to_accept() -> None:
    state = play(loop(max_feedback_iterations=1), DONE, saved("empty", files=0))
    (closed,) = state.past
    assert (closed.review, closed.tests, closed.commit) == (Verdict.FAIL, None, "")
    assert [issue.rule for issue in closed.issues] == ["no-change"]
    assert "accept" not in [option.choice for option in wanted(state, Ask).options]


def test_an_iteration_without_a_verdict_says_nothing_about_earlier_findings() -> None:
    state = play(loop(), *REVIEW_FAILS, DONE, saved(files=0))
    assert {entry.finding.rule: entry.standing for entry in state.ledger} == {
        "R1": Standing.NEW,
        "no-change": Standing.NEW,
    }
    assert [finding.rule for finding in developer(state).brief.findings] == ["no-change", "R1"]
    state = play(state, DONE, saved(), passes())
    assert {entry.standing for entry in state.ledger} == {Standing.RESOLVED}


def test_after_a_developer_without_a_result_the_findings_are_told_again() -> None:
    state = play(loop(), DONE, saved(), passes(MINOR), red(FAILURE), *NO_DEVELOPER)
    brief = developer(state).brief
    assert (brief.findings, brief.failures) == ((MINOR,), (FAILURE,))
    assert brief.history[-1] == "Iteration 2: the developer gave no result"


# --- checks -----------------------------------------------------------------------------------------------------


def judged_by(*reports: ChecksReported) -> Iteration:
    (closed,) = play(loop(), DONE, saved(), passes(), *reports).past
    return closed


def checks(*results: CheckResult, findings: tuple[Finding, ...] = ()) -> ChecksReported:
    return ChecksReported(key=NO_KEY, tree=TREE, results=results, findings=findings)


def test_no_result_at_all_fails_closed() -> None:
    closed = judged_by(NO_RESULT)
    assert (closed.tests, [failure.rule for failure in closed.failures]) == (Verdict.FAIL, ["no-result"])


def test_a_check_that_fails_without_saying_why_is_a_failure_of_its_name() -> None:
    silent = CheckResult(name="lint", passed=False)
    noted = CheckResult(name="types", passed=False, note="exit 2")
    closed = judged_by(checks(CheckResult(name="test", passed=True), silent, noted))
    assert [(failure.rule, failure.issue) for failure in closed.failures] == [
        ("check-lint", "The check lint failed: it did not say why"),
        ("check-types", "The check types failed: exit 2"),
    ]


@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.HIGH])
def test_tampering_fails_a_run_whose_results_pass(severity: Severity) -> None:
    cheating = replace(FAILURE, severity=severity, category="checks")
    closed = judged_by(checks(CheckResult(name="test", passed=True), findings=(cheating,)))
    assert (closed.tests, closed.failures) == (Verdict.FAIL, (cheating,))


def test_a_light_suspicion_does_not_fail_a_run() -> None:
    suspicion = replace(FAILURE, severity=Severity.MEDIUM)
    assert judged_by(checks(CheckResult(name="test", passed=True), findings=(suspicion,))).tests is Verdict.PASS


def test_failures_of_a_check_that_passes_are_forgiven_ones() -> None:
    assert judged_by(checks(CheckResult(name="test", passed=True, failures=(FAILURE,)))).tests is Verdict.PASS


# --- what comes from outside ---------------------------------------------------------------------------------


def test_new_limits_move_the_allowance_by_their_difference() -> None:
    state = play(loop(), *TESTS_FAIL, *TESTS_FAIL, BLOCKED)
    state = replace(state, allowance=replace(state.allowance, iterations=9, same_test=7))
    limits = '{"max_feedback_iterations":4,"max_consecutive_test_failures":5}'
    state = play(state, ConfigChanged(digest="d", settings="{}", limits=limits))
    assert state.allowance == Allowance(iterations=8, review_failures=3, test_failures=5, same_review=3, same_test=9)
    assert play(state, ConfigChanged(digest="d", settings="{}", limits=limits)).allowance == state.allowance


def test_a_limit_lowered_below_the_count_asks_at_the_end_of_the_iteration() -> None:
    state = play(loop(), *REVIEW_FAILS, *TESTS_FAIL)
    state = play(state, ConfigChanged(digest="d", settings="{}", limits='{"max_feedback_iterations":1}'))
    assert where(state) == FeedbackPhase.IMPLEMENT
    assert reasons(play(state, *NO_DEVELOPER)) == ("3 of 1 iterations are used",)


@pytest.mark.parametrize("limits", ["{", '{"max_loops":1}', '{"max_feedback_iterations":"5"}'])
def test_limits_that_cannot_be_read_are_refused(limits: str) -> None:
    with pytest.raises(InvalidTransition, match="ConfigChanged does not fit IMPLEMENT: limits: "):
        play(loop(), ConfigChanged(digest="d", settings="{}", limits=limits))


def test_an_ended_loop_takes_no_new_limits() -> None:
    with pytest.raises(InvalidTransition, match="the loop has ended"):
        play(loop(), *ALL_PASSES, LANDED, ConfigChanged(digest="d", settings="{}"))


def test_money_is_not_the_machines_business() -> None:
    state = loop()
    assert play(state, BudgetChanged(usd=3.0)) is state


def test_a_feedback_loop_has_no_children() -> None:
    with pytest.raises(InvalidTransition, match="this loop never asks for it"):
        FEEDBACK.apply(loop(), LoopEnded(key=Key.parse("implement-1.1"), outcome=Outcome(ending=Ending.VERIFIED)))


# --- adopted -------------------------------------------------------------------------------------------------


def adopted(*verdicts: Verdict, review_failures: int = 0) -> FeedbackState:
    past = tuple(Iteration(number=number, review=verdict) for number, verdict in enumerate(verdicts, start=1))
    return FEEDBACK.start(replace(params(), adopted=past, adopted_review_failures=review_failures))


def test_adopted_iterations_go_on_counting() -> None:
    state = adopted(Verdict.FAIL, Verdict.FAIL, review_failures=2)
    assert keys(state) == ["implement-3.1"]
    assert reasons(play(state, *REVIEW_FAILS)) == ("3 reviews in a row failed",)


def test_adopted_iterations_at_the_limit_ask_before_any_work() -> None:
    state = adopted(*[Verdict.FAIL] * 5)
    assert reasons(state) == ("5 of 5 iterations are used",)
    assert FEEDBACK.stand(state).attempt == 5


def test_adopted_failures_at_the_limit_ask_before_any_work() -> None:
    assert reasons(adopted(review_failures=3)) == ("3 reviews in a row failed",)


def test_an_issue_that_comes_back_weighs_more_and_can_turn_a_pass_into_a_fail() -> None:
    small = replace(ISSUE, severity=Severity.MEDIUM)
    gone = (DONE, saved(), passes(), red(FAILURE))
    state = play(loop(), DONE, saved(), passes(small), red(ANOTHER), *gone, DONE, saved(), passes(small))
    assert state.past[-1].review is Verdict.FAIL
    assert [finding.severity for finding in state.past[-1].issues] == [Severity.HIGH]
    assert [entry.standing for entry in state.ledger if entry.finding.rule == ISSUE.rule] == [Standing.REOPENED]
