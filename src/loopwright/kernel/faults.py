"""Findings that no judge made: what the engine saw, and what is wrong with a tree as its checks tell it."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.findings import identify
from loopwright.kernel.model import CheckResult, Finding, Severity, demand_rule, is_forbidden
from loopwright.kernel.wording import join_names

KEPT = "test-kept"
_NAMED = 5
_BLOCKING = (Severity.CRITICAL, Severity.HIGH)


def engine_finding(rule: str, issue: str, *, severity: Severity = Severity.HIGH, file: str = "") -> Finding:
    return identify(Finding(severity=severity, rule=rule, issue=issue, file=file, category="engine"))


def conflict_finding(path: str, other: str) -> Finding:
    return engine_finding("merge-conflict", f"{path} conflicts with {other}", file=path)


def faults_of(report: ChecksReported, tree: str = "") -> tuple[Finding, ...]:
    """Nothing only where every check and every demand passed and nothing gives the change away. A tree that nothing
    judged is not good.

    `tree` says which one it is, where that is not plain.
    """
    runs = (*report.results, *report.landing)
    found = [fault for each in runs if not each.passed for fault in _failures(each, tree)]
    found += [fault for each in report.also if not each.passed for fault in unmet(each, tree)]
    failed = tuple({fault.fingerprint: fault for fault in found}.values())
    blocking = tuple(identify(each) for each in report.findings if each.severity in _BLOCKING)
    unjudged = () if report.results else (engine_finding("no-result", f"No check gave a result{tree}"),)
    found_wrong = failed + blocking + unjudged
    return found_wrong + _put_back(report) if found_wrong else ()


def _put_back(report: ChecksReported) -> tuple[Finding, ...]:
    """What fails may be a test that was changed: whoever changed it has to know that this did not count."""
    if not report.kept:
        return ()
    paths = join_names(report.kept, _NAMED)
    told = (
        f"The change to {paths} was put back: it came with an earlier part of the same work and stays as it landed,"
        " unless a person allows the change. Make the code pass as it is."
    )
    return (engine_finding(KEPT, told, severity=Severity.MEDIUM),)


def _failures(result: CheckResult, tree: str) -> tuple[Finding, ...]:
    """A check that fails without saying why is a failure of that name."""
    why = f"The check {result.name} failed{tree}: {result.note or 'it did not say why'}"
    return tuple(identify(each) for each in result.failures) or (engine_finding(f"check-{result.name}", why),)


def unmet(demand: CheckResult, tree: str = "") -> tuple[Finding, ...]:
    """Whoever reads it is to know which task, criterion or mustNot it is about."""
    rule = demand_rule(demand.name)
    unsaid = engine_finding(rule, f"{rule} failed{tree}: {demand.note or 'it did not say why'}")
    return tuple(identify(replace(each, requirement=demand.name)) for each in demand.failures or (unsaid,))


def is_only_unmet(report: ChecksReported) -> bool:
    """Whether demands failed, and nothing else speaks against the change: no check, and nothing that must not be."""
    unmet = [each.name for each in report.also if not each.passed]
    return bool(unmet) and not any(map(is_forbidden, unmet)) and not faults_of(replace(report, also=()))


def names_of_faults(report: ChecksReported, faults: tuple[Finding, ...] = ()) -> str:
    """`faults` are named where everything passed and yet something speaks against it."""
    failed = dict.fromkeys(result.name for result in (*report.results, *report.landing) if not result.passed)
    failed |= dict.fromkeys(demand_rule(demand.name) for demand in report.also if not demand.passed)
    blocking = (finding.rule for finding in report.findings if finding.severity in _BLOCKING)
    return ", ".join((*failed, *blocking) or dict.fromkeys(fault.rule for fault in faults)) or "no check ran"
