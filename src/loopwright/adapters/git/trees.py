"""Trees made of other trees, in objects only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.program import name_of
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Commit, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """What a path is to hold; the mode 000000 removes it."""

    mode: str
    object: str
    path: str

    @property
    def line(self) -> bytes:
        return f"{self.mode} {self.object} 0\t".encode() + name_of(self.path) + b"\0"


def altered(ground: Ground, start: Commit, entries: Iterable[TreeEntry]) -> Tree:
    """The tree of `start` with these entries. A file takes the place of a folder of its name, and the other way."""
    with tempfile.TemporaryDirectory(dir=ground.own, prefix="overlay-") as folder:
        git = ground.engine.having(GIT_INDEX_FILE=str(Path(folder) / "index"))
        git.run("read-tree", start)
        git.run("update-index", "-z", "--index-info", stdin=b"".join(entry.line for entry in entries))
        return Tree(git.line("write-tree"))
