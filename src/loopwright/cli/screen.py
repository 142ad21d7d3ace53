"""A terminal whose last lines are drawn anew several times a second, below what scrolls by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from loopwright.app.views.status import cost_in_words, cost_of
from loopwright.cli.output import watched
from loopwright.ports.store import LoopRow


def terminal() -> Console:
    return Console(file=watched(), highlight=False)


@dataclass(slots=True)
class Screen:
    """Enter it before driving and leave it before anything else is printed.

    Whoever drives calls `refresh` again and again. A thread that draws meanwhile, as the library has one, would now and
    then wipe a line that has just scrolled by.
    """

    draw: Callable[[], RenderableType]  # what the last lines show now
    console: Console = field(default_factory=terminal)
    cost: str = ""
    spinner: Spinner = field(default_factory=lambda: Spinner("line"))
    _live: Live | None = None

    def __enter__(self) -> Self:
        self.spinner = Spinner("dots" if (self.console.encoding or "").startswith("utf") else "line")
        self._live = Live(
            get_renderable=self.draw,
            console=self.console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
        )
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            with suppress(OSError):
                self._live.stop()
            self._live = None

    def refresh(self) -> None:
        with suppress(OSError):  # a terminal that went away must not stop the work
            if self._live is not None:
                self._live.refresh()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The view steps back while a person reads a question and types."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def scroll(self, line: str, style: str, *, whole: bool = True) -> None:
        """A line for good. What is not wanted whole is cut at the edge."""
        with suppress(OSError):
            if whole:
                self.console.print(Text(line, style=style), soft_wrap=True)
            else:
                self.console.print(Text(line, style=style), no_wrap=True, overflow="ellipsis")

    def headline(self, *facts: str) -> Table:
        """What goes on now, with the spinner before it and the cost at its end."""
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1)
        table.add_column(no_wrap=True, overflow="ellipsis")
        told = " · ".join(fact for fact in (*facts, self.cost, "no sandbox") if fact)
        table.add_row(self.spinner, Text(told, style="bold"))
        return table

    def money(self, row: LoopRow) -> None:
        self.cost = cost_in_words(cost_of(row))


def elapsed(since: float) -> str:
    """Time as people read it, since a moment of the monotonic clock."""
    return in_words(time.monotonic() - since)


def in_words(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
