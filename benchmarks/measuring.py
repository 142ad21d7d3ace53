"""How every figure is taken: ours and its yardstick in turn (ABAB…), the median of the ratios, and their spread."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured ratio. `goal` is met when `value` is on its good side."""

    name: str
    what: str
    against: str
    value: float
    low: float
    high: float
    goal: str
    met: bool
    details: dict[str, float] = field(default_factory=dict)
    peers_met: bool | None = None  # the second verdict, where peers were taken
    notes: tuple[str, ...] = ()
    taken: str = ""  # commit and date

    @property
    def verdict(self) -> str:
        own = "met" if self.met else "**missed**"
        if self.peers_met is None:
            return own
        return f"{own}; peers {'met' if self.peers_met else '**missed**'}"

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time that `work` takes in this process and in the processes it waits for."""
    before = processor_time()
    work()
    return processor_time() - before


def processor_time() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Ours and theirs, taken in turn."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        return [mine / other for mine, other in zip(self.ours, self.theirs, strict=True)]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)


def in_turn(ours: Callable[[], float], theirs: Callable[[], float], rounds: int = ROUNDS) -> Pairs:
    """Measure both `rounds` times, changing who goes first, so that a noisy minute hits both."""
    mine: list[float] = []
    other: list[float] = []
    for number in range(rounds):
        if number % 2:
            other.append(theirs())
            mine.append(ours())
        else:
            mine.append(ours())
            other.append(theirs())
    return Pairs(ours=tuple(mine), theirs=tuple(other))
