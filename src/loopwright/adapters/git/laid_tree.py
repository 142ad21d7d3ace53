"""Whether what lies in a folder is the tree it was laid from, by its own bytes.

Git believes an object that was overwritten in its store, and so would whoever believes git: here every tree object and
every file is hashed. A file that was hashed before and whose stat has not changed since is not read again.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from loopwright.adapters.git.laying import place_of, submodules_of
from loopwright.adapters.git.manifest import stat_of
from loopwright.adapters.git.program import Git, path_of, readable
from loopwright.adapters.git.site import Ground, Place
from loopwright.errors import Forbidden
from loopwright.kernel.model import Tree
from loopwright.kernel.visible import visible

_LINK, _PROGRAM, _SUBMODULE, _FOLDER = "120000", "100755", "160000", "040000"
_NOTHING: Mapping[LaidEntry, list[int]] = MappingProxyType({})


class LaidEntry(NamedTuple):
    mode: str
    object: str
    path: str


Hashed = Mapping[LaidEntry, list[int]]  # what was found to be there, with its stat before it was read


def refuse_what_is_not(ground: Ground, place: Place, hold: int, tree: Tree, known: Hashed = _NOTHING) -> Hashed:
    """Return what lies there. Raises `Forbidden` naming the first file that is not what the tree says.

    The files of submodules are looked at as well, and are not part of the answer.
    """
    hashed = _refuse_other(ground.inside(place, hold), place.folder, tree, ground.object_format, known)
    for each in submodules_of(ground, tree):
        if each.origin is not None:
            inner, git = place_of(place, each.path), ground.inside(place_of(place, each.path), hold, each.origin)
            _refuse_altered(git, "commit", [each.commit], ground.object_format)
            within = Tree(git.line("rev-parse", "--verify", f"{each.commit}^{{tree}}"))
            converting = ground.inside(inner, hold, each.origin, each.commit)
            _refuse_other(converting, inner.folder, within, ground.object_format)
    return hashed


def altered_of(ground: Ground, place: Place, hold: int, tree: Tree, paths: frozenset[str]) -> frozenset[str]:
    """Of these files of the tree those that hold something else, or are gone."""
    git = ground.inside(place, hold)
    other = (entry for entry in _entries(git, tree) if entry.path in paths)
    lying = (entry for entry in other if not _lies_there(f"{place.folder}/{entry.path}", entry, ground.object_format))
    return frozenset(entry.path for entry in lying if not _is_converted(git, place.folder, entry))


def _refuse_other(git: Git, folder: Path, tree: Tree, algorithm: str, known: Hashed = _NOTHING) -> Hashed:
    entries = list(_entries(git, tree))
    _refuse_altered(git, "tree", [tree, *(entry.object for entry in entries if entry.mode == _FOLDER)], algorithm)
    hashed: dict[LaidEntry, list[int]] = {}
    for entry in entries:
        if entry.mode in (_SUBMODULE, _FOLDER):
            continue
        file = f"{folder}/{entry.path}"
        found = _stat(file)
        is_known = found is not None and known.get(entry) == found
        if not is_known and not _lies_there(file, entry, algorithm) and not _is_converted(git, folder, entry):
            raise _altered(f"{visible(entry.path)} does not hash to what the tree says", tree, entry.object)
        if found is not None:
            hashed[entry] = found
    return hashed


def _stat(file: str) -> list[int] | None:
    try:
        return stat_of(file)
    except OSError:
        return None


def _entries(git: Git, tree: Tree) -> Iterator[LaidEntry]:
    for row in git.run("ls-tree", "-r", "-t", "-z", "--full-tree", tree).split(b"\0"):
        if row:
            meta, _, path = row.partition(b"\t")
            mode, _, name = readable(meta).split(" ")
            yield LaidEntry(mode, name, path_of(path))


def _refuse_altered(git: Git, kind: str, names: Sequence[str], algorithm: str) -> None:
    asked = list(dict.fromkeys(names))
    said = git.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in asked).encode())
    start = 0
    for name in asked:
        end = said.index(b"\n", start)
        size = int(said[start:end].split()[2])
        if _hashed(kind, said[end + 1 : end + 1 + size], algorithm) != name:
            raise _altered(f"a {kind} in it does not hash to its own name", Tree(asked[0]), name)
        start = end + size + 2


def _lies_there(file: str, entry: LaidEntry, algorithm: str) -> bool:
    try:
        mode = os.lstat(file).st_mode
        if entry.mode == _LINK:
            content = os.fsencode(os.readlink(file))  # noqa: PTH115 a Path drops the "." of "./a"
        elif stat.S_ISREG(mode) and bool(mode & stat.S_IXUSR) == (entry.mode == _PROGRAM):
            content = _bytes(file)
        else:
            return False
    except OSError:
        return False
    return _hashed("blob", content, algorithm) == entry.object


def _bytes(file: str) -> bytes:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as source:
        return source.readall()


def _is_converted(git: Git, folder: Path, entry: LaidEntry) -> bool:
    """Whether git, taking the file back in as its attributes say, comes to the object of the tree."""
    try:
        if entry.mode == _LINK or not stat.S_ISREG((folder / entry.path).lstat().st_mode):
            return False
        content = (folder / entry.path).read_bytes()
    except OSError:
        return False
    said = git.ask("hash-object", "--stdin", f"--path={entry.path}", stdin=content)
    return said.code == 0 and readable(said.out).strip() == entry.object


def _hashed(kind: str, content: bytes, algorithm: str) -> str:
    header = f"{kind} {len(content)}\0".encode()
    return hashlib.new(algorithm, header + content, usedforsecurity=False).hexdigest()


def _altered(what: str, tree: Tree, name: str) -> Forbidden:
    return Forbidden(
        f"{what} ({tree[:12]}): object {name[:12]} in your repository was overwritten after it was written;"
        " `git fsck` names all such objects, bring them back from a backup or another clone, then run `loop resume`"
    )
