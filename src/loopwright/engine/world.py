"""Everything the engine may touch, handed in as one value, and what it tells those who watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from loopwright.engine.dispatch import InProcess
from loopwright.engine.fold import AnyLoop, Fold, Opened
from loopwright.kernel.actions import Ask
from loopwright.kernel.events import Logged
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import LoopId, Outcome
from loopwright.ports.agent import Agent, Update
from loopwright.ports.checks import Checks
from loopwright.ports.clock import Clock
from loopwright.ports.dispatcher import Dispatcher
from loopwright.ports.errands import Errands
from loopwright.ports.forge import Forge
from loopwright.ports.people import People, Waiting
from loopwright.ports.store import LoopRow, NewNotice, Status, Store
from loopwright.ports.workspace import Workspace


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
    spend: float = 0.0  # with this event
    spent: float = 0.0  # by the loop and everything below it, so far
    estimated: bool = False  # whether some of that is a guess
    budget: float | None = None


class Observer(Protocol):
    def recorded(self, seen: Seen) -> None:
        """Called after the event is durable and before anything else happens. Renders files; must not fail."""

    def progressed(self, update: Update) -> None:
        """A sign of life of a running step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """An event that is about to be recorded, for whoever sends people notices."""

    id: str  # of this very event over all time
    path: tuple[LoopId, ...]  # from the root to the loop
    row: LoopRow  # as it was before
    state: Any
    event: Logged
    asks: Waiting | None = None  # what people are asked with it, and no parent takes


class Notices(Protocol):
    def notice(self, news: News) -> NewNotice | None:
        """What people are sent because of it, if anything. Pure: it becomes durable together with the event."""

    def made(self) -> None:
        """Some became durable. Sees to it that they are delivered; neither waits for that nor fails."""


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
    forge: Forge | None = None
    errands: Errands | None = None
    notices: Notices | None = None  # None: nobody is sent any
    protected: tuple[str, ...] = ()
    scratchpad: Callable[[LoopId, str], Path | None] = lambda _loop, _kind: None  # of a loop of that kind
    skill_text: Callable[[str], str] = lambda _skill: ""  # how a skill is done
    dispatcher: Dispatcher = field(default_factory=InProcess)
    poll: float = 0.25  # how often the inbox is looked at while a step runs
    known: dict[LoopId, Opened] = field(default_factory=dict)  # loops below, as last read; who drives one takes it out


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Why the driver came back."""

    why: Literal["ended", "waiting", "paused", "held"]
    outcome: Outcome | None = None
    waiting: tuple[Waiting, ...] = ()  # of the loop and of everything below it
    stand: Standpoint | None = None  # where a loop that has not ended stands
    reason: str = ""  # of a pause: budget, time, tokens
    detail: str = ""
    now: Fold = field(default_factory=Fold)  # what the loop's log came to, so that nobody reads it back

    @property
    def is_paused(self) -> bool:
        """Nothing but a limit is in its way, be it one of the budget or one of its own."""
        return self.why == "paused" or any(isinstance(each.what, Ask) and each.what.paused for each in self.waiting)
