"""What the ticket cycles teach, computed from the log: figures, patterns that stand out, and proposals for settings.

A session is reduced to a `Cycle`; `learned` makes everything else of many of these. Nothing is ever
changed by it: a proposal is a sentence for a person.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.loops.tickets.insights.cycle import Cycle
from loopwright.loops.tickets.insights.patterns import Pattern, patterns
from loopwright.loops.tickets.insights.proposals import Proposal, proposals
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.insights.tables import (
    Approval,
    Bin,
    Persistence,
    Spread,
    approvals,
    by_kind,
    calibration,
    foresight,
    gap_table,
    guidance_table,
    over_time,
    spread,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Insights:
    cycles: int  # sessions that came to an end or to a person, with a ticket at least
    under_way: int
    tickets: int
    approved: Count
    escalated: Count
    mended: Count  # escalated sessions that were approved in the end
    spread: Spread
    kinds: tuple[tuple[str, Spread], ...]
    gaps: tuple[Persistence, ...]
    guidance: tuple[tuple[str, Count], ...]
    cost: float
    estimated: bool  # whether some of the cost is a guess
    approvals: tuple[Approval, ...]
    by_accuracy: tuple[Bin, ...]
    by_score: tuple[Bin, ...]
    foresight: tuple[Bin, ...]
    over_time: tuple[tuple[float, Count], ...]
    patterns: tuple[Pattern, ...] = ()
    proposals: tuple[Proposal, ...] = ()

    @property
    def cost_per_approved(self) -> float | None:
        """All that was spent, on what failed too, for each approved ticket."""
        return self.cost / len(self.approvals) if self.approvals else None

    @property
    def defects(self) -> Count:
        return Count(sum(bool(each.defects) for each in self.approvals), len(self.approvals))


def learned(seen: tuple[Cycle, ...]) -> Insights:
    cycles = tuple(cycle for cycle in seen if cycle.close != "under way" and cycle.tries)
    gaps, good = gap_table(cycles), approvals(seen)
    found = patterns(cycles, gaps, good)
    escalated = [cycle for cycle in cycles if cycle.escalated]
    return Insights(
        cycles=len(cycles),
        under_way=sum(cycle.close == "under way" for cycle in seen),
        tickets=sum(len(cycle.tries) for cycle in cycles),
        approved=Count(sum(cycle.approved for cycle in cycles), len(cycles)),
        escalated=Count(len(escalated), len(cycles)),
        mended=Count(sum(cycle.approved for cycle in escalated), len(escalated)),
        spread=spread(run for cycle in cycles for run in cycle.runs),
        kinds=tuple(by_kind(cycles).items()),
        gaps=gaps,
        guidance=tuple(guidance_table(cycles).items()),
        cost=sum(cycle.cost for cycle in cycles),
        estimated=any(cycle.estimated for cycle in cycles),
        approvals=good,
        by_accuracy=calibration(good, lambda each: each.accuracy),
        by_score=calibration(good, lambda each: each.score),
        foresight=foresight(cycles),
        over_time=over_time(cycles),
        patterns=found,
        proposals=proposals(found, cycles),
    )
