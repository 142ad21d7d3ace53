"""What a loop is: a frozen state, `decide`, `apply`. The engine knows loops only by this value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from loopwright.kernel.actions import Action
from loopwright.kernel.events import Event
from loopwright.kernel.model import Finding

S = TypeVar("S")
P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint:
    """Where a loop is, in the words of `loop status` and `loop explain`."""

    state: str
    attempt: int
    limit: int
    failures: int = 0
    findings: tuple[Finding, ...] = ()
    lines: tuple[str, ...] = ()  # counters and rules in force, one sentence each


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Generic[P, S]):
    """A machine as data.

    `decide` is total and returns everything that may be in flight now; `apply` returns the next
    state or raises `InvalidTransition`, and then nothing happened. Both are pure.
    """

    name: str
    params: type[P]
    state: type[S]
    start: Callable[[P], S]
    decide: Callable[[S], tuple[Action, ...]]
    apply: Callable[[S, Event], S]
    stand: Callable[[S], Standpoint]
