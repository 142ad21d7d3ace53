"""Money as whole millionths of a dollar, so that sums are exact, and the rule of the budget.

A reservation must fit, and something must be left for a run that reserves nothing; a cost that was incurred is always
recorded, even over the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from loopwright.errors import OverBudget
from loopwright.kernel.wording import dollars

_MICROS_PER_USD = 1_000_000


def micros(usd: float) -> int:
    """Whole millionths of a dollar. Raises `ValueError` for what is no amount of money."""
    if not 0 <= usd < math.inf:
        raise ValueError(f"{usd!r} is not an amount of money")
    return round(usd * _MICROS_PER_USD)


def usd(amount: int) -> float:
    return amount / _MICROS_PER_USD


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one append does to the money, in micros."""

    reserve: int = 0
    release: int = 0
    spend: int = 0
    estimated: bool = False  # whether some of what is spent is a guess
    paid: bool = False  # a run begins that may cost, whatever it reserves

    @property
    def is_nothing(self) -> bool:
        return not (self.reserve or self.release or self.spend)

    @property
    def needs(self) -> int:
        """What has to be left: a run that reserves nothing costs something all the same."""
        return self.reserve or int(self.paid)


def summed(amounts: Iterable[tuple[float, float, float, bool]], *, paid: bool = False) -> Move:
    """The move of several events, each with what it reserves, releases and spends in dollars, guessed or not."""
    reserve = release = spend = 0
    estimated = False
    for amount in amounts:
        reserve += micros(amount[0])
        release += micros(amount[1])
        spend += (spent := micros(amount[2]))
        estimated |= amount[3] and spent > 0
    return Move(reserve=reserve, release=release, spend=spend, estimated=estimated, paid=paid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """What a loop and everything below it have spent and reserved, in micros."""

    loop: str
    budget: int | None
    spent: int
    reserved: int
    estimated: bool = False  # whether some of what was spent is a guess


def bounded(purse: Purse, move: Move) -> Move:
    """The move as it counts for the loop and all its ancestors: no more is released than is reserved."""
    return replace(move, release=min(move.release, purse.reserved + move.reserve))


def moved(purse: Purse, move: Move) -> Purse:
    """The purse after a bounded move. Raises `OverBudget` if it begins what no longer fits."""
    spent = purse.spent + move.spend
    reserved = purse.reserved + move.reserve - move.release
    estimated = purse.estimated or move.estimated
    needed = spent + reserved - move.reserve + move.needs
    if move.needs and purse.budget is not None and needed > purse.budget:
        raise OverBudget(
            purse.loop,
            dollars(usd(spent), estimated=estimated),
            limit=usd(purse.budget),
            spent=usd(spent),
            reserved=usd(reserved - move.reserve),
            wanted=usd(move.reserve),
        )
    return replace(purse, spent=spent, reserved=reserved, estimated=estimated)
