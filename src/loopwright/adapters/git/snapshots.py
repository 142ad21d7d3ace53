"""Attempts as commits: what a workspace holds, and what changed against the base."""

from __future__ import annotations

from loopwright.adapters.git.differences import differences
from loopwright.adapters.git.folder_tree import Recorded, record
from loopwright.adapters.git.folders import is_folder, locked, until_quiet
from loopwright.adapters.git.laying import changed_in_submodules
from loopwright.adapters.git.paths import TOP, inner, portions
from loopwright.adapters.git.program import printable
from loopwright.adapters.git.refs import KeptCommit, commit_tree, keep, kept_by, listed, message_of, one_line, ref_of
from loopwright.adapters.git.selection import Picked, pick, tree_with
from loopwright.adapters.git.site import Ground, Place
from loopwright.kernel.model import NO_COMMIT, Commit, LoopId, Tree
from loopwright.ports.workspace import Snapshot, Taking

EMPTY_TREE = {
    "sha1": Tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    "sha256": Tree("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}
CUT = "\n[… the rest of the change is left out]\n"


def take(ground: Ground, wanted: Taking) -> Snapshot:
    """The commit of this label and step: the one there is, or a new one of the workspace's files."""
    place, ref = ground.workspace(wanted.name), ref_of(wanted.loop, wanted.label)
    with locked(place.lock) as hold:
        held = listed(ground, ref, f"{ref}+*")
        for kept in held:
            if kept.step == one_line(wanted.step):
                beyond = changed_in_submodules(ground, place, hold, wanted.parent)
                return _again(ground, kept, wanted, beyond)
        until_quiet(ground.root, place.folder)
        found = files_of(ground, place, hold, wanted.parent) or Recorded(ground.tree(wanted.parent), ())
        picked = pick(found.differences, wanted)
        commit = _commit(ground, wanted, found, picked)
        keep(ground, wanted.loop, wanted.label, commit, held)
    return snapshot_of(ground, commit, ground.tree(commit), wanted.base, _named_all(picked, found.untaken))


def _named_all(picked: Picked, untaken: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*picked.dropped, *map(printable, untaken)}))


def _commit(ground: Ground, wanted: Taking, found: Recorded, picked: Picked) -> Commit:
    """What is left behind is kept before, and named in the message, so that a repeat tells the same of it."""
    title = f"{wanted.label} of {wanted.loop}"
    if not picked.left:
        message = message_of(title, wanted.loop, wanted.step, log=wanted.log)
        return commit_tree(ground, found.tree, (wanted.parent,), message)
    keep_evidence(ground, wanted.loop, found.tree, wanted.parent, wanted.step)
    message = message_of(title, wanted.loop, wanted.step, left=(found.tree,), log=wanted.log)
    return commit_tree(ground, tree_with(ground, wanted.parent, picked.taken), (wanted.parent,), message)


def _again(ground: Ground, kept: KeptCommit, wanted: Taking, untaken: tuple[str, ...]) -> Snapshot:
    whole = kept.left[0] if kept.left else kept.tree
    found = differences(ground, ground.tree(wanted.parent), whole)
    return snapshot_of(ground, kept.commit, kept.tree, wanted.base, _named_all(pick(found, wanted), untaken))


def files_of(ground: Ground, place: Place, hold: int, known: Commit) -> Recorded | None:
    """What the workspace made from `known` holds, or None when it is lost: no folder, or not one file left in it."""
    if not is_folder(place.folder):
        return None
    found = record(ground, ground.inside(place, hold), place, known)
    is_empty = found.tree == EMPTY_TREE[ground.object_format]
    return None if is_empty and found.tree != ground.tree(known) else found


def keep_unfinished(ground: Ground, loop: LoopId, name: str, at: Commit, step: str) -> Commit:
    """What the workspace made from `at` holds by now, as a commit of the loop; none where it is as it was made."""
    place = ground.workspace(name)
    with locked(place.lock) as hold:
        until_quiet(ground.root, place.folder)
        found = files_of(ground, place, hold, at)
    if found is None or not found.differences:
        return NO_COMMIT
    return keep_evidence(ground, loop, found.tree, at, step)


def keep_evidence(ground: Ground, loop: LoopId, tree: Tree, parent: Commit, step: str) -> Commit:
    """Keep files that are about to go, unless some ref of the loop has them already: then it is that commit."""
    held = kept_by(ground, loop)
    for kept in held:
        if kept.tree == tree:
            return kept.commit
    commit = commit_tree(ground, tree, (parent,), message_of(f"Left in the workspace of {loop}", loop, step))
    keep(ground, loop, "evidence", commit, held, numbered=True)
    return commit


def snapshot_of(ground: Ground, commit: Commit, tree: Tree, base: Commit, dropped: tuple[str, ...] = ()) -> Snapshot:
    changes = tuple(difference.change for difference in differences(ground, ground.tree(base), tree))
    return Snapshot(commit=commit, tree=tree, changes=changes, dropped=dropped)


def diff_text(ground: Ground, base: Commit, commit: Commit, limit: int, only: tuple[str, ...] = ()) -> str:
    if base == commit:
        return ""  # the first review of every artifact as it is committed: hundreds in a batch
    options = ("-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
    most, raw = 4 * limit + 4, b""
    for paths in tuple(portions(_named(ground, base, commit, only))) or ((),):
        if len(raw) < most:
            raw += ground.engine.beginning("diff-tree", *options, base, commit, "--", *paths, limit=most - len(raw))
    text = raw.decode("utf-8", "replace")
    if len(text) <= limit:
        return text
    return text[: max(0, limit - len(CUT))] + CUT if limit > len(CUT) else text[:limit]


def _named(ground: Ground, base: Commit, commit: Commit, only: tuple[str, ...]) -> list[str]:
    """The paths that `only` means. A judge may have named anything; the top beside others says nothing.

    The log has a name that is not UTF-8 with its bytes escaped, and so perhaps like another file's: both are meant.
    """
    paths = [path for path in map(inner, only) if path and path != TOP]
    if any("\\" in path for path in paths):
        paths += [d.path for d in differences(ground, base, commit) if d.path != d.name in paths]
    return paths
