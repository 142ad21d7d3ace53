import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.errors import ConfigError
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Finding, Severity, Verdict
from loopwright.loops.feedback import progress
from loopwright.loops.feedback.files import scratchpad
from loopwright.loops.feedback.kind import KIND
from loopwright.loops.feedback.progress import Adopted, read_progress
from loopwright.loops.feedback.state import FeedbackState, Iteration
from tests import hostile
from tests.rooms.feedback.stories import (
    BROKEN_BUILD,
    FAILED_REVIEW,
    FAILED_TEST,
    FAILING,
    NO_DOC,
    NO_ORDER,
    STATUS,
    STORIES,
    TWICE,
    answered,
    compliant,
    failing,
    implemented,
    kept,
    landed,
    played,
)

SEED: dict[str, Any] = {
    "feedback_loop": {
        "enabled": True,
        "current_iteration": 2,
        "max_iterations": 5,
        "status": "in_progress",
        "consecutive_review_failures": 0,
        "consecutive_test_failures": 1,
        "iterations": [
            {
                "number": 1,
                "implementation": "Created FilterDropdown component",
                "review_result": "PASS",
                "test_result": "FAIL",
                "test_failures": ["FilterDropdown.test.tsx:45 - missing mock"],
            },
            {
                "number": 2,
                "implementation": "Fixed test mock issue",
                "review_result": "PASS",
                "test_result": "PASS",
                "status": "IMPLEMENTATION_VERIFIED",
            },
        ],
    }
}
REQUIRED = {
    "enabled",
    "current_iteration",
    "max_iterations",
    "status",
    "consecutive_review_failures",
    "consecutive_test_failures",
    "iterations",
}


def changed(*path: str | int, to: object) -> str:
    """The seed's sample with one value changed; `...` takes it out."""
    data: Any = json.loads(json.dumps(SEED))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    if to is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return json.dumps(data)


@pytest.mark.parametrize("name", STORIES)
def test_the_progress_of_every_story(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"texts/progress-{name}.json", progress.render(STORIES[name], STATUS.get(name, "running")))


def test_a_paused_loop_says_so() -> None:
    data = json.loads(progress.render(STORIES["failed-test"], "paused"))["feedback_loop"]
    assert (data["status"], data["current_iteration"]) == ("paused", 3)
    assert [iteration.get("status") for iteration in data["iterations"]] == [None, None]


def test_a_check_without_a_report_tells_the_end_of_its_output() -> None:
    state = played(implemented("x"), kept, compliant, failing(BROKEN_BUILD))
    told = json.loads(progress.render(state, "running"))["feedback_loop"]["iterations"][0]["test_failures"]
    assert told == ["check 'build' failed with exit code 2\nmake all\nexit code 2\nfilter.c:3: error"]


def test_a_very_long_failure_is_cut_and_says_by_how_much() -> None:
    state = played(implemented("x"), kept, compliant, failing(Finding(severity=Severity.HIGH, issue="y" * 5_000)))
    told = json.loads(progress.render(state, "running"))["feedback_loop"]["iterations"][0]["test_failures"]
    assert told == ["y" * 4_096 + " … (904 more characters)"]


@given(state=hostile.states, status=st.sampled_from(["running", "waiting", "paused", "blocked"]))
def test_it_is_always_json_with_every_key_and_nothing_invisible(state: FeedbackState, status: str) -> None:
    text = progress.render(state, status)
    assert hostile.all_harmless(text)
    loop = json.loads(text.encode())["feedback_loop"]
    assert loop.keys() == REQUIRED
    for iteration in loop["iterations"]:
        assert {"number", "implementation", "review_result", "test_result", "test_failures", "review_issues"} <= (
            iteration.keys()
        )
        assert (iteration["review_result"], iteration["test_result"]) in {
            (review, test) for review in ("PASS", "FAIL") for test in ("PASS", "FAIL", "SKIPPED")
        }


