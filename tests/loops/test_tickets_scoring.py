"""Aspects, accuracy and the graded score, and how findings find their criteria."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.codec import decode, encode
from loopwright.kernel.model import CheckResult, Finding
from loopwright.loops.tickets.aspects import UNMAPPED, accuracy, agent_aspects, graded, mean_score
from loopwright.loops.tickets.state import Aspect, Criterion, TicketsState
from tests.loops import tickets as t


def rows(state: TicketsState) -> list[tuple[str, str, bool, float]]:
    return [(each.requirement, each.actual, each.passed, round(each.score, 2)) for each in t.last(state).aspects]


def found(*findings: Finding) -> TicketsState:
    return t.told(*t.ticket("c1", t.passes(*findings)))


def ran(*results: CheckResult) -> TicketsState:
    return t.told(*t.ticket("c1", t.passes(), t.checked(*results)), criteria=())


def an_aspect(*, passed: bool, score: float = 0.0) -> Aspect:
    return Aspect(requirement="r", aspect="a", expected="e", actual="x", passed=passed, score=score)


# --- the two numbers ---------------------------------------------------------------------------------------------


def test_six_of_ten_aspects_give_an_accuracy_of_0_6() -> None:
    aspects = (*(an_aspect(passed=True) for _ in range(6)), *(an_aspect(passed=False) for _ in range(4)))
    assert accuracy(aspects) == 0.6


def test_nothing_to_judge_by_scores_nothing() -> None:
    assert (accuracy(()), mean_score(())) == (0.0, 0.0)


def test_the_machine_counts_six_of_ten() -> None:
    """Two checks and three criteria pass, and one of five more aspects that the judge adds."""
    added = [{"requirement": "r", "aspect": f"a{number}", "pass": number == 0} for number in range(5)]
    state = t.told(*t.made(), t.passes(), t.GREEN, t.fails(t.GRAVE, aspects=added[:4]), t.SAID, judge=True)
    assert len(t.last(state).aspects) == 10
    assert t.last(state).accuracy == 0.6


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (">= 80% line coverage", "45% coverage", 0.56),
        ("Error paths tested", "2 of 6 tested", 0.33),
        ("all tests pass", "4/6 passed", 0.67),
        ("80 % covered", "120 % covered", 1.0),
        ("nothing is left", "0 of 0", 0.0),
        ("0% left", "3% left", 0.0),
        ("it works", "it does not", 0.0),
        ("all of it", f"{'9' * 400} of {'9' * 400}", 0.0),
    ],
)
def test_a_score_says_how_near_it_came(expected: str, actual: str, score: float) -> None:
    assert round(graded(expected, actual, passed=False), 2) == score


def test_what_passes_scores_in_full() -> None:
    assert graded("6 of 6", "2 of 6", passed=True) == 1.0


@given(st.text(), st.text(), st.booleans())
def test_a_score_is_between_0_and_1(expected: str, actual: str, passed: bool) -> None:  # noqa: FBT001 - drawn
    assert 0.0 <= graded(expected, actual, passed=passed) <= 1.0


@given(st.integers(0, 10**400), st.integers(0, 10**400))
def test_no_number_is_too_large_to_score(first: int, second: int) -> None:
    assert 0.0 <= graded(f"{first}%", f"{second}%", passed=False) <= 1.0
    assert 0.0 <= graded("", f"{first} of {second}", passed=False) <= 1.0


# --- aspects of checks -------------------------------------------------------------------------------------------


def test_every_check_is_an_aspect() -> None:
    state = ran(t.BUILD, t.RED_TESTS, t.check("lint", passed=False, note="2 problems"), t.check("mutation"))
    assert rows(state) == [
        ("Build", "succeeded", True, 1.0),
        ("Tests", "5 of 6 passed", False, 0.83),
        ("Lint", "2 problems", False, 0.0),
        ("Mutation", "succeeded", True, 1.0),
    ]
    assert (t.last(state).accuracy, t.last(state).score) == (0.5, 0.7083)


def test_a_failing_check_guides_by_the_names_of_what_failed() -> None:
    broken = tuple(t.flaw(f"t.py::test_{number}", category="tests") for number in range(7))
    state = ran(t.BUILD, t.check("test", tests=9, failures=broken))
    assert t.last(state).aspects[1].guidance == (
        "make these pass: t.py::test_0, t.py::test_1, t.py::test_2, t.py::test_3, t.py::test_4 and 2 more"
    )
    assert t.last(state).aspects[0].guidance == ""


def test_failures_of_a_check_are_counted_in_its_own_aspect_and_not_once_more() -> None:
    broken = tuple(t.flaw(f"t.py::test_{number}", category="tests") for number in range(7))
    state = ran(t.BUILD, t.check("test", tests=9, failures=broken))
    assert [row[0] for row in rows(state)] == ["Build", "Tests"]
    assert len(t.last(state).findings) == 7


def test_no_test_at_all_is_no_passing_aspect() -> None:
    assert rows(ran(t.BUILD, t.check("test", tests=0)))[1] == ("Tests", "no test ran", False, 0.0)


def test_a_check_that_fails_in_silence_says_so() -> None:
    state = ran(t.BUILD, t.check("lint", passed=False))
    assert rows(state)[1] == ("Lint", "The check lint failed: it did not say why", False, 0.0)


def test_the_seeds_coverage_figure() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(45, floor=80.0))
    coverage = t.last(state).aspects[2]
    assert (coverage.requirement, coverage.expected, coverage.actual) == (
        "Test Coverage",
        ">= 80% line coverage",
        "45% line coverage",
    )
    assert round(coverage.score, 2) == 0.56


def test_without_a_coverage_check_coverage_is_left_out() -> None:
    assert [row[0] for row in rows(ran(t.BUILD, t.TESTS))] == ["Build", "Tests"]
    assert t.last(ran(t.BUILD, t.TESTS)).accuracy == 1.0


def test_new_code_is_held_against_its_own_floor() -> None:
    state = ran(t.BUILD, t.TESTS, t.covered(90, floor=80.0, new_covered=3, new_total=6, new_code_floor=100.0))
    assert rows(state)[2:] == [
        ("Test Coverage", "90% line coverage", True, 1.0),
        ("Test Coverage", "50% coverage of new code", False, 0.5),
    ]


def test_without_a_floor_new_code_has_to_be_reached_at_all() -> None:
    assert rows(ran(t.BUILD, t.covered(9, new_covered=0, new_total=6)))[1:] == [
        ("Test Coverage", "0 of 6 new lines covered", False, 0.0)
    ]
    assert rows(ran(t.BUILD, t.covered(9, new_covered=2, new_total=6)))[1:] == [
        ("Test Coverage", "2 of 6 new lines covered", True, 1.0)
    ]


def test_coverage_without_floor_or_new_code_is_not_judged() -> None:
    assert rows(ran(t.BUILD, t.covered(9)))[1:] == []


def test_a_coverage_check_that_fails_though_its_floors_are_reached_is_an_aspect() -> None:
    result = CheckResult(name="coverage", passed=False, note="exit 3", coverage=t.covered(90, floor=80.0).coverage)
    assert rows(ran(t.BUILD, result))[1:] == [
        ("Test Coverage", "90% line coverage", True, 1.0),
        ("Test Coverage", "exit 3", False, 0.0),
    ]


def test_of_a_check_that_was_left_out_nobody_is_told_that_it_passed() -> None:
    result = CheckResult(name="web", passed=True, note="not touched")
    assert rows(ran(t.BUILD, result))[1:] == [("Web", "not run: nothing in its paths changed", True, 1.0)]


def test_a_check_that_counts_tests_and_lines_is_judged_by_both() -> None:
    result = CheckResult(name="test", passed=True, tests=6, coverage=t.covered(45, floor=80.0).coverage)
    assert rows(ran(t.BUILD, result))[1:] == [
        ("Tests", "6 of 6 passed", True, 1.0),
        ("Test Coverage", "45% line coverage", False, 0.56),
    ]
    assert t.against(ran(t.BUILD, result)) == ["tests pass with adequate coverage"]


# --- criteria ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", ["AC-2", " ac-2 ", "Errors are told", "errors  ARE told", "AC-2: Errors are told", "AC-2: errors are told "]
)
def test_a_finding_finds_its_criterion_by_id_or_words(said: str) -> None:
    state = found(t.critical("alpha", requirement=said))
    assert rows(state)[2:] == [
        ("Orders can be paid", "nothing was found against it", True, 1.0),
        ("Errors are told", "alpha is wrong", False, 0.0),
        ("Receipts are sent", "nothing was found against it", True, 1.0),
    ]


@pytest.mark.parametrize("said", ["", "  ", "AC-9", "AC", "told"])
def test_a_finding_that_maps_to_no_criterion_is_shown_as_such(said: str) -> None:
    state = found(t.critical("alpha", requirement=said))
    assert rows(state)[-1] == (UNMAPPED, "alpha is wrong", False, 0.0)
    assert len(rows(state)) == 6


def test_an_empty_criterion_draws_nothing_to_itself() -> None:
    state = t.told(*t.ticket("c1", t.passes(t.GRAVE)), criteria=(Criterion(id="AC-1", text=""),))
    assert rows(state)[-1][0] == UNMAPPED


def test_a_minor_finding_fails_its_criterion_and_one_without_is_no_aspect() -> None:
    state = found(t.medium("alpha", requirement="AC-1"), t.medium("beta"))
    assert rows(state)[2:] == [
        ("Orders can be paid", "alpha is wrong", False, 0.0),
        ("Errors are told", "nothing was found against it", True, 1.0),
        ("Receipts are sent", "nothing was found against it", True, 1.0),
    ]


def test_a_finding_brings_what_was_expected_its_score_and_its_guidance() -> None:
    finding = t.critical(
        "paths", requirement="AC-2", expected="Error paths tested", actual="2 of 6 tested", guidance="test them"
    )
    aspect = t.last(found(finding)).aspects[3]
    assert (aspect.aspect, aspect.expected, aspect.actual, aspect.guidance, aspect.source) == (
        "paths",
        "Error paths tested",
        "2 of 6 tested",
        "test them",
        "critic",
    )
    assert round(aspect.score, 2) == 0.33


def test_two_findings_against_a_criterion_are_two_aspects_of_it() -> None:
    state = found(t.critical("alpha", requirement="AC-1"), t.critical("beta", requirement="AC-1"))
    assert [row[0] for row in rows(state)].count("Orders can be paid") == 2


@pytest.mark.parametrize(("said", "score"), [(0.5, 0.5), (0.0, 0.0), (8.0, 0.33), (-1.0, 0.33), (None, 0.33)])
def test_a_critics_score_counts_only_between_0_and_1(said: float | None, score: float) -> None:
    state = found(t.critical("alpha", requirement="AC-1", actual="2 of 6", score=said))
    assert rows(state)[2] == ("Orders can be paid", "2 of 6", False, score)


# --- what a judge agent adds -------------------------------------------------------------------------------------

ASPECT = {"requirement": "Docs", "aspect": "page", "expected": "a page", "actual": "none", "pass": False, "score": 0.2}


def test_a_judges_aspects_are_added_and_counted() -> None:
    guided = {**ASPECT, "guidance": "write it"}
    state = t.told(*t.made(), t.passes(), t.GREEN, t.passes(aspects=[guided]), t.SAID, judge=True)
    added = Aspect(
        requirement="Docs",
        aspect="page",
        expected="a page",
        actual="none",
        passed=False,
        score=0.2,
        guidance="write it",
        source="judge",
    )
    assert t.last(state).aspects[-1] == added
    assert t.last(state).accuracy == 0.8333


@pytest.mark.parametrize(
    "extras", ["", "[]", "7", "{", "{}", '{"aspects": 3}', '{"aspects": {"a": 1}}', '{"aspects": [1, "x", null]}']
)
def test_what_has_not_the_form_is_left_out(extras: str) -> None:
    assert agent_aspects(extras) == ()


@pytest.mark.parametrize("said", [True, "0.9", 1.5, -0.1, None, float("nan")])
def test_a_judges_score_of_no_use_is_worked_out(said: object) -> None:
    (aspect,) = agent_aspects(json.dumps({"aspects": [{**ASPECT, "actual": "1 of 4", "score": said}]}))
    assert aspect.score == 0.25


@pytest.mark.parametrize("said", ["true", 1, None, "pass"])
def test_only_true_passes(said: object) -> None:
    (aspect,) = agent_aspects(json.dumps({"aspects": [{"pass": said}]}))
    assert (aspect.passed, aspect.requirement, aspect.score) == (False, "", 0.0)


def test_half_a_character_and_other_shapes_do_no_harm() -> None:
    (aspect,) = agent_aspects('{"aspects": [{"requirement": "a\\ud800b", "aspect": {"x": 1}, "actual": 7}]}')
    assert (aspect.requirement, aspect.aspect, aspect.actual) == ("a?b", "", "")
    assert decode(Aspect, encode(aspect)) == aspect


def test_what_a_judge_adds_is_bounded() -> None:
    many = agent_aspects(json.dumps({"aspects": [{"actual": "x" * 9000}] * 900}))
    assert (len(many), many[0].actual) == (200, "x" * 2000 + " … (7000 more characters)")
