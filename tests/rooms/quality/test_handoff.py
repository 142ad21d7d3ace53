from copy import deepcopy
from typing import Any

import pytest

from loopwright.kernel.model import Severity
from loopwright.kernel.shapes import Path
from loopwright.loops.quality import handoff
from loopwright.loops.quality.handoff import initial, letter, seed_severity, severity_of
from loopwright.loops.quality.handoff_rules import PHASES
from tests.rooms.story_files import LEAK, SLOW, SUMMARIES, Data, entry, fits_schema, forms_of_sample, story

FORMS = forms_of_sample("handoff")


def problems(data: object) -> tuple[tuple[Path, str], ...]:
    return tuple((problem.at, problem.says) for problem in handoff.problems(data))


# Words


def test_severities_have_their_own_words() -> None:
    words = {Severity.CRITICAL: "P0", Severity.HIGH: "P1", Severity.MEDIUM: "P2", Severity.LOW: "P3"}
    assert {severity: seed_severity(severity) for severity in Severity} == words
    assert {word: severity_of(word) for word in words.values()} == {word: severity for severity, word in words.items()}


def test_a_dimension_is_a_known_letter_or_nothing() -> None:
    assert [letter(word) for word in ("A", "n", "", "O", "AB", "security")] == ["A", "N", "", "", "", ""]


# What a handoff may be


def test_a_new_handoff_has_a_story_and_nothing_else() -> None:
    assert initial("ST-001", "large") == {
        "story_id": "ST-001",
        "tier": "large",
        "current_phase": "pending",
        "completed_phases": [],
        "important_decisions": [],
        "quality_findings": [],
        "memory_captured": False,
    }
    assert problems(initial("ST-001")) == ()
    assert fits_schema("handoff", initial("ST-001"))
    assert [initial("a")["tier"], initial("a", "huge")["tier"]] == ["small", "small"]


@pytest.mark.parametrize("data", FORMS)
def test_every_form_of_the_sample_is_a_handoff(data: Data) -> None:
    assert problems(data) == ()


def test_what_other_tools_add_and_keys_without_a_value_are_no_problem() -> None:
    data = FORMS[0] | {
        "sprint": {"id": 3},
        "plan_summary": None,
        "test_summary": {"mood": "red"},
        "quality_findings": None,
    }
    assert problems(data) == ()
    assert fits_schema("handoff", data)


PLACES: list[tuple[tuple[str | int, ...], object, str]] = [
    (("story_id",), 7, "expected text that is not empty, found the number 7"),
    (("story_id",), "", "expected text that is not empty, found an empty text"),
    (("tier",), "huge", 'expected one of trivial, small, medium, large, found the text "huge"'),
    (
        ("current_phase",),
        "done",
        'expected one of pending, plan, tests, code, quality, complete, failed, found the text "done"',
    ),
    (("completed_phases",), "plan", 'expected a list, found the text "plan"'),
    (("completed_phases", 0), "test", 'expected one of plan, tests, code, quality, found the text "test"'),
    (("skipped_phases", 0), 1, "expected one of plan, tests, code, quality, found the number 1"),
    (("plan_summary",), [], "expected a table of keys, found a list"),
    (("plan_summary", "components"), {}, "expected a list, found a table of keys"),
    (("plan_summary", "components", 0, "name"), 1, "expected text, found the number 1"),
    (("plan_summary", "components", 0, "file"), 1, "expected text, found the number 1"),
    (("plan_summary", "components", 0, "responsibility"), 1, "expected text, found the number 1"),
    (("plan_summary", "test_plan", "test_count"), -1, "expected a whole number, at least 0, found the number -1"),
    (
        ("plan_summary", "test_plan", "test_types", 0),
        "smoke",
        'expected one of unit, integration, contract, found the text "smoke"',
    ),
    (("plan_summary", "test_plan", "mocks_needed", 0), None, "expected text, found nothing"),
    (("plan_summary", "test_plan", "edge_cases", 1), True, "expected text, found true"),
    (("plan_summary", "implementation_order"), "a", 'expected a list, found the text "a"'),
    (("plan_summary", "patterns_applied", 0, "pattern"), 1, "expected text, found the number 1"),
    (("plan_summary", "patterns_applied", 0, "location"), 1, "expected text, found the number 1"),
    (("plan_summary", "patterns_applied", 0, "guidance"), [], "expected text, found a list"),
    (
        ("plan_summary", "patterns_applied", 0, "source"),
        "book",
        'expected one of decision, analysis, principle, design-doc, found the text "book"',
    ),
    (("plan_summary", "scope_risks", 0, "risk"), 1, "expected text, found the number 1"),
    (
        ("plan_summary", "scope_risks", 0, "likelihood"),
        "none",
        'expected one of low, medium, high, found the text "none"',
    ),
    (("plan_summary", "scope_risks", 0, "prevention"), 1, "expected text, found the number 1"),
    (("test_summary", "all_tests_red"), "yes", 'expected true or false, found the text "yes"'),
    (("test_summary", "test_count"), 1.5, "expected a whole number, at least 0, found the number 1.5"),
    (("test_summary", "test_files", 0), 1, "expected text, found the number 1"),
    (("code_summary", "all_tests_green"), 1, "expected true or false, found the number 1"),
    (("code_summary", "coverage"), 101, "expected a whole number, at most 100, found the number 101"),
    (("code_summary", "files_modified"), 1, "expected a list, found the number 1"),
    (("code_summary", "deviations", 0, "change"), 1, "expected text, found the number 1"),
    (("code_summary", "deviations", 0, "justification"), 1, "expected text, found the number 1"),
    (("important_decisions", 0, "category"), 1, "expected text, found the number 1"),
    (("important_decisions", 0, "title"), 1, "expected text, found the number 1"),
    (("important_decisions", 0, "summary"), 1, "expected text, found the number 1"),
    (("important_decisions", 0, "guidance"), [], "expected a list of 1 to 5, found none"),
    (("important_decisions", 0, "guidance"), ["a"] * 6, "expected at most 5 entries, found 6"),
    (("quality_findings", 0), "a", 'expected a table of keys, found the text "a"'),
    (("quality_findings", 0, "severity"), "high", 'expected one of P0, P1, P2, P3, found the text "high"'),
    (
        ("quality_findings", 0, "dimension"),
        "O",
        'expected one of nothing, A, B, C, D, E, F, G, H, I, J, K, L, M, N, found the text "O"',
    ),
    (
        ("quality_findings", 0, "gate"),
        "tests",
        'expected one of plan, test, code, quality, design, story, found the text "tests"',
    ),
    (("quality_findings", 0, "issue"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "file"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "line"), "12", 'expected a whole number, at least 0, found the text "12"'),
    (("quality_findings", 0, "resolved"), "no", 'expected true or false, found the text "no"'),
    (("quality_findings", 0, "check_id"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "evidence"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "guidance"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "category"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "id"), 1, "expected text, found the number 1"),
    (("quality_findings", 0, "deferred"), 1, "expected true or false, found the number 1"),
    (("quality_findings", 0, "accepted"), 1, "expected true or false, found the number 1"),
    (("memory_captured",), "true", 'expected true or false, found the text "true"'),
]


