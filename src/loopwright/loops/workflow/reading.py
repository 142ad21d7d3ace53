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
LOOPBACK_ONLY = "may reach HTTP on loopback only (localhost, 127.0.0.1, [::1])"
_MOST_NAMED = 10  # of what is wrong in one way: a plan of thousands would fill pages
_URL = re.compile(r"\b(?:https?|wss?|ftp)://([^\s/?#'\"]*)", re.IGNORECASE)
_URL_SHOWN = 200  # characters of one
_LOOPBACK = re.compile(
    r"(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII
)
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


def urls_away(command: tuple[str, ...]) -> tuple[str, ...]:
    """A host with a user before it, or with anything odd in it, is read otherwise by every program: it is away."""
    found = (url for word in command for url in _URL.finditer(word))
    return tuple(one_line(url[0], _URL_SHOWN) for url in found if not _LOOPBACK.fullmatch(url[1]))


def some(texts: list[str], between: str = ", ") -> str:
    more = len(texts) - _MOST_NAMED
    return between.join(one_line(each) for each in texts[:_MOST_NAMED]) + (
        f"{between}and {more} more" if more > 0 else ""
    )
