"""Text that stands for text to come. Quoted words and code are not meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_CODE = re.compile(r"`[^`\n]*`")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ANYWHERE = re.compile(
    r"\b(?:TBD|TBC|TBA|FIXME|TKTK|XXX)\b|\bTODO\b(?!\s+(?:app|list|item|comment)s?\b)|\?\?\?"
    r"|\bto be (?:determined|decided|defined|confirmed|written|filled in|completed)\b|\blorem ipsum\b|\bcoming soon\b"
    r"|[<\[{](?:your |insert |add |describe |fill |placeholder)[^>\]}\n]*[>\]}]|\bplaceholder (?:text|value|content)\b",
    re.IGNORECASE,
)
_UPPER_ONLY = re.compile(r"(?:todo|fixme|tbc|tba|xxx)", re.IGNORECASE)
# Alone on its line, in its list item or in its table cell these stand for an answer; in a sentence they are words.
_ALONE = re.compile(
    r"(?:^|\|)\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*[^*]+\*\*:?\s*)?(?:N/?A|\.{3}|…)\s*\.?\s*(?:\||$)", re.IGNORECASE
)


def prose(text: str) -> tuple[str, ...]:
    """The lines with code and comments blanked: as many lines as before."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            lines.append("")
            if mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
            lines.append("")
        else:
            lines.append(_CODE.sub("`code`", line))
    return tuple(lines)


def placeholders(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The lines, from 1, of prose that has not been written, each with the words that show it."""
    for number, line in enumerate(lines, 1):
        if found := _found(line):
            yield number, found


def _found(line: str) -> str:
    for match in _ANYWHERE.finditer(line):
        word = match[0]
        if not _UPPER_ONLY.fullmatch(word) or word.isupper():
            return word
    alone = _ALONE.search(line)
    return alone[0].strip(" |") if alone else ""
