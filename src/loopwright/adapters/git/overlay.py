"""Which tree checks run on, and what decides how a checkout is prepared for it."""

from __future__ import annotations

import hashlib
import posixpath
import tempfile
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.git.differences import ABSENT, differences
from loopwright.adapters.git.objects import entries_at
from loopwright.adapters.git.paths import portions
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.program import path_of, readable
from loopwright.adapters.git.selection import TreeEntry, altered
from loopwright.adapters.git.site import Ground
from loopwright.kernel.judges import is_installing
from loopwright.kernel.model import Commit, Tree

_PLAIN = "100644"  # of a file that is new


def composed(
    ground: Ground, onto: str, taken_from: str, paths: frozenset[str], texts: Mapping[str, bytes | None]
) -> Tree:
    """The tree of `onto`, where these paths are as in `taken_from` and these files hold these texts, or are gone."""
    taken = [each for each in differences(ground, onto, taken_from) if each.name in paths] if paths else []
    entries = [TreeEntry(mode=d.new_mode, object=d.new, path=d.path) for d in taken]
    held = {path: text for path, text in texts.items() if text is not None}
    modes = _modes(ground, onto, tuple(held)) | {d.path: d.new_mode for d in taken}
    for path, blob in zip(held, _stored(ground, tuple(held.values())), strict=True):
        entries.append(TreeEntry(mode=modes.get(path, _PLAIN), object=blob, path=path))
    nothing = "0" * len(ground.tree(Commit(onto)))
    entries += [TreeEntry(mode=ABSENT, object=nothing, path=path) for path in texts if path not in held]
    return altered(ground, onto, entries) if entries else ground.tree(Commit(onto))


def _stored(ground: Ground, texts: tuple[bytes, ...]) -> list[str]:
    """The objects of these texts, by one process however many they are: it reads them from files."""
    if not texts:
        return []
    with tempfile.TemporaryDirectory(dir=ground.own, prefix="overlay-") as folder:
        files = [Path(folder) / str(number) for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_bytes(text)
        names = b"".join(bytes(file) + b"\n" for file in files)
        return readable(ground.engine.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names)).split()


def _modes(ground: Ground, tree: str, paths: tuple[str, ...]) -> dict[str, str]:
    """Of files as the tree has them; one that is new is left out."""
    found: dict[str, str] = {}
    for some in portions(sorted(paths)):
        found |= {path: entry.mode for path, entry in entries_at(ground.engine, tree, some).items()}
    return found


def setup_inputs(ground: Ground, preparation: Preparation, tree: Tree, base: Tree) -> tuple[bytes, Tree]:
    """What of a tree decides what setup makes, and the tree that it runs on.

    Setup runs code of the tree it runs on, and what it makes serves later candidates too. So it runs on the base; of a
    tree that has other lock files, which a person has approved, it takes these and nothing else.
    """
    other = frozenset(each.name for each in differences(ground, base, tree) if is_installing(each.path))
    on = composed(ground, base, tree, other, {}) if other else base
    return _deciding(ground, preparation, on) + ground.conversion_key.encode(), on


def setup_key(digest: str, inputs: bytes) -> str:
    """A key for what setup makes. `digest` is that of the preparation."""
    return hashlib.sha256(digest.encode() + inputs).hexdigest()[:32]


def _deciding(ground: Ground, preparation: Preparation, tree: Tree) -> bytes:
    """The lock files, and the scripts of the tree that a command of setup names."""
    named = {posixpath.normpath(word) for argv in preparation.setup for word in argv if word}
    rows = ground.engine.run_once((tree,), "ls-tree", "-r", "-z", tree).split(b"\0")
    paths = ((row, path_of(row.rpartition(b"\t")[2])) for row in rows if row)
    return b"\0".join(row for row, path in paths if is_installing(path) or path in named)
