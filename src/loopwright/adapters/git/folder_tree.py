"""From the files of a folder to a tree, whatever an agent has done to them.

The quick way is `git add --all`. When git has anything to say about it, the careful way is taken:
permissions are given back, a repository inside the folder is taken as the plain files it is made of,
what is neither file nor link is left out, and submodules stay where they were. What cannot be taken at all
is named: files in submodules, and files that the rules of the base cannot convert.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.differences import Difference, differences
from loopwright.adapters.git.folders import files_below, make_readable
from loopwright.adapters.git.laying import changed_in_submodules
from loopwright.adapters.git.paths import folders_above
from loopwright.adapters.git.program import Git, name_of, path_of, readable
from loopwright.adapters.git.site import Ground, Place
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Commit, Tree

GITLINK = b"160000"
FILES = ("100644", "100755")
# What git may refuse about single files: names no commit may hold, and files of another user.
REFUSALS = re.compile(
    r"error: (Invalid path|open\(|unable to index file|invalid path|unable to add|.*: failed to insert into database"
    r"|.*Permission denied)|warning: could not open directory|fatal: adding files failed|hint: "
)


NOT_CONVERTED = re.compile(
    r"fatal: (?:failed to encode '(.+)' from|BOM is (?:required|prohibited) in '(.+)' if"
    r"|(.+): clean filter '.+' failed)"
)
MOST_ASIDE = 100  # files


@dataclass(frozen=True, slots=True)
class Recorded:
    tree: Tree
    differences: tuple[Difference, ...]  # against what the folder was made from
    untaken: tuple[str, ...] = ()  # changed there, and in no tree


def record(ground: Ground, git: Git, place: Place, known: Commit) -> Recorded:
    """Bring the index of the place to its files and write it as a tree. `known` is what it was made from."""
    place.index.with_name("index.lock").unlink(missing_ok=True)  # we hold the lock: whoever left it is dead
    if not place.index.exists():
        git.run("read-tree", known)
    beyond = changed_in_submodules(ground, place, git.hold[0], known)
    said = git.ask("add", "--all", ".")
    if said.code == 0 and not said.err:
        quick = _against(ground, git, known, beyond)
        if not any(difference.is_submodule for difference in quick.differences):
            return quick
    return _against(ground, git, known, (*beyond, *_carefully(git, place, known)))


def _against(ground: Ground, git: Git, known: Commit, untaken: tuple[str, ...]) -> Recorded:
    base, tree = ground.tree(known), Tree(git.line("write-tree"))
    found = differences(ground, base, tree)
    if same := _never_converted(git, found):
        rows = (f"{each.old_mode} {each.old} 0\t".encode() + name_of(each.path) + b"\0" for each in same)
        git.run("update-index", "-z", "--index-info", stdin=b"".join(rows))
        tree = Tree(git.line("write-tree"))
        found = differences(ground, base, tree)
    return Recorded(tree, found, untaken)


def _never_converted(git: Git, found: tuple[Difference, ...]) -> list[Difference]:
    """Files that were committed before a rule said how they are to be converted, and that nobody touched since.

    Git records such a file anew whenever it looks at it; its bytes are still those of the commit.
    """
    plain = [each for each in found if each.old_mode == each.new_mode and each.old_mode in FILES]
    asked = [each for each in plain if "\n" not in each.path and not each.path.startswith('"')]
    if not asked:
        return []
    names = b"".join(name_of(each.path) + b"\n" for each in asked)
    raw = readable(git.run("hash-object", "--no-filters", "--stdin-paths", stdin=names)).splitlines()
    return [each for each, name in zip(asked, raw, strict=True) if name == each.old]


def _carefully(git: Git, place: Place, known: Commit) -> tuple[str, ...]:
    """The index as the files are; told are those that cannot be taken."""
    place.index.unlink(missing_ok=True)
    git.run("read-tree", known)
    make_readable(place.folder)
    submodules = _submodules(git, known)
    _forget(git, _not_storable(git, place, submodules))
    _take_inner_repositories(git, place, submodules)
    aside = _add_what_can_be(git)
    _keep_submodules(git, submodules)
    return aside


def _add_what_can_be(git: Git) -> tuple[str, ...]:
    """Git gives up at the first file that cannot be converted: such a file is set aside, and it is tried again."""
    aside: dict[str, bool] = {}  # whether the commit has it
    said = git.ask("add", "--all", "--ignore-errors", ".")
    while said.code != 0 and len(aside) < MOST_ASIDE:
        names = {name for name in map(_not_converted, said.err.splitlines()) if name} - aside.keys()
        if not names:
            break
        for name in names:
            aside[name] = bool(git.names("ls-files", "-z", "--", name))
            _set_aside(git, name, known=aside[name])
        said = git.ask("add", "--all", "--ignore-errors", ".")
    if said.code != 0 and not all(REFUSALS.match(line) for line in said.err.splitlines()):
        raise VcsFailed("git add --all", said.err)
    for name, known in aside.items():
        git.run("update-index", "--no-assume-unchanged" if known else "--force-remove", "--", name)
    return tuple(aside)


def _not_converted(line: str) -> str:
    found = NOT_CONVERTED.search(line)
    return next(filter(None, found.groups()), "") if found else ""


def _set_aside(git: Git, name: str, *, known: bool) -> None:
    """Git does not look at what it is told to take for unchanged; a new file needs an entry for that."""
    if not known:
        empty = git.line("hash-object", "-w", "--stdin")
        git.run("update-index", "-z", "--index-info", stdin=f"100644 {empty} 0\t".encode() + name_of(name) + b"\0")
    git.run("update-index", "--assume-unchanged", "--", name)


def _submodules(git: Git, known: Commit) -> dict[str, bytes]:
    """Path and commit of each submodule in `known`."""
    rows = (row.partition(b"\t") for row in git.run("ls-tree", "-r", "-z", known).split(b"\0") if row)
    return {path_of(path): meta.split()[2] for meta, _, path in rows if meta.startswith(GITLINK)}


def _not_storable(git: Git, place: Place, submodules: dict[str, bytes]) -> list[str]:
    """Tracked paths that are now a pipe, a socket or a device."""
    tracked = git.names("ls-files", "-z")
    return [path for path in tracked if path not in submodules and _is_special(place.folder / path)]


def _is_special(path: Path) -> bool:
    try:
        kind = stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return False
    return kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR)


def _forget(git: Git, paths: list[str]) -> None:
    if paths:
        git.run("update-index", "-z", "--force-remove", "--stdin", stdin=b"\0".join(map(name_of, paths)) + b"\0")


def _take_inner_repositories(git: Git, place: Place, submodules: dict[str, bytes]) -> None:
    """Git records a repository inside as one link, which would lose its files: take the files instead."""
    others = git.names("ls-files", "-z", "--others", "--exclude-standard")
    inner = [name[:-1] for name in others if name.endswith("/")]
    files = [
        f"{folder}/{file}"
        for folder in inner
        if folder not in submodules
        for file in files_below(place.folder / folder)
    ]
    if not files:
        return
    taken = sorted(_without_ignored(git, {name_of(path) for path in files}))
    if taken:
        git.run("update-index", "-z", "--add", "--replace", "--stdin", stdin=b"\0".join(taken) + b"\0")


def _without_ignored(git: Git, names: set[bytes]) -> set[bytes]:
    """`check-ignore` knows no literal paths; the dot keeps a name that begins with a colon from being magic."""
    asked = b"".join(b"./" + name + b"\0" for name in names)
    said = git.having(GIT_LITERAL_PATHSPECS="0").ask("check-ignore", "-z", "--no-index", "--stdin", stdin=asked)
    if said.code not in (0, 1):
        raise VcsFailed("git check-ignore", said.err)
    return names - {answer.removeprefix(b"./") for answer in said.out.split(b"\0")}


def _keep_submodules(git: Git, submodules: dict[str, bytes]) -> None:
    """A submodule is not entered: it stays at the commit it was at, unless something else took its place."""
    rows = git.run("ls-files", "-s", "-z").split(b"\0")
    held = {path_of(path) for row in rows if row for _, _, path in [row.partition(b"\t")]}
    above = {parent for path in held for parent in folders_above(path)}
    free = {path: commit for path, commit in submodules.items() if path not in above}
    lines = [b"160000 %s 0\t%s" % (commit, name_of(path)) for path, commit in free.items()]
    if lines:
        git.run("update-index", "-z", "--index-info", stdin=b"\0".join(lines) + b"\0")
