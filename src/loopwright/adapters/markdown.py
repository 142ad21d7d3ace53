"""markdown-it behind one function: the lines of a Markdown text, with what a CommonMark reader makes of each.

The only file that imports it; it takes time that every start of the command would pay, so only when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from loopwright.kernel.lines import MarkdownLine

Block = Literal["", "code", "html"]

# What is within a line is nothing to us, nor are lists: taking them apart makes a long one ten times as slow.
_RULES = ["fence", "code", "html_block", "heading", "blockquote", "paragraph"]
_BLOCKS: Mapping[str, Block] = {"fence": "code", "code_block": "code", "html_block": "html"}


def markdown_lines(text: str, first: int = 1) -> tuple[MarkdownLine, ...]:
    """`first` is the number of the first line. Headings are those with `#`, outside of quotes."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow to load

    reader = MarkdownIt("commonmark")
    reader.core.ruler.enableOnly(["normalize", "block"])
    reader.block.ruler.enableOnly(_RULES)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    tokens = reader.parse(plain)
    headings: dict[int, tuple[int, str]] = {}
    blocks: dict[int, Block] = {}
    for index, token in enumerate(tokens):
        begin, end = token.map or (0, 0)
        if token.type in _BLOCKS:
            blocks |= dict.fromkeys(range(begin, end), _BLOCKS[token.type])
        elif token.type == "heading_open" and token.level == 0:
            headings[begin] = len(token.markup), tokens[index + 1].content
    lines: list[MarkdownLine] = []
    for at, line in enumerate(plain.split("\n")):
        level, title = headings.get(at, (0, ""))
        lines.append(MarkdownLine(number=first + at, text=line, level=level, title=title, block=blocks.get(at, "")))
    return tuple(lines)
