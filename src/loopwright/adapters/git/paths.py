"""Paths inside a repository, as people and loops name them: literal, of a file or of a folder."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

TOP = "."
_AT_ONCE = 500  # paths on one command line


def inner(path: str) -> str | None:
    """The path as git writes it, `TOP` for the whole repository, None for one that is not inside it."""
    if not path or path.startswith("/") or "\0" in path:
        return None
    clean = posixpath.normpath(path)
    return None if clean.split("/")[0] == ".." else clean


def covers(entries: frozenset[str], path: str) -> bool:
    """Whether the path is one of the entries or lies below one."""
    return TOP in entries or path in entries or any(above in entries for above in folders_above(path))


def folders_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def portions(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many at once as fit a command line."""
    return (paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE))
