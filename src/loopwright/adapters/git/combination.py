"""The work of many loops that began at one commit, folded into one commit, in objects only."""

from __future__ import annotations

from dataclasses import replace

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.overlay import composed
from loopwright.adapters.git.program import readable
from loopwright.adapters.git.refs import commit_tree, keep, listed, message_of, one_line, ref_of
from loopwright.adapters.git.site import Ground
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Commit, Conflict, Tree
from loopwright.ports.workspace import Combination, Combining


def combine(ground: Ground, wanted: Combining) -> Combination:
    """One commit on the base, or the base itself when nothing changes. Same step, same commit."""
    loop, label, base, step = wanted.loop, wanted.label, wanted.base, wanted.step
    made_on = {commit: start for start, commit in wanted.deltas}
    ref = ref_of(loop, label)
    held = listed(ground, ref, f"{ref}+*")
    for kept in held:
        if kept.step == one_line(step):
            left = _conflicts(ground, base if wanted.marks else kept.commit, made_on, tuple(map(Commit, kept.left)))
            changed = _kept(ground, _fold(ground, wanted)[0], wanted.keep)[1]
            return replace(_combination(ground, base, kept.commit, left), kept=changed)
    folded, left_out = _fold(ground, wanted)
    tree, changed = _kept(ground, folded, wanted.keep)
    if tree == ground.tree(base):
        conflicts = _conflicts(ground, base, made_on, left_out)
        return Combination(commit=base, changes=(), left_out=conflicts, kept=changed)
    commit = commit_tree(ground, tree, (base,), message_of(f"{label} of {loop}", loop, step, left_out))
    keep(ground, loop, label, commit, held)
    found = _combination(ground, base, commit, _conflicts(ground, base if wanted.marks else commit, made_on, left_out))
    return replace(found, kept=changed)


def _kept(ground: Ground, tree: Tree, keep: tuple[tuple[Commit, str], ...]) -> tuple[Tree, tuple[str, ...]]:
    """The tree with what is to be kept, and which of that would have been otherwise."""
    changed: list[str] = []
    for commit in dict.fromkeys(commit for commit, _ in keep):
        paths = frozenset(path for each, path in keep if each == commit)
        changed += [each.name for each in differences(ground, tree, ground.tree(commit)) if each.name in paths]
        tree = composed(ground, tree, ground.tree(commit), paths, {})
    return tree, tuple(sorted(changed))


def _combination(ground: Ground, base: Commit, commit: Commit, left_out: tuple[Conflict, ...]) -> Combination:
    found = differences(ground, ground.tree(base), ground.tree(commit))
    return Combination(commit=commit, changes=tuple(difference.change for difference in found), left_out=left_out)


def _conflicts(
    ground: Ground, combined: Commit, made_on: dict[Commit, Commit], left_out: tuple[Commit, ...]
) -> tuple[Conflict, ...]:
    def paths(commit: Commit) -> tuple[str, ...]:
        ours, theirs = (_side(ground, made_on[commit], ground.tree(each)) for each in (combined, commit))
        return merged_tree(ground, ours, theirs)[1] or ()

    return tuple(Conflict(commit=commit, paths=paths(commit)) for commit in left_out)


def _fold(ground: Ground, wanted: Combining) -> tuple[Tree, tuple[Commit, ...]]:
    """The tree of all, and the commits that do not go with those before them."""
    tree, left_out = ground.tree(wanted.base), []
    for start, commit in wanted.deltas:
        merged, conflicts = _merged(ground, start, tree, ground.tree(commit))
        if conflicts is not None:
            left_out.append(commit)
        if conflicts is None or wanted.marks:
            tree = merged
    return tree, tuple(left_out)


def _merged(ground: Ground, base: Commit, ours: Tree, theirs: Tree) -> tuple[Tree, tuple[str, ...] | None]:
    """Both changes to the base, and where they conflict. Two trees that need no merge start no git."""
    start = ground.tree(base)
    if theirs in (start, ours):
        return ours, None
    if ours == start:
        return theirs, None
    return merged_tree(ground, _side(ground, base, ours), _side(ground, base, theirs))


def merged_tree(ground: Ground, ours: Commit, theirs: Commit) -> tuple[Tree, tuple[str, ...] | None]:
    """Both merged, and the paths where they conflict, with git's marks there. None: nowhere; some conflicts have no
    path (renamed folders)."""
    said = ground.engine.ask("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    if said.code not in (0, 1):
        raise VcsFailed("git merge-tree", said.err)
    tree, *paths = readable(said.out).split("\0")
    return Tree(tree), None if said.code == 0 else tuple(dict.fromkeys(filter(None, paths)))


def _side(ground: Ground, base: Commit, tree: Tree) -> Commit:
    """A child of the base, whatever made the tree: the base is then what git merges from (2.38 cannot be told)."""
    return commit_tree(ground, tree, (base,), "A side of a merge\n")
