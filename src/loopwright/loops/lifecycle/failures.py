"""What went wrong in a system, what kind of failure it is, and whether it is tried again or a person is needed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import CheckResult, Finding, Severity
from loopwright.kernel.wording import told_with_cause
from loopwright.loops.lifecycle.limits import LifecycleAllowance
from loopwright.loops.lifecycle.matrix import sort_of_check
from loopwright.loops.lifecycle.states import Stage

Sort = Literal[
    "build",
    "types",
    "tests",
    "lint",
    "integration",
    "security",
    "performance",
    "external",
    "logic",
    "skill",
    "review",
    "merge",
    "gate-rejection",
]
Cause = Literal[
    "retries",
    "same-error",
    "circular",
    "total",
    "security",
    "logic",
    "external",
    "ambiguous",
    "crash",
    "skill",
    "prerequisite",
    "gate-timeout",
    "checks",
    "deploy",
    "proposal",
    "target",
    "completion",
    "unbuilt",
    "base",
]
SEVERITIES: Mapping[Sort, Severity] = {
    "build": Severity.HIGH,
    "types": Severity.HIGH,
    "tests": Severity.HIGH,
    "lint": Severity.MEDIUM,
    "integration": Severity.HIGH,
    "security": Severity.HIGH,
    "performance": Severity.MEDIUM,
    "external": Severity.MEDIUM,
    "logic": Severity.CRITICAL,
    "skill": Severity.HIGH,
    "review": Severity.HIGH,
    "merge": Severity.HIGH,
    "gate-rejection": Severity.HIGH,
}
# Whom it is escalated to; a person of the team where nothing else is said.
TARGETS: Mapping[Cause, str] = {"security": "security team", "external": "operations", "ambiguous": "product owner"}
ENGINEER = "human engineer"
BACK_OFFS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds
_NEVER: Mapping[Sort, Cause] = {"security": "security", "logic": "logic", "external": "external"}
_AWAY = re.compile(
    r"connection (?:refused|reset|timed out)|could not resolve host|temporary failure in name resolution"
    r"|name or service not known|network is unreachable|no route to host|getaddrinfo|ECONNREFUSED|ENOTFOUND|EAI_AGAIN"
    r"|ETIMEDOUT|502 bad gateway|503 service unavailable|504 gateway time-?out",
    re.IGNORECASE,
)
_HANGS = ("not-finished",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One time that something did not pass, and what came of it."""

    number: int
    stage: Stage
    sort: Sort
    error: str
    capability: str = ""
    file: str = ""
    line: int = 0
    trace: str = ""
    checks: tuple[str, ...] = ()  # that failed
    findings: tuple[Finding, ...] = ()  # of the open one; what is settled is told by its error
    mark: str = ""  # by which it is known again
    attempt: int = 0  # retries made before
    hypothesis: str = ""
    fix: str = ""
    outcome: str = ""
    resolved: bool = False
    escalated: bool = False
    judged: bool = False  # a skill said no to the work: whoever makes it mends it, before the skill is asked again


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Why only a person can help, what exactly is asked of them, and where it goes on then."""

    cause: Cause
    reason: str
    ask: str
    stage: Stage

    @property
    def target(self) -> str:
        return TARGETS.get(self.cause, ENGINEER)


def signature(sort: Sort, stage: Stage, findings: tuple[Finding, ...]) -> str:
    """The same failure has the same one, whatever the line or the wording of numbers."""
    marks = sorted({finding.fingerprint or finding.rule or finding.issue for finding in findings})
    return hashlib.sha256("\0".join((sort, stage, *marks)).encode(errors="surrogateescape")).hexdigest()[:16]


def sort_of(report: ChecksReported, findings: tuple[Finding, ...]) -> Sort:
    """By the first check that failed, in the order in which they are asked; hanging and being cut off come first."""
    if any(each.rule in _HANGS for each in findings):
        return "logic"
    failed = tuple(result for result in (*report.results, *report.landing) if not result.passed)
    if failed and all(_is_away(result) for result in failed):
        return "external"
    found = [_SORTS.get(sort_of_check(result.name), "tests") for result in failed]
    return min(found, key=_ORDER.index, default="tests")


_SORTS: Mapping[str, Sort] = {
    "build": "build",
    "tests": "tests",
    "lint": "lint",
    "types": "types",
    "complexity": "lint",
    "security": "security",
    "performance": "performance",
    "integration": "integration",
}
_ORDER: tuple[Sort, ...] = ("security", "build", "types", "tests", "integration", "lint", "performance")


def _is_away(result: CheckResult) -> bool:
    """Nothing speaks against the code: what the check needs from elsewhere is not there."""
    texts = [text for each in result.failures for text in (each.issue, each.evidence)] + [result.note]
    is_of_tests = any(each.category == "tests" for each in result.failures)
    return not is_of_tests and any(_AWAY.search(text) for text in texts)


def failed_checks(report: ChecksReported) -> tuple[str, ...]:
    names = (result.name for result in (*report.results, *report.landing) if not result.passed)
    return tuple(dict.fromkeys(names))


def sort_of_findings(findings: tuple[Finding, ...], checks: tuple[str, ...]) -> Sort:
    """Return the sort of what a loop within reports: by the check that each finding is of; else its maker's."""
    found = [sort for each in findings if (sort := _sort_of_finding(each, checks)) is not None]
    return min(found, key=_ORDER.index, default="skill")


