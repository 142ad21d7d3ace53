"""The live view of a batch: verdicts scroll by, and below them is a table of what is under way or blocked.

The table is never higher than the terminal; its last line sums up the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from loopwright.cli.live import DOING, style_of
from loopwright.cli.plain import event_line, is_news
from loopwright.cli.screen import Screen, elapsed, terminal
from loopwright.engine.world import Seen
from loopwright.kernel.events import Ended, Started, key_of
from loopwright.kernel.model import LoopId, Verdict
from loopwright.kernel.visible import visible
from loopwright.loops.batch.state import Batch, Standing, of_standing
from loopwright.loops.quality.judging import tally
from loopwright.loops.quality.state import Phase, Quality, open_findings
from loopwright.ports.agent import Update

_AROUND = 6  # lines of the terminal that are not for rows: the summary, and the newest verdicts above
_WAITS = {
    Phase.FIX: "to be fixed",
    Phase.LOAD_ARTIFACTS: "to be reviewed again",
    Phase.ESCALATED: "needs you",
    Phase.CLARIFY: "has a question for you",
}
_FOR_A_PERSON = (_WAITS[Phase.ESCALATED], _WAITS[Phase.CLARIFY])
_STYLES = {**dict.fromkeys(_FOR_A_PERSON, "yellow"), _WAITS[Phase.FIX]: "red"}
_WIDEST = max(map(len, _WAITS.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    artifact: str
    review: str
    word: str
    findings: str
    began: float | None = None  # an agent works on it since then


class BatchView:
    """An observer that draws a batch."""

    def __init__(self, now: Callable[[], float], console: Console | None = None) -> None:
        self.screen = Screen(self.render, console or terminal())
        self._now = now
        self._rows: dict[LoopId, _Row] = {}
        self._state: Batch | None = None
        self._doing = ""
        self._began = time.monotonic()

    def recorded(self, seen: Seen) -> None:
        if isinstance(seen.state, Quality):
            self._child(seen, seen.state)
        elif isinstance(seen.state, Batch):
            self._state = seen.state
            doing = DOING.get(seen.event.action, "") if isinstance(seen.event, Started) else ""
            self._doing = doing.format(what="")
        if is_news(seen) and (line := event_line(seen, self._now())):
            self.screen.scroll(line, style_of(seen))

    def _child(self, seen: Seen, state: Quality) -> None:
        old = self._rows.pop(seen.loop, None)
        works = isinstance(seen.event, Started) and seen.event.action == "RunAgent"
        began = time.monotonic() if works else None
        if old is not None and old.began is not None and began is None and _goes_on(seen):
            began = old.began
        if (row := _row(state, began)) is not None and not isinstance(seen.event, Ended):
            self._rows[seen.loop] = row

    def progressed(self, update: Update) -> None:
        """What each of many prints is for `loop log --agent`."""

    def render(self) -> Group | Text:
        if self._state is None:
            return Text("")
        room = max(1, self.screen.console.size.height - _AROUND)
        rows = sorted(self._rows.values(), key=_urgency)
        shown, hidden = (rows, []) if len(rows) <= room else (rows[: room - 1], rows[room - 1 :])
        return Group(*([_table(shown)] if shown else []), *_rest(hidden), self._summary(self._state))

    def _summary(self, state: Batch) -> Table:
        passed = len(of_standing(state, Standing.PASSED, Standing.ACCEPTED))
        to_go = len(of_standing(state, Standing.PENDING))
        blocked = len(state.items) - passed - to_go
        facts = (
            f"{passed} passed, {blocked} blocked, {to_go} to go",
            f"round {state.round}",
            self._doing,
            elapsed(self._began),
            self.screen.cost,
        )
        line = Table.grid(padding=(0, 1))
        line.add_column(width=1)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(self.screen.spinner, Text(" · ".join(fact for fact in facts if fact), style="bold"))
        return line


def _goes_on(seen: Seen) -> bool:
    """Whether the agent works on after this event: it was neither its answer nor its end."""
    key = key_of(seen.event)
    return key.waits or key.step not in ("review", "fix")


def _row(state: Quality, began: float | None) -> _Row | None:
    """Nothing for what passed, and for what has not been looked at."""
    passed = bool(state.rounds) and state.rounds[-1].verdict is Verdict.PASS
    if passed or (began is None and not state.rounds):
        return None
    word = _WAITS.get(state.phase, "blocked")
    if began is not None:
        word = "in review" if state.phase is Phase.RUN_CHECKS else "being fixed"
    held = open_findings(state)
    return _Row(
        artifact=visible(state.plan.artifact),
        review=f"review {state.number}/{state.allowance}",
        word=word,
        findings=tally(held) if held else "",
        began=began,
    )


def _urgency(row: _Row) -> tuple[int, float, str]:
    """What is worked on first, the longest first; then what needs a person, then what waits for its turn."""
    if row.began is not None:
        return 0, row.began, row.artifact
    return (1 if row.word in _FOR_A_PERSON else 2), 0.0, row.artifact


def _table(rows: list[_Row]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, min_width=_WIDEST)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=2)
    table.add_column(no_wrap=True, justify="right", min_width=5)
    for row in rows:
        took = elapsed(row.began) if row.began is not None else ""
        cells = (f"  {row.artifact}", row.review, row.word, row.findings, took)
        table.add_row(*(Text(cell, style=_STYLES.get(row.word, "")) for cell in cells))
    return table


def _rest(hidden: list[_Row]) -> list[Text]:
    if not hidden:
        return []
    works = sum(row.began is not None for row in hidden)
    waits = len(hidden) - works
    parts = [f"{works} under way"] * bool(works) + [f"{waits} blocked"] * bool(waits)
    return [Text(f"  … and {', '.join(parts)}", style="dim")]
