"""What stands out in many cycles, and nothing that chance explains as well.

Each family of questions has an equal part of one level of 5 %, and within a family it is shared out again over all
that is asked. So with no pattern at all, at most one report in twenty names one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from loopwright.loops.tickets.insights.cycle import Cycle, Try
from loopwright.loops.tickets.insights.statistics import (
    LEAST,
    Case,
    Count,
    Side,
    Standout,
    binomial_tail,
    exact_tail,
    standouts,
)
from loopwright.loops.tickets.insights.tables import EDGES, Approval, Persistence, kinds_of

Family = Literal["kind", "gap", "guidance", "agents", "score", "coverage", "severity", "limit"]
FAMILIES = 8
LEVEL = 0.05 / FAMILIES
TOLERATED = 0.2  # share of escalations that a category of gaps may persist in
HOPELESS = 0.1  # share of sessions that late tickets bring to approval, below which they are not worth their cost
EVEN = 0.5
_PERCENT = (50.0, 60.0, 70.0, 80.0, 90.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Something that is so more often, or less often, than chance explains."""

    family: Family
    subject: str
    own: Count
    rest: Count  # what it was compared with
    p: float
    side: Side = "more"
    at: float = 0.0  # the threshold, where there is one
    evidence: tuple[str, ...] = ()  # tickets


def patterns(
    cycles: tuple[Cycle, ...], gaps: tuple[Persistence, ...], good: tuple[Approval, ...]
) -> tuple[Pattern, ...]:
    # A session that was cancelled before it came to a person says nothing about how hard it was.
    ran = tuple(cycle for cycle in cycles if cycle.close != "cancelled" or cycle.escalated)
    return (
        *_kinds(ran),
        *_gaps(gaps),
        *_guidance(cycles),
        *_agents(ran),
        *_scores(good),
        *_coverage(good),
        *_severity(good),
        *_more_tickets(ran),
        *_fewer_tickets(ran),
    )


# --- what takes long ----------------------------------------------------------------------------


def usual(cycles: tuple[Cycle, ...]) -> float:
    """How many tickets an approval usually takes."""
    return median([run for cycle in cycles if cycle.approved for run in cycle.runs] or [0])


def is_slow(cycle: Cycle, as_usual: float) -> bool:
    """It took more than usual, or was never approved: leaving those out would make the hardest look easy."""
    return not cycle.approved or max(cycle.runs, default=0) > as_usual


def _kinds(cycles: tuple[Cycle, ...]) -> Iterable[Pattern]:
    return _slow("kind", cycles, [Case(groups=frozenset(kinds_of(cycle)), hit=False) for cycle in cycles])


def _agents(cycles: tuple[Cycle, ...]) -> Iterable[Pattern]:
    """By who began the session; cycles of one type are compared with each other only."""
    known = tuple(cycle for cycle in cycles if cycle.tries[0].pair)
    pairs = [Case(groups=frozenset({cycle.tries[0].pair}), hit=False, stratum=cycle.cycle_type) for cycle in known]
    return _slow("agents", known, pairs)


def _slow(family: Family, cycles: tuple[Cycle, ...], cases: list[Case]) -> Iterable[Pattern]:
    """The groups with more slow sessions than the rest; each case is that of the cycle in its place."""
    as_usual = usual(cycles)
    seen = [replace(case, hit=is_slow(cycle, as_usual)) for case, cycle in zip(cases, cycles, strict=True)]
    for found in standouts(seen, ("more",), LEVEL):
        slow = (cycle for case, cycle in zip(seen, cycles, strict=True) if case.hit and found.name in case.groups)
        yield _told(family, found, tuple(cycle.tries[-1].ticket for cycle in slow))


# --- gaps and guidance --------------------------------------------------------------------------


def _gaps(gaps: tuple[Persistence, ...]) -> Iterable[Pattern]:
    asked = [row for row in gaps if row.tickets >= LEAST]
    for row in asked:
        p = min(1.0, binomial_tail(row.escalations, TOLERATED, "more") * len(asked))
        if p <= LEVEL and row.escalations.hits >= LEAST:
            yield Pattern(
                family="gap",
                subject=row.category,
                own=row.escalations,
                rest=_others(gaps, row),
                p=p,
                evidence=row.evidence,
            )


def _others(gaps: tuple[Persistence, ...], row: Persistence) -> Count:
    return sum((each.escalations for each in gaps if each != row), Count(0, 0))


