"""Which gates a change calls for, from the changed paths alone; and what an approval is bound to."""

from __future__ import annotations

import hashlib
import re
from functools import cache

from loopwright.kernel.model import Change

PROTECTED = "protected"


def protected_changes(changes: tuple[Change, ...], patterns: tuple[str, ...]) -> tuple[Change, ...]:
    """Changed or removed paths under a protected pattern. Added ones are welcome: a new test is no threat."""
    return tuple(c for c in changes if c.how != "added" and any(matches(c.path, p) for p in patterns))


def evidence(changes: tuple[Change, ...]) -> str:
    """A digest of exactly what called for a gate: it changes when the files do, and with nothing else."""
    if not changes:
        return ""
    # A path may hold any character but NUL, so that nothing else keeps two lists of changes apart.
    lines = sorted(f"{change.how}\0{change.path}\0{change.blob}\0" for change in changes)
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:24]


def matches(path: str, pattern: str) -> bool:
    """Git-like globs: `*` stays within a folder, `**` crosses them, `tests/` means all below it."""
    return _regex(pattern).fullmatch(path) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    stands_for = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    # A line break is an ordinary character in a path: without DOTALL it would slip past `**`.
    return re.compile("".join(stands_for.get(part, re.escape(part)) for part in parts), re.DOTALL)
