"""What the feedback loop makes of a change that no test shows."""

from dataclasses import replace

import pytest

from loopwright.kernel.actions import AwaitGate, Integrate, RunAgent
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Evidence, Level, WeakenedTest
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.gates import PROTECTED, UNSHOWN
from loopwright.kernel.model import Finding, Tree, Verdict
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Station
from loopwright.loops.feedback.closing import sentence
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState, Iteration
from tests.loops import feedback as f
from tests.loops import verified as v

GUARDED = replace(f.GREEN, lands=Tree("t"), evidence=Evidence(level=Level.GUARDED, idle_tests=("t::idle",)))


def played(*reports: ChecksReported, merge: bool = False) -> FeedbackState:
    params = replace(f.params(), trust=Trust(in_force=True), merge=merge, target="refs/heads/main")
    state = f.play(FEEDBACK.start(params), f.GREEN)
    for number, report in enumerate(reports, start=1):
        saved = replace(f.saved(f"c{number}"), tree=Tree(f"c{number}"))
        state = f.play(state, f.DONE, saved, f.passes(), report)
    return state


def test_the_maker_is_asked_once_for_a_test_and_no_failure_is_counted() -> None:
    state = played(GUARDED)
    assert [each.rule for each in state.past[-1].failures] == ["no-witness"]
    assert "t::idle" in state.past[-1].failures[0].issue
    assert (state.test_failures, f.wanted(state, RunAgent).role) == (0, "developer")
    assert sentence(state.past[-1]).endswith("tests passed, but none fails without the change")


def test_the_second_time_a_branch_of_its_own_is_left_as_it_is() -> None:
    assert f.wanted(played(GUARDED, GUARDED), Integrate).target == ""


def test_the_second_time_a_merge_waits_for_a_person() -> None:
    state = played(GUARDED, replace(GUARDED, evidence=Evidence(level=Level.GUARDED)), merge=True)
    assert (state.course.station, [each.gate for each in state.course.open_gates]) == (Station.GATE, [UNSHOWN])
    assert "--keeps-behaviour" in f.wanted(state, AwaitGate).why


UNTESTED = replace(GUARDED, evidence=Evidence(level=Level.UNTESTED), canary=v.MISSED)


@pytest.mark.parametrize("merge", [True, False])
def test_an_untested_change_that_is_only_told_waits_where_it_is_merged(*, merge: bool) -> None:
    told = replace(UNTESTED, canary=replace(v.MISSED, rule="warn"))
    assert [each.rule for each in played(told).past[-1].failures] == ["untested-change"]
    state = played(told, told, merge=merge)
    assert [each.gate for each in state.course.open_gates] == ([UNSHOWN] if merge else [])


def test_a_mutation_check_that_is_off_asks_for_nothing() -> None:
    silent = replace(UNTESTED, canary=replace(v.MISSED, rule="off"), evidence=Evidence(level=Level.NOT_SHOWN))
    assert f.wanted(played(silent, merge=True), Integrate).target == "refs/heads/main"


def test_tests_that_are_held_back_are_asked_about_before_a_change_that_no_test_shows() -> None:
    weakened = (WeakenedTest(file="tests/t.py", id="tests/t.py::test_pickle", how="skipped"),)
    report = replace(GUARDED, held=v.BENT, weakened=weakened)
    asked = played(report, merge=True)
    assert [each.rule for each in asked.past[-1].failures] == ["no-witness"]
    assert "test_pickle is skipped" in asked.past[-1].failures[0].issue
    state = played(report, report, merge=True)
    assert (state.course.station, [each.gate for each in state.course.open_gates]) == (Station.GATE, [PROTECTED])


def test_a_test_of_what_landed_before_is_not_noted_as_the_candidates() -> None:
    red = f.red(f.FAILURE)
    report = replace(red, landing=red.results, findings=(engine_finding("needs-its-own-tests", "alone it fails"),))
    assert played(report).course.red_tests == ()


_WEAK = engine_finding("weak", "No check counts tests.")
_NEEDS_APPROVAL = engine_finding("needs-approval", "t::old is not run any more")


@pytest.mark.parametrize(
    ("failures", "told"),
    [
        ((_WEAK,), "not accepted: No check counts tests"),
        ((_NEEDS_APPROVAL,), "not accepted: t::old is not run any more"),
        ((_NEEDS_APPROVAL, _WEAK), "not accepted: No check counts tests (and 1 other finding)"),
        ((f.FAILURE, _WEAK), "tests failed with 1 failure"),
    ],
)
def test_what_the_engine_finds_is_not_told_as_a_failure_of_tests(failures: tuple[Finding, ...], told: str) -> None:
    failed = Iteration(number=1, review=Verdict.PASS, tests=Verdict.FAIL, failures=failures)
    assert sentence(failed).endswith(f"review passed, {told}")
