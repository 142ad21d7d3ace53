"""Progress as plain lines, one per event: for pipes, files and terminals that cannot draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from loopwright.app.kinds import Kinds
from loopwright.app.views import journey
from loopwright.engine.world import Observer, Seen
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ChecksReported, Combined, Integrated, LoopEnded, Started
from loopwright.kernel.model import Ending
from loopwright.kernel.record import Record
from loopwright.ports.agent import Update


def event_line(seen: Seen, at: float, kinds: Kinds) -> str:
    """The line of the journey for an event that was recorded just now; empty when it adds nothing.

    What is written into a record that nobody drives, the loop that wrote it tells.
    """
    if not kinds[seen.kind].driven:
        return ""
    kind, data = type(seen.event).__name__, encode(seen.event)
    record = Record(loop=seen.loop, seq=seen.seq, at=at, kind=kind, data=data, spend=seen.spend)
    return journey.line(record, kinds[seen.kind].words)


def is_news(seen: Seen, kinds: Kinds) -> bool:
    """Whether an event is worth a line where many parts are under way at once.

    Of a part only its verdict is; of the whole, what no verdict has told already. Of steps that a loop
    leaves unsaid, what went wrong is.
    """
    kind, event = kinds[seen.kind], seen.event
    words = kind.words
    match event:
        case Started(action="Announce"):
            return True
        case Started(key=key) if key.step in words.quiet:
            return False
        case Started(action="RunLoop", key=key):
            return key.step in words.unsaid
        case LoopEnded() | Combined() | ChecksReported() | Integrated() if event.key.step in words.unsaid:
            return not _went_well(event)
        case LoopEnded(outcome=outcome):
            return outcome.ending not in (Ending.HELD, Ending.VERIFIED, Ending.REVIEWED)
        case _:
            return kind.has_lanes


def _went_well(event: LoopEnded | Combined | ChecksReported | Integrated) -> bool:
    match event:
        case LoopEnded(outcome=outcome):
            return outcome.ending.is_passed
        case Combined(left_out=left_out):
            return not left_out
        case ChecksReported(results=results, landing=landing, also=also, findings=findings):
            return all(each.passed for each in (*results, *landing, *also)) and not findings
        case Integrated():
            return True
        case _:
            assert_never(event)


class PlainLines:
    """An observer that tells every event in a line; of a loop with many parts, what is news."""

    def __init__(
        self, tell: Callable[[str], None], now: Callable[[], float], kinds: Kinds, *, only_news: bool = False
    ) -> None:
        self._tell, self._now, self._kinds, self._only_news = tell, now, kinds, only_news

    def recorded(self, seen: Seen) -> None:
        if self._only_news and not is_news(seen, self._kinds):
            return
        if line := event_line(seen, self._now(), self._kinds):
            self._tell(line)

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
