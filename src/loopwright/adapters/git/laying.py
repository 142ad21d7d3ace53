"""The files of a tree in a folder of ours, with those of its submodules.

The objects of a submodule come from the person's own checkout of it, nested ones too; nothing is fetched. One that
is not checked out there stays an empty folder here as well.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.git.folders import is_folder, put, remove
from loopwright.adapters.git.paths import folders_above
from loopwright.adapters.git.program import Git, name_of, path_of, readable
from loopwright.adapters.git.site import Ground, Origin, Place
from loopwright.kernel.model import Commit

GITLINK = b"160000"
SUBMODULES = "submodules"  # notes of a place about them


@dataclass(frozen=True, slots=True, kw_only=True)
class Submodule:
    path: str  # from the top of the project
    commit: Commit
    origin: Origin | None  # None where the person has it not, or not this commit of it


def links(git: Git, tree: str) -> dict[str, Commit]:
    """Path and commit of each submodule of one repository."""
    rows = (row.partition(b"\t") for row in git.run_once((tree,), "ls-tree", "-r", "-z", tree).split(b"\0") if row)
    return {path_of(path): Commit(readable(meta.split()[2])) for meta, _, path in rows if meta.startswith(GITLINK)}


def submodules_of(ground: Ground, tree: str) -> tuple[Submodule, ...]:
    """Those of the tree, each before the ones in it."""
    if ground.base not in ground.linked:
        ground.linked[ground.base] = bool(links(ground.engine, ground.base))
    if not ground.linked[ground.base]:
        return ()  # the usual case costs nothing
    return tuple(_found(ground, ground.engine, tree, ""))


def _found(ground: Ground, git: Git, tree: str, above: str) -> Iterator[Submodule]:
    for path, commit in links(git, tree).items():
        origin = _origin(ground, above + path, commit)
        yield Submodule(path=above + path, commit=commit, origin=origin)
        if origin is not None:
            inner = ground.engine.having(GIT_OBJECT_DIRECTORY=str(origin.objects))
            yield from _found(ground, inner, commit, f"{above}{path}/")


def _origin(ground: Ground, path: str, commit: Commit) -> Origin | None:
    folder = ground.root / path
    if not (folder / ".git").exists() or any(
        (ground.root / each).is_symlink() for each in (*folders_above(path), path)
    ):
        return None
    asked = ("--absolute-git-dir", "--git-path", "objects", "--show-toplevel")
    said = replace(ground.person, cwd=folder).ask("rev-parse", "--path-format=absolute", *asked)
    answer = path_of(said.out).splitlines()
    if said.code != 0 or len(answer) != len(asked) - 1 or Path(answer[2]) != folder:
        return None
    origin = Origin(folder=folder, git_dir=Path(answer[0]), objects=Path(answer[1]))
    has = ground.engine.having(GIT_OBJECT_DIRECTORY=answer[1]).ask("cat-file", "-e", f"{commit}^{{tree}}")
    return origin if has.code == 0 else None


def place_of(place: Place, path: str) -> Place:
    return Place(place.folder / path, place.notes / SUBMODULES / hashlib.sha256(name_of(path)).hexdigest()[:20])


def lay(ground: Ground, place: Place, hold: int, tree: str) -> None:
    """Exactly the files of the tree where it or the last one laid has any; what else lies there stays."""
    submodules = submodules_of(ground, tree)
    _drop_stale(place, {each.path for each in submodules})
    ground.inside(place, hold).run("read-tree", "--reset", "-u", tree)
    for each in submodules:
        if each.origin is not None:
            _lay_submodule(ground, place, hold, each.path, each.commit, each.origin)


def _lay_submodule(ground: Ground, place: Place, hold: int, path: str, commit: Commit, origin: Origin) -> None:
    inner = place_of(place, path)
    _make_folder(place.folder, path)
    inner.notes.mkdir(parents=True, exist_ok=True)
    put(inner.notes / "path", path)
    inner.index.with_name("index.lock").unlink(missing_ok=True)
    ground.inside(inner, hold, origin, commit).run("read-tree", "--reset", "-u", commit)


def _make_folder(top: Path, path: str) -> None:
    """Real folders all the way: nothing is written through a link."""
    for part in (*folders_above(path), path):
        if not is_folder(top / part):
            remove(top / part)
            (top / part).mkdir()


def _drop_stale(place: Place, wanted: set[str]) -> None:
    """Submodules that another tree had here and this one has not."""
    for note in (place.notes / SUBMODULES).glob("*/path"):
        path = path_of(note.read_bytes())
        if path not in wanted:
            remove(place.folder / path)
            remove(note.parent)


def tracked(ground: Ground, place: Place) -> frozenset[str]:
    """The files that were laid."""
    found = set(_indexed(ground, place))
    for note in (place.notes / SUBMODULES).glob("*/path"):
        path = path_of(note.read_bytes())
        found |= {f"{path}/{name}" for name in _indexed(ground, place_of(place, path))}
    return frozenset(found)


def _indexed(ground: Ground, place: Place) -> list[str]:
    return ground.engine.having(GIT_INDEX_FILE=str(place.index)).names("ls-files", "-z")


def changed_in_submodules(ground: Ground, place: Place, hold: int, tree: str) -> tuple[str, ...]:
    """Files in submodules that are not as they were laid: no commit of the project can hold them."""
    found: list[str] = []
    for each in submodules_of(ground, tree):
        inner = place_of(place, each.path)
        if each.origin is None or not inner.index.exists():
            continue
        if not _is_reached(place.folder, each.path):
            found.append(each.path)
            continue
        git = ground.inside(inner, hold, each.origin, each.commit)
        git.ask("update-index", "-q", "--refresh")
        changed = git.names("diff-files", "-z", "--name-only", "--ignore-submodules=all")
        own = [".git"] if os.path.lexists(inner.folder / ".git") else []  # somebody made a repository of it
        found += [f"{each.path}/{name}" for name in (*changed, *_added(git), *own)]
    return tuple(found)


def _is_reached(top: Path, path: str) -> bool:
    return all(is_folder(top / part) for part in (*folders_above(path), path))


def _added(git: Git) -> list[str]:
    return [name.removesuffix("/") for name in git.names("ls-files", "-z", "--others", "--exclude-standard")]


def remove_untaken(place: Place, paths: tuple[str, ...]) -> None:
    """What no commit could take. Those of them that were laid come back with the next `lay`."""
    for path in paths:
        if _is_reached(place.folder, path.rpartition("/")[0]):
            remove(place.folder / path)
