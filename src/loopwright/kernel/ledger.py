"""The life of each finding over the attempts: new, open, resolved, reopened.

Only the source that reported a finding can resolve it: a skipped test run says nothing about
test failures, and a review says nothing about them either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from loopwright.kernel.model import Finding, Severity

Source = str  # who judges: "review", "tests", or "engine" for what no judge said


class Standing(StrEnum):
    NEW = "new"
    OPEN = "open"
    RESOLVED = "resolved"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    finding: Finding
    source: Source
    standing: Standing
    first: int  # attempt in which it was first seen
    last: int
    streak: int  # judgements in a row, of its source, in which it was seen


Ledger = tuple[Entry, ...]


def record(ledger: Ledger, source: Source, found: tuple[Finding, ...], attempt: int) -> Ledger:
    """The ledger after one judgement by `source`."""
    worst_last = sorted(found, key=lambda finding: finding.severity.rank, reverse=True)
    seen = {finding.fingerprint: finding for finding in worst_last}
    known = {entry.finding.fingerprint for entry in ledger if entry.source == source}
    kept = tuple(_after(entry, seen, attempt) if entry.source == source else entry for entry in ledger)
    fresh = tuple(
        Entry(finding=finding, source=source, standing=Standing.NEW, first=attempt, last=attempt, streak=1)
        for mark, finding in seen.items()
        if mark not in known
    )
    return kept + fresh


def _after(entry: Entry, seen: dict[str, Finding], attempt: int) -> Entry:
    found = seen.get(entry.finding.fingerprint)
    if found is None:
        return replace(entry, standing=Standing.RESOLVED, streak=0)
    if entry.standing is Standing.RESOLVED:
        # What comes back after it was gone is worse than what never left.
        worse = _graver(found, entry.finding.severity.raised())
        return replace(entry, finding=worse, standing=Standing.REOPENED, last=attempt, streak=1)
    standing = Standing.REOPENED if entry.standing is Standing.REOPENED else Standing.OPEN
    kept = found if standing is Standing.OPEN else _graver(found, entry.finding.severity)
    return replace(entry, finding=kept, standing=standing, last=attempt, streak=entry.streak + 1)


def _graver(found: Finding, severity: Severity) -> Finding:
    """As its judge says, or worse; then it says why."""
    return replace(found, severity=severity, came_back=True) if severity.rank < found.severity.rank else found


def unresolved(ledger: Ledger, source: Source | None = None) -> tuple[Finding, ...]:
    """What is still wrong, worst first."""
    held = [e.finding for e in ledger if e.standing is not Standing.RESOLVED and source in (None, e.source)]
    return tuple(sorted(held, key=lambda finding: finding.severity.rank))


def resolved(ledger: Ledger) -> tuple[Finding, ...]:
    return tuple(entry.finding for entry in ledger if entry.standing is Standing.RESOLVED)


def mended_in(ledger: Ledger, paths: frozenset[str], *sources: Source) -> tuple[Finding, ...]:
    """What these sources found in these files and find there no more, worst first."""
    gone = [e.finding for e in ledger if e.source in sources and e.last and e.standing is Standing.RESOLVED]
    return tuple(sorted((f for f in gone if f.file in paths), key=lambda finding: finding.severity.rank))


def longest_streak(ledger: Ledger, source: Source) -> int:
    return max((entry.streak for entry in ledger if entry.source == source), default=0)
