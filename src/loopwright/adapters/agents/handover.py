"""Files laid beside an agent's work before it runs, and gone after it: what they hold is no part of its work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from loopwright.errors import VcsFailed


@contextmanager
def laid_beside(folder: Path, files: Mapping[str, str]) -> Iterator[None]:
    """They are there while the block runs."""
    lay(folder, files)
    try:
        yield
    finally:
        take_away(folder, files)


def lay(folder: Path, files: Mapping[str, str]) -> None:
    """The folder was just laid out, so a link in it is the tree's. Where a file's folder is gone, it is made."""
    for name, text in files.items():
        path = folder / name
        if not path.parent.resolve().is_relative_to(folder.resolve()):
            raise VcsFailed("writing findings", f"{name} would lie outside of the workspace")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def take_away(folder: Path, files: Mapping[str, str]) -> None:
    """An agent deletes them itself; what it left is removed."""
    for name in files:
        path = folder / name
        if path.parent.is_dir() and path.parent.resolve().is_relative_to(folder.resolve()) and not path.is_dir():
            path.unlink(missing_ok=True)