def _guidance(cycles: tuple[Cycle, ...]) -> Iterable[Pattern]:
    """Whether a gap was gone with the next ticket, by the sort of guidance, among gaps of the same category."""
    given = [
        (before.ticket, Case(groups=frozenset({gap.guidance}), hit=gone, stratum=gap.category))
        for cycle in cycles
        for before, after in cycle.pairs
        for gap in before.gaps
        for gone in (gap.category not in after.categories,)
    ]
    for found in standouts([case for _, case in given], ("more", "less"), LEVEL):
        shows = found.side == "more"
        shown = (ticket for ticket, case in given if found.name in case.groups and case.hit is shows)
        yield _told("guidance", found, tuple(dict.fromkeys(shown)))


def _told(family: Family, found: Standout, evidence: tuple[str, ...]) -> Pattern:
    return Pattern(
        family=family,
        subject=found.name,
        own=found.own,
        rest=found.rest,
        p=found.p,
        side=found.side,
        evidence=evidence,
    )


# --- later defects ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Below:
    """A threshold to try: approvals below it against those that reach it."""

    family: Family
    subject: str
    measure: Callable[[Try], float | None]
    at: float


def _scores(good: tuple[Approval, ...]) -> Iterable[Pattern]:
    measures: tuple[tuple[str, Callable[[Try], float]], ...] = (
        ("accuracy", lambda each: each.accuracy),
        ("score", lambda each: each.score),
    )
    return _clearest(
        good, [_Below(family="score", subject=name, measure=of, at=edge) for name, of in measures for edge in EDGES[1:]]
    )


def _coverage(good: tuple[Approval, ...]) -> Iterable[Pattern]:
    subject = "coverage of new code"
    return _clearest(
        good,
        [_Below(family="coverage", subject=subject, measure=lambda each: each.new_coverage, at=at) for at in _PERCENT],
    )


def _severity(good: tuple[Approval, ...]) -> Iterable[Pattern]:
    subject = "an open high finding"
    return _clearest(
        good, [_Below(family="severity", subject=subject, measure=lambda each: float(not each.open_high), at=1.0)]
    )


def _clearest(good: tuple[Approval, ...], tried: list[_Below]) -> Iterable[Pattern]:
    """The threshold that tells good approvals from bad ones best, if any does."""
    found = [pattern for each in tried if (pattern := _split(good, each, len(tried))) is not None]
    best = min(found, key=lambda pattern: (pattern.p, pattern.rest.share - pattern.own.share), default=None)
    if best is not None and best.p <= LEVEL and best.own.hits >= LEAST:
        yield best


def _split(good: tuple[Approval, ...], below: _Below, tests: int) -> Pattern | None:
    measured = [(value, each) for each in good if (value := below.measure(each.ticket)) is not None]
    low = [each for value, each in measured if value < below.at]
    own, rest = _defects(low), _defects([each for value, each in measured if value >= below.at])
    if not own.total or not rest.total:
        return None
    return Pattern(
        family=below.family,
        subject=below.subject,
        own=own,
        rest=rest,
        p=min(1.0, exact_tail({"": own}, {"": rest}, "more") * tests),
        at=below.at,
        evidence=tuple(each.ticket.ticket for each in low if each.defects),
    )


def _defects(found: list[Approval]) -> Count:
    return Count(sum(bool(each.defects) for each in found), len(found))


# --- the limit ----------------------------------------------------------------------------------


def _more_tickets(cycles: tuple[Cycle, ...]) -> Iterable[Pattern]:
    """Whether most sessions that a person let go on beyond the limit were approved after all, with no other help."""
    went_on = [cycle for cycle in cycles if set(cycle.answers) == {"continue"} and len(cycle.tries) > cycle.limit]
    approved = [cycle for cycle in went_on if cycle.approved]
    own = Count(len(approved), len(went_on))
    p = min(1.0, binomial_tail(own, EVEN, "more") * 2)
    if approved and p <= LEVEL:
        yield Pattern(
            family="limit",
            subject="more tickets",
            own=own,
            rest=Count(0, 0),
            p=p,
            at=float(math.ceil(median(len(cycle.tries) for cycle in approved))),
            evidence=tuple(cycle.tries[-1].ticket for cycle in approved),
        )


def _fewer_tickets(cycles: tuple[Cycle, ...]) -> Iterable[Pattern]:
    """The first ticket from which on hardly any session gets approved any more."""
    longest = max((len(cycle.tries) for cycle in cycles), default=0)
    for number in range(2, longest + 1):
        reached = [cycle for cycle in cycles if len(cycle.tries) >= number]
        late = [cycle for cycle in reached if cycle.approved]
        own = Count(len(late), len(reached))
        p = min(1.0, binomial_tail(own, HOPELESS, "less") * 2 * (longest - 1))
        if p <= LEVEL:
            yield Pattern(
                family="limit",
                subject="fewer tickets",
                own=own,
                rest=Count(0, 0),
                p=p,
                side="less",
                at=float(number - 1),
                evidence=tuple(cycle.tries[-1].ticket for cycle in reached if not cycle.approved),
            )
            return
