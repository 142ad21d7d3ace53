"""The live view: events scroll by, and the last lines show what runs now, for how long and at what cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from loopwright.cli.plain import event_line
from loopwright.engine.world import Seen
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    Answered,
    Cancelled,
    ChecksReported,
    Created,
    Ended,
    GateDecided,
    Interrupted,
    Logged,
    Paused,
    Refused,
    Started,
)
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Key
from loopwright.kernel.visible import visible
from loopwright.ports.agent import Update
from loopwright.ports.store import LoopRow
from loopwright.projections.events import compliant
from loopwright.projections.wording import told

_REFRESH = 8  # a second
_DOING = {
    "RunAgent": "{what} is working",
    "RunChecks": "checks are running",
    "Checkpoint": "keeping the attempt as a commit",
    "Integrate": "landing the result",
    "CleanUp": "cleaning up",
    "WaitUntil": "waiting until the agent is available",
}
_FOR_PEOPLE = ("Ask", "AwaitGate")
_DETAILS = 3  # findings shown below a failed review or check


@dataclass(slots=True, kw_only=True)
class _Step:
    text: str
    began: float
    output: str = ""


@dataclass(slots=True)
class LiveView:
    """An observer that draws. Enter it before driving and leave it before anything else is printed."""

    stand: Callable[[Seen], Standpoint]
    now: Callable[[], float]
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    _steps: dict[Key, _Step] = field(default_factory=dict)
    _head: str = ""
    _cost: str = ""
    _spinner: Spinner = field(default_factory=lambda: Spinner("line"))
    _live: Live | None = None

    def __enter__(self) -> Self:
        name = "dots" if (self.console.encoding or "").startswith("utf") else "line"
        self._spinner = Spinner(name)
        self._live = Live(
            get_renderable=self.render,
            console=self.console,
            refresh_per_second=_REFRESH,
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

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The view steps back while a person reads a question and types."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def recorded(self, seen: Seen) -> None:
        where = self.stand(seen)
        self._head = f"iteration {where.attempt}/{where.limit}"
        event = seen.event
        if isinstance(event, Started):
            if event.action not in _FOR_PEOPLE:
                text = _DOING.get(event.action, event.action).format(what=event.what)
                self._steps[event.key] = _Step(text=text, began=time.monotonic())
        else:
            self._steps.pop(getattr(event, "key", Key("")), None)
        with suppress(OSError):  # a terminal that went away must not stop the work
            self._scroll(seen)

    def _scroll(self, seen: Seen) -> None:
        # What was started is told by the spinner and a question by the prompt; a gate may stay open beside the work.
        if not isinstance(seen.event, Started) or seen.event.action == "AwaitGate":
            self.console.print(Text(event_line(seen, self.now()), style=_style(seen)), soft_wrap=True)
        for line in details(seen.event):
            self.console.print(Text(line, style="red"), no_wrap=True, overflow="ellipsis")

    def progressed(self, update: Update) -> None:
        step = self._steps.get(update.key)
        if step is not None and update.text.strip():
            step.output = " ".join(visible(update.text).split())

    def money(self, row: LoopRow) -> None:
        of = "" if row.budget is None else f" of {row.budget:.2f}"
        held = f" (+{row.reserved:.2f} reserved)" if row.reserved else ""
        self._cost = f"{row.spent:.2f}{held}{of} USD"

    def render(self) -> Group | Text:
        if not self._steps:
            return Text("")
        return Group(*(self._lines(step) for step in self._steps.values()))

    def _lines(self, step: _Step) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1)
        table.add_column(no_wrap=True, overflow="ellipsis")
        facts = (self._head, step.text, elapsed(time.monotonic() - step.began), self._cost)
        table.add_row(self._spinner, Text(" · ".join(fact for fact in facts if fact), style="bold"))
        if step.output:
            table.add_row("", Text(f"│ {step.output}", style="dim"))
        return table


def details(event: Logged) -> list[str]:
    """What a failed review or check found, the worst first."""
    match event:
        case AgentReported(report=report):
            found = report.findings
        case ChecksReported(results=results, findings=own):
            found = (*own, *(failure for result in results if not result.passed for failure in result.failures))
        case _:
            return []
    worst = sorted(found, key=lambda finding: finding.severity.rank)
    more = [f"and {len(worst) - _DETAILS} more"] if len(worst) > _DETAILS else []
    return [f"{'':<27}- {line}" for line in [*(told(finding, 200) for finding in worst[:_DETAILS]), *more]]


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _style(seen: Seen) -> str:
    """Red for what failed, green for what passed, yellow for what waits; the words say the same."""
    match seen.event:
        case ChecksReported(results=results, findings=findings):
            return "green" if results and all(result.passed for result in results) and not findings else "red"
        case AgentReported(report=report) if report.verdict is not None:
            return "green" if compliant(report) else "red"
        case Ended(outcome=outcome):
            return "bold green" if outcome.ending.value == "verified" else "bold yellow"
        case AgentFailed() | Refused():
            return "red"
        case Paused() | Interrupted() | Answered() | GateDecided():
            return "yellow"
        case Started(action=action) if action in _FOR_PEOPLE:
            return "yellow"
        case Started() | Cancelled() | Created():
            return "dim"
        case _:
            return ""
