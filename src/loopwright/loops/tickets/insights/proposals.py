"""What a person might change because of a pattern: the setting, why, and what to expect. Only a person does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.wording import counted
from loopwright.loops.tickets.insights.categories import NO_GUIDANCE
from loopwright.loops.tickets.insights.cycle import Cycle
from loopwright.loops.tickets.insights.patterns import Pattern
from loopwright.loops.tickets.insights.sentences import because

# The check that would find such gaps before a critic does.
_CHECKS = {
    "security": "security",
    "types": "typecheck",
    "lint": "lint",
    "test coverage": "coverage",
    "performance": "perf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    setting: str  # a key of loop.toml; empty: a matter of how tickets are written, not of a setting
    change: str
    because: str
    expected: str
    evidence: tuple[str, ...]


def proposals(found: tuple[Pattern, ...], cycles: tuple[Cycle, ...]) -> tuple[Proposal, ...]:
    return tuple(_proposal(pattern, cycles) for pattern in found)


def _proposal(pattern: Pattern, cycles: tuple[Cycle, ...]) -> Proposal:
    setting, change = _change(pattern, cycles)
    return Proposal(
        setting=setting,
        change=change,
        because=because(pattern),
        expected=_expected(pattern, cycles),
        evidence=pattern.evidence,
    )


def _change(pattern: Pattern, cycles: tuple[Cycle, ...]) -> tuple[str, str]:
    match pattern.family:
        case "kind":
            return "", f"write smaller tickets, or attach an example, where the kind is {pattern.subject!r}"
        case "gap":
            return _for_gap(pattern.subject)
        case "guidance":
            return "", _for_guidance(pattern)
        case "agents":
            return "roles.creator", f"put another agent first, or another critic beside it, than {pattern.subject}"
        case "score":
            return "roles.judge", f"name a judge agent, to look again at what has {_below(pattern)}"
        case "coverage":
            return "checks.coverage.new_code_floor", f"set it to {pattern.at:g}"
        case "severity":
            return "", "have critics call critical what must not be left open: one high finding alone does not block"
        case "limit":
            return "limits.tickets.max", f"set it to {pattern.at:g}, from {_limit(cycles)}"
        case _:
            assert_never(pattern.family)


def _for_gap(category: str) -> tuple[str, str]:
    check = _CHECKS.get(category, "")
    if check:
        return (
            f"checks.{check}",
            f"have a check {check!r} find it, and say in the ticket what is expected of {category}",
        )
    return "", f"say in the ticket what is expected of {category!r}, with an example"


def _for_guidance(pattern: Pattern) -> str:
    works = pattern.side == "more"
    if pattern.subject == NO_GUIDANCE:
        return "leave guidance out: it makes things worse" if works else "give guidance with every gap"
    named = f"guidance of the sort {pattern.subject!r}"
    return f"give {named} more often" if works else f"give another sort of guidance than {pattern.subject!r}"


def _below(pattern: Pattern) -> str:
    return f"{pattern.subject} below {pattern.at:.1f}"


def _limit(cycles: tuple[Cycle, ...]) -> int:
    """The one most sessions had, and of equals the newest."""
    limits = [cycle.limit for cycle in sorted(cycles, key=lambda cycle: -cycle.at)]
    return max(dict.fromkeys(limits), key=limits.count)


def _expected(pattern: Pattern, cycles: tuple[Cycle, ...]) -> str:
    match pattern.family:
        case "kind" | "agents":
            spared = pattern.own.hits - pattern.own.total * pattern.rest.share
            return f"about {round(spared)} fewer slow sessions of {pattern.own.total}, if they went like the rest"
        case "gap":
            return f"at most {pattern.own.hits} of {pattern.own.total} escalations avoided"
        case "guidance":
            return _from_to("gaps gone with the next ticket", pattern)
        case "score" | "coverage" | "severity":
            held = pattern.own.total - pattern.own.hits
            return (
                f"{counted(pattern.own.total, 'approval')} would have been looked at again: {pattern.own.hits} with a"
                f" later defect, {held} without one"
            )
        case "limit":
            return _of_limit(pattern, cycles)
        case _:
            assert_never(pattern.family)


def _from_to(what: str, pattern: Pattern) -> str:
    worse, better = sorted((pattern.own.share, pattern.rest.share))
    return f"{what}: {better:.0%} instead of {worse:.0%}"


def _of_limit(pattern: Pattern, cycles: tuple[Cycle, ...]) -> str:
    if pattern.side == "more":
        return f"about {pattern.own.share:.0%} of such sessions get approved without a person"
    late = sum(max(0, len(cycle.tries) - int(pattern.at)) for cycle in cycles)
    lost = f"{counted(pattern.own.hits, 'approval')} lost" if pattern.own.hits else "no approval lost"
    return f"{counted(late, 'ticket')} not written, {lost}"
