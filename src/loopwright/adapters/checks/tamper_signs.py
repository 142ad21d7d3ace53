"""Findings about a change by itself: what steers checks and is held back, and product code that reaches into tests."""

from __future__ import annotations

from loopwright.adapters.checks.classes.classifier import NAME_TAKEN
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.reaching import Reach
from loopwright.adapters.checks.runners.asking import counts_by_output
from loopwright.kernel.findings import identify
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.trust import Classed, FileClass

_STEERING = (Judge.RUNNER, Judge.FORGE, Judge.OPENED, Judge.PLANTED)


async def found_in(desk: Desk, commands: tuple[tuple[str, ...], ...], *, judges: frozenset[str]) -> tuple[Finding, ...]:
    """`judges` are files of the base whose content decides."""
    seen = desk.seen
    signs = (_sign(each, is_approved=each.allowed or each in seen.approved) for each in seen.classed if _steers(each))
    by_output = any(counts_by_output(command, desk.texts) for command in commands)
    reach = Reach(source=desk.outfit.source, layout=desk.steering.layout, judges=judges, by_output=by_output)
    return (*signs, *await reach.findings(seen.classed, desk.run))


def _steers(each: Classed) -> bool:
    """Return whether it may change how checks run. A changed file that a check or a person names is only held back."""
    if each.kind is not FileClass.JUDGE_BY_NAME:
        return each.kind is FileClass.JUDGE and each.why.startswith(NAME_TAKEN)
    judge = judge_by_name(each.change.path)
    return judge in _STEERING or (judge is None and each.change.how == "added")


def _sign(each: Classed, *, is_approved: bool) -> Finding:
    """It fails no attempt, for the base's version runs; reviewers and the person at the gate are told."""
    what = "the checks ran without it" if each.change.how == "added" else "the base version was used"
    return identify(
        Finding(
            severity=Severity.LOW if is_approved else Severity.MEDIUM,
            category="tampering",
            rule="steers-checks",
            file=each.change.path,
            issue=f"{each.change.path}: {each.why} ({'a person approved it' if is_approved else what})",
        )
    )
