"""`progress.json`: the feedback loop for other programs, in the seed's shape; and the reader that takes one over."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.errors import ConfigError
from loopwright.kernel.findings import cut, identify
from loopwright.kernel.model import Finding, Severity, Verdict
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


@dataclass(frozen=True, slots=True)
class _Reader:
    """One object of the file, with the path to it for the messages."""

    data: Mapping[str, object]
    file: str
    key: str

    def wrong(self, name: str, expected: str) -> ConfigError:
        return ConfigError(self.file, f"{self.key}.{name}".strip("."), expected)

    def number(self, name: str, least: int) -> int:
        value = self.data.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(name, f"expected a whole number of at least {least}")
        return value

    def text(self, name: str) -> str:
        value = self.data.get(name, "")
        if not isinstance(value, str):
            raise self.wrong(name, "expected text")
        return value

    def choice(self, name: str, allowed: tuple[str, ...], missing: str | None = None) -> str:
        value = self.data.get(name, missing)
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(name, f"expected one of {', '.join(allowed)}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.data.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(name, "expected a list of texts")
        return tuple(value)

    def inside(self, name: str) -> _Reader:
        value = self.data.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "expected an object")
        return _Reader(value, self.file, f"{self.key}.{name}".strip("."))

    def each(self, name: str) -> tuple[_Reader, ...]:
        value = self.data.get(name)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(name, "expected a list of objects")
        return tuple(_Reader(item, self.file, f"{self.key}.{name}[{index}]") for index, item in enumerate(value))


def read_progress(text: str, path: str = "progress.json") -> Adopted:
    """Read the seed's own form or a fuller one with other keys around it. Raises `ConfigError` naming the key."""
    whole = _object(text, path)
    loop = whole.inside("feedback_loop")
    if loop.data.get("enabled", True) is not True:
        raise loop.wrong("enabled", "expected true: there is no feedback loop to take over")
    entries = loop.each("iterations")
    iterations = tuple(_read_iteration(entry, number) for number, entry in enumerate(entries, start=1))
    if loop.number("current_iteration", 1) not in (len(iterations), len(iterations) + 1):
        raise loop.wrong("current_iteration", f"expected the last or the next of {len(iterations)} iterations")
    return Adopted(
        iterations=iterations,
        review_failures=max(loop.number("consecutive_review_failures", 0), _in_a_row(iterations, "review")),
        test_failures=max(loop.number("consecutive_test_failures", 0), _in_a_row(iterations, "tests")),
        max_iterations=loop.number("max_iterations", 1),
        status=loop.choice("status", _STATUSES),
        feature_name=whole.text("feature_name"),
    )


def _object(text: str, path: str) -> _Reader:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(path, "", f"expected JSON: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(path, "", "expected a JSON object with the key feedback_loop")
    return _Reader(data, path, "")


def _read_iteration(entry: _Reader, number: int) -> Iteration:
    if entry.number("number", 1) != number:
        raise entry.wrong("number", f"expected {number}: iterations are numbered from 1 without a gap")
    passed_review = entry.choice("review_result", ("PASS", "FAIL")) == "PASS"
    tests = entry.choice("test_result", ("PASS", "FAIL", "SKIPPED"), None if passed_review else "SKIPPED")
    return Iteration(
        number=number,
        implementation=entry.text("implementation"),
        review=Verdict.PASS if passed_review else Verdict.FAIL,
        issues=tuple(_finding(said, "review") for said in entry.texts("review_issues")),
        tests=None if tests == "SKIPPED" else Verdict(tests.lower()),
        failures=tuple(_finding(said, "tests") for said in entry.texts("test_failures")),
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