@pytest.mark.parametrize(("path", "value", "says"), PLACES)
def test_a_wrong_value_is_told_with_its_place(path: tuple[str | int, ...], value: object, says: str) -> None:
    data: Any = deepcopy(FORMS[0])
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    assert problems(data) == ((path, says),)
    assert not fits_schema("handoff", data)


@pytest.mark.parametrize("key", ["story_id", "current_phase", "completed_phases"])
def test_a_handoff_says_whose_it_is_and_where_it_stands(key: str) -> None:
    data = {name: value for name, value in initial("a").items() if name != key}
    ((at, says),) = problems(data)
    assert (at, says.partition(";")[0]) == ((), f"{key} is missing")
    assert not fits_schema("handoff", data)


@pytest.mark.parametrize("key", ["severity", "gate", "issue"])
def test_a_finding_says_what_is_wrong_how_bad_and_who_found_it(key: str) -> None:
    finding = {name: value for name, value in entry(LEAK, "code").items() if name != key}
    ((at, says),) = problems(story(quality_findings=[finding]))
    assert (at, says.partition(";")[0]) == (("quality_findings", 0), f"{key} is missing")
    assert not fits_schema("handoff", story(quality_findings=[finding]))


@pytest.mark.parametrize("data", [None, [], "a"])
def test_what_is_no_mapping_is_no_handoff(data: object) -> None:
    assert [at for at, _ in problems(data)] == [()]


# What contradicts itself


@pytest.mark.parametrize(
    ("phases", "index"),
    [
        (["tests"], 0),
        (["plan", "code"], 1),
        (["plan", "plan"], 1),
        ([*PHASES, "quality"], 4),
        (["plan", "tests", "quality"], 2),
    ],
)
def test_completed_phases_have_no_gap(phases: list[str], index: int) -> None:
    says = (
        "has to follow the order plan, tests, code, quality without a gap;"
        " a skipped phase is listed here and in skipped_phases"
    )
    assert problems(story(completed_phases=phases)) == ((("completed_phases", index), says),)
    assert not fits_schema("handoff", story(completed_phases=phases))


@pytest.mark.parametrize("count", range(5))
def test_completed_phases_may_end_anywhere(count: int) -> None:
    phases = list(PHASES[:count])
    assert problems(story(completed_phases=phases, skipped_phases=phases)) == ()


def test_a_skipped_phase_is_completed_too() -> None:
    says = "tests is skipped, so completed_phases has to list it too"
    assert problems(story(completed_phases=["plan"], skipped_phases=["plan", "tests"])) == (
        (("skipped_phases", 1), says),
    )


DENIALS = (
    (("plan_summary", "test_plan", "test_count"), "is 0, yet completed_phases has plan"),
    (("test_summary", "all_tests_red"), "is false, yet completed_phases has tests"),
    (("code_summary", "all_tests_green"), "is false, yet completed_phases has code"),
)


def test_a_phase_that_the_data_denies_is_not_completed() -> None:
    assert problems(story(**SUMMARIES)) == ()
    assert problems(story(completed_phases=list(PHASES), **SUMMARIES)) == DENIALS
    skipped = story(completed_phases=list(PHASES), skipped_phases=["plan", "code"], **SUMMARIES)
    assert problems(skipped) == DENIALS[1:2]
    assert problems(skipped | {"completed_phases": ["plan"], "skipped_phases": []}) == DENIALS[:1]


def test_a_trivial_story_needs_no_tests_before_its_code() -> None:
    assert problems(story(tier="trivial", completed_phases=list(PHASES), **SUMMARIES)) == DENIALS[2:]


def test_a_complete_story_has_no_open_p0_and_its_memory_kept() -> None:
    findings = [entry(LEAK, "code"), entry(SLOW, "code"), entry(LEAK, "test", resolved=True)]
    del findings[0]["resolved"]
    data = story(current_phase="complete", quality_findings=findings)
    p0 = (("quality_findings", 0), "a P0 is unresolved, so current_phase cannot be complete")
    assert problems(data) == ((("memory_captured",), "has to be true when current_phase is complete"), p0)
    assert problems(data | {"memory_captured": True}) == (p0,)
    assert problems(data | {"current_phase": "quality"}) == ()
    assert problems(data | {"memory_captured": True, "quality_findings": findings[1:]}) == ()
