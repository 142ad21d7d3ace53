"""Findings that no judge made: what the engine saw, and what is wrong with a tree as its checks tell it."""

from __future__ import annotations

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.findings import identify
from loopwright.kernel.model import CheckResult, Finding, Severity

_BLOCKING = (Severity.CRITICAL, Severity.HIGH)


def engine_finding(rule: str, issue: str, *, severity: Severity = Severity.HIGH, file: str = "") -> Finding:
    return identify(Finding(severity=severity, rule=rule, issue=issue, file=file, category="engine"))


def conflict_finding(path: str, other: str) -> Finding:
    return engine_finding("merge-conflict", f"{path} conflicts with {other}", file=path)


def faults_of(report: ChecksReported, tree: str = "") -> tuple[Finding, ...]:
    """Nothing only where every check passed and nothing gives the change away. A tree that nothing judged is not good.

    `tree` says which one it is, where that is not plain.
    """
    runs = (*report.results, *report.landing)
    found = (fault for each in runs if not each.passed for fault in _failures(each, tree))
    failed = tuple({fault.fingerprint: fault for fault in found}.values())
    blocking = tuple(identify(each) for each in report.findings if each.severity in _BLOCKING)
    unjudged = () if report.results else (engine_finding("no-result", f"No check gave a result{tree}"),)
    return failed + blocking + unjudged


def _failures(result: CheckResult, tree: str) -> tuple[Finding, ...]:
    """A check that fails without saying why is a failure of that name."""
    why = f"The check {result.name} failed{tree}: {result.note or 'it did not say why'}"
    return tuple(identify(each) for each in result.failures) or (engine_finding(f"check-{result.name}", why),)


def names_of_faults(report: ChecksReported, faults: tuple[Finding, ...] = ()) -> str:
    """`faults` are named where everything passed and yet something speaks against it."""
    failed = dict.fromkeys(result.name for result in (*report.results, *report.landing) if not result.passed)
    blocking = (finding.rule for finding in report.findings if finding.severity in _BLOCKING)
    return ", ".join((*failed, *blocking) or dict.fromkeys(fault.rule for fault in faults)) or "no check ran"
