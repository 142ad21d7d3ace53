"""A pattern in one sentence, with its numbers and the size of its sample."""

from __future__ import annotations

from typing import assert_never

from loopwright.loops.tickets.insights.categories import NO_GUIDANCE
from loopwright.loops.tickets.insights.patterns import TOLERATED, Pattern
from loopwright.loops.tickets.insights.statistics import Count

_SMALL = 0.0001


def because(pattern: Pattern) -> str:
    return f"{sentence(pattern)} ({chance(pattern.p)})"


def chance(p: float) -> str:
    """How likely it is that chance alone makes this, corrected for everything that was asked."""
    return "p < 0.0001" if p < _SMALL else f"p = {p:.4f}"


def share(count: Count) -> str:
    """`40 % (12 of 30)`."""
    return f"{count.share:.0%} ({count.hits} of {count.total})"


def sentence(pattern: Pattern) -> str:
    own, rest, subject = share(pattern.own), share(pattern.rest), pattern.subject
    match pattern.family:
        case "kind":
            return f"{own} of the sessions of the kind {subject!r} took more tickets than usual; of the rest, {rest}"
        case "agents":
            return f"{own} of the sessions begun by {subject} took more tickets than usual; of the rest, {rest}"
        case "gap":
            return f"The gap {subject!r} persists in {own} of the escalations, where {TOLERATED:.0%} is tolerated"
        case "guidance":
            works = "works" if pattern.side == "more" else "does not work"
            told = "Giving no guidance" if subject == NO_GUIDANCE else f"Guidance of the sort {subject!r}"
            return f"{told} {works}: the gap was gone with the next ticket in {own}; with other guidance, in {rest}"
        case "score":
            return (
                f"{own} of the approvals with {subject} below {pattern.at:.1f} had a later defect; of the rest, {rest}"
            )
        case "coverage":
            return (
                f"{own} of the approvals with {subject} below {pattern.at:g}% had a later defect; of the rest, {rest}"
            )
        case "severity":
            return f"{own} of the approvals with {subject} had a later defect; of the rest, {rest}"
        case "limit":
            return _of_limit(pattern, own)
        case _:
            assert_never(pattern.family)


def _of_limit(pattern: Pattern, own: str) -> str:
    if pattern.side == "more":
        then = f"at least half of them by ticket {pattern.at:g}"
        return f"{own} of the sessions that a person let go on beyond the limit were approved, {then}"
    return f"{own} of the sessions that needed more than {pattern.at:g} tickets were ever approved"
