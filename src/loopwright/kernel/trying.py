"""How a step that an agent did not finish is tried again: once for free, and then it counts. Every loop has this rule.

A result that cannot be read is asked for once more, a crash is respawned once, and an agent that is not available is
waited for; none of these uses up an attempt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

from loopwright.kernel.events import AgentFailed
from loopwright.kernel.model import AgentReport


class Trying(Protocol):
    """A state that has a step under way."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def tries(self) -> int: ...
    @property
    def respawned(self) -> bool: ...
    @property
    def repaired(self) -> bool: ...
    @property
    def repair(self) -> str: ...
    @property
    def until(self) -> float | None: ...


T = TypeVar("T", bound=Trying)


def again(step: T, repair: str | None = None) -> T:
    """The same step once more, under a new key; what it is told to repair stays unless something else is said."""
    return replace(step, tries=step.tries + 1, repair=step.repair if repair is None else repair, until=None)


def asked_to_repair(step: T, why: str) -> T | None:
    """Asked for its result once more; None: it was asked already."""
    return None if step.repaired else replace(again(step, why), repaired=True)


def tried_again(step: T, event: AgentFailed) -> T | None:
    """The step after a failure that is not counted; None: now it is."""
    if event.reason == "garbled":
        return asked_to_repair(step, event.detail or "the result could not be read")
    return None if step.respawned else replace(again(step), respawned=True)


def waiting_until(step: T, until: float) -> T:
    return replace(step, until=until)


def rested(step: T, tries: int) -> T:
    """Ready for another step."""
    return replace(step, tries=tries, respawned=False, repaired=False, repair="", until=None)


def failure(event: AgentFailed) -> str:
    return f"{event.reason}: {event.detail}" if event.detail else event.reason


def question(report: AgentReport, who: str) -> str:
    """What an agent that needs clarification asks."""
    asked = "\n".join(each.question for each in report.questions) or report.summary
    return asked or f"The {who} asks for clarification without a question."
