"""The work of many loops that began at one commit, folded into one commit, in objects only."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.program import readable
from loopwright.adapters.git.refs import commit_tree, keep, listed, message_of, one_line, ref_of
from loopwright.adapters.git.site import Ground
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.ports.workspace import Combination


@dataclass(frozen=True, slots=True, kw_only=True)
class Combining:
    loop: LoopId
    label: str
    base: Commit
    commits: tuple[Commit, ...]
    step: str


@dataclass(frozen=True, slots=True)
class FoldedTree:
    tree: Tree
    left_out: tuple[Commit, ...]


def combine(ground: Ground, wanted: Combining) -> Combination:
    """One commit on the base, or the base itself when nothing changes. Same step, same commit."""
    ref = ref_of(wanted.loop, wanted.label)
    held = listed(ground, ref, f"{ref}+*")
    for kept in held:
        if kept.step == one_line(wanted.step):
            return _combination(ground, wanted.base, kept.commit, tuple(map(Commit, kept.left)))
    folded = _fold(ground, wanted.base, wanted.commits)
    if folded.tree == ground.tree(wanted.base):
        return Combination(commit=wanted.base, changes=())
    message = message_of(f"{wanted.label} of {wanted.loop}", wanted.loop, wanted.step, folded.left_out)
    commit = commit_tree(ground, folded.tree, (wanted.base,), message)
    keep(ground, wanted.loop, wanted.label, commit, held)
    return _combination(ground, wanted.base, commit, folded.left_out)


def _combination(ground: Ground, base: Commit, commit: Commit, left_out: tuple[Commit, ...]) -> Combination:
    found = differences(ground, ground.tree(base), ground.tree(commit))
    return Combination(commit=commit, changes=tuple(difference.change for difference in found), left_out=left_out)


def _fold(ground: Ground, base: Commit, commits: tuple[Commit, ...]) -> FoldedTree:
    tree, left_out = ground.tree(base), []
    for commit in commits:
        merged = _merged(ground, base, tree, ground.tree(commit))
        if merged is None:
            left_out.append(commit)
        else:
            tree = merged
    return FoldedTree(tree, tuple(left_out))


def _merged(ground: Ground, base: Commit, ours: Tree, theirs: Tree) -> Tree | None:
    """Both changes to the base; None where they conflict. Two trees that need no merge start no git."""
    start = ground.tree(base)
    if theirs in (start, ours):
        return ours
    if ours == start:
        return theirs
    sides = (_side(ground, base, ours), _side(ground, base, theirs))
    said = ground.engine.ask("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
    if said.code not in (0, 1):
        raise VcsFailed("git merge-tree", said.err)
    return Tree(readable(said.out).split("\0")[0]) if said.code == 0 else None


def _side(ground: Ground, base: Commit, tree: Tree) -> Commit:
    """A child of the base, whatever made the tree: the base is then what git merges from (2.38 cannot be told)."""
    return commit_tree(ground, tree, (base,), "A side of a merge\n")
