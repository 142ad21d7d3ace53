"""Text that stands for text to come. Quoted words and code are not meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from loopwright.adapters.markdown import markdown_lines
from loopwright.kernel.lines import MarkdownLine

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


def prose(text: str) -> tuple[MarkdownLine, ...]:
    """The lines with code and comments blanked: as many lines as before."""
    bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return tuple(
        replace(line, text="" if line.block == "code" else _CODE.sub("`code`", line.text))
        for line in markdown_lines(bare)
    )


def placeholders(lines: tuple[MarkdownLine, ...]) -> Iterator[tuple[int, str]]:
    """The lines of prose that has not been written, each with the words that show it."""
    for line in lines:
        if found := _found(line.text):
            yield line.number, found


def _found(line: str) -> str:
    for match in _ANYWHERE.finditer(line):
        word = match[0]
        if not _UPPER_ONLY.fullmatch(word) or word.isupper():
            return word
    alone = _ALONE.search(line)
    return alone[0].strip(" |") if alone else ""
