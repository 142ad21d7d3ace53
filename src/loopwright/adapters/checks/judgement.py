"""From what a run did to whether it passed. Pure: exit code and report both have a say, and either can fail it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.checks.coverage_report import FileCoverage
from loopwright.adapters.checks.reports import COVERAGE, Report
from loopwright.adapters.checks.single_test import is_pytest
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.model import Blob, Coverage, Finding, Severity

TAIL_LINES = 40
TAIL_BYTES = 4096
MOST_FAILURES = 50  # kept of one check; the rest is counted
MOST_SUSPECTS = 5  # more failing tests than this are no accident


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of one command. `report` is None when there is none that can be believed; `refused` says why."""

    how: Literal["exited", "wall", "gone"]
    exit_code: int | None
    signal: int | None = None
    seconds: float = 0.0
    report: Report | None = None
    lines: tuple[FileCoverage, ...] = ()  # of a coverage report
    refused: str = ""
    tail: str = ""  # the last lines of the output, visible
    output: Blob = Blob("")

    @property
    def finished(self) -> bool:
        return self.how == "exited" and self.exit_code is not None

    @property
    def coverage(self) -> Coverage | None:
        return self.report.coverage if self.report else None

    def outcome(self, test: str) -> str | None:
        return self.report.outcome(test) if self.report else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What the base gives to be measured by. `tests` or `percent` None: the base has no count."""

    tests: int | None = None
    percent: float | None = None  # of the lines that its tests run
    failing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJudgement:
    passed: bool
    failures: tuple[Finding, ...] = ()
    known: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    note: str = ""

    @property
    def forgiven(self) -> bool:
        return self.passed and bool(self.known or self.flaky)


def mark(finding: Finding) -> str:
    """What a failure is known by between base and candidate: a test by its id, the rest by fingerprint."""
    return finding.rule if finding.category == "tests" else finding.fingerprint


def failures(spec: CheckSettings, ran: Ran) -> tuple[Finding, ...]:
    """Every failure of a run, on its own: nothing forgiven yet."""
    found = ran.report.failures if ran.report else ()
    if ran.how != "exited":
        return (*found, _engine(spec, "not-finished", f"check {spec.name!r} failed: {_ending(spec, ran)}", ran))
    if ran.refused:
        found = (_engine(spec, "no-report", f"check {spec.name!r}: {ran.refused}", ran),)
    elif spec.report == "junit" and ran.report is not None and ran.report.tests == 0:
        found = (*found, _engine(spec, "no-tests", f"check {spec.name!r} ran no test at all", ran))
    if _ended_badly(spec, ran) or (ran.exit_code != 0 and not found):
        found = (*found, _engine(spec, spec.name, f"check {spec.name!r} failed: {_ending(spec, ran)}", ran))
    return found


def needs_base(spec: CheckSettings, ran: Ran) -> bool:
    """A report that counts is always compared with the base; `baseline` only matters once something failed."""
    return spec.report == "junit" or (spec.baseline and bool(failures(spec, ran)))


def _ended_badly(spec: CheckSettings, ran: Ran) -> bool:
    """Whether it ended in a way that failing tests do not explain, so that forgiving them forgives too much."""
    if spec.report == "coverage":
        return ran.exit_code != 0  # such a report says nothing of tests that fail
    return ran.exit_code is None or (is_pytest(spec.run) and ran.exit_code not in (0, 1))


def judge(spec: CheckSettings, ran: Ran, standard: Standard, flaky: tuple[str, ...] = ()) -> CheckJudgement:
    """The verdict. `flaky` are ids of tests that were proven so."""
    found = failures(spec, ran)
    known = tuple(
        mark(f) for f in found if spec.baseline and mark(f) in standard.failing and _forgivable(spec, ran, standard, f)
    )
    forgiven = {*known, *(flaky if spec.flaky == "warn" else ())}
    left = tuple(finding for finding in found if mark(finding) not in forgiven)
    if fewer := _fewer(spec, ran, standard):
        left = (*left, fewer)
    rest = len(left) - MOST_FAILURES
    return CheckJudgement(
        passed=not left,
        failures=left[:MOST_FAILURES],
        known=known,
        flaky=flaky,
        note=f"{rest} more failures are not shown" if rest > 0 else "",
    )


def suspects(spec: CheckSettings, ran: Ran, standard: Standard) -> tuple[str, ...]:
    """Failing tests that may be flaky. None when anything else went wrong too, or too much did."""
    if spec.report == "coverage":
        return ()
    left = judge(spec, ran, standard).failures
    tests = tuple(finding.rule for finding in left if finding.category == "tests")
    return tests if len(tests) == len(left) <= MOST_SUSPECTS else ()


def _forgivable(spec: CheckSettings, ran: Ran, standard: Standard, finding: Finding) -> bool:
    """A base without a report does not excuse a candidate without one, nor one below the floor a worse one.

    Code that was new on the base, once, excuses nothing that is new now.
    """
    if finding.category == "tests" and ran.coverage is not None:
        return finding.rule == COVERAGE and standard.percent is not None and ran.coverage.percent >= standard.percent
    return finding.category != "checks" or finding.rule == spec.name


def _fewer(spec: CheckSettings, ran: Ran, standard: Standard) -> Finding | None:
    """A finding when fewer tests ran than on the base: tests that vanish are no success."""
    tests = ran.report.tests if ran.report else None
    if tests is None or standard.tests is None or tests >= standard.tests:
        return None
    issue = f"check {spec.name!r} ran {tests} tests, {standard.tests} on the base"
    return identify(Finding(severity=Severity.HIGH, category="checks", rule=f"fewer-tests {spec.name}", issue=issue))


def _engine(spec: CheckSettings, rule: str, issue: str, ran: Ran) -> Finding:
    """A failure that the engine states itself: the command, how it ended and the end of its output."""
    text = clipped(f"{' '.join(spec.run)}\n{_ending(spec, ran)}\n{ran.tail}")
    found = Finding(
        severity=Severity.HIGH,
        category="checks",
        rule=rule if rule == spec.name else f"{rule} {spec.name}",
        issue=issue,
        evidence=text,
    )
    return identify(found, ran.tail)


def _ending(spec: CheckSettings, ran: Ran) -> str:
    command = f"`{' '.join(spec.run)}`"
    if ran.how == "wall":
        return f"{command} was stopped after {spec.timeout:g} s"
    if ran.how == "gone":
        return f"{command} cannot start: the candidate has no {spec.run[0]}"
    if ran.signal is not None:
        return f"{command} was killed by signal {ran.signal}"
    return f"{command} ended with exit code {ran.exit_code}"


def clipped(text: str) -> str:
    """At most 4 KiB, the beginning with the command and as much of the end as fits."""
    data = text.encode()
    if len(data) <= TAIL_BYTES:
        return text
    head, gap = data[:512], b"\n...\n"
    return (head + gap + data[-(TAIL_BYTES - len(head) - len(gap)) :]).decode("utf-8", "ignore")


def last_lines(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-TAIL_LINES:])
