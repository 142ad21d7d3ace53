"""What a session knows of its steps: how those under way fare, and what the log comes to with the next ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopwright.engine.fold import Fold
from loopwright.kernel.actions import Action
from loopwright.kernel.events import Logged
from loopwright.kernel.model import Key
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
class UnderWay:
    """A flight that was begun in this very drive, and how it fares."""

    key: Key
    waiting: tuple[Waiting, ...] = ()  # a child that waits for people
    shortage: Shortage | None = None  # a child that stopped at a limit

    @property
    def works(self) -> bool:
        return not self.waiting and self.shortage is None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftStage:
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
    stages: tuple[DraftStage, ...]
