"""What setup made in a folder: every path with its digest, and whether it is still as it was made.

A file whose stat is the same is the same: nobody sets the time of its last change. One whose stat differs is compared
by content, because a hard link made elsewhere changes the stat and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.git.folders import make_readable

_COMPILED = ".pyc"  # names its source for tracebacks alone
Files = dict[str, tuple[list[int], str]]  # path: stat, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`speaks` are the files and links that hold the folder's own path, which is another in every copy of it."""

    made_in: str
    files: Files
    folders: frozenset[str]
    speaks: frozenset[str] = frozenset()
    name: str = ""  # the digest of its text

    def is_special(self, path: str) -> bool:
        """Neither file nor link."""
        return stat.S_IFMT(self.files[path][0][0]) not in (stat.S_IFREG, stat.S_IFLNK)

    def is_link(self, path: str) -> bool:
        return stat.S_ISLNK(self.files[path][0][0])

    @property
    def text(self) -> str:
        return json.dumps([self.made_in, self.files, sorted(self.folders), sorted(self.speaks)])


def take_manifest(folder: Path, tracked: frozenset[str]) -> Manifest:
    """Everything there but the tracked files and `.git`."""
    files: Files = {}
    folders: set[str] = set()
    speaks: set[str] = set()
    own = os.fsencode(folder)

    def note(path: str, kind: str) -> bool:
        if kind == "folder":
            folders.add(path)
        elif path not in tracked:
            found, content = stat_of(f"{folder}/{path}"), content_of(f"{folder}/{path}")
            files[path] = (found, _digest(found[0], content))
            if own in content and not path.endswith(_COMPILED):
                speaks.add(path)
        return True

    walk(folder, note)
    made = Manifest(
        made_in=str(folder),
        files=files,
        folders=frozenset(folders - parents_of(tracked)),
        speaks=frozenset(speaks),
    )
    return replace(made, name=_name_of(made.text.encode("utf-8", "surrogateescape")))


def _name_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def is_as_made(file: str, noted: tuple[list[int], str]) -> bool:
    try:
        found = stat_of(file)
        return found == noted[0] or digest_at(file, found[0]) == noted[1]
    except OSError:
        return False


def walk(folder: Path, visit: Callable[[str, str], bool]) -> None:
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


def stat_of(file: str) -> list[int]:
    found = os.lstat(file)
    return [found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def content_of(file: str) -> bytes:
    """Of a file its bytes, of a link where it points to, of anything else nothing."""
    mode = os.lstat(file).st_mode
    if stat.S_ISLNK(mode):
        return os.fsencode(os.readlink(file))  # noqa: PTH115 a Path drops the "." of "./a"
    return Path(file).read_bytes() if stat.S_ISREG(mode) else b""


def digest_at(file: str, mode: int) -> str:
    return _digest(mode, content_of(file))


def _digest(mode: int, content: bytes) -> str:
    return f"{mode:o} {hashlib.sha256(content).hexdigest()}"


def parents_of(paths: Collection[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return frozenset(found)


def read_manifest(file: Path) -> Manifest | None:
    """None when there is none that can be read: then all is made anew."""
    try:
        text = file.read_bytes()
        made_in, files, folders, speaks = json.loads(text.decode("utf-8", "surrogateescape"))
        return Manifest(
            made_in=made_in,
            files={path: (noted[0], noted[1]) for path, noted in files.items()},
            folders=frozenset(folders),
            speaks=frozenset(speaks),
            name=_name_of(text),
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
