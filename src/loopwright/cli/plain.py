"""Progress as plain lines, one per event: for pipes, files and terminals that cannot draw."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.engine.world import Observer, Seen
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.ports.agent import Update
from loopwright.ports.store import Record
from loopwright.projections import journey


def event_line(seen: Seen, at: float) -> str:
    """The line of the journey for an event that was recorded just now."""
    event = seen.event
    spend = 0.0
    if isinstance(event, AgentReported | AgentFailed | AgentUnavailable):
        spend = event.usage.usd or 0.0
    kind, data = type(event).__name__, encode(event)
    return journey.line(Record(loop=seen.loop, seq=seen.seq, at=at, kind=kind, data=data, spend=spend))


class PlainLines:
    """An observer that tells every event in a line."""

    def __init__(self, tell: Callable[[str], None], now: Callable[[], float]) -> None:
        self._tell, self._now = tell, now

    def recorded(self, seen: Seen) -> None:
        self._tell(event_line(seen, self._now()))

    def progressed(self, update: Update) -> None:
        """Too many for lines; the log has what matters."""


class Several:
    """Observers one after the other, in the order given."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def recorded(self, seen: Seen) -> None:
        for observer in self._observers:
            observer.recorded(seen)

    def progressed(self, update: Update) -> None:
        for observer in self._observers:
            observer.progressed(update)


class Silent:
    """Nobody watches."""

    def recorded(self, seen: Seen) -> None:
        """Nothing to tell."""

    def progressed(self, update: Update) -> None:
        """Nothing to tell."""