def _sort_of_finding(finding: Finding, checks: tuple[str, ...]) -> Sort | None:
    if finding.category == "tests":
        return "tests"
    if finding.category == "static":
        return "lint"
    name = finding.rule.rpartition(" ")[2]
    return _SORTS[sort_of_check(name)] if finding.category == "checks" and name in checks else None


def place_of(finding: Finding) -> tuple[str, int]:
    """Return file and line: its own, or the first that the output of its check names."""
    if finding.file:
        return finding.file, finding.line
    found = _PLACE.search(finding.evidence)
    return (found["file"], int(found["line"])) if found else ("", 0)


_PLACE = re.compile(r"(?m)(?:^|[\s\"(])(?P<file>[\w./-]+\.\w+)(?::|\", line )(?P<line>\d+)\b")


def told_at_place(finding: Finding) -> str:
    """Return the finding in a line, with the place that only its output names."""
    file, line = ("", 0) if finding.file else place_of(finding)
    return f"{file}:{line} - {told_with_cause(finding)}" if file else told_with_cause(finding)


def captured(number: int, stage: Stage, sort: Sort, findings: tuple[Finding, ...]) -> Failure:
    """Message, trace, file and line of what failed, the worst first."""
    first = min(findings, key=lambda each: each.severity.rank, default=None)
    more = f" and {len(findings) - 1} more" if findings[1:] else ""
    file, line = next((place for each in findings if (place := place_of(each))[0]), ("", 0))
    return Failure(
        number=number,
        stage=stage,
        sort=sort,
        error=(told_at_place(first) + more) if first else sort,
        file=file,
        line=line,
        trace=first.evidence if first else "",
        findings=findings,
        mark=signature(sort, stage, findings),
    )


def seen_before(episode: tuple[str, ...], mark: str) -> int:
    """How often in a row it has come up by now."""
    count = 0
    for each in reversed(episode):
        if each != mark:
            break
        count += 1
    return count


def is_circular(episode: tuple[str, ...], mark: str) -> bool:
    """It was gone, and is back: the fix of one thing breaks the other."""
    earlier = episode[: len(episode) - seen_before(episode, mark)]
    return mark in earlier


def escalates(
    failure: Failure, episode: tuple[str, ...], retries: int, total: int, allowance: LifecycleAllowance
) -> tuple[Cause, str] | None:
    """Why no retry is made; None: one is. In the order in which the reasons are tried."""
    if failure.sort in _NEVER:
        return _NEVER[failure.sort], _WHY[_NEVER[failure.sort]]
    if is_circular(episode, failure.mark):
        return "circular", "Circular failure: what was fixed before is back after another fix"
    if seen_before(episode, failure.mark) > allowance.same:
        return "same-error", f"The same failure came up {seen_before(episode, failure.mark)} times in a row"
    if total >= allowance.failures:
        return "total", f"{total} failures in all (at most {allowance.failures})"
    if retries >= allowance.retries:
        return "retries", "Max retries exceeded"
    return None


_WHY: Mapping[Cause, str] = {
    "security": "A security finding requires a human decision",
    "logic": "Something hangs or waits for itself, which is never retried by itself",
    "external": f"An external dependency is unavailable after {len(BACK_OFFS)} back-offs",
}