@pytest.mark.parametrize("status", ["in_progress", "IMPLEMENTATION_VERIFIED", "escalated", "accepted", "paused"])
def test_the_sample_of_the_seed_is_taken_over(status: str) -> None:
    first = Finding(
        severity=Severity.HIGH, category="tests", file="FilterDropdown.test.tsx", line=45, issue="missing mock"
    )
    assert read_progress(changed("feedback_loop", "status", to=status)) == Adopted(
        iterations=(
            Iteration(
                number=1,
                implementation="Created FilterDropdown component",
                review=Verdict.PASS,
                tests=Verdict.FAIL,
                failures=(identify(first),),
            ),
            Iteration(number=2, implementation="Fixed test mock issue", review=Verdict.PASS, tests=Verdict.PASS),
        ),
        review_failures=0,
        test_failures=1,
        max_iterations=5,
        status=status,
    )


def test_a_fuller_file_is_taken_over_with_its_name() -> None:
    fuller = {"feature_id": "filter_1", "feature_name": "Filter", "phases": {"testing": {}}, "metrics": {}, **SEED}
    assert read_progress(json.dumps(fuller)).feature_name == "Filter"


@pytest.mark.parametrize("name", STORIES)
def test_what_we_write_we_can_take_over(name: str) -> None:
    state, text = STORIES[name], progress.render(STORIES[name], STATUS.get(name, "running"))
    adopted = read_progress(text)
    assert (adopted.review_failures, adopted.test_failures) == (
        max(state.review_failures, 1 if name == "no-result" else 0),
        state.test_failures,
    )
    assert [iteration.number for iteration in adopted.iterations] == [iteration.number for iteration in state.past]


def test_issues_come_back_with_their_place() -> None:
    adopted = read_progress(progress.render(STORIES["failed-test"], "running"))
    issues = adopted.iterations[0].issues
    assert [(found.file, found.line, found.issue) for found in issues] == [
        (NO_ORDER.file, NO_ORDER.line, NO_ORDER.issue),
        ("", 0, NO_DOC.issue),
    ]
    (failure,) = adopted.iterations[1].failures
    assert (failure.rule, failure.issue) == (FAILING.rule, "assert [] == [1] (tests/test_filter.py:7)")


def test_a_failure_without_any_dash_is_all_issue() -> None:
    text = changed("feedback_loop", "iterations", 0, "test_failures", to=["it hangs"])
    (failure,) = read_progress(text).iterations[0].failures
    assert (failure.rule, failure.file, failure.issue) == ("", "", "it hangs")


def test_counters_are_never_lower_than_the_iterations_show() -> None:
    failed = {"review_result": "FAIL", "implementation": "x"}
    data = json.loads(changed("feedback_loop", "consecutive_test_failures", to=0))
    data["feedback_loop"] |= {
        "current_iteration": 5,
        "iterations": [
            {"number": 1, "implementation": "a", "review_result": "PASS", "test_result": "PASS"},
            {"number": 2, "implementation": "a", "review_result": "PASS", "test_result": "FAIL"},
            {"number": 3, **failed},
            {"number": 4, **failed, "test_result": "SKIPPED"},
        ],
    }
    adopted = read_progress(json.dumps(data))
    assert (adopted.review_failures, adopted.test_failures) == (2, 1)


