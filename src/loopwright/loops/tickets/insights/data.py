"""`loop insights --json`: everything that was learned, as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.kernel.wording import moment
from loopwright.loops.tickets.insights.learned import Insights
from loopwright.loops.tickets.insights.patterns import Pattern
from loopwright.loops.tickets.insights.proposals import Proposal
from loopwright.loops.tickets.insights.sentences import because
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.insights.tables import Bin, Persistence, Spread

DEFINITION = (
    "a later ticket session whose title, requirements or context says `defect of TICKET-…`"
    " (or `regression`, `bug`; `in`, `from`) about the approved ticket"
)
_SHOWN = 20  # tickets named as evidence; `occurrences` has them all
_ROWS = 50  # categories, which are whatever an agent calls them
_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedShare:
    share: float
    count: int
    of: int
    interval: tuple[float, ...]  # Wilson's, of 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSpread:
    """How many tickets approvals took."""

    count: int
    mean: float | None
    median: float
    distribution: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSpread:
    count: int
    mean: float | None
    median: float
    distribution: Mapping[str, int]
    by_kind: Mapping[str, TicketSpread]  # of requirement, and by type of cycle (`cycle: …`)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentGap:
    """A category of gaps that persists in more of the escalations than is tolerated, by more than chance."""

    category: str
    share: float  # of the escalations
    evidence: tuple[str, ...]  # tickets that show it, 20 at most
    occurrences: int
    escalations: int
    interval: tuple[float, ...]
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProposal:
    setting: str | None
    change: str
    because: str
    expected: str
    occurrences: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPattern:
    family: str
    subject: str
    side: str
    own: CountedShare
    rest: CountedShare
    threshold: float | None
    p: float
    sentence: str
    occurrences: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleCost:
    usd: float
    estimated: bool  # whether some of it is not what agents said of themselves
    usd_per_approved_ticket: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    category: str
    tickets: int
    gone_with_the_next_ticket: CountedShare
    persists_in_escalations: CountedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceRow:
    sort: str
    gone_with_the_next_ticket: CountedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyTicket:
    ticket: str
    sessions: tuple[str, ...]  # that mend it


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterDefects:
    share: float
    count: int
    of: int
    interval: tuple[float, ...]
    definition: str
    tickets: tuple[FaultyTicket, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBin:
    scores: str
    share: float
    count: int
    of: int
    interval: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    later_defects_by_accuracy: tuple[ScoreBin, ...]
    later_defects_by_score: tuple[ScoreBin, ...]
    next_approval_by_score: tuple[ScoreBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsUntil:
    until: str
    approved: CountedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsDocument:
    cycles: int  # sessions that came to an end or to a person, with a ticket at least
    approved: float  # share of the cycles
    escalated: float  # that ever needed a person; one that was approved afterwards is in both
    iterations_to_approval: ApprovalSpread
    gaps: tuple[PersistentGap, ...]
    proposals: tuple[ShownProposal, ...]
    patterns: tuple[ShownPattern, ...]
    under_way: int
    tickets: int
    approved_after_escalation: CountedShare
    cost: CycleCost
    gap_table: tuple[GapRow, ...]
    guidance: tuple[GuidanceRow, ...]
    later_defects: LaterDefects
    calibration: Calibration
    over_time: tuple[ApprovalsUntil, ...]
    html: str | None = None  # the page that was written


def document(found: Insights, html: str | None = None) -> InsightsDocument:
    by_kind = {kind: TicketSpread(**_spread(each)) for kind, each in found.kinds}
    return InsightsDocument(
        cycles=found.cycles,
        approved=_share(found.approved),
        escalated=_share(found.escalated),
        iterations_to_approval=ApprovalSpread(**_spread(found.spread), by_kind=by_kind),
        gaps=tuple(_gap(pattern) for pattern in found.patterns if pattern.family == "gap"),
        proposals=tuple(map(_proposal, found.proposals)),
        patterns=tuple(map(_pattern, found.patterns)),
        under_way=found.under_way,
        tickets=found.tickets,
        approved_after_escalation=_counted(found.mended),
        cost=CycleCost(
            usd=round(found.cost, 6),
            estimated=found.estimated,
            usd_per_approved_ticket=_rounded(found.cost_per_approved),
        ),
        gap_table=tuple(map(_persistence, found.gaps[:_ROWS])),
        guidance=tuple(
            GuidanceRow(sort=name, gone_with_the_next_ticket=_counted(count)) for name, count in found.guidance
        ),
        later_defects=_defects(found),
        calibration=Calibration(
            later_defects_by_accuracy=_bins(found.by_accuracy),
            later_defects_by_score=_bins(found.by_score),
            next_approval_by_score=_bins(found.foresight),
        ),
        over_time=tuple(ApprovalsUntil(until=moment(at), approved=_counted(count)) for at, count in found.over_time),
        html=html,
    )


def _defects(found: Insights) -> LaterDefects:
    faulty = [each for each in found.approvals if each.defects]
    return LaterDefects(
        **_count(found.defects),
        definition=DEFINITION,
        tickets=tuple(FaultyTicket(ticket=each.ticket.ticket, sessions=each.defects) for each in faulty[:_SHOWN]),
    )


def _gap(pattern: Pattern) -> PersistentGap:
    return PersistentGap(
        category=pattern.subject,
        share=_share(pattern.own),
        evidence=pattern.evidence[:_SHOWN],
        occurrences=pattern.own.hits,
        escalations=pattern.own.total,
        interval=_interval(pattern.own),
        p=pattern.p,
    )


def _pattern(pattern: Pattern) -> ShownPattern:
    return ShownPattern(
        family=pattern.family,
        subject=pattern.subject,
        side=pattern.side,
        own=_counted(pattern.own),
        rest=_counted(pattern.rest),
        threshold=pattern.at or None,
        p=pattern.p,
        sentence=because(pattern),
        occurrences=len(pattern.evidence),
        evidence=pattern.evidence[:_SHOWN],
    )


def _proposal(proposal: Proposal) -> ShownProposal:
    return ShownProposal(
        setting=proposal.setting or None,
        change=proposal.change,
        because=proposal.because,
        expected=proposal.expected,
        occurrences=len(proposal.evidence),
        evidence=proposal.evidence[:_SHOWN],
    )


def _persistence(row: Persistence) -> GapRow:
    return GapRow(
        category=row.category,
        tickets=row.tickets,
        gone_with_the_next_ticket=_counted(row.gone),
        persists_in_escalations=_counted(row.escalations),
    )


def _spread(spread: Spread) -> dict[str, Any]:
    return {
        "count": spread.count,
        "mean": _rounded(spread.mean),
        "median": spread.median,
        "distribution": {str(tickets): count for tickets, count in spread.distribution},
    }


def _bins(bins: tuple[Bin, ...]) -> tuple[ScoreBin, ...]:
    return tuple(ScoreBin(scores=each.label, **_count(each.count)) for each in bins)


def _counted(count: Count) -> CountedShare:
    return CountedShare(**_count(count))


def _count(count: Count) -> dict[str, Any]:
    return {"share": _share(count), "count": count.hits, "of": count.total, "interval": _interval(count)}


def _share(count: Count) -> float:
    return round(count.share, _DIGITS)


def _interval(count: Count) -> tuple[float, ...]:
    return tuple(round(end, _DIGITS) for end in count.interval)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
