"""A task that another tool listed, as data: bounded, on the lines it belongs to, with everything invisible written out.

What a task says is never a path, a command or markup to us. Readers of each format make these values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.errors import UsageError
from loopwright.kernel.findings import cut
from loopwright.kernel.visible import visible
from loopwright.projections.quoting import one_line

MOST_TASKS = 1_000
_TITLE, _LINE, _TEXT = 200, 2_000, 60_000  # characters
_MOST_CRITERIA = 100

Record = dict[str, object]


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


@dataclass(frozen=True, slots=True)
class TaskSource:
    """The file that is read, for the sentences about it."""

    file: str

    def fail(self, at: str, says: str) -> UsageError:
        return UsageError(f"{self.file}: {at}: {says}" if at else f"{self.file}: {says}")

    def records(self, holder: Record, key: str, at: str = "") -> Iterator[tuple[str, Record]]:
        """The objects of a list, each with its place. No list is none."""
        place = f"{at}.{key}" if at else key
        found = holder.get(key)
        if found is None:
            return
        if not isinstance(found, list):
            raise self.fail(place, "has to be a list")
        if len(found) > MOST_TASKS:
            raise self.fail(place, f"has {len(found)} entries; at most {MOST_TASKS} are imported at once")
        for index, each in enumerate(found):
            if not isinstance(each, dict):
                raise self.fail(f"{place}[{index}]", "has to be an object")
            yield f"{place}[{index}]", each

    def text(self, holder: Record, key: str, at: str, *, required: bool = False) -> str:
        """A text, or a number as one. What is missing is empty, unless it is required."""
        value = holder.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise self.fail(f"{at}.{key}", "has to be a text")
        if required and not (value or "").strip():
            raise self.fail(f"{at}.{key}", "is missing or empty")
        return value or ""

    def texts(self, holder: Record, key: str, at: str) -> tuple[str, ...]:
        """A list of texts; one text is its lines, without their bullets."""
        value = holder.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            return tuple(line.strip().removeprefix("- ").strip() for line in value.splitlines() if line.strip())
        if not isinstance(value, list) or not all(isinstance(each, str | int | float) for each in value):
            raise self.fail(f"{at}.{key}", "has to be a list of texts")
        return tuple(map(str, value))
