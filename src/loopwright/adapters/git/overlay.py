"""Which tree checks run on, and what decides how a checkout is prepared for it."""

from __future__ import annotations

import fnmatch
import hashlib

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.preparation import Preparation, digest_of
from loopwright.adapters.git.program import path_of
from loopwright.adapters.git.selection import TreeEntry, altered
from loopwright.adapters.git.site import Ground
from loopwright.kernel.gates import evidence, protected_changes
from loopwright.kernel.model import Commit, Tree

# What setup commands read to decide what to install.
LOCK_FILES = (
    *("*.lock", "*-lock.json", "*-lock.yaml", "*.lockb", "go.sum", "npm-shrinkwrap.json", "requirements*.txt"),
    *("pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "environment.yml", ".python-version", ".nvmrc", ".tool-versions"),
)


def overlaid(
    ground: Ground, commit: Commit, base: Commit, protected: tuple[str, ...], approved: tuple[str, ...]
) -> Tree:
    """The commit's tree, where protected paths that the base has are as in the base, unless approved."""
    found = differences(ground, ground.tree(base), ground.tree(commit))
    guarded = protected_changes(tuple(difference.change for difference in found), protected)
    if not guarded or evidence(guarded) in approved:
        return ground.tree(commit)
    undo = [difference for difference in found if difference.change in guarded]
    return altered(ground, commit, (TreeEntry(mode=d.old_mode, object=d.old, path=d.path) for d in undo))


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
    return b"\0".join(row for row in rows if _is_lock(path_of(row.rpartition(b"\t")[2])))


def _is_lock(path: str) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in LOCK_FILES)
