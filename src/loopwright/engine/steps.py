"""What a session says: what is to be done, what is to be recorded, and what the log comes to then. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loopwright.engine.fold import Flight, Fold
from loopwright.kernel.actions import Action
from loopwright.kernel.events import Logged
from loopwright.kernel.model import Key, Outcome
from loopwright.ports.dispatcher import Shortage
from loopwright.ports.people import Waiting
from loopwright.ports.store import Append, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What an event comes to, worked out when it was heard: whoever records it right then need not do it again."""

    before: Fold
    now: Fold
    wanted: tuple[Action, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One event to be appended, with the money it moves."""

    event: Logged
    reserve: float = 0.0
    spend: float = 0.0
    foreseen: Foreseen | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """An action whose intent is durable. `step` names this very try over all time."""

    action: Action
    step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """A flight that was begun in this very drive, and how it fares."""

    key: Key
    waiting: tuple[Waiting, ...] = ()  # a child that waits for people
    shortage: Shortage | None = None  # a child that stopped at a limit

    @property
    def works(self) -> bool:
        return not self.waiting and self.shortage is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """What is to be done now: the first of these that there is, in this order."""

    cancel: tuple[Flight, ...] = ()  # in flight and no longer wanted
    stop: Outcome | None = None
    held: bool = False
    intents: tuple[Recording, ...] = ()  # durable before anything begins
    start: tuple[Effect, ...] = ()
    shortage: Shortage | None = None  # why not everything that is wanted could begin
    waiting: tuple[Waiting, ...] = ()  # what people are to be asked
    idle: bool = False  # nothing goes on without people or more room


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One event of a draft, and what the loop looks like after it."""

    event: Logged
    state: Any
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is to become durable, all or nothing, and what the log comes to then."""

    append: Append
    now: Fold
    wanted: tuple[Action, ...]
    stages: tuple[Stage, ...]
