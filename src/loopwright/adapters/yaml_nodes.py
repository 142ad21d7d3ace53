"""What a YAML text says and where it says it, and how large such a text may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.kernel.shapes import Path

NODE_LIMIT = 100_000
DEPTH_LIMIT = 32
NUMBER_LIMIT = 100  # characters: turning digits into a number takes quadratic time


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    value: object
    lines: Mapping[Path, int]

    def plain(self) -> object:
        """Dictionaries, lists, texts, numbers, booleans and `None`."""
        return self.value

    def line(self, *path: str | int) -> int:
        """The line, from 1, of a key or entry; of the nearest one around it where there is none."""
        return next(self.lines[path[:size]] for size in range(len(path), -1, -1) if path[:size] in self.lines)
