"""The live view of a loop with many parts: verdicts scroll by, and below them is a row for each that is under way.

The table is never higher than the terminal; its last line sums up the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from loopwright.app.kinds import Kinds
from loopwright.cli.live import DOING, style_of
from loopwright.cli.plain import event_line, is_news
from loopwright.cli.screen import Screen, elapsed, terminal
from loopwright.engine.world import Seen
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Cancelled,
    ChecksReported,
    Ended,
    Interrupted,
    Started,
    key_of,
)
from loopwright.kernel.model import Key, LoopId
from loopwright.loops.kind import Lane
from loopwright.ports.agent import Update

_AROUND = 6  # lines of the terminal that are not for rows: the summary, and the newest verdicts above
_WIDEST = len("has a question for you")
_NARROW = 60  # columns; in fewer there is no room beside the name of a task for more than what is done with it
_NAMED = len("  T-001: …  ")
_TIME = len("  59:59")
_TAKES_TIME = ("RunAgent", "RunChecks")
_STOPS = (AgentReported, AgentFailed, AgentUnavailable, ChecksReported, Cancelled, Interrupted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    lane: Lane
    began: float | None = None  # an agent or a check works on it since then
    waits: bool = False  # nobody has begun it


class LanesView:
    """An observer that draws a loop and its parts."""

    def __init__(self, now: Callable[[], float], kinds: Kinds, console: Console | None = None) -> None:
        self.screen = Screen(self.render, console or terminal())
        self._now, self._kinds = now, kinds
        self._rows: dict[LoopId, _Row] = {}
        self._queued: tuple[Lane, ...] = ()
        self._at_work: dict[LoopId, float] = {}
        self._head = ""
        self._steps: dict[Key, str] = {}
        self._by_agents: set[LoopId] = set()
        self._began = time.monotonic()

    def recorded(self, seen: Seen) -> None:
        self.found(seen)
        begins = isinstance(seen.event, Started) and seen.event.action == "RunLoop"  # its row tells that
        if not begins and is_news(seen, self._kinds) and (line := event_line(seen, self._now(), self._kinds)):
            self.screen.scroll(line, style_of(seen, self._kinds))

    def found(self, seen: Seen) -> None:
        """What the log of a loop that goes on says is under way: nothing scrolls by for it."""
        kind = self._kinds[seen.kind]
        if kind.has_lanes:
            self._head, self._queued = kind.summary(seen.state), kind.queued(seen.state)
            self._own(seen)
        else:
            self._part(seen)

    def _own(self, seen: Seen) -> None:
        """What the whole does itself, beside its parts."""
        event = seen.event
        if isinstance(event, Started) and event.action in DOING:
            self._steps[event.key] = DOING[event.action].format(what=event.what or "an agent")
        elif not isinstance(event, Started):
            self._steps.pop(key_of(event), None)

    def _part(self, seen: Seen) -> None:
        event = seen.event
        if isinstance(event, Started) and event.action in _TAKES_TIME:
            self._at_work[seen.loop] = time.monotonic()
            self._by_agents.discard(seen.loop)
            if event.action == "RunAgent":
                self._by_agents.add(seen.loop)
        elif isinstance(event, _STOPS):
            self._at_work.pop(seen.loop, None)
            self._by_agents.discard(seen.loop)
        began = self._at_work.get(seen.loop)
        lane = self._kinds[seen.kind].lane(seen.state, seen.loop in self._by_agents)
        self._rows.pop(seen.loop, None)
        if lane is not None and not isinstance(seen.event, Ended):
            self._rows[seen.loop] = _Row(lane=lane, began=began)

    def progressed(self, update: Update) -> None:
        """What each of many prints is for `loop log --agent`."""

    def render(self) -> Group | Text:
        if not self._head:
            return Text("")
        room = max(1, self.screen.console.size.height - _AROUND)
        rows = sorted(self._rows.values(), key=_urgency)
        rows += [_Row(lane=lane, waits=True) for lane in self._queued]
        shown, hidden = (rows, []) if len(rows) <= room else (rows[: room - 1], rows[room - 1 :])
        doing = next(reversed(self._steps.values()), "")
        summary = self.screen.headline(self._head, doing, elapsed(self._began))
        return Group(*([_table(shown, self.screen.console.size.width)] if shown else []), *_rest(hidden), summary)


def _urgency(row: _Row) -> tuple[int, float, str]:
    """What is worked on first, the longest first; then what needs a person, then what waits for its turn."""
    if row.began is not None:
        return 0, row.began, row.lane.name
    return (1 if row.lane.needs_person else 2), 0.0, row.lane.name


def _table(rows: list[_Row], width: int) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    is_narrow = width <= _NARROW
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    if is_narrow:
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(1, width - _NAMED - _TIME))
    else:
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, min_width=_WIDEST)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=2)
    table.add_column(no_wrap=True, justify="right", min_width=5)
    for row in rows:
        lane, took = row.lane, elapsed(row.began) if row.began is not None else ""
        style = "yellow" if lane.needs_person else "red" if lane.failed else "dim" if row.waits else ""
        between = (lane.word,) if is_narrow else (lane.count, lane.word, lane.detail)
        cells = (f"  {lane.name}", *between, took)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _rest(hidden: list[_Row]) -> list[Text]:
    if not hidden:
        return []
    works = sum(row.began is not None for row in hidden)
    waits = sum(row.waits for row in hidden)
    blocked = len(hidden) - works - waits
    parts = [f"{works} under way"] * bool(works) + [f"{blocked} blocked"] * bool(blocked)
    parts += [f"{waits} to come"] * bool(waits)
    return [Text(f"  … and {', '.join(parts)}", style="dim")]
