"""The thresholds by which a ticket is decided, each line with whether it holds and why.

Automatic reject, any of four: a critical finding is open; tests fail or do not run; the build fails; new code untested.
Strong reject, any of three: several high findings or one that is a risk; architecture violated; a security concern.
Consider accept, all of four: no critical left; high ones minor; tests pass with adequate coverage; the build is clean.
No counting turns a no into a yes: not a critic's, not a judge's, and not a criterion that something was found against.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from loopwright.kernel.model import CheckResult, Coverage, Finding, Severity, Verdict
from loopwright.loops.tickets.state import ACCEPT, Aspect, Critique, Rule, TicketParams, criterion_of

AUTOMATIC, STRONG, JUDGE_AGENT, CRITICS = "automatic reject", "strong reject", "judge agent", "critic"
DEFERRABLE = "deferrable: HIGH"
_SEVERAL = 2
_SHOWN, _LONGEST = 3, 200
_RISKY = ("security", "architect", "data-loss", "data loss", "concurrency", "correctness", "tampering")
_UNTESTED = re.compile(r"\b(?:no|missing|without|lacks?)\b.{0,40}\btests?\b|\buntested\b", re.IGNORECASE)


def weighed(finding: Finding) -> Finding:
    """A security concern and missing tests for new logic are always critical, whatever the critic calls them."""
    if is_security(finding) or _says_untested(finding):
        return replace(finding, severity=Severity.CRITICAL)
    return finding


def is_security(finding: Finding) -> bool:
    return "security" in _kind(finding)


def _says_untested(finding: Finding) -> bool:
    kind = _kind(finding).replace("-", " ")
    about_tests = "test" in kind or "coverage" in kind
    return kind == "missing tests" or (about_tests and _UNTESTED.search(finding.issue) is not None)


def _kind(finding: Finding) -> str:
    return finding.category.strip().casefold()


def rules(
    findings: tuple[Finding, ...],
    checks: tuple[CheckResult, ...],
    judgement: Critique | None = None,
    failing: frozenset[str] = frozenset(),
) -> tuple[Rule, ...]:
    """Every line with its reason: what rejects, what a judge agent says, what has to hold for accepting.

    `failing` are the marks of what checks found: lines of their own judge it, and none of it is ever a minor matter.
    """
    critical = [f for f in findings if f.severity is Severity.CRITICAL]
    high = [f for f in findings if f.severity is Severity.HIGH and f.fingerprint not in failing]
    return (
        *_automatic(critical, checks),
        *_strong(findings, critical, high),
        *_judge(judgement),
        *_accept(critical, high, checks),
    )


def _automatic(critical: list[Finding], checks: tuple[CheckResult, ...]) -> tuple[Rule, ...]:
    return (
        _reject(AUTOMATIC, "critical issue unresolved", _named(critical)),
        _reject(AUTOMATIC, "tests fail or do not run", _tests(checks)),
        _reject(AUTOMATIC, "build fails", _failing(check for check in checks if check.name == "build")),
        _reject(AUTOMATIC, "new code has no test coverage", _untested(checks)),
    )


def _strong(findings: tuple[Finding, ...], critical: list[Finding], high: list[Finding]) -> tuple[Rule, ...]:
    architecture = [f for f in critical + high if "architect" in _kind(f)]
    security = [f for f in findings if is_security(f)]
    return (
        _reject(STRONG, "several high issues, or one with significant risk", _named(high) if _is_heavy(high) else ""),
        _reject(STRONG, "core architecture violated", _named(architecture)),
        _reject(STRONG, "significant security concern", _named(security)),
    )


def _judge(judgement: Critique | None) -> tuple[Rule, ...]:
    """Stricter only: its yes is no line that could make up for another."""
    if judgement is None:
        return ()
    no = judgement.verdict is not Verdict.PASS
    why = (judgement.summary or "it gave no reason") if no else ""
    return (_reject(JUDGE_AGENT, "the judge does not approve", why),)


def _accept(critical: list[Finding], high: list[Finding], checks: tuple[CheckResult, ...]) -> tuple[Rule, ...]:
    tests = _tests(checks) or _untested(checks) or _below(checks)
    unclean = _failing(check for check in checks if not (_counts_tests(check) or _counts_lines(check)))
    return (
        Rule(level=ACCEPT, name="all critical issues resolved", holds=not critical, why=_named(critical)),
        Rule(level=ACCEPT, name="high issues minor or non-blocking", holds=not _is_heavy(high), why=_named(high)),
        Rule(level=ACCEPT, name="tests pass with adequate coverage", holds=not tests, why=tests),
        Rule(level=ACCEPT, name="build succeeds cleanly", holds=not unclean, why=unclean),
    )


def noes(critiques: tuple[Critique, ...], unmet: tuple[Aspect, ...]) -> tuple[Rule, ...]:
    """What no count makes up for: a critic that does not approve, and what a criterion or a judge's aspect lacks."""
    against = [each for each in critiques if each.verdict is not Verdict.PASS]
    why = "; ".join(f"{each.role}: {each.summary.split(chr(10), 1)[0] or 'it gave no reason'}" for each in against)
    lacks = "; ".join(dict.fromkeys(f"{each.requirement}: {each.actual}"[:_LONGEST] for each in unmet))
    return (
        _reject(CRITICS, "a critic does not approve", why),
        Rule(level=ACCEPT, name="every acceptance criterion met", holds=not unmet, why=lacks),
    )


