"""What setup made in a verification checkout, and whether it is still as it was made.

A file whose stat is the same is the same; one whose stat differs is compared by content, because a
hard link made elsewhere changes the stat and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.folders import make_readable, put, remove

Files = dict[str, tuple[list[int], str]]  # path: stat, digest


@dataclass(frozen=True, slots=True)
class Manifest:
    files: Files
    folders: frozenset[str]

    @property
    def needed(self) -> frozenset[str]:
        """Folders that have to stay."""
        return self.folders | parents_of(self.files)


def take_manifest(folder: Path, tracked: frozenset[str]) -> Manifest:
    """Everything there but the tracked files and `.git`."""
    files: Files = {}
    folders: set[str] = set()

    def note(path: str, kind: str) -> bool:
        if kind == "folder":
            folders.add(path)
        elif path not in tracked:
            files[path] = (_stat(folder / path), _digest(folder / path))
        return True

    _walk(folder, note)
    return Manifest(files, frozenset(folders - parents_of(tracked)))


def tidy(folder: Path, tracked: frozenset[str], made: Manifest) -> bool:
    """Remove what is neither tracked nor made by setup. False when something setup made was altered."""
    stay = made.needed | parents_of(tracked)
    seen: set[str] = set()

    def judge(path: str, kind: str) -> bool:
        if kind == "folder" and path in stay:
            return True
        if kind == "file" and path in made.files and path not in tracked:
            seen.add(path)
            return True
        if kind == "file" and path in tracked:
            return True
        remove(folder / path)
        return False

    _walk(folder, judge)
    return seen == made.files.keys() and all(_is_same(folder / path, made.files[path]) for path in seen)


def _walk(folder: Path, visit: Callable[[str, str], bool]) -> None:
    """Every path below with its kind, links not followed; a folder is entered when `visit` says so."""
    try:
        _descend(folder, "", visit)
    except PermissionError:
        make_readable(folder)
        _descend(folder, "", visit)


def _descend(folder: Path, prefix: str, visit: Callable[[str, str], bool]) -> None:
    with os.scandir(folder / prefix) as entries:
        found = [(prefix + entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_folder in found:
        if path != ".git" and visit(path, "folder" if is_folder else "file") and is_folder:
            _descend(folder, path + "/", visit)


def _is_same(file: Path, noted: tuple[list[int], str]) -> bool:
    return _stat(file) == noted[0] or _digest(file) == noted[1]


def _stat(file: Path) -> list[int]:
    found = file.lstat()
    return [found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _digest(file: Path) -> str:
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        content = os.fsencode(file.readlink())
    elif stat.S_ISREG(mode):
        content = file.read_bytes()
    else:
        content = b""
    return f"{mode:o} {hashlib.sha256(content).hexdigest()}"


def parents_of(paths: frozenset[str] | Files) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return frozenset(found)


def save(manifest: Manifest, file: Path) -> None:
    put(file, json.dumps([manifest.files, sorted(manifest.folders)]))


def load(file: Path) -> Manifest | None:
    """None when there is none that can be read: then the checkout is made anew."""
    try:
        files, folders = json.loads(file.read_bytes())
        return Manifest({path: (noted[0], noted[1]) for path, noted in files.items()}, frozenset(folders))
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
