"""A task that another tool listed, as data: bounded, on the lines it belongs to, with everything invisible written out.

What a task says is never a path, a command or markup to us. Readers of each format make these values.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.findings import cut
from loopwright.kernel.quoting import one_line
from loopwright.kernel.visible import visible

MOST_TASKS = 1_000
_TITLE, _LINE, _TEXT = 200, 2_000, 60_000  # characters
_MOST_CRITERIA = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """`id` is the other tool's own name for it."""

    id: str
    title: str
    what: str = ""
    criteria: tuple[str, ...] = ()
    context: str = ""


def imported(*, name: str, title: str, what: str = "", criteria: tuple[str, ...] = (), context: str = "") -> Imported:
    """With every text within its bounds. Without criteria the title is what has to hold."""
    shown = one_line(title, _TITLE)
    wanted = tuple(dict.fromkeys(text for each in criteria if (text := one_line(each, _LINE))))
    left = (f"{len(wanted) - _MOST_CRITERIA + 1} more criteria are in the list this was imported from",)
    bounded = wanted if len(wanted) <= _MOST_CRITERIA else wanted[: _MOST_CRITERIA - 1] + left
    return Imported(
        id=one_line(name, 60), title=shown, what=_block(what), criteria=bounded or (shown,), context=_block(context)
    )


def _block(text: str) -> str:
    return cut(visible(text.replace("\r\n", "\n").replace("\r", "\n")).strip(), _TEXT)


def joined(*parts: str) -> str:
    """Paragraphs, without the empty ones."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
