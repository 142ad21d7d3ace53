"""How this room reads what an agent added to its result: by shape, with a sentence where it does not fit.

The door has looked at the form of a result; what the words have to be is this room's to say.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any

from loopwright.kernel.findings import cut
from loopwright.kernel.model import AgentReport
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Problem, Shape, shown
from loopwright.kernel.visible import visible

LONGEST = 2_000  # characters of a text that goes into a brief or onto a page
MOST = 100  # entries of a list of texts: nobody reads more
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")
_VERIFY = re.compile(
    r"(?:^|(?<=\s))(?P<mark>[*_]{0,3})verify(?P<colon>[*_]{0,3}:[*_]{0,3})(?P<command>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_MARKED = re.compile(r"(?P<mark>\*\*|__|`{1,3})(?P<text>(?:(?!(?P=mark)).)+)(?P=mark)\.?")
_OF_A_SHELL = re.compile(r"[|&;<>`$()*?]|^\s*\w+=")


def told(report: AgentReport, shape: Shape) -> dict[str, Any] | str:
    """The report's other keys, read by a record; the sentence that says what is wrong with them."""
    try:
        held = shape.read(json.loads(report.extras))
    except (ValueError, RecursionError):
        return "the result's other keys are not JSON that can be read"
    if isinstance(held, Problem):
        return f"{shown(held.at)}: {held.says}" if held.at else held.says
    kept: dict[str, Any] = held  # type: ignore[assignment]  # a record reads a table
    return kept


def lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Each on one line, bounded; those that say nothing left out."""
    kept = [one_line(text, LONGEST) for text in texts if text.strip()]
    return tuple(kept[:MOST])


def paragraph(text: str) -> str:
    return cut(visible(text).strip(), LONGEST)


def argv_of(command: str) -> tuple[str, ...]:
    """A line that somebody wrote for a shell, as words; none where a shell would make more of it."""
    if _OF_A_SHELL.search(_QUOTED.sub("", command)):
        return ()
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def verify_lines(description: str) -> tuple[str, ...]:
    """What stands behind each `Verify:` of a task, without marks of Markdown around it."""
    return tuple(_unmarked(found) for found in _VERIFY.finditer(description))


def _unmarked(found: re.Match[str]) -> str:
    text, mark = found["command"].strip(), found["mark"]
    if mark and mark not in found["colon"]:
        text = text.removesuffix(mark).strip()
    while marked := _MARKED.fullmatch(text):
        text = marked["text"].strip()
    return text
