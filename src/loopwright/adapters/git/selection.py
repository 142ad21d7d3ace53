"""Trees made of other trees, in objects only: a workspace's changes, or those of the wanted paths alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.differences import ABSENT, Difference
from loopwright.adapters.git.paths import covers, folders_above, inner
from loopwright.adapters.git.program import name_of
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Commit, Tree
from loopwright.ports.workspace import Taking


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """What a path is to hold; the mode 000000 removes it."""

    mode: str
    object: str
    path: str

    @property
    def line(self) -> bytes:
        return f"{self.mode} {self.object} 0\t".encode() + name_of(self.path) + b"\0"


def altered(ground: Ground, start: str, entries: Iterable[TreeEntry]) -> Tree:
    """The tree of `start` with these entries. A file takes the place of a folder of its name, and the other way."""
    with tempfile.TemporaryDirectory(dir=ground.own, prefix="overlay-") as folder:
        git = ground.engine.having(GIT_INDEX_FILE=str(Path(folder) / "index"))
        git.run("read-tree", start)
        git.run("update-index", "-z", "--index-info", stdin=b"".join(entry.line for entry in entries))
        return Tree(git.line("write-tree"))


@dataclass(frozen=True, slots=True)
class Picked:
    taken: tuple[Difference, ...]
    left: tuple[Difference, ...]

    @property
    def dropped(self) -> tuple[str, ...]:
        return tuple(sorted(difference.name for difference in self.left))


def pick(found: tuple[Difference, ...], wanted: Taking) -> Picked:
    """`found` against the parent, parted by what is wanted; all of it is taken when nothing is named."""
    if not wanted.only and not wanted.welcome_only:
        return Picked(found, ())
    entries = frozenset(entry for entry in map(inner, wanted.only) if entry is not None)
    files = frozenset(entry for entry in map(inner, wanted.also) if entry is not None)
    fits = frozenset(
        d.path
        for d in found
        if {d.path, d.name} & files
        or any(covers(entries, n) for n in (d.path, d.name))
        or wanted.welcome(d.name)
        or (wanted.new_files and d.old_mode == ABSENT)
    )
    stays = frozenset(d.path for d in found if d.new_mode == ABSENT and d.path not in fits)
    taken = tuple(d for d in found if d.path in fits and not _is_below_a_file(d, stays))
    paths = frozenset(difference.path for difference in taken)
    return Picked(taken, tuple(difference for difference in found if difference.path not in paths))


def _is_below_a_file(difference: Difference, stays: frozenset[str]) -> bool:
    """A wanted file below what is a file in the parent, and stays one, has no place."""
    return any(above in stays for above in folders_above(difference.path))


def tree_with(ground: Ground, parent: Commit, taken: tuple[Difference, ...]) -> Tree:
    """The parent's tree with these changes and no others."""
    if not taken:
        return ground.tree(parent)
    return altered(ground, parent, (TreeEntry(mode=d.new_mode, object=d.new, path=d.path) for d in taken))
