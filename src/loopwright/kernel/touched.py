"""Which lines a change touched: told by its diff, asked by whoever may put off only what a change has not touched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_FILE = "+++ b/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """Lines of a file as it is after the change, with those around them; without lines, all of it."""

    path: str
    first: int = 0
    last: int = 0


def touched_lines(paths: tuple[str, ...], diff: str, *, whole: bool) -> tuple[Touched, ...]:
    """Of these files. Of one that the diff does not name plainly, or that is not `whole`, every line."""
    hunks = tuple(_hunks(diff.split("\n"))) if whole else ()
    plain = {each.path for each in hunks}
    return tuple(each for each in hunks if each.path in paths) + tuple(
        Touched(path=path) for path in paths if path not in plain
    )


def _hunks(lines: Iterable[str]) -> Iterator[Touched]:
    path, left = "", 0
    for line in lines:
        if left > 0:  # what is changed may itself look like a heading
            left -= not line.startswith(("-", "\\"))
        elif line.startswith(_FILE):
            path = line.removeprefix(_FILE).removesuffix("\t")
        elif path and (found := _HUNK.match(line)):
            first, left = int(found[1]), int(found[2] or 1)
            yield Touched(path=path, first=first, last=first + max(left, 1) - 1)


def is_touched(touched: tuple[Touched, ...], path: str, line: int) -> bool:
    """Whether something said of this place may be about the change. Where no line is named, it may."""
    own = [each for each in touched if each.path == path.removeprefix("./")]
    return any(not (line and each.first) or each.first <= line <= each.last for each in own)
