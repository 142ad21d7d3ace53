"""Folders of single runs: each under a name nobody can guess, gone when the run is over or its process is dead.

To write thousands of files, and to remove them, costs more than many a check. So the folder of a run that is over is
kept as long as the process lives: the next run gets it under a new name, emptied of all but the files that were laid or
copied there and are, by the stat noted then, as they were. Nobody sets the time of a file's last change, and what was
noted is in memory alone. A folder in which one of them was altered serves no other run.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.git.folders import is_folder, locked, open_lock, remove, try_lock
from loopwright.adapters.git.laid_tree import Hashed, LaidEntry
from loopwright.adapters.git.manifest import parents_of, stat_of, walk
from loopwright.adapters.git.site import Ground, Place
from loopwright.adapters.steps import lock_of

Noted = dict[str, list[int]]  # path: stat
_MOST = 4  # folders that wait for another run
# pytest looks for its settings upwards: a tree without any must not find what lies unrecorded in the person's root. It
# writes beside its settings what it remembers, and that is to go with the run.
_FENCE = "[pytest]\ncache_dir = $PWD/.pytest_cache\n"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Its lock is a kernel lock: that of a dead holder is free, and its folder goes."""

    place: Place
    hold: int
    copies: Noted = field(default_factory=dict)  # what is there of what setup made
    laid: dict[LaidEntry, list[int]] = field(default_factory=dict)  # and of a tree without submodules

    def note_laid(self, hashed: Hashed) -> None:
        self.laid.clear()
        self.laid.update(hashed)


@dataclass(frozen=True, slots=True)
class RunFolders:
    _over: dict[str, list[tuple[Ground, RunFolder]]] = field(default_factory=dict)  # by the list of what setup made

    def begin(self, ground: Ground, made: str = "") -> RunFolder:
        """A new folder, with copies of what setup made, and files of a tree, if one is left that has them."""
        new = _begun(ground)
        try:
            _, old = self._over.get(made, []).pop()
        except IndexError:
            new.place.folder.mkdir(parents=True)
            return new
        try:
            old.place.folder.rename(new.place.folder)
            is_sound = _emptied(str(new.place.folder), old.copies | {each.path: at for each, at in old.laid.items()})
            old.place.index.rename(new.place.index)
        except OSError:
            is_sound = False
        end(ground, old)
        if is_sound:
            return RunFolder(new.place, new.hold, old.copies, old.laid)
        end(ground, new)
        return self.begin(ground, made)

    def end(self, ground: Ground, folder: RunFolder, made: str = "") -> None:
        """The run is over. What lies there may serve another one that has the same list."""
        if folder.laid and sum(map(len, self._over.values())) < _MOST:
            self._over.setdefault(made, []).append((ground, folder))
        else:
            end(ground, folder)

    def forget(self) -> None:
        """No run will come any more, or none that may find what lies there.

        The person's own runner would find a tree that was broken on purpose, and an agent hidden tests.

        That takes a while for what is large. Whoever does not wait leaves it to the next run, which removes it.
        """
        with contextlib.suppress(KeyboardInterrupt):
            while self._over:
                for ground, folder in self._over.popitem()[1]:
                    end(ground, folder)


def _begun(ground: Ground) -> RunFolder:
    """Those whose holder died are removed."""
    slots, name = ground.own / "verify", secrets.token_hex(16)
    place = Place(ground.loop / "verify" / name, slots / name)
    with locked(slots / "lock"):
        dead = [(each, try_lock(each / "lock")) for each in slots.iterdir() if is_folder(each)]
        new = RunFolder(place, open_lock(place.lock))
        fcntl.flock(new.hold, fcntl.LOCK_EX)
    for notes, hold in dead:
        if hold is not None:
            end(ground, RunFolder(Place(ground.loop / "verify" / notes.name, notes), hold))
    folder = ground.loop / "verify"
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text(_FENCE)
    return new


def end(ground: Ground, folder: RunFolder) -> None:
    """What somebody still writes to stays, with its notes: whoever begins the next run removes it."""
    with contextlib.suppress(OSError):
        remove(folder.place.folder)
        if is_folder(folder.place.notes):  # gone, if somebody deleted all that is ours: then nothing is made again
            with locked(ground.own / "verify" / "lock"):  # who looks for the dead would make its lock again meanwhile
                remove(folder.place.notes)
        lock_of(ground.root, folder.place.folder).unlink(missing_ok=True)
    os.close(folder.hold)


def note_copies(folder: RunFolder, paths: list[str]) -> None:
    """What was just copied there, before anybody could touch it."""
    folder.copies.clear()
    folder.copies.update({path: stat_of(f"{folder.place.folder}/{path}") for path in paths})


def _emptied(folder: str, noted: Noted) -> bool:
    """Remove all but what was noted. False: something of that was altered, or is gone."""
    stay, seen = parents_of(frozenset(noted)), set[str]()

    def judge(path: str, kind: str) -> bool:
        if kind == "folder" and path in stay:
            return True
        if kind == "file" and noted.get(path) == stat_of(f"{folder}/{path}"):
            seen.add(path)
            return True
        remove(Path(folder, path))
        return False

    remove(Path(folder, ".git"))
    walk(Path(folder), judge)
    return seen == noted.keys()
