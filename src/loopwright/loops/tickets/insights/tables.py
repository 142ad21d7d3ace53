"""Cycles counted: what was seen, how often, and among how many. No judgement yet; `patterns` has that."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from loopwright.loops.tickets.insights.cycle import Cycle, Try, session_of
from loopwright.loops.tickets.insights.statistics import NOTHING, Count

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bins of scores; the last one is a bin of its own
_MANY = 10  # tickets to one approval
_POINTS, _TO_A_POINT = 12, 5  # of the line of the approval rate over time, at most; and cycles to each, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How many tickets approvals took."""

    count: int = 0
    mean: float = 0.0
    median: float = 0.0
    distribution: tuple[tuple[int, int], ...] = ()  # tickets, and how many approvals took that many

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """The distribution as it is drawn: without holes, and what took very many tickets is one column."""
        seen = dict(self.distribution)
        longest = min(max(seen, default=0), _MANY - 1)
        rare = sum(count for tickets, count in self.distribution if tickets >= _MANY)
        often = ((str(tickets), seen.get(tickets, 0)) for tickets in range(1, longest + 1))
        return (*often, *(((f"{_MANY} or more", rare),) if rare else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Persistence:
    """A category of gaps: where it was seen, and how stubborn it is."""

    category: str
    tickets: int  # in which it was open
    gone: Count  # with the next ticket
    escalations: Count  # in which it persisted, of all
    evidence: tuple[str, ...]  # the tickets with which those escalated


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores from `low` up to the next edge, and what came of them."""

    low: float
    count: Count

    @property
    def label(self) -> str:
        high = next((edge for edge in EDGES if edge > self.low), None)
        return f"{self.low:.1f}" if high is None else f"{self.low:.1f}-{high:.1f}"


@dataclass(frozen=True, slots=True)
class Approval:
    """A ticket that was approved, and whether a later session mends a fault of it."""

    ticket: Try
    defects: tuple[str, ...]  # the later sessions


def spread(runs: Iterable[int]) -> Spread:
    took = tuple(runs)
    if not took:
        return Spread()
    return Spread(
        count=len(took),
        mean=fmean(took),
        median=float(median(took)),
        distribution=tuple(sorted(Counter(took).items())),
    )


def by_kind(cycles: tuple[Cycle, ...]) -> dict[str, Spread]:
    """Iterations to approval for each kind of requirement and each type of cycle."""
    runs: defaultdict[str, list[int]] = defaultdict(list)
    for cycle in cycles:
        for name in kinds_of(cycle):
            runs[name] += cycle.runs
    return {name: spread(found) for name, found in sorted(runs.items())}


def kinds_of(cycle: Cycle) -> tuple[str, ...]:
    return f"cycle: {cycle.cycle_type}", *cycle.kinds


def persistent(cycle: Cycle) -> frozenset[str]:
    """The categories that were open in at least half of an escalated session's tickets, and in two if it has two."""
    last = max(at for at, each in enumerate(cycle.tries) if each.decision == "ESCALATE")
    tried = cycle.tries[: last + 1]
    seen = Counter(name for each in tried for name in each.categories)
    return frozenset(name for name, times in seen.items() if 2 * times >= len(tried) and times >= min(2, len(tried)))


def gap_table(cycles: tuple[Cycle, ...]) -> tuple[Persistence, ...]:
    """Every category, the one in most escalations first."""
    seen = Counter(name for cycle in cycles for each in cycle.tries for name in each.categories)
    gone = counted(
        (name, name not in after.categories)
        for cycle in cycles
        for before, after in cycle.pairs
        for name in before.categories
    )
    escalations = [cycle for cycle in cycles if cycle.escalated]
    stuck = {cycle.session: persistent(cycle) for cycle in escalations}
    rows = (
        Persistence(
            category=name,
            tickets=tickets,
            gone=gone.get(name, NOTHING),
            escalations=Count(sum(name in found for found in stuck.values()), len(escalations)),
            evidence=tuple(_escalated_with(cycle) for cycle in escalations if name in stuck[cycle.session]),
        )
        for name, tickets in seen.items()
    )
    return tuple(sorted(rows, key=lambda row: (-row.escalations.hits, -row.tickets, row.category)))


def _escalated_with(cycle: Cycle) -> str:
    return next(each.ticket for each in reversed(cycle.tries) if each.decision == "ESCALATE")


def counted(cases: Iterable[tuple[str, bool]]) -> dict[str, Count]:
    found: dict[str, Count] = {}
    for name, hit in cases:
        found[name] = found.get(name, NOTHING) + Count(hit, 1)
    return dict(sorted(found.items()))


def guidance_table(cycles: tuple[Cycle, ...]) -> dict[str, Count]:
    """For each sort of guidance, how often the gap was gone with the next ticket."""
    return counted(
        (gap.guidance, gap.category not in after.categories)
        for cycle in cycles
        for before, after in cycle.pairs
        for gap in before.gaps
    )


def approvals(cycles: tuple[Cycle, ...]) -> tuple[Approval, ...]:
    """Every approved ticket of a session that was approved, with the later sessions that mend it, ended or not.

    A session that names a ticket that was not approved itself means the one of that session that was, at last.
    """
    mended: defaultdict[str, list[str]] = defaultdict(list)
    known = {cycle.session: cycle for cycle in cycles}
    for later in cycles:
        for named in later.defect_of:
            cycle = known.get(session_of(named))
            if cycle is not None and cycle.at <= later.at and later.session not in mended[meant(cycle, named)]:
                mended[meant(cycle, named)].append(later.session)
    return tuple(
        Approval(each, tuple(mended.get(each.ticket, ())))
        for cycle in cycles
        if cycle.approved
        for each in cycle.tries
        if each.approved
    )


def meant(cycle: Cycle, named: str) -> str:
    good = [each.ticket for each in cycle.tries if each.approved]
    return named if named in good or not good else good[-1]


def calibration(found: tuple[Approval, ...], score: Callable[[Try], float]) -> tuple[Bin, ...]:
    """Later defects of approved tickets, by their score when they were approved."""
    return binned((score(each.ticket), bool(each.defects)) for each in found)


def foresight(cycles: tuple[Cycle, ...]) -> tuple[Bin, ...]:
    """Approvals of the next ticket, by the score of one that was sent back."""
    return binned((before.score, after.approved) for cycle in cycles for before, after in cycle.pairs)


def binned(cases: Iterable[tuple[float, bool]]) -> tuple[Bin, ...]:
    found: dict[float, Count] = {}
    for score, hit in cases:
        low = max(edge for edge in EDGES if edge <= max(score, 0.0))
        found[low] = found.get(low, NOTHING) + Count(hit, 1)
    return tuple(Bin(low, count) for low, count in sorted(found.items()))


def over_time(cycles: tuple[Cycle, ...]) -> tuple[tuple[float, Count], ...]:
    """The approval rate in blocks of about as many cycles, oldest first, each with the time of its last one."""
    ordered = sorted(cycles, key=lambda cycle: (cycle.at, cycle.session))
    blocks = max(1, min(_POINTS, len(ordered) // _TO_A_POINT))
    cuts = [round(at * len(ordered) / blocks) for at in range(blocks + 1)]
    parts = [ordered[begin:end] for begin, end in pairwise(cuts) if begin < end]
    return tuple((part[-1].at, Count(sum(cycle.approved for cycle in part), len(part))) for part in parts)
