"""What a YAML text says and where it says it, and how large such a text may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NODE_LIMIT = 100_000
DEPTH_LIMIT = 32
NUMBER_LIMIT = 100  # characters: turning digits into a number takes quadratic time

Path = tuple[str | int, ...]


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


def shown(path: Path) -> str:
    """How a message names a key: `findings[2].line`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_quoted_if_odd(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _quoted_if_odd(key: str) -> str:
    return key if re.fullmatch(r"[\w-]{1,60}", key) else ascii(key[:60])
