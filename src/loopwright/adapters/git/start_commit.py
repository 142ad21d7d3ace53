"""The commit a review starts from: what is committed, and the person's uncommitted state of the named paths.

The person's files are read as their own `git add` would read them, filters and line ends included: the same
file then has the same object as in their commits. It happens in a copy of their index; nothing of theirs is
touched. A link is taken as a link. What lies behind one, in a submodule or in a repository inside is not taken.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.paths import folders_above, inner
from loopwright.adapters.git.program import Git, name_of, path_of, printable
from loopwright.adapters.git.refs import commit_tree, keep, listed, message_of, one_line, ref_of
from loopwright.adapters.git.site import BUILT_IN_EXCLUDES, Ground, Site
from loopwright.errors import UsageError
from loopwright.kernel.model import Commit, LoopId, Tree

LABEL = "start"
NAMED = 3  # paths in the title of the commit


@dataclass(frozen=True, slots=True)
class Found:
    """Paths whose state differs, or may differ, from the commit."""

    present: frozenset[str]
    gone: frozenset[str]


def start_from(
    root: Path,
    env: Mapping[str, str],
    loop: LoopId,
    head: Commit,
    paths: tuple[str, ...],
    *,
    ours: str = "",
) -> Commit:
    """`head` itself where the person changed nothing of the paths; else a commit on it, kept for the loop.

    New files whose names end with `ours` are no work of theirs.
    """
    return start(Site(root, env).ground(), loop, head, paths, ours)


def start(ground: Ground, loop: LoopId, head: Commit, paths: tuple[str, ...], ours: str = "") -> Commit:
    ref, step = ref_of(loop, LABEL), f"{LABEL} at {head}"
    tree = uncommitted(ground, head, paths, ours)
    if tree == ground.tree(head):
        return head
    held = listed(ground, ref, f"{ref}+*")
    for kept in held:
        if (kept.step, kept.tree) == (step, tree):
            return kept.commit
    commit = commit_tree(ground, tree, (head,), message_of(_title(tuple(map(printable, paths))), loop, step))
    keep(ground, loop, LABEL, commit, held)
    return commit


def _title(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return one_line(f"Uncommitted changes to {', '.join(paths[:NAMED])}{more}")


def uncommitted(ground: Ground, head: Commit, paths: tuple[str, ...], ours: str = "") -> Tree:
    """The tree of `head` with the person's own state of the paths."""
    named = tuple(dict.fromkeys(map(_inside, paths)))
    if not named:
        return ground.tree(head)
    with tempfile.TemporaryDirectory(dir=ground.own, prefix="overlay-") as folder:
        index = Path(folder) / "index"
        git = _with_copied_index(ground, index)
        staged = _staged(git, head, named)
        git.run("read-tree", "--reset", head)
        found = _changed(git, ground.root, named, staged, ours)
        _update(git, found)
        return Tree(git.line("write-tree"))


def _inside(path: str) -> str:
    clean = inner(path)
    if clean is None or ".git" in clean.lower().split("/"):
        raise UsageError(f"{path!r} is not a path in this repository; name one relative to its top")
    return clean


def _with_copied_index(ground: Ground, index: Path) -> Git:
    """A copy with its time: by it git knows which files it has to look at again."""
    own = Path(path_of(ground.person.run("rev-parse", "--path-format=absolute", "--git-path", "index")[:-1]))
    if own.is_file():
        shutil.copy2(own, index)
    git = ground.person.having(GIT_INDEX_FILE=str(index), GIT_LITERAL_PATHSPECS="1")
    return git.setting("core.splitIndex=false", "core.untrackedCache=false", "core.safecrlf=false")


def _staged(git: Git, head: Commit, named: tuple[str, ...]) -> frozenset[str]:
    """Files that are new in the index: the person's `git add` counts, even of an ignored file."""
    options = ("--cached", "--no-renames", "--diff-filter=A", "--ignore-submodules=all", "--name-only", "-z")
    return frozenset(git.names("diff-index", *options, head, "--", *named))


def _changed(git: Git, root: Path, named: tuple[str, ...], staged: frozenset[str], ours: str) -> Found:
    options = ("--no-renames", "--ignore-submodules=all", "--name-only", "-z")
    changed = frozenset(git.names("diff-files", *options, "--", *named))
    gone = frozenset(git.names("diff-files", *options, "--diff-filter=D", "--", *named))
    excludes = [part for pattern in BUILT_IN_EXCLUDES for part in ("-x", pattern)]
    others = git.names("ls-files", "-z", "--others", "--exclude-standard", *excludes, "--", *named)
    theirs = frozenset(path for path in others if not (ours and path.endswith(ours)))
    own = frozenset(path for path in named if not _is_in_a_repository_inside(root, path))
    known = (changed | theirs | staged | own) - gone
    present = frozenset(path for path in known if _is_storable(root, path))
    return Found(present, changed - present)


def _is_in_a_repository_inside(root: Path, path: str) -> bool:
    return any((root / above / ".git").exists() for above in folders_above(path))


def _is_storable(root: Path, path: str) -> bool:
    """A file or a link, and not behind a link."""
    if any((root / above).is_symlink() for above in folders_above(path)):
        return False
    try:
        kind = (root / path).lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(kind) or stat.S_ISLNK(kind)


def _update(git: Git, found: Found) -> None:
    """Replacing what is in the way: a named file may lie below what is a file in the commit."""
    for option, paths in (("--force-remove", found.gone), ("--add", found.present)):
        if paths:
            names = b"".join(name_of(path) + b"\0" for path in sorted(paths))
            git.run("update-index", "-z", option, "--replace", "--stdin", stdin=names)
