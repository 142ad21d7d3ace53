"""Folders with the files of a commit: workspaces that last, and throw-away ones for judges."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection
from pathlib import Path

from loopwright.adapters.git.clones import write_repository
from loopwright.adapters.git.folder_tree import record
from loopwright.adapters.git.folders import is_folder, locked, put, remove, until_quiet
from loopwright.adapters.git.laying import SUBMODULES, lay, remove_untaken, tracked
from loopwright.adapters.git.prepared import AlteredSinceMade, held_for_workspace
from loopwright.adapters.git.site import Ground, Place
from loopwright.adapters.git.snapshots import files_of, keep_evidence
from loopwright.adapters.steps import lock_of
from loopwright.errors import Forbidden
from loopwright.kernel.model import Commit, LoopId

THROW_AWAY = re.compile(r"judge-[0-9a-f]{16}")
LAYERS = 50  # of ignore files that hide each other
SPECIAL = re.compile(r"([\\*?\[\]!# ])")


def bring(ground: Ground, loop: LoopId, name: str, at: Commit, step: str) -> Place:
    """The workspace with exactly the files of `at`; what else it held is kept first."""
    place = ground.workspace(name)
    ground.tree(at)  # an unknown commit is said so before anything is touched
    with locked(place.lock) as hold:
        until_quiet(ground.root, place.folder)
        if not is_folder(place.folder):
            _make(ground, place, hold, at)
        else:
            _restore(ground, place, hold, loop, at, step)
        write_repository(ground, place, at)
        put(place.notes / "owner", json.dumps({"loop": loop, "at": at}))
    return place


def _make(ground: Ground, place: Place, hold: int, at: Commit) -> None:
    remove(place.folder)
    for note in ("index", "index.lock", "excludes", "prepared", SUBMODULES):
        remove(place.notes / note)
    place.folder.mkdir()
    lay(ground, place, hold, at)


def _restore(ground: Ground, place: Place, hold: int, loop: LoopId, at: Commit, step: str) -> None:
    """Putting back a `.gitignore` brings to light what a changed one hid: then it is all done once more."""
    for _ in range(LAYERS):
        found = files_of(ground, place, hold, at)
        if found is not None and not found.differences and not found.untaken:
            return
        if found is not None and found.differences:
            keep_evidence(ground, loop, found.tree, at, step)
        remove_untaken(place, found.untaken if found else ())
        lay(ground, place, hold, at)
        if found is None or not any(d.path.endswith(".gitignore") for d in found.differences):
            return


def is_prepared(place: Place, digest: str) -> bool:
    mark = place.notes / "prepared"
    return mark.is_file() and mark.read_text() == digest


def fill_from_prepared(ground: Ground, place: Place, key: str) -> bool:
    """Copy what setup made for checks already, if it did: then it need not run again."""
    if (found := held_for_workspace(ground, key)) is None:
        return False
    prepared, shelf = found
    try:
        with locked(place.lock):
            prepared.lay_into(place.folder, tracked(ground, place))
    except AlteredSinceMade:
        return False
    finally:
        os.close(shelf)
    return True


def settle_prepared(ground: Ground, place: Place, at: Commit, digest: str) -> None:
    """After setup: what it made is nobody's work, and what it changed is put back."""
    with locked(place.lock) as hold:
        git = ground.inside(place, hold)
        place.excludes.unlink(missing_ok=True)
        made = git.names("ls-files", "-z", "--others", "--exclude-standard", "--directory")
        put(place.excludes, "".join(map(_exclude_line, made)))
        found = record(ground, git, place, at)
        if found.differences or found.untaken:
            lay(ground, place, hold, at)
        write_repository(ground, place, at)
        put(place.notes / "prepared", digest)


def _exclude_line(path: str) -> str:
    return "" if "\n" in path else "/" + SPECIAL.sub(r"\\\1", path) + "\n"


def judges_name(loop: LoopId, at: Commit, step: str) -> str:
    return "judge-" + hashlib.sha256(f"{loop}\n{at}\n{step}".encode()).hexdigest()[:16]


def lay_out(ground: Ground, loop: LoopId, at: Commit, step: str) -> Path:
    """A fresh folder for one judge; the same step again gets the same folder, fresh."""
    place = ground.workspace(judges_name(loop, at, step))
    ground.tree(at)
    with locked(place.lock) as hold:
        until_quiet(ground.root, place.folder)
        put(place.notes / "owner", json.dumps({"loop": loop, "at": at}))  # first: a folder without one stays for ever
        _make(ground, place, hold, at)
        write_repository(ground, place, at)
    return place.folder


def throw_away(ground: Ground, folder: Path) -> None:
    """Remove a judge's folder. Nothing else is ever removed by a path somebody hands in."""
    if folder.parent != ground.worktrees or not is_throw_away(folder):
        raise Forbidden(f"{folder} is not a throw-away folder of ours; it was left alone")
    drop(ground, ground.workspace(folder.name))


def is_throw_away(folder: Path) -> bool:
    return THROW_AWAY.fullmatch(folder.name) is not None


def drop(ground: Ground, place: Place) -> None:
    if not place.notes.exists() and not place.folder.exists():
        return
    with locked(place.lock):
        until_quiet(ground.root, place.folder)
        remove(place.folder)
        remove(place.notes)
        lock_of(ground.root, place.folder).unlink(missing_ok=True)


def drop_judges(ground: Ground, loop: LoopId, at_work: Collection[str] = ()) -> None:
    """Remove the folders of judges whose controller died before it could throw them away; not of those at work."""
    for place, _ in owned_by(ground, loop):
        if is_throw_away(place.folder) and place.folder.name not in at_work:
            drop(ground, place)


def owned_by(ground: Ground, loop: LoopId) -> list[tuple[Place, Commit]]:
    """The loop's workspaces and judges' folders, each with the commit it was made from."""
    found = []
    for owner in sorted((ground.own / "workspaces").glob("*/owner")):
        data = _read(owner)
        if data.get("loop") == loop:
            found.append((ground.workspace(owner.parent.name), Commit(data["at"])))
    return found


def _read(owner: Path) -> dict[str, str]:
    """Empty when it is gone: judges of other loops come and go while we look."""
    try:
        data: dict[str, str] = json.loads(owner.read_bytes())
    except FileNotFoundError:
        return {}
    return data
