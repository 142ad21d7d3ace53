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
    Ended,
    Interrupted,
    Started,
)
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Lane
from loopwright.ports.agent import Update

_AROUND = 6  # lines of the terminal that are not for rows: the summary, and the newest verdicts above
_WIDEST = len("has a question for you")
_STOPS = (AgentReported, AgentFailed, AgentUnavailable, Cancelled, Interrupted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    lane: Lane
    began: float | None = None  # an agent works on it since then


class LanesView:
    """An observer that draws a loop and its parts."""

    def __init__(self, now: Callable[[], float], kinds: Kinds, console: Console | None = None) -> None:
        self.screen = Screen(self.render, console or terminal())
        self._now, self._kinds = now, kinds
        self._rows: dict[LoopId, _Row] = {}
        self._at_work: dict[LoopId, float] = {}
        self._head = ""
        self._doing = ""
        self._began = time.monotonic()

    def recorded(self, seen: Seen) -> None:
        kind = self._kinds[seen.kind]
        if kind.has_lanes:
            self._head = kind.summary(seen.state)
            doing = DOING.get(seen.event.action, "") if isinstance(seen.event, Started) else ""
            self._doing = doing.format(what="")
        else:
            self._part(seen)
        if is_news(seen, self._kinds) and (line := event_line(seen, self._now(), self._kinds)):
            self.screen.scroll(line, style_of(seen, self._kinds))

    def _part(self, seen: Seen) -> None:
        if isinstance(seen.event, Started) and seen.event.action == "RunAgent":
            self._at_work[seen.loop] = time.monotonic()
        elif isinstance(seen.event, _STOPS):
            self._at_work.pop(seen.loop, None)
        began = self._at_work.get(seen.loop)
        lane = self._kinds[seen.kind].lane(seen.state, began is not None)
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
        shown, hidden = (rows, []) if len(rows) <= room else (rows[: room - 1], rows[room - 1 :])
        summary = self.screen.headline(self._head, self._doing, elapsed(self._began))
        return Group(*([_table(shown)] if shown else []), *_rest(hidden), summary)


def _urgency(row: _Row) -> tuple[int, float, str]:
    """What is worked on first, the longest first; then what needs a person, then what waits for its turn."""
    if row.began is not None:
        return 0, row.began, row.lane.name
    return (1 if row.lane.needs_person else 2), 0.0, row.lane.name


def _table(rows: list[_Row]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, min_width=_WIDEST)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=2)
    table.add_column(no_wrap=True, justify="right", min_width=5)
    for row in rows:
        lane, took = row.lane, elapsed(row.began) if row.began is not None else ""
        style = "yellow" if lane.needs_person else "red" if lane.failed else ""
        cells = (f"  {lane.name}", lane.count, lane.word, lane.detail, took)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _rest(hidden: list[_Row]) -> list[Text]:
    if not hidden:
        return []
    works = sum(row.began is not None for row in hidden)
    waits = len(hidden) - works
    parts = [f"{works} under way"] * bool(works) + [f"{waits} blocked"] * bool(waits)
    return [Text(f"  … and {', '.join(parts)}", style="dim")]
