"""Files that a step has to leave behind, and whether each is what it has to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDemand:
    """A file that has to be there, not empty, without placeholders, and of its format."""

    path: str
    format: Literal["markdown", "json", "yaml", "text"] = "markdown"
    section: str = ""  # the heading below which it has to say something; empty: the whole file


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    path: str
    why: str


def fault_of(demand: FileDemand, text: str | None) -> str:
    """Why the file is not what it has to be; empty: it is."""
    if text is None:
        return f"there is no such {demand.format}"
    return "" if text.strip() else "it is empty"
