"""`progress.json`: the feedback loop for other programs, in the seed's shape; and the reader that takes one over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from loopwright.errors import ConfigError
from loopwright.kernel.findings import cut, identify
from loopwright.kernel.model import Finding, Severity, Verdict
from loopwright.kernel.shapes import (
    Path,
    Problem,
    choice,
    each_key_once,
    few_digits,
    fitted,
    flag,
    keyed,
    several,
    shown,
    text,
    whole,
)
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import FAILURE, told_in_full
from loopwright.loops.feedback.iterations import (
    CONTINUING,
    PROMISE,
    current_number,
    iteration_status,
    loop_status,
    review_result,
    test_result,
)
from loopwright.loops.feedback.state import FeedbackState, Iteration

_STATUSES = ("in_progress", PROMISE, "escalated", "accepted", "cancelled", "paused")
_PLACE = re.compile(r"(?P<file>[^\s:]+\.\w+)(?::(?P<line>\d{1,9}))? - (?P<issue>.+)", re.DOTALL)
_TEST = re.compile(r"(?P<id>.+?) - (?P<issue>.+)", re.DOTALL)


def render(state: FeedbackState, status: str) -> str:
    data = {
        "feedback_loop": {
            "enabled": True,
            "current_iteration": current_number(state),
            "max_iterations": state.allowance.iterations,
            "status": loop_status(state, status),
            "consecutive_review_failures": state.review_failures,
            "consecutive_test_failures": state.test_failures,
            "iterations": [_iteration(state, index, status) for index in range(len(state.past))],
        }
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _iteration(state: FeedbackState, index: int, status: str) -> dict[str, object]:
    iteration = state.past[index]
    word = iteration_status(state, index, status)
    return {
        "number": iteration.number,
        "implementation": cut(visible(iteration.implementation), FAILURE),
        "review_result": review_result(iteration),
        "test_result": test_result(iteration),
        "review_issues": [told_in_full(finding) for finding in iteration.issues],
        "test_failures": [told_in_full(finding) for finding in iteration.failures],
        **({} if word == CONTINUING else {"status": word}),
    }


# --- what it holds -----------------------------------------------------------------------------------

_TESTS = choice("PASS", "FAIL", "SKIPPED")
_COUNT, _TEXT, _TEXTS = whole(0), text(), several(text(), "a list of texts")
_ITERATION = keyed(
    "an object",
    "number",
    "review_result",
    number=(whole(1), "From 1, without a gap."),
    implementation=(_TEXT, "What the developer said was done."),
    review_result=(choice("PASS", "FAIL"), "The review against the task."),
    test_result=(_TESTS, "SKIPPED when the review failed."),
    review_issues=(_TEXTS, "What the review found."),
    test_failures=(_TEXTS, "What failed in the tests."),
    status=(choice(CONTINUING, *_STATUSES), "Missing while the loop continues after it."),
)
_COUNTED = ("current_iteration", "max_iterations", "consecutive_review_failures", "consecutive_test_failures")
_LOOP = keyed(
    "an object",
    *("status", "iterations", *_COUNTED),
    enabled=(flag(), "Whether there is a feedback loop."),
    current_iteration=(whole(1), "The iteration in progress, else the last one."),
    max_iterations=(whole(1), "The limit in force, with everything granted so far."),
    status=(choice(*_STATUSES), "How the loop stands."),
    consecutive_review_failures=(_COUNT, "Failed reviews in a row."),
    consecutive_test_failures=(_COUNT, "Failed test runs in a row, not counting iterations whose tests were skipped."),
    iterations=(several(_ITERATION, "a list of objects"), "Finished iterations, oldest first."),
)
PROGRESS = keyed(
    "a JSON object with the key feedback_loop",
    "feedback_loop",
    feedback_loop=_LOOP,
    feature_name=(_TEXT, "What is built, where somebody else's file says it."),
)


# --- taking one over ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """Where somebody else's feedback loop stood. The counters are never lower than its iterations show."""

    iterations: tuple[Iteration, ...]
    review_failures: int
    test_failures: int
    max_iterations: int
    status: str
    feature_name: str = ""


def read_progress(text: str, path: str = "progress.json") -> Adopted:
    """Read the seed's own form or a fuller one with other keys around it. Raises `ConfigError` naming the key."""

    def error(at: Path, says: str) -> ConfigError:
        return ConfigError(path, shown(at), says)

    try:
        whole_file = fitted(PROGRESS, json.loads(text, parse_int=few_digits, object_pairs_hook=each_key_once), error)
    except (ValueError, RecursionError) as failure:
        raise ConfigError(path, "", f"expected JSON: {failure}") from failure
    loop = whole_file["feedback_loop"]
    iterations = tuple(map(_read_iteration, loop["iterations"]))
    for problem in _contradictions(loop, len(iterations)):
        raise error(("feedback_loop", *problem.at), problem.says)
    return Adopted(
        iterations=iterations,
        review_failures=max(loop["consecutive_review_failures"], _in_a_row(iterations, "review")),
        test_failures=max(loop["consecutive_test_failures"], _in_a_row(iterations, "tests")),
        max_iterations=loop["max_iterations"],
        status=loop["status"],
        feature_name=whole_file.get("feature_name", ""),
    )


def _contradictions(loop: dict[str, Any], count: int) -> Iterator[Problem]:
    if not loop.get("enabled", True):
        yield Problem("expected true: there is no feedback loop to take over", ("enabled",))
    for index, entry in enumerate(loop["iterations"]):
        at = ("iterations", index)
        if entry["number"] != index + 1:
            says = f"expected {index + 1}: iterations are numbered from 1 without a gap"
            yield Problem(says, (*at, "number"))
        if entry["review_result"] == "PASS" and "test_result" not in entry:
            yield Problem(f"test_result is missing; give it {_TESTS.says}", at)
    if loop["current_iteration"] not in (count, count + 1):
        yield Problem(f"expected the last or the next of {count} iterations", ("current_iteration",))


def _read_iteration(entry: dict[str, Any]) -> Iteration:
    tests = entry.get("test_result", "SKIPPED")
    return Iteration(
        number=entry["number"],
        implementation=entry.get("implementation", ""),
        review=Verdict(entry["review_result"].lower()),
        issues=tuple(_finding(said, "review") for said in entry.get("review_issues", ())),
        tests=None if tests == "SKIPPED" else Verdict(tests.lower()),
        failures=tuple(_finding(said, "tests") for said in entry.get("test_failures", ())),
    )


def _finding(said: str, category: Literal["review", "tests"]) -> Finding:
    """`file:line - issue` and `test id - message` taken apart again; anything else is all issue."""
    rule, file, line, issue = "", "", 0, said
    if found := _PLACE.fullmatch(said):
        file, line, issue = found["file"], int(found["line"] or 0), found["issue"]
    elif category == "tests" and (found := _TEST.fullmatch(said)):
        rule, issue = found["id"], found["issue"]
    named = "tests" if category == "tests" else ""
    return identify(Finding(severity=Severity.HIGH, issue=issue, rule=rule, file=file, line=line, category=named))


def _in_a_row(iterations: tuple[Iteration, ...], kind: Literal["review", "tests"]) -> int:
    """Failures since the last pass. An iteration whose tests were skipped says nothing about them."""
    count = 0
    for iteration in reversed(iterations):
        verdict = iteration.review if kind == "review" else iteration.tests
        if verdict is Verdict.PASS:
            break
        count += verdict is Verdict.FAIL
    return count
