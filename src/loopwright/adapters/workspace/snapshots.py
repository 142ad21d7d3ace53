"""Attempts as commits: what a workspace holds, and what changed against the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.workspace.folders import is_folder, locked
from loopwright.adapters.workspace.git import path_of, readable
from loopwright.adapters.workspace.ground import Ground, Place
from loopwright.adapters.workspace.quiet import until_quiet
from loopwright.adapters.workspace.recording import record
from loopwright.adapters.workspace.refs import commit_tree, keep, kept_by, listed, message_of, one_line, ref_of
from loopwright.kernel.model import Change, Commit, LoopId, Tree
from loopwright.ports.workspace import Snapshot

ABSENT = "000000"
EMPTY_TREE = {
    "sha1": Tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    "sha256": Tree("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}
CUT = "\n[… the rest of the change is left out]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One changed path with all that is needed to undo the change."""

    path: str  # as file functions take it
    old_mode: str
    new_mode: str
    old: str
    new: str

    @property
    def change(self) -> Change:
        """For people and the log: a name that is not UTF-8 is escaped."""
        how: Literal["added", "changed", "removed"] = "changed"
        if self.old_mode == ABSENT:
            how = "added"
        elif self.new_mode == ABSENT:
            how = "removed"
        path = readable(self.path.encode("utf-8", "surrogateescape"))
        return Change(path=path, how=how, blob="" if how == "removed" else self.new)


def take(ground: Ground, loop: LoopId, name: str, label: str, parent: Commit, step: str) -> tuple[Commit, Tree]:
    """The commit of this label and step: the one there is, or a new one of the workspace's files."""
    place, ref = ground.workspace(name), ref_of(loop, label)
    with locked(place.lock) as hold:
        for kept in listed(ground, ref, f"{ref}+*"):
            if kept.step == one_line(step):
                return kept.commit, kept.tree
        until_quiet(ground.root, place.folder)
        tree = files_of(ground, place, hold, parent) or ground.tree(parent)
        commit = commit_tree(ground, tree, (parent,), message_of(f"{label} of {loop}", loop, step))
        keep(ground, loop, label, commit)
        return commit, tree


def files_of(ground: Ground, place: Place, hold: int, known: Commit) -> Tree | None:
    """The tree of the workspace's files, or None when they are lost: no folder, or not one file left in it."""
    if not is_folder(place.folder):
        return None
    git = ground.inside(place, hold)
    tree = record(ground, git, place, known)
    return None if tree == EMPTY_TREE[ground.object_format] and tree != ground.tree(known) else tree


def keep_evidence(ground: Ground, loop: LoopId, tree: Tree, parent: Commit, step: str) -> None:
    """Keep files that are about to go, unless some ref of the loop has them already."""
    if any(kept.tree == tree for kept in kept_by(ground, loop)):
        return
    commit = commit_tree(ground, tree, (parent,), message_of(f"Left in the workspace of {loop}", loop, step))
    keep(ground, loop, "evidence", commit, numbered=True)


def differences(ground: Ground, old: str, new: str) -> tuple[Difference, ...]:
    """What changed between two commits or trees, renames as one removed and one added path."""
    if old == new:
        return ()
    fields = ground.engine.run("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split(b"\0")
    pairs = zip(fields[0::2], fields[1::2], strict=False)
    return tuple(_difference(readable(meta), path_of(path)) for meta, path in pairs)


def _difference(meta: str, path: str) -> Difference:
    old_mode, new_mode, old, new, _ = meta.removeprefix(":").split(" ")
    return Difference(path=path, old_mode=old_mode, new_mode=new_mode, old=old, new=new)


def snapshot_of(ground: Ground, commit: Commit, tree: Tree, base: Commit) -> Snapshot:
    changes = tuple(difference.change for difference in differences(ground, ground.tree(base), tree))
    return Snapshot(commit=commit, tree=tree, changes=changes)


def diff_text(ground: Ground, base: Commit, commit: Commit, limit: int) -> str:
    options = ("-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
    raw = ground.engine.beginning("diff-tree", *options, base, commit, limit=4 * limit + 4)
    text = raw.decode("utf-8", "replace")
    if len(text) <= limit:
        return text
    return text[: max(0, limit - len(CUT))] + CUT if limit > len(CUT) else text[:limit]
