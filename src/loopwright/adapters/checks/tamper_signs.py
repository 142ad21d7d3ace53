"""What a change gives away by itself: signs of cheating, as findings.

A finding on a protected path weighs less, because there the version of the base is the one that
runs, and the gate covers the rest: what is held back takes no part, and fails no attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.configuration import configuration_changed, is_configuration
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.reaching import Reach
from loopwright.adapters.checks.runners.asking import counts_by_output
from loopwright.adapters.checks.shadows import Sign, shadowing
from loopwright.kernel.findings import identify
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import Change, Finding, Severity
from loopwright.kernel.trust import FileClass

_LARGEST_TEXT = 512 * 1024  # bytes read of a changed configuration file
# There is no good reason for one: it fails the attempt unless both runs were made without it, or a person took it.
_NEVER_HONEST = ("path-file", "interpreter-hook", "shadows-stdlib", "shadows-check")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    changes: tuple[Change, ...]
    commands: tuple[tuple[str, ...], ...]  # of all configured checks
    before: Mapping[str, str] = field(default_factory=dict)  # texts of the paths that `telling` names
    after: Mapping[str, str] = field(default_factory=dict)
    guarded: frozenset[str] = frozenset()  # changed or removed protected paths: the base's version ran
    approved: frozenset[str] = frozenset()  # ... unless a person approved the change
    held: frozenset[str] = frozenset()  # paths that neither run has anything of
    product: frozenset[str] = frozenset()  # what a command names of it, it reads or tests


async def found_in(desk: Desk, commands: tuple[tuple[str, ...], ...], *, judges: frozenset[str]) -> tuple[Finding, ...]:
    """`judges` are files of the base whose content decides. Whether tests still look is tried, not read."""
    seen, source, run, classed = desk.seen, desk.outfit.source, desk.run, desk.seen.classed
    changes = tuple(each.change for each in classed if each.kind is not FileClass.TEST)
    product = frozenset(each.change.path for each in classed if each.kind is FileClass.PRODUCT)
    paths = tuple(change.path for change in telling(changes, commands, product))
    bent = tampering(
        Evidence(
            changes=changes,
            commands=commands,
            before=await source.texts(run.base, paths, limit=_LARGEST_TEXT),
            after=await source.texts(run.commit, paths, limit=_LARGEST_TEXT),
            guarded=frozenset(each.change.path for each in classed if each.is_gated or each.allowed or each.put_back),
            approved=frozenset(each.change.path for each in classed if each.allowed or each in seen.approved),
            held=frozenset(each.change.path for each in seen.held if not each.is_judged and not each.is_landed),
            product=product,
        )
    )
    by_output = any(counts_by_output(command, desk.texts) for command in commands)
    reach = Reach(source=source, layout=desk.steering.layout, judges=judges, by_output=by_output)
    return (*bent, *await reach.findings(classed, run))


def telling(
    changes: tuple[Change, ...], commands: tuple[tuple[str, ...], ...], product: frozenset[str] = frozenset()
) -> tuple[Change, ...]:
    """The changes whose text `tampering` wants to see."""
    changed = (change for change in changes if change.how == "changed" and change.path not in product)
    return tuple(change for change in changed if is_configuration(change.path, commands))


def tampering(seen: Evidence) -> tuple[Finding, ...]:
    """Findings, worst first. Those of critical and high severity fail a run."""
    found = {
        (sign.rule, change.path): _finding(sign, change, seen)
        for change in seen.changes
        for sign in _signs(change, seen)
    }
    return tuple(sorted(found.values(), key=lambda finding: (finding.severity.rank, finding.file, finding.rule)))


def _signs(change: Change, seen: Evidence) -> Iterator[Sign]:
    path, before, after = change.path, seen.before.get(change.path), seen.after.get(change.path)
    yield from shadowing(change, seen.commands)
    if telling((change,), seen.commands, seen.product) and (before is None or after is None):
        yield Sign("unreadable", Severity.HIGH, "Is too large, or no file, so that nobody can say what changed")
    elif path not in seen.product and is_configuration(path, seen.commands):
        yield from configuration_changed(change, before or "", after or "", seen.commands)
    if change.how != "removed" and judge_by_name(path) is Judge.OPENED:
        yield Sign("runs-when-opened", Severity.MEDIUM, "Runs code on a person's machine when the folder is opened")


def _finding(sign: Sign, change: Change, seen: Evidence) -> Finding:
    severity, issue = sign.severity, f"{sign.issue}: {change.path}"
    if change.path in seen.approved:
        severity, issue = Severity.LOW, f"{issue} (a person approved it)"
    elif change.path in seen.guarded and severity.rank < Severity.MEDIUM.rank and _runs_without(sign, change, seen):
        what = "the checks ran without it" if change.how == "added" else "the base version was used"
        severity, issue = Severity.MEDIUM, f"{issue} ({what})"
    found = Finding(
        severity=severity,
        category="tampering",
        rule=sign.rule,
        file=change.path,
        issue=issue,
        evidence=sign.evidence,
        guidance=sign.guidance,
    )
    return identify(found)


def _runs_without(sign: Sign, change: Change, seen: Evidence) -> bool:
    return sign.rule not in _NEVER_HONEST or change.path in seen.held
