"""The Markdown that ticket files are made of: headings, tables and quotes that hold other people's words, and back.

What goes in through `cell`, `inline` or `quoted` comes out of `plain_cells`, `unescaped` and `unquoted` as it was, but
for space at the ends of lines and for what is invisible, which is written out.
"""

from __future__ import annotations

import re

from loopwright.kernel.quoting import LINE, inline, quoted

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BAR = re.compile(r"(?<!\\)((?:\\\\)*)\|")


def cell(text: str, limit: int = LINE) -> str:
    """One cell of a table; nothing in it can begin another."""
    return inline(text, limit).replace("|", "\\|")


def table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    """`head` is ours, what is in `rows` may be anybody's."""
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('-' * (len(name) + 2) for name in head)}|"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join(lines)


def said(text: str, otherwise: str) -> str:
    """Somebody's words as a block quote, or what is to be said where there are none."""
    return quoted(text) if text.strip() else otherwise


def unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def plain_cells(line: str) -> tuple[str, ...]:
    """The cells of a row, without the bars around it."""
    inside = line.strip().removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    parts = _BAR.sub("\\1\n", inside).split("\n")
    return tuple(unescaped(part.strip()) for part in parts)


def unquoted(lines: tuple[str, ...]) -> str:
    """A text without the empty lines around it, and without the marks of a quote if all of it is one."""
    kept = "\n".join(lines).strip("\n").split("\n")
    marked = [line.lstrip() for line in kept if line.strip()]
    if marked and all(line.startswith(">") for line in marked):
        kept = [line.lstrip().removeprefix(">").removeprefix(" ") for line in kept]
    return "\n".join(line.rstrip() for line in kept).strip("\n")
