"""Which gates a change calls for, from the changed paths alone; and what an approval is bound to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import Change, Key

PROTECTED = "protected"
UNTESTED = "untested"  # a change that no check looks at
UNSHOWN = "unshown"  # a change that no test tells from the base, on its way into the person's branch


def is_check_configuration(path: str) -> bool:
    return judge_by_name(path) is Judge.RUNNER


def runs_code(path: str) -> bool:
    """Whether the file decides what is executed, rather than being a test or code like any other: shown first."""
    return judge_by_name(path) not in (None, Judge.HIDDEN, Judge.LOCK)


def is_protected(path: str, patterns: tuple[str, ...]) -> bool:
    return is_check_configuration(path) or any(matches(path, pattern) for pattern in patterns)


def gate_key(gate: str, digest: str) -> Key:
    """The key of the question whether a gate opens for exactly this evidence."""
    return Key("gate", part=f"{gate}-{digest}")


def evidence(changes: tuple[Change, ...]) -> str:
    """A digest of exactly what called for a gate: it changes when the files do, and with nothing else."""
    if not changes:
        return ""
    # A path may hold any character but NUL, so that nothing else keeps two lists of changes apart.
    lines = sorted(map(_evidence_line, changes))
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:24]


def _evidence_line(change: Change) -> str:
    """What was recorded before modes were is the same evidence still."""
    line = f"{change.how}\0{change.path}\0{change.blob}\0"
    rest = (change.mode, change.old, change.old_mode)
    return line + "\0".join((*rest, "")) if any(rest) else line


def matches(path: str, pattern: str) -> bool:
    """Git-like globs: `*` stays within a folder, `**` crosses them, `tests/` means all below it, `{a,b}` either."""
    return _regex(pattern).fullmatch(path) is not None


_STANDS_FOR = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/"):
        pattern += "**"
    # A line break is an ordinary character in a path: without DOTALL it would slip past `**`.
    return re.compile("|".join(map(_expression, choices(pattern))), re.DOTALL)


def choices(pattern: str) -> Iterator[str]:
    """Braces that choose, written out; a brace without a comma is a character like any other."""
    found = _CHOICE.search(pattern)
    if found is None:
        yield pattern
        return
    for one in found[1].split(","):
        yield from choices(pattern[: found.start()] + one + pattern[found.end() :])


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(_STANDS_FOR.get(part, re.escape(part)) for part in parts)
