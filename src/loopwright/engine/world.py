"""Everything the engine may touch, handed in as one value, and what it tells those who watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from loopwright.errors import EngineError
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import Logged
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import LoopId, Outcome
from loopwright.ports.agent import Agent, Update
from loopwright.ports.checks import Checks
from loopwright.ports.clock import Clock
from loopwright.ports.people import People
from loopwright.ports.store import Status, Store
from loopwright.ports.workspace import Workspace

AnyLoop = Loop[Any, Any]


def known_loop(loops: Mapping[str, AnyLoop], kind: str) -> AnyLoop:
    """The machine of that kind, or the sentence that says this version has none."""
    if kind not in loops:
        raise EngineError(f"this version knows no {kind!r} loops, only {', '.join(loops)}; upgrade to go on with it")
    return loops[kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One recorded event and what the loop looks like after it."""

    loop: LoopId
    kind: str
    state: Any
    event: Logged
    seq: int
    status: Status
    at: float = 0.0  # when, as the log has it


class Observer(Protocol):
    def recorded(self, seen: Seen) -> None:
        """Called after the event is durable and before anything else happens. Renders files; must not fail."""

    def progressed(self, update: Update) -> None:
        """A sign of life of a running step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Limits beside money. None: no limit."""

    tokens: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Tally:
    """Tokens and seconds that each loop has taken: a limit is one for a root and everything below it."""

    taken: dict[LoopId, tuple[int, float]] = field(default_factory=dict)

    def beside(self, loop: LoopId) -> tuple[int, float]:
        """What all the others have taken."""
        others = [taken for other, taken in self.taken.items() if other != loop]
        return sum(tokens for tokens, _ in others), sum(seconds for _, seconds in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    store: Store
    clock: Clock
    agent: Agent
    checks: Checks
    workspace: Workspace
    people: People
    observer: Observer
    loops: Mapping[str, AnyLoop]
    who: str
    protected: tuple[str, ...] = ()
    spending: Spending = Spending()
    tally: Tally = field(default_factory=Tally)
    scratchpad: Callable[[LoopId], Path | None] = lambda _loop: None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))
    poll: float = 0.25  # how often the inbox is looked at while a step runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Why the driver came back."""

    why: Literal["ended", "waiting", "paused", "held"]
    outcome: Outcome | None = None
    waiting: tuple[ForPeople, ...] = ()
    stand: Standpoint | None = None  # where a loop that has not ended stands
    reason: str = ""  # of a pause: budget, time
    detail: str = ""
