"""Which tree checks run on, and what decides how a checkout is prepared for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.preparation import Preparation, digest_of
from loopwright.adapters.git.program import path_of, readable
from loopwright.adapters.git.selection import TreeEntry, altered
from loopwright.adapters.git.site import Ground
from loopwright.kernel.judges import is_installing
from loopwright.kernel.model import Tree


def composed(ground: Ground, onto: str, taken_from: str, paths: frozenset[str], texts: Mapping[str, bytes]) -> Tree:
    """The tree of `onto`, where these paths are as in `taken_from` and these files hold these texts."""
    taken = [each for each in differences(ground, onto, taken_from) if each.name in paths]
    entries = [TreeEntry(mode=d.new_mode, object=d.new, path=d.path) for d in taken]
    modes = {d.path: d.new_mode for d in taken}
    for path, text in texts.items():
        blob = readable(ground.engine.run("hash-object", "-w", "--stdin", stdin=text)).strip()
        entries.append(TreeEntry(mode=modes.get(path) or _mode(ground, onto, path), object=blob, path=path))
    return altered(ground, onto, entries)


def _mode(ground: Ground, tree: str, path: str) -> str:
    """Of a file as the tree has it; of one that is new, a plain file's."""
    row = readable(ground.engine.run("ls-tree", "-z", tree, "--", path))
    return row.split(" ", 1)[0] if row else "100644"


def setup_digest(ground: Ground, preparation: Preparation, tree: Tree, base: Tree) -> tuple[str, Tree]:
    """A key for the prepared folder, and the tree setup runs on.

    Setup runs code of the tree it runs on, and what it makes serves later candidates too. So it runs on
    the base, unless the candidate changes what is to be installed; that folder then serves nobody else.
    """
    if not preparation.needed:
        return "plain", base
    key = hashlib.sha256(digest_of(preparation, ground.root).encode())
    locks = _lock_files(ground, tree)
    own = locks != _lock_files(ground, base)
    key.update(locks + (tree.encode() if own else b""))
    return key.hexdigest(), tree if own else base


def _lock_files(ground: Ground, tree: Tree) -> bytes:
    rows = ground.engine.run("ls-tree", "-r", "-z", tree).split(b"\0")
    return b"\0".join(row for row in rows if is_installing(path_of(row.rpartition(b"\t")[2])))
