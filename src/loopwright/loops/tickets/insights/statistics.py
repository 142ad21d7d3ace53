"""The little statistics that insights need, exact where it can be: small numbers lie, so nothing here approximates.

Several groups are compared step by step: the most extreme one is tested against the rest, and if it stands out it is
set aside, so that one bad group does not make all the others look good. The level is shared out over all groups that
are tested (Bonferroni).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

LEAST = 3  # occurrences that make a pattern; fewer are an anecdote
_Z = 1.959963984540054  # of a two-sided interval of 95 %
_NEVER = 1e-25  # a chance so small that leaving it out changes no figure

Side = Literal["more", "less"]


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened among how many."""

    hits: int
    total: int

    @property
    def share(self) -> float:
        return self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 % for the share."""
        if not self.total:
            return 0.0, 1.0
        n, p, z2 = self.total, self.share, _Z * _Z
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __add__(self, other: Count) -> Count:
        return Count(self.hits + other.hits, self.total + other.total)


NOTHING = Count(0, 0)
Strata = Mapping[str, Count]  # one count for each sort of case, so that only like is compared with like


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that was seen: the groups it belongs to, the sort of case it is, and whether it happened there."""

    groups: frozenset[str]
    hit: bool
    stratum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standout:
    """A group that differs from the rest by more than chance."""

    name: str
    own: Count
    rest: Count
    side: Side
    p: float  # after sharing out over all groups


def binomial_tail(count: Count, expected: float, side: Side) -> float:
    """The chance of a count at least this extreme if the share were `expected`."""
    n = count.total
    span = range(count.hits, n + 1) if side == "more" else range(count.hits + 1)
    return min(1.0, math.fsum(_binomial(n, k, expected) for k in span))


def _binomial(n: int, k: int, p: float) -> float:
    if p in (0.0, 1.0):
        return float(k == n * p)
    return math.exp(_log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p))


def exact_tail(own: Strata, rest: Strata, side: Side) -> float:
    """The chance of as many hits in `own` or more (or fewer) if both had the same share within each stratum.

    With one stratum this is Fisher's test; with several, the exact conditional test of the common odds ratio.
    """
    spread, lowest = [1.0], 0
    for name, count in own.items():
        other = rest.get(name, NOTHING)
        first, chances = _hypergeometric(count, other)
        spread, lowest = _convolved(spread, chances), lowest + first
    seen = sum(count.hits for count in own.values()) - lowest
    tail = spread[max(0, seen) :] if side == "more" else spread[: max(0, seen + 1)]
    return min(1.0, math.fsum(tail))


def _hypergeometric(own: Count, rest: Count) -> tuple[int, list[float]]:
    """The fewest hits that `own` may have, given the margins, and the chance of each number from there on."""
    hits, total = own.hits + rest.hits, own.total + rest.total
    low, high = max(0, hits - rest.total), min(own.total, hits)
    whole = _log_choose(total, own.total)
    chances = {
        k: math.exp(_log_choose(hits, k) + _log_choose(total - hits, own.total - k) - whole)
        for k in range(low, high + 1)
    }
    kept = [k for k, chance in chances.items() if chance > _NEVER]
    return kept[0], [chances[k] for k in range(kept[0], kept[-1] + 1)]


def _convolved(left: list[float], right: list[float]) -> list[float]:
    out = [0.0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            out[i + j] += a * b
    return out


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def standouts(cases: Sequence[Case], sides: tuple[Side, ...], level: float) -> tuple[Standout, ...]:
    """The groups that stand out from the rest, the clearest first. `sides` says in which direction that matters."""
    names = [name for name, seen in _sizes(cases).items() if seen >= LEAST]
    tests = len(names) * len(sides)
    found: list[Standout] = []
    while names:
        best = min((_tested(cases, name, side, tests) for name in names for side in sides), key=_clearest)
        if best.p > level:
            break
        found.append(best)
        names.remove(best.name)
        cases = [case for case in cases if best.name not in case.groups]
    return tuple(each for each in found if _occurrences(each) >= LEAST)


def _sizes(cases: Sequence[Case]) -> dict[str, int]:
    """In the order of their names, so that the same cases always give the same answer."""
    return dict(sorted(Counter(name for case in cases for name in case.groups).items()))


def _tested(cases: Sequence[Case], name: str, side: Side, tests: int) -> Standout:
    own: dict[str, Count] = {}
    rest: dict[str, Count] = {}
    for case in cases:
        side_of = own if name in case.groups else rest
        side_of[case.stratum] = side_of.get(case.stratum, NOTHING) + Count(case.hit, 1)
    p = min(1.0, exact_tail(own, rest, side) * tests)
    return Standout(name=name, own=summed(own), rest=summed(rest), side=side, p=p)


def summed(strata: Strata) -> Count:
    return sum(strata.values(), NOTHING)


def _clearest(found: Standout) -> tuple[float, float]:
    return _rounded(found.p), -abs(found.own.share - found.rest.share)


def _rounded(p: float) -> float:
    """Of two groups that differ only from each other both have the same chance, whatever the arithmetic says."""
    return round(math.log10(max(p, 1e-300)), 6)


def _occurrences(found: Standout) -> int:
    """What was seen often enough to speak of: hits where there are many, misses where there are few."""
    return found.own.hits if found.side == "more" else found.own.total - found.own.hits
