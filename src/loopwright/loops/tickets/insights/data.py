"""`loop insights --json`: everything that was learned, as one object."""

from __future__ import annotations

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

Data = dict[str, object]


def data(found: Insights) -> Data:
    return {
        "cycles": found.cycles,
        "approved": _share(found.approved),
        "escalated": _share(found.escalated),
        "iterations_to_approval": {**_spread(found.spread), "by_kind": {k: _spread(v) for k, v in found.kinds}},
        "gaps": [_gap(pattern) for pattern in found.patterns if pattern.family == "gap"],
        "proposals": [_proposal(each) for each in found.proposals],
        "patterns": [_pattern(each) for each in found.patterns],
        "under_way": found.under_way,
        "tickets": found.tickets,
        "approved_after_escalation": _count(found.mended),
        "cost": {"usd": round(found.cost, 6), "usd_per_approved_ticket": _rounded(found.cost_per_approved)},
        "gap_table": [_persistence(row) for row in found.gaps[:_ROWS]],
        "guidance": [{"sort": name, "gone_with_the_next_ticket": _count(count)} for name, count in found.guidance],
        "later_defects": _defects(found),
        "calibration": {
            "later_defects_by_accuracy": _bins(found.by_accuracy),
            "later_defects_by_score": _bins(found.by_score),
            "next_approval_by_score": _bins(found.foresight),
        },
        "over_time": [{"until": moment(at), "approved": _count(count)} for at, count in found.over_time],
    }


def _defects(found: Insights) -> Data:
    faulty = [each for each in found.approvals if each.defects]
    return {
        **_count(found.defects),
        "definition": DEFINITION,
        "tickets": [{"ticket": each.ticket.ticket, "sessions": list(each.defects)} for each in faulty[:_SHOWN]],
    }


def _gap(pattern: Pattern) -> Data:
    return {
        "category": pattern.subject,
        "share": _share(pattern.own),
        "evidence": list(pattern.evidence[:_SHOWN]),
        "occurrences": pattern.own.hits,
        "escalations": pattern.own.total,
        "interval": _interval(pattern.own),
        "p": pattern.p,
    }


def _pattern(pattern: Pattern) -> Data:
    return {
        "family": pattern.family,
        "subject": pattern.subject,
        "side": pattern.side,
        "own": _count(pattern.own),
        "rest": _count(pattern.rest),
        "threshold": pattern.at or None,
        "p": pattern.p,
        "sentence": because(pattern),
        "occurrences": len(pattern.evidence),
        "evidence": list(pattern.evidence[:_SHOWN]),
    }


def _proposal(proposal: Proposal) -> Data:
    return {
        "setting": proposal.setting or None,
        "change": proposal.change,
        "because": proposal.because,
        "expected": proposal.expected,
        "occurrences": len(proposal.evidence),
        "evidence": list(proposal.evidence[:_SHOWN]),
    }


def _persistence(row: Persistence) -> Data:
    return {
        "category": row.category,
        "tickets": row.tickets,
        "gone_with_the_next_ticket": _count(row.gone),
        "persists_in_escalations": _count(row.escalations),
    }


def _spread(spread: Spread) -> Data:
    return {
        "count": spread.count,
        "mean": _rounded(spread.mean),
        "median": spread.median,
        "distribution": {str(tickets): count for tickets, count in spread.distribution},
    }


def _bins(bins: tuple[Bin, ...]) -> list[Data]:
    return [{"scores": each.label, **_count(each.count)} for each in bins]


def _count(count: Count) -> Data:
    return {"share": _share(count), "count": count.hits, "of": count.total, "interval": _interval(count)}


def _share(count: Count) -> float:
    return round(count.share, _DIGITS)


def _interval(count: Count) -> list[float]:
    return [round(end, _DIGITS) for end in count.interval]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
