"""What a ticket is judged by: aspects from checks, criteria and findings, each passed or not, each with a score."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from loopwright.kernel.evidence import Level, describe
from loopwright.kernel.findings import cut
from loopwright.kernel.model import NOT_RUN, CheckResult, Coverage, Finding, Severity
from loopwright.loops.tickets.findings import failures_of, marks_of_checks
from loopwright.loops.tickets.state import (
    CRITIC,
    JUDGE,
    SHOWN,
    Aspect,
    Criterion,
    TicketsState,
    asks_witness,
    criteria_in_force,
    criterion_of,
)
from loopwright.loops.tickets.thresholds import DEFERRABLE, place
from loopwright.loops.weighing import asks_for_witness

UNMAPPED = "Not mapped to a criterion"
_HEAVY = (Severity.CRITICAL, Severity.HIGH)
_AMOUNT = r"(?<!\d)(\d{1,15}(?:\.\d{1,15})?)"  # a longer one is no measure of anything
_OF = re.compile(rf"{_AMOUNT}\s*(?:of|/)\s*{_AMOUNT}(?!\d)")
_NUMBER = re.compile(rf"{_AMOUNT}\s*%")
_MOST_ROWS, _LONGEST = 200, 2000  # what a judge agent may add
_MOST_NAMES = 5
_TITLES = {
    "build": "Build",
    "test": "Tests",
    "lint": "Lint",
    "typecheck": "Types",
    "security": "Security",
    "coverage": "Test Coverage",
}


def graded(expected: str, actual: str, *, passed: bool) -> float:
    """How near the actual came: 2 of 6 is 0.33, 45 % of 80 % is 0.56; without numbers all or nothing."""
    if passed:
        return 1.0
    if (part := _OF.search(actual)) and float(part[2]) > 0:
        return min(1.0, float(part[1]) / float(part[2]))
    wanted, had = _NUMBER.search(expected), _NUMBER.search(actual)
    if wanted and had and float(wanted[1]) > 0:
        return min(1.0, float(had[1]) / float(wanted[1]))
    return 0.0


def accuracy(aspects: tuple[Aspect, ...]) -> float:
    """Passing aspects of all; nothing to judge by is not a success. That a test shows the change is not counted."""
    counted = [aspect for aspect in aspects if aspect.aspect != SHOWN]
    return sum(aspect.passed for aspect in counted) / len(counted) if counted else 0.0


def mean_score(aspects: tuple[Aspect, ...]) -> float:
    return sum(aspect.score for aspect in aspects) / len(aspects) if aspects else 0.0


def engine_aspects(state: TicketsState, findings: tuple[Finding, ...]) -> tuple[Aspect, ...]:
    """What the engine itself has seen: every check, every criterion, every grave finding that maps to none."""
    results = state.ticket.checks or ()
    counted = marks_of_checks(state.ticket)
    checks = tuple(aspect for result in results for aspect in _of_check(result))
    # That no test shows the change is an aspect of its own.
    told = [f for f in findings if not asks_for_witness((f,))]
    loose = [f for f in told if criterion_of(state.plan, f) is None and f.fingerprint not in counted]
    held = [f for f in loose if f.severity in _HEAVY and not (state.plan.firm and _is_deferrable(state, f, findings))]
    grave = tuple(_of_finding(UNMAPPED, finding, passed=False) for finding in held)
    return checks + of_criteria(state, findings) + grave + _of_evidence(state)


def _of_evidence(state: TicketsState) -> tuple[Aspect, ...]:
    seen = state.course.evidence
    if seen is None or not asks_witness(state):
        return ()
    passed = seen.level in (Level.SHOWN, Level.NOT_SHOWN)
    return (_aspect("Evidence", SHOWN, "a test fails without the change", describe(seen), passed=passed),)


def of_criteria(state: TicketsState, findings: tuple[Finding, ...]) -> tuple[Aspect, ...]:
    return tuple(
        aspect for criterion in criteria_in_force(state) for aspect in _of_criterion(state, criterion, findings)
    )


def _is_deferrable(state: TicketsState, finding: Finding, findings: tuple[Finding, ...]) -> bool:
    name, _ = place(state.plan, finding, findings, marks_of_checks(state.ticket))
    return name == DEFERRABLE


def _of_check(result: CheckResult) -> tuple[Aspect, ...]:
    """Without a count of lines there is no aspect of coverage: it is not judged, and not counted."""
    title = _TITLES.get(result.name, result.name.capitalize())
    if result.tests is not None:
        own = (_of_tests(title, result, result.tests),)
        return own + (_floors(_TITLES["coverage"], result.coverage) if result.coverage else ())
    if result.coverage is None:
        return (_of_command(title, result),)
    reach = "; ".join(failure.guidance for failure in result.failures if failure.guidance)
    rows = tuple(row if row.passed else replace(row, guidance=reach) for row in _floors(title, result.coverage))
    short = not all(row.passed for row in rows)
    return rows if result.passed or short else (*rows, _of_command(title, result))


def _of_tests(title: str, result: CheckResult, tests: int) -> Aspect:
    passed = max(0, tests - len(result.failures))
    actual = f"{passed} of {tests} passed" if tests else "no test ran"
    row = _aspect(title, f"{result.name} check", "all tests pass", actual, passed=result.passed and tests > 0)
    return replace(row, guidance=_to_mend(result))


def _of_command(title: str, result: CheckResult) -> Aspect:
    succeeded = "succeeded" if result.ran else NOT_RUN
    actual = succeeded if result.passed else _why_failed(result)
    row = _aspect(title, f"{result.name} check", f"{result.name} succeeds", actual, passed=result.passed)
    return replace(row, guidance=_to_mend(result))


def _floors(title: str, seen: Coverage) -> tuple[Aspect, ...]:
    """All code against its floor, new code against its own; without a floor new code has to be reached at all."""
    rows: list[Aspect] = []
    if seen.floor is not None:
        rows.append(_percent(title, "line coverage", seen.percent, seen.floor))
    if seen.new_total and seen.new_code_floor is not None:
        rows.append(_percent(title, "coverage of new code", seen.new_percent, seen.new_code_floor))
    elif seen.new_total:
        actual = f"{seen.new_covered} of {seen.new_total} new lines covered"
        rows.append(_aspect(title, "new code", "new lines are covered", actual, passed=seen.new_covered > 0))
    return tuple(rows)


def _percent(title: str, what: str, had: float, least: float) -> Aspect:
    return _aspect(title, what, f">= {least:g}% {what}", f"{had:g}% {what}", passed=had >= least)


def _of_criterion(state: TicketsState, criterion: Criterion, findings: tuple[Finding, ...]) -> tuple[Aspect, ...]:
    against = [f for f in findings if criterion_of(state.plan, f) == criterion]
    if not against:
        return (_aspect(criterion.text, criterion.id, criterion.text, "nothing was found against it", passed=True),)
    """What was found against a criterion is as heavy as the criterion itself, whatever its own severity."""
    light = not state.plan.firm
    return tuple(_of_finding(criterion.text, each, passed=light and each.severity not in _HEAVY) for each in against)


def _of_finding(requirement: str, finding: Finding, *, passed: bool) -> Aspect:
    expected = finding.expected or requirement
    actual = finding.actual or finding.issue
    said = _usable(finding.score)
    return Aspect(
        requirement=requirement,
        aspect=finding.rule or finding.issue,
        expected=expected,
        actual=actual,
        passed=passed,
        score=said if said is not None else graded(expected, actual, passed=passed),
        guidance=finding.guidance,
        source=CRITIC,
    )


def agent_aspects(extras: str) -> tuple[Aspect, ...]:
    """What a judge agent adds; what is not of the form is left out."""
    try:
        said = json.loads(extras)
    except ValueError:
        return ()
    rows = said.get("aspects") if isinstance(said, dict) else None
    return tuple(_of_row(row) for row in rows[:_MOST_ROWS] if isinstance(row, dict)) if isinstance(rows, list) else ()


def _of_row(row: dict[str, object]) -> Aspect:
    texts = {name: _text(row.get(name)) for name in ("requirement", "aspect", "expected", "actual", "guidance")}
    passed = row.get("pass") is True
    said = _usable(row.get("score"))
    return Aspect(
        **texts,
        passed=passed,
        score=said if said is not None else graded(texts["expected"], texts["actual"], passed=passed),
        source=JUDGE,
    )


def _text(value: object) -> str:
    """JSON may hold half a character, which no file and no database takes."""
    return cut(value.encode(errors="replace").decode(), _LONGEST) if isinstance(value, str) else ""


def _usable(score: object) -> float | None:
    """A score from 0 to 1; anything else was meant on another scale, and nobody knows which."""
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return None
    return float(score)


def _aspect(requirement: str, aspect: str, expected: str, actual: str, *, passed: bool) -> Aspect:
    score = graded(expected, actual, passed=passed)
    return Aspect(requirement=requirement, aspect=aspect, expected=expected, actual=actual, passed=passed, score=score)


def _why_failed(result: CheckResult) -> str:
    return result.note or failures_of(result)[0].issue.split("\n", 1)[0]


def _to_mend(result: CheckResult) -> str:
    """The guidance of a check that failed: what failed, by name."""
    names = tuple(finding.rule or finding.issue.split("\n", 1)[0] for finding in failures_of(result))
    rest = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"make these pass: {', '.join(names[:_MOST_NAMES])}{rest}" if names else ""
