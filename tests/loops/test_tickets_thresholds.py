"""Every line of the thresholds through the machine, with its reason; and where a finding stands in the route back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loopwright.kernel.events import AgentReported
from loopwright.kernel.model import CheckResult, Finding, Severity
from loopwright.loops.tickets.findings import marks_of_checks
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Rule, TicketsState
from loopwright.loops.tickets.thresholds import place
from tests.loops import tickets as t

CRITICAL_OPEN = "critical issue unresolved"
TESTS = "tests fail or do not run"
BUILD = "build fails"
UNTESTED = "new code has no test coverage"
SEVERAL_HIGH = "several high issues, or one with significant risk"
ARCHITECTURE = "core architecture violated"
SECURITY = "significant security concern"
ALL_CRITICAL = "all critical issues resolved"
HIGH_MINOR = "high issues minor or non-blocking"
ADEQUATE = "tests pass with adequate coverage"
CLEAN = "build succeeds cleanly"
CRITIC = "a critic does not approve"
CRITERIA_MET = "every acceptance criterion met"
PLAN = t.params()


def found(*findings: Finding) -> TicketsState:
    """After one ticket in which the critic found that."""
    return t.told(*t.ticket("c1", t.passes(*findings)))


def ran(*results: CheckResult, findings: tuple[Finding, ...] = ()) -> TicketsState:
    """After one ticket in which the checks said that."""
    return t.told(*t.ticket("c1", t.passes(), t.checked(*results, findings=findings)))


def test_every_ticket_shows_all_thirteen_lines_with_what_they_say() -> None:
    shown = [(each.level, each.name, each.holds, each.why) for each in t.last(t.told(*t.GOOD)).rules]
    assert shown == [
        ("automatic reject", CRITICAL_OPEN, False, ""),
        ("automatic reject", TESTS, False, ""),
        ("automatic reject", BUILD, False, ""),
        ("automatic reject", UNTESTED, False, ""),
        ("strong reject", SEVERAL_HIGH, False, ""),
        ("strong reject", ARCHITECTURE, False, ""),
        ("strong reject", SECURITY, False, ""),
        ("consider accept", ALL_CRITICAL, True, ""),
        ("consider accept", HIGH_MINOR, True, ""),
        ("consider accept", ADEQUATE, True, ""),
        ("consider accept", CLEAN, True, ""),
        ("critic", CRITIC, False, ""),
        ("consider accept", CRITERIA_MET, True, ""),
    ]


# --- automatic reject ------------------------------------------------------------------------------------------


def test_an_open_critical_issue_rejects() -> None:
    state = found(t.GRAVE)
    assert t.rule(state, CRITICAL_OPEN) == Rule(
        level="automatic reject", name=CRITICAL_OPEN, holds=True, why="grave is wrong"
    )
    assert t.decisions(state) == ["ROUTE_BACK"]


def test_failing_tests_reject() -> None:
    state = ran(t.BUILD, t.RED_TESTS)
    assert (t.rule(state, TESTS).holds, t.rule(state, TESTS).why) == (True, "test: failed")
    assert (t.against(state), t.decisions(state)) == ([TESTS, ADEQUATE], ["ROUTE_BACK"])


def test_tests_that_do_not_run_reject() -> None:
    state = ran(t.BUILD, t.check("test", passed=False, note="skipped: build failed"))
    assert t.rule(state, TESTS).why == "test: skipped: build failed"
    assert t.against(state) == [TESTS, ADEQUATE]


def test_a_run_without_a_single_test_rejects() -> None:
    state = ran(t.BUILD, t.check("test", tests=0))
    assert t.rule(state, TESTS).why == "no test ran (test)"
    assert t.against(state) == [TESTS, ADEQUATE]


def test_every_check_that_counts_tests_is_a_test() -> None:
    state = ran(t.BUILD, t.TESTS, t.check("integration", tests=3, failures=(t.BROKEN_TEST,)))
    assert t.rule(state, TESTS).why == "integration: failed"


def test_no_result_of_any_check_rejects() -> None:
    state = ran()
    assert t.rule(state, TESTS).why == "no check gave a result"
    assert t.open_rules(state) == ["no-result"]
    assert t.decisions(state) == ["ROUTE_BACK"]


def test_a_failing_build_rejects() -> None:
    state = ran(t.RED_BUILD, t.TESTS)
    assert t.rule(state, BUILD).why == "build: exit 2"
    assert (t.against(state), t.decisions(state)) == ([BUILD, CLEAN], ["ROUTE_BACK"])


def test_new_code_without_any_coverage_rejects() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(90, new_covered=0, new_total=12))
    assert t.rule(state, UNTESTED).why == "none of 12 new lines is covered"
    assert (t.against(state), t.decisions(state)) == ([UNTESTED, ADEQUATE], ["ROUTE_BACK"])


# --- strong reject ---------------------------------------------------------------------------------------------


def test_several_high_issues_reject() -> None:
    state = found(t.ALPHA, t.BETA)
    assert t.rule(state, SEVERAL_HIGH).why == "alpha is wrong; beta is wrong"
    assert (t.against(state), t.decisions(state)) == ([SEVERAL_HIGH, HIGH_MINOR], ["ROUTE_BACK"])


def test_one_high_issue_alone_is_minor_and_does_not_reject() -> None:
    state = found(t.ALPHA)
    assert (t.against(state), t.decisions(state)) == ([], ["APPROVE"])
    assert (t.rule(state, HIGH_MINOR).holds, t.rule(state, HIGH_MINOR).why) == (True, "alpha is wrong")


@pytest.mark.parametrize("category", ["correctness", "data-loss", "data loss", " Concurrency"])
def test_one_high_issue_with_significant_risk_rejects(category: str) -> None:
    state = found(t.flaw("alpha", category=category))
    assert (t.against(state), t.decisions(state)) == ([SEVERAL_HIGH, HIGH_MINOR], ["ROUTE_BACK"])


@pytest.mark.parametrize("category", ["architecture", "Architectural"])
def test_violated_architecture_rejects(category: str) -> None:
    state = found(t.flaw("layers", category=category))
    assert t.rule(state, ARCHITECTURE).why == "layers is wrong"
    assert t.against(state) == [SEVERAL_HIGH, ARCHITECTURE, HIGH_MINOR]


def test_a_medium_remark_on_architecture_does_not_reject() -> None:
    assert t.decisions(found(t.medium("layers", category="architecture"))) == ["APPROVE"]


@pytest.mark.parametrize("severity", list(Severity))
@pytest.mark.parametrize("category", ["security", "Security", "web security"])
def test_a_security_concern_is_always_critical_and_rejects(severity: Severity, category: str) -> None:
    state = found(t.flaw("injection", severity, category=category))
    assert t.rule(state, SECURITY).why == "injection is wrong"
    assert [finding.severity for finding in t.last(state).findings] == [Severity.CRITICAL]
    assert t.against(state) == [CRITICAL_OPEN, SECURITY, ALL_CRITICAL]


def test_a_security_check_that_fails_is_critical_too() -> None:
    hole = t.medium("B602", category="security")
    state = ran(t.BUILD, t.TESTS, t.check("security", failures=(hole,)))
    assert t.against(state) == [CRITICAL_OPEN, SECURITY, ALL_CRITICAL, CLEAN]


# --- consider accept -------------------------------------------------------------------------------------------


def test_accepting_needs_all_critical_issues_resolved() -> None:
    state = t.told(*t.bad("c1", t.GRAVE), *t.GOOD)
    first, second = ({each.name: each.holds for each in ticket.rules} for ticket in state.past)
    assert (first[ALL_CRITICAL], second[ALL_CRITICAL]) == (False, True)
    assert t.decisions(state) == ["ROUTE_BACK", "APPROVE"]


def test_accepting_needs_high_issues_to_be_minor() -> None:
    assert t.rule(found(t.ALPHA), HIGH_MINOR).holds
    assert not t.rule(found(t.ALPHA, t.BETA), HIGH_MINOR).holds
    assert not t.rule(found(t.flaw("alpha", category="correctness")), HIGH_MINOR).holds


def test_accepting_needs_coverage_to_reach_its_floor() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(45, floor=80.0))
    assert t.rule(state, ADEQUATE) == Rule(
        level="consider accept", name=ADEQUATE, holds=False, why="45% line coverage, 80% asked for"
    )
    assert (t.against(state), t.decisions(state)) == ([ADEQUATE], ["ROUTE_BACK"])


def test_accepting_needs_coverage_of_new_code_to_reach_its_own_floor() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(95, floor=80.0, new_covered=3, new_total=6, new_code_floor=90.0))
    assert t.rule(state, ADEQUATE).why == "50% coverage of new code, 90% asked for"


def test_a_coverage_check_that_fails_for_another_reason_is_no_adequate_coverage() -> None:
    state = ran(t.BUILD, t.TESTS, t.check("coverage", passed=False, note="no report"))
    assert t.rule(state, ADEQUATE).why == "coverage: no report"
    assert t.against(state) == [ADEQUATE]


def test_coverage_at_its_floors_is_adequate() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(80, floor=80.0, new_covered=9, new_total=10, new_code_floor=90.0))
    assert (t.against(state), t.decisions(state)) == ([], ["APPROVE"])


@pytest.mark.parametrize("name", ["lint", "typecheck", "complexity"])
def test_accepting_needs_everything_else_that_is_run_to_be_clean(name: str) -> None:
    """One failing check alone, whatever it is called, keeps a ticket from being approved."""
    state = ran(t.BUILD, t.TESTS, t.check(name, passed=False))
    assert t.rule(state, CLEAN).why == f"{name}: failed"
    assert (t.against(state), t.decisions(state)) == ([CLEAN], ["ROUTE_BACK"])


def test_without_a_test_check_the_build_stands_for_it() -> None:
    assert t.decisions(ran(t.BUILD)) == ["APPROVE"]


# --- what critics may not belittle -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "issue"),
    [
        ("missing-tests", "pay() is new"),
        ("Missing Tests", "pay() is new"),
        ("tests", "No tests for the new branch"),
        ("testing", "pay() is untested"),
        ("test-coverage", "the new parser lacks any test"),
    ],
)
def test_missing_tests_for_new_logic_are_critical(category: str, issue: str) -> None:
    state = found(t.medium("T1", category=category, issue=issue))
    assert [finding.severity for finding in t.last(state).findings] == [Severity.CRITICAL]
    assert t.decisions(state) == ["ROUTE_BACK"]


@pytest.mark.parametrize(
    ("category", "issue"), [("tests", "the test is slow"), ("style", "there is no test of taste here")]
)
def test_other_remarks_keep_the_severity_they_were_given(category: str, issue: str) -> None:
    state = found(t.medium("T1", category=category, issue=issue))
    assert [finding.severity for finding in t.last(state).findings] == [Severity.MEDIUM]


def test_a_change_that_gives_itself_away_is_critical_however_alone_it_stands() -> None:
    """A skipped test or a bent check is no minor matter, even as the only finding."""
    cheating = t.flaw("skipped-test", category="tampering")
    state = ran(t.BUILD, t.TESTS, findings=(cheating, t.medium("runs-when-opened", category="tampering")))
    assert t.open_rules(state) == ["skipped-test"]
    assert (t.against(state), t.decisions(state)) == ([CRITICAL_OPEN, ALL_CRITICAL], ["ROUTE_BACK"])


def test_a_critic_that_calls_a_change_tampering_names_a_risk() -> None:
    assert t.against(found(t.flaw("alpha", category="tampering"))) == [SEVERAL_HIGH, HIGH_MINOR]


def test_a_reason_names_three_and_counts_the_rest() -> None:
    state = found(*(t.critical(f"n{number}") for number in range(5)))
    assert t.rule(state, CRITICAL_OPEN).why == "n0 is wrong; n1 is wrong; n2 is wrong; and 2 more"


def test_a_critical_finding_without_a_word_still_rejects() -> None:
    state = found(Finding(severity=Severity.CRITICAL, issue="\n", file="a.py"))
    assert t.rule(state, CRITICAL_OPEN).why == "a finding without words"


# --- the route back ----------------------------------------------------------------------------------------------


def test_a_critical_finding_must_be_fixed() -> None:
    assert place(PLAN, t.GRAVE, (t.GRAVE,)) == ("must fix: CRITICAL", "a critical issue is never left open")


def test_a_risky_high_finding_must_be_fixed_even_alone() -> None:
    risky = t.flaw("alpha", category="correctness")
    assert place(PLAN, risky, (risky,)) == ("must fix: HIGH", "correctness is a significant risk")


def test_several_high_findings_must_be_fixed() -> None:
    assert place(PLAN, t.ALPHA, (t.ALPHA, t.BETA)) == ("must fix: HIGH", "there are several")


def test_a_minor_high_finding_may_be_deferred() -> None:
    assert place(PLAN, t.ALPHA, (t.ALPHA, t.GRAVE)) == ("deferrable: HIGH", "it stands alone and is minor")


@pytest.mark.parametrize("severity", [Severity.MEDIUM, Severity.LOW])
def test_lesser_findings_are_deferred(severity: Severity) -> None:
    finding = t.flaw("alpha", severity)
    assert place(PLAN, finding, (finding,)) == ("deferred: MEDIUM", "it does not keep the work from being used")


def test_the_verdict_line_says_which_lines_were_against_it() -> None:
    state = t.told(*t.made("c1"), t.fails(t.GRAVE), t.GREEN)
    (announce,) = TICKETS.decide(state)
    assert str(announce.key) == "verdict-1.5"
    assert announce.why == (
        "accuracy 0.83, score 0.83; automatic reject: critical issue unresolved;"
        " consider accept, not met: all critical issues resolved; critic: a critic does not approve"
    )


# --- a no stays a no -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("severity", list(Severity))
@pytest.mark.parametrize("names", ["AC-1", "Orders can be paid", "AC-1: Orders can be paid"])
@pytest.mark.parametrize("said", [t.passes, t.fails], ids=["pass", "fail"])
def test_what_is_found_against_a_criterion_is_as_heavy_as_the_criterion(
    said: Callable[[Finding], AgentReported], names: str, severity: Severity
) -> None:
    state = t.told(*t.ticket("c1", said(t.flaw("header", severity, requirement=names, category="functionality"))))
    assert t.decisions(state) == ["ROUTE_BACK"]
    assert t.rule(state, CRITERIA_MET).why == "Orders can be paid: header is wrong"


def test_what_names_no_criterion_of_the_ticket_is_weighed_by_its_severity() -> None:
    assert t.decisions(found(t.flaw("header", requirement="AC-9"))) == ["APPROVE"]


@pytest.mark.parametrize("finding", [t.ALPHA, t.medium("m"), t.flaw("l", Severity.LOW)], ids=["high", "medium", "low"])
def test_no_count_turns_a_critics_no_into_an_approval(finding: Finding) -> None:
    state = t.told(*t.ticket("c1", t.fails(finding, summary="it does not hold\nat all")))
    assert (t.against(state), t.decisions(state)) == ([CRITIC], ["ROUTE_BACK"])
    assert t.rule(state, CRITIC).why == "critic: it does not hold"
    assert t.rule(t.told(*t.ticket("c1", t.fails(finding, summary=""))), CRITIC).why == "critic: it gave no reason"


def test_an_aspect_of_a_judge_that_does_not_pass_keeps_a_ticket_from_being_approved() -> None:
    row = {"requirement": "AC-2", "aspect": "errors", "actual": "2 of 6 told", "pass": False}
    state = t.told(*t.made(), t.passes(), t.GREEN, t.passes(aspects=[row]), t.SAID, judge=True)
    assert (t.against(state), t.decisions(state)) == ([CRITERIA_MET], ["ROUTE_BACK"])


def test_a_session_that_began_before_the_rule_is_told_by_the_rules_it_began_with() -> None:
    for critic in (t.fails(t.medium("m")), t.passes(t.flaw("header", requirement="AC-1"))):
        assert t.decisions(t.told(*t.ticket("c1", critic), firm=False)) == ["APPROVE"]


@pytest.mark.parametrize(
    "failing",
    [t.RED_TESTS, t.check("lint", failures=(t.medium("E501"),)), t.check("lint", passed=False)],
    ids=["a test", "a lesser finding", "without a word"],
)
def test_a_failing_check_is_never_deferrable(failing: CheckResult) -> None:
    state = ran(t.BUILD, failing)
    ticket = t.last(state)
    assert t.rule(state, HIGH_MINOR).why == ""
    assert [place(PLAN, each, ticket.findings, marks_of_checks(ticket)) for each in ticket.findings] == [
        ("must fix: CRITICAL", "a failing check rejects by itself")
    ]


def test_what_breaks_a_criterion_must_be_fixed_whatever_its_severity() -> None:
    finding = t.medium("header", requirement="AC-1")
    assert place(PLAN, finding, (finding,)) == ("must fix: HIGH", "AC-1 is not met")


def test_a_failing_check_does_not_make_several_of_one_high_finding() -> None:
    ticket = t.last(t.told(*t.ticket("c1", t.passes(t.ALPHA), t.RED)))
    marks = marks_of_checks(ticket)
    assert place(PLAN, t.ALPHA, ticket.findings, marks) == ("deferrable: HIGH", "it stands alone and is minor")