LOOP_KEY = "feedback_loop"
FIRST = (LOOP_KEY, "iterations", 0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "{",
            "progress.json: expected JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ('{"a": 1, "a": 2}', "progress.json: expected JSON: the key 'a' is there twice in one object"),
        ("[]", "progress.json: expected a JSON object with the key feedback_loop, found a list"),
        ("{}", "progress.json: feedback_loop is missing; give it an object"),
        (
            changed(LOOP_KEY, "enabled", to=False),
            "progress.json: feedback_loop.enabled: expected true: there is no feedback loop to take over",
        ),
        (
            changed(LOOP_KEY, "max_iterations", to=True),
            "progress.json: feedback_loop.max_iterations: expected a whole number, at least 1, found true",
        ),
        (
            changed(LOOP_KEY, "consecutive_review_failures", to=-1),
            (
                "progress.json: feedback_loop.consecutive_review_failures: expected a whole number, at least 0,"
                " found the number -1"
            ),
        ),
        (
            changed(LOOP_KEY, "consecutive_test_failures", to=...),
            "progress.json: feedback_loop: consecutive_test_failures is missing; give it a whole number, at least 0",
        ),
        (
            changed(LOOP_KEY, "current_iteration", to=7),
            "progress.json: feedback_loop.current_iteration: expected the last or the next of 2 iterations",
        ),
        (
            changed(LOOP_KEY, "status", to="in_progress | escalated"),
            (
                "progress.json: feedback_loop.status: expected one of"
                " in_progress, IMPLEMENTATION_VERIFIED, escalated, accepted, cancelled, paused,"
                ' found the text "in_progress | escalated"'
            ),
        ),
        (
            changed(LOOP_KEY, "iterations", to=["x"]),
            'progress.json: feedback_loop.iterations[0]: expected an object, found the text "x"',
        ),
        (
            changed(*FIRST, "number", to=2),
            (
                "progress.json: feedback_loop.iterations[0].number: expected 1:"
                " iterations are numbered from 1 without a gap"
            ),
        ),
        (
            changed(*FIRST, "review_result", to=3),
            "progress.json: feedback_loop.iterations[0].review_result: expected one of PASS, FAIL, found the number 3",
        ),
        (
            changed(*FIRST, "test_result", to=...),
            "progress.json: feedback_loop.iterations[0]: test_result is missing; give it one of PASS, FAIL, SKIPPED",
        ),
        (
            changed(*FIRST, "implementation", to=1),
            "progress.json: feedback_loop.iterations[0].implementation: expected text, found the number 1",
        ),
        (
            changed(*FIRST, "test_failures", to="x"),
            'progress.json: feedback_loop.iterations[0].test_failures: expected a list of texts, found the text "x"',
        ),
        (
            changed(*FIRST, "review_issues", to=[1]),
            "progress.json: feedback_loop.iterations[0].review_issues[0]: expected text, found the number 1",
        ),
    ],
)
def test_a_wrong_file_is_refused_naming_the_key(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_progress(text)
    assert str(refused.value) == sentence


def test_json_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^p\.json: expected JSON"):
        read_progress("[" * 100_000, "p.json")


def test_a_number_of_thousands_of_digits_is_refused_in_our_words() -> None:
    with pytest.raises(ConfigError, match="has more than 300 digits"):
        read_progress('{"feedback_loop": ' + "9" * 5000 + "}")


def test_what_was_accepted_is_the_best_iteration_and_the_files_name_that_one() -> None:
    """The last one is worse: it did not even pass its review."""
    state = played(*FAILED_TEST, *FAILED_REVIEW, answered("accept"), landed, params=TWICE)
    first, last = json.loads(progress.render(state, "complete"))["feedback_loop"]["iterations"]
    assert (first["status"], last.get("status")) == ("accepted", None)
    pad = scratchpad("fb-1", state, "complete")
    assert pad.count("- **Status**: ACCEPTED") == 1
    assert pad.index("- **Status**: ACCEPTED") < pad.index("## Iteration 2")
    assert "- **Known Issues Remaining**: 1\n" in pad


def test_who_is_asked_sees_what_is_unresolved() -> None:
    stuck = played(*FAILED_TEST, *FAILED_REVIEW, params=TWICE)
    told = KIND.unresolved(stuck, None)
    assert told == KIND.told_when_stopped(stuck, None)
    assert told[0] == "Unresolved, 3 findings:"
    assert KIND.unresolved(played(*FAILED_TEST), None) == ()
