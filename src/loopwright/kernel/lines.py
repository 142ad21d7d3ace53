"""A line of a Markdown text as Markdown sees it: what a reader of sections needs, whoever took the text apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownLine:
    """`level` is that of a heading, 0 for any other line; `block` what Markdown does not look into."""

    number: int
    text: str
    level: int = 0
    title: str = ""
    block: Literal["", "code", "html"] = ""
