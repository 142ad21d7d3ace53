"""What a check's report said, in one shape for every format. Hostile code runs next to it: read strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopwright.kernel.findings import bounded, identify
from loopwright.kernel.model import Coverage, Finding, Severity
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible

LARGEST = 64 * 1024 * 1024  # bytes; a report beyond it is refused unread
COVERAGE, COVERAGE_OF_NEW_CODE = "coverage", "coverage-new-code"  # rules of the findings that a floor makes
EVIDENCE = 2000  # characters of a failing test's own text

_OF_EXAMPLE = re.compile(r"^Expected(?::| nothing)\n.*?^Got(?::| nothing)\n.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)

Outcome = Literal["passed", "failed", "skipped"]
WORST: tuple[Outcome, ...] = ("failed", "passed", "skipped")
Exists = Callable[[str], bool]  # whether a relative path is a file of the checkout
ReadLine = Callable[[str, int], str]  # a line of a file of the checkout, empty when there is none


class ReportRefused(ValueError):
    """The report cannot be believed; the message says why in words for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`tests` counts those that really ran: a skipped test says nothing. None: not a format that counts.

    `outcomes` are the tests by id, where ids are known; one id may stand there several times.
    """

    tests: int | None
    failures: tuple[Finding, ...] = ()
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    coverage: Coverage | None = None
    note: str = ""

    def outcome(self, test: str) -> Outcome | None:
        """The worst of all tests with this id."""
        found = {how for known, how in self.outcomes if known == test}
        return next((how for how in WORST if how in found), None)


def join_reports(reports: Sequence[Report]) -> Report | None:
    """Return all that several reports of one run say; None where there are none."""
    if not reports:
        return None
    return Report(
        tests=sum(each.tests or 0 for each in reports),
        failures=tuple(failure for each in reports for failure in each.failures),
        outcomes=tuple(outcome for each in reports for outcome in each.outcomes),
    )


def counted(outcomes: tuple[tuple[str, Outcome], ...]) -> int:
    return sum(how != "skipped" for _, how in outcomes)


def read_bounded(path: Path) -> bytes:
    """The report's bytes. Raises `ReportRefused` when there is none, or one that is too large."""
    try:
        if path.is_symlink() or not path.is_file():
            raise ReportRefused("it wrote no report")
        if path.stat().st_size > LARGEST:
            raise ReportRefused(f"its report is larger than {LARGEST // (1024 * 1024)} MiB")
        return path.read_bytes()
    except OSError as error:
        raise ReportRefused(f"its report cannot be read: {error.strerror}") from error


def short(finding: Finding) -> Finding:
    """The finding with every text bounded, as it goes into the log."""
    return bounded(finding, EVIDENCE)


def failed_test(test: str, *, message: str = "", text: str = "", file: str = "", line: int = 0) -> Finding:
    """The finding of one failing test, known by the test's id."""
    lines = [line for line in (message or text).strip().splitlines() if line.strip()]
    first = visible(lines[0].strip()) if lines else "failed without a message"
    if example := _OF_EXAMPLE.search(text):
        first = one_line(example[0])
    found = Finding(
        severity=Severity.HIGH,
        category="tests",
        rule=test,
        issue=f"{test} - {first}",
        evidence=visible((text or message).strip()),
        file=visible(file),
        line=line,
    )
    return identify(short(found))