def is_acceptable(found: tuple[Rule, ...]) -> bool:
    return not any(rule.is_against for rule in found)


def is_risky(finding: Finding) -> bool:
    return any(word in _kind(finding) for word in _RISKY)


def _is_heavy(high: list[Finding]) -> bool:
    return len(high) >= _SEVERAL or any(map(is_risky, high))


def place(
    plan: TicketParams, finding: Finding, findings: tuple[Finding, ...], failing: frozenset[str] = frozenset()
) -> tuple[str, str]:
    """Where a finding stands in the route back, and why. `failing` are the marks of what checks found."""
    if finding.severity is Severity.CRITICAL:
        return "must fix: CRITICAL", "a critical issue is never left open"
    if finding.fingerprint in failing:
        return "must fix: CRITICAL", "a failing check rejects by itself"
    if plan.firm and (criterion := criterion_of(plan, finding)) is not None:
        return "must fix: HIGH", f"{criterion.id} is not met"
    if finding.severity is not Severity.HIGH:
        return "deferred: MEDIUM", "it does not keep the work from being used"
    if is_risky(finding):
        return "must fix: HIGH", f"{finding.category} is a significant risk"
    if sum(each.severity is Severity.HIGH and each.fingerprint not in failing for each in findings) >= _SEVERAL:
        return "must fix: HIGH", "there are several"
    return DEFERRABLE, "it stands alone and is minor"


def _reject(level: str, name: str, why: str) -> Rule:
    return Rule(level=level, name=name, holds=bool(why), why=why)


def _named(findings: list[Finding]) -> str:
    rest = f"; and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
    return "; ".join(_in_short(finding) for finding in findings[:_SHOWN]) + rest


def _in_short(finding: Finding) -> str:
    words = (finding.issue or finding.rule).split("\n", 1)[0].strip()
    return words[:160] or "a finding without words"


def _failing(checks: Iterable[CheckResult]) -> str:
    return "; ".join(f"{check.name}: {check.note or 'failed'}" for check in checks if not check.passed)


def _counts_tests(check: CheckResult) -> bool:
    return check.name == "test" or check.tests is not None


def _counts_lines(check: CheckResult) -> bool:
    return check.name == "coverage" or check.coverage is not None


def _tests(checks: tuple[CheckResult, ...]) -> str:
    """Why the tests do not count as passing; where no check is a test, the build has to stand for it."""
    if not checks:
        return "no check gave a result"
    silent = [check.name for check in checks if check.tests == 0]
    if silent:
        return f"no test ran ({', '.join(silent)})"
    return _failing(check for check in checks if _counts_tests(check))


def _untested(checks: tuple[CheckResult, ...]) -> str:
    seen = [check.coverage for check in checks if check.coverage is not None]
    bare = [each for each in seen if each.new_total and not each.new_covered]
    return "; ".join(f"none of {each.new_total} new lines is covered" for each in bare)


def _below(checks: tuple[CheckResult, ...]) -> str:
    """Floors that are not reached, or else why a check of coverage failed."""
    counted = [check for check in checks if _counts_lines(check)]
    short = [text for check in counted if check.coverage for text in _shortfalls(check.coverage)]
    return "; ".join(short) or _failing(counted)


def _shortfalls(seen: Coverage) -> tuple[str, ...]:
    rows = (
        (seen.percent, seen.floor, "line coverage"),
        (seen.new_percent, seen.new_code_floor, "coverage of new code"),
    )
    return tuple(
        f"{had:g}% {what}, {least:g}% asked for" for had, least, what in rows if least is not None and had < least
    )
