"""The live view: events scroll by, and the last lines show what runs now, for how long and at what cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from loopwright.app.kinds import Kinds
from loopwright.app.views.events import FAIL, word_for
from loopwright.cli.plain import event_line
from loopwright.cli.screen import Screen, elapsed, terminal
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
    LoopEnded,
    Paused,
    Refused,
    Started,
    key_of,
)
from loopwright.kernel.model import Key
from loopwright.kernel.visible import visible
from loopwright.kernel.wording import ALL_TESTS_PASSING, told
from loopwright.loops.engine_steps import PREFLIGHT
from loopwright.loops.kind import Words
from loopwright.ports.agent import Update

DOING = {
    "RunAgent": "{what} is working",
    "RunChecks": "checks are running",
    "LoadArtifacts": "reading {what}",
    "Checkpoint": "keeping the attempt as a commit",
    "Combine": "bringing changes together",
    "Integrate": "landing the result",
    "CleanUp": "cleaning up",
    "WaitUntil": "waiting until the agent is available",
}
_FOR_PEOPLE = ("Ask", "AwaitGate")
_NO_STEPS = (*_FOR_PEOPLE, "Announce")
_TOLD = ("AwaitGate", "Announce")  # the others are told by the spinner, and a question by the prompt
_DETAILS = 3  # findings shown below a failed review or check


@dataclass(slots=True, kw_only=True)
class _Step:
    text: str
    began: float
    output: str = ""


class LiveView:
    """An observer that draws one loop."""

    def __init__(self, now: Callable[[], float], kinds: Kinds, console: Console | None = None) -> None:
        self.screen = Screen(self.render, console or terminal())
        self._now, self._kinds = now, kinds
        self._steps: dict[Key, _Step] = {}
        self._head = ""

    def recorded(self, seen: Seen) -> None:
        self.found(seen)
        self._scroll(seen)

    def found(self, seen: Seen) -> None:
        """What the log of a loop that goes on says is under way: nothing scrolls by for it."""
        kind = self._kinds[seen.kind]
        if not kind.driven:
            return
        where = kind.loop.stand(seen.state)
        self._head = f"{kind.words.counter} {where.attempt}" + (f"/{where.limit}" if where.limit else "")
        event = seen.event
        if isinstance(event, Started):
            if event.action not in _NO_STEPS:
                text = DOING.get(event.action, event.action).format(what=event.what)
                self._steps[event.key] = _Step(text=text, began=time.monotonic())
        else:
            self._steps.pop(key_of(event), None)

    def _scroll(self, seen: Seen) -> None:
        told_now = not isinstance(seen.event, Started) or seen.event.action in _TOLD
        if told_now and (line := event_line(seen, self._now(), self._kinds)):
            self.screen.scroll(line, style_of(seen, self._kinds))
        for line in details(seen.event):
            is_no = style_of(seen, self._kinds).endswith("red")
            self.screen.scroll(line, "red" if is_no else "", whole=False)

    def progressed(self, update: Update) -> None:
        step = self._steps.get(update.key)
        if step is not None and update.text.strip():
            step.output = " ".join(visible(update.text).split())

    def render(self) -> Group | Text:
        if not self._steps:
            return Text("")
        return Group(*(self._lines(step) for step in self._steps.values()))

    def _lines(self, step: _Step) -> Table:
        table = self.screen.headline(self._head, step.text, elapsed(step.began))
        if step.output:
            table.add_row("", Text(f"│ {step.output}", style="dim"))
        return table


def details(event: Logged) -> list[str]:
    """What a review found, or a check that failed, the worst first."""
    match event:
        case AgentReported(report=report):
            found = report.findings
        case ChecksReported(results=results, findings=own, also=also):
            found = (*own, *(failure for each in (*results, *also) if not each.passed for failure in each.failures))
        case _:
            return []
    worst = sorted(found, key=lambda finding: finding.severity.rank)
    more = [f"and {len(worst) - _DETAILS} more"] if len(worst) > _DETAILS else []
    return [f"{'':<27}- {line}" for line in [*(told(finding, 200) for finding in worst[:_DETAILS]), *more]]


def style_of(seen: Seen, kinds: Kinds) -> str:
    """Red for what failed, green for what passed, yellow for what waits; the words say the same."""
    match seen.event:
        case AgentReported() | ChecksReported() | Ended() | LoopEnded():
            return _style_of_result(seen.event, kinds[seen.kind].words)
        case AgentFailed() | Refused():
            return "red"
        case Paused() | Interrupted() | Answered() | GateDecided():
            return "yellow"
        case Started(action="Announce", what=line):
            return _style_of_line(line, kinds[seen.kind].words)
        case Started(action=action) if action in _FOR_PEOPLE:
            return "yellow"
        case Started() | Cancelled() | Created():
            return "dim"
        case _:
            return ""


def _style_of_line(line: str, words: Words) -> str:
    said = line.partition(":")[0]
    return "green" if said.endswith(words.yes) else "red" if said.endswith(words.no) else ""


def _style_of_result(event: AgentReported | ChecksReported | Ended | LoopEnded, words: Words) -> str:
    match event:
        case ChecksReported():
            failed = "bold red" if event.key.step == PREFLIGHT else "red"
            return {FAIL: failed, ALL_TESTS_PASSING: "green"}.get(word_for(event), "")
        case AgentReported(report=report) if report.verdict is not None:
            return "green" if words.passes(report) else "red"
        case Ended(outcome=outcome):
            return "bold green" if outcome.ending.is_passed else "bold yellow"
        case LoopEnded():
            return "yellow"  # told only where a part needs a person
        case _:
            return ""
