"""What every loop makes of a person's words, or refuses in the same sentence."""

from __future__ import annotations

from typing import TypeVar

from loopwright.errors import InvalidTransition
from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import Answered, ConfigChanged

L = TypeVar("L")


def reply(state: str, question: str, event: Answered) -> str:
    """The question with its answer, as whoever asked is told. A choice that is no option is the answer itself."""
    said = event.text.strip() or (event.choice if event.choice != "answer" else "")
    if not said:
        raise InvalidTransition(state, "Answered", "the answer is empty")
    return f"{question}\n→ {said}"


def new_limits(state: str, kind: type[L], event: ConfigChanged) -> L:
    """The loop's own table of a changed configuration."""
    try:
        limits: L = decode(kind, event.limits)
    except DecodeError as error:
        raise InvalidTransition(state, "ConfigChanged", f"limits: {error}") from error
    return limits
