"""How results reach branches: land, merge in objects, advance by compare-and-swap."""

from __future__ import annotations

from loopwright.adapters.git.branches import advance
from loopwright.adapters.git.combination import merged_tree
from loopwright.adapters.git.program import readable
from loopwright.adapters.git.refs import (
    commit_tree,
    keep,
    kept_by,
    listed,
    message_of,
    one_line,
    position,
)
from loopwright.adapters.git.site import Ground
from loopwright.adapters.git.snapshots import snapshot_of
from loopwright.errors import NeedsPerson, UsageError, VcsFailed
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.ports.workspace import Landing, Merge, Snapshot

NOBODY = LoopId("")


def branch_of(ground: Ground, loop: LoopId) -> str:
    """`loop/<id>`; a branch called `loop` makes that impossible, as a file and a folder of one name would be."""
    heads = readable(ground.refs.run("for-each-ref", "--format=%(refname)", "refs/heads/loop", "refs/heads/loopwright"))
    taken = set(heads.splitlines())
    if "refs/heads/loop" not in taken:
        return f"loop/{loop}"
    return f"loopwright/{loop}" if "refs/heads/loopwright" not in taken else f"loopwright-{loop}"


def land(ground: Ground, landing: Landing) -> Snapshot:
    ref = f"refs/heads/{landing.branch}"
    _check_name(ground, ref)
    tip, tree, base = position(ground, ref), landing.tree or ground.tree(landing.commit), landing.base
    if tip is not None and (again := _landed(ground, ref, one_line(landing.step))) is not None:
        return snapshot_of(ground, *again, base)
    is_there = tree == ground.tree(base) and not landing.merges
    landed = base if is_there else _commit(ground, landing, tree)
    _refuse_to_lose(ground, landing, tip, landed)
    if landing.moves:
        _move(ground, ref, tip, landed)
    return snapshot_of(ground, landed, tree, base)


def _commit(ground: Ground, landing: Landing, tree: Tree) -> Commit:
    """The commit of this landing: an earlier try may have made it and died before the branch moved."""
    step = one_line(landing.step)
    held = kept_by(ground, landing.loop)
    for kept in held:
        if "/landed-" in kept.ref and kept.step == step and kept.tree == tree:
            return kept.commit
    message = message_of(landing.message, landing.loop, landing.step)
    parents = (landing.base, landing.merges) if landing.merges else (landing.base,)
    commit = commit_tree(ground, tree, parents, message)
    keep(ground, landing.loop, "landed", commit, held, numbered=True)
    return commit


def _check_name(ground: Ground, ref: str) -> None:
    if ground.refs.ask("check-ref-format", ref).code != 0:
        raise UsageError(f"{ref.removeprefix('refs/heads/')!r} cannot name a branch")


def _landed(ground: Ground, ref: str, step: str) -> tuple[Commit, Tree] | None:
    for kept in listed(ground, ref):
        if kept.ref == ref and kept.step == step:
            return kept.commit, kept.tree
    return None


def _refuse_to_lose(ground: Ground, landing: Landing, tip: Commit | None, landed: Commit) -> None:
    """A branch may leave commits behind only if a ref of the loop holds them."""
    if tip is None or tip == landed or is_ancestor(ground, tip, landed):
        return
    branch = landing.branch
    if tip not in {kept.commit for kept in kept_by(ground, landing.loop)}:
        raise NeedsPerson(
            f"branch {branch} has commits at {tip[:12]} that the loop did not make; rename it with"
            f" `git branch -m {branch} {branch}-mine` and run `loop resume`"
        )


def _move(ground: Ground, ref: str, tip: Commit | None, commit: Commit) -> None:
    if tip is None:
        ground.refs.run("update-ref", "--stdin", stdin=f"create {ref} {commit}\n".encode())
    elif tip != commit:
        moved = advance(ground, ref, tip, commit)
        if moved.how != "done":
            raise VcsFailed(f"git update-ref {ref}", moved.detail)


def merge(ground: Ground, commit: Commit, target: str, message: str, step: str) -> Merge:
    onto = position(ground, target)
    if onto is None:
        return Merge(onto=Commit(""), commit=Commit(""), tree=Tree(""), gone=True)
    if is_ancestor(ground, onto, commit):
        return Merge(onto=onto, commit=commit, tree=ground.tree(commit), fast_forward=True)
    if is_ancestor(ground, commit, onto):
        return Merge(onto=onto, commit=onto, tree=ground.tree(onto), fast_forward=True)
    tree, conflicts = merged_tree(ground, onto, commit)
    if conflicts is not None:
        return Merge(onto=onto, commit=Commit(""), tree=Tree(""), conflicts=conflicts)
    merged = commit_tree(ground, tree, (onto, commit), message_of(message, NOBODY, one_line(step)))
    return Merge(onto=onto, commit=merged, tree=tree)


def is_ancestor(ground: Ground, older: Commit, newer: Commit) -> bool:
    said = ground.engine.ask("merge-base", "--is-ancestor", older, newer)
    if said.code not in (0, 1):
        raise VcsFailed("git merge-base --is-ancestor", said.err)
    return said.code == 0


def merged_as(ground: Ground, commit: Commit, tip: Commit) -> Commit:
    """What brought `commit` into the branch that is at `tip`: itself where the branch was only moved, or a merge.

    What came to the branch afterwards is not in it.
    """
    reach = f"{commit}..{tip}"
    rows = readable(ground.engine.run("rev-list", "--first-parent", "--parents", reach)).splitlines()
    after = set(readable(ground.engine.run("rev-list", "--ancestry-path", reach)).split())
    on_branch = [row.split() for row in rows if row.split()[0] in after]
    return Commit(on_branch[-1][0]) if on_branch and on_branch[-1][1] != commit else commit
