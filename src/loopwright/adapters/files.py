"""Files written whole: old or new to whoever reads them, also after a loss of power; folders for their owner alone.

And files that somebody left behind, read as if they were traps: no link followed, no pipe waited for, all bounded.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError
from loopwright.kernel.quoting import one_line

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
_READABLE = 0o644
_CHUNK = 1 << 20
_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(path: Path, text: str) -> None:
    """Replace `path` with `text`: temporary file in the same folder, synced, renamed, folder synced.

    Raises `OSError`; then `path` is as it was and nothing else is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), _READABLE)
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):  # renamed, as it should be
            Path(name).unlink()
    sync(path.parent)


def ignore_all(folder: Path) -> None:
    """A folder of ours that the person's git never sees, made if need be."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)  # transcripts and briefs are nobody else's business
    rule = folder / ".gitignore"
    if not rule.exists():
        write_whole(rule, "*\n")


def make_private(folder: Path) -> None:
    """The folder, made if need be and then for its owner alone. One that exists stays as it is."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    sync(folder.parent)


def sync(folder: Path) -> None:
    """Make renames and new names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def made(root: Path, folder: Path) -> Path:
    """The folder, one of ours, made if need be. Raises `ConfigError` if a link is in the way."""
    refuse_links(root, folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def refuse_links(root: Path, path: Path) -> None:
    """Raises `ConfigError` if the way from the root to the path leads out of it, through a link, or ends in one."""
    if not path.is_relative_to(root) or ".." in path.parts:
        raise ConfigError(
            one_line(str(path), 4096), "", f"is not in {one_line(str(root), 4096)}; nothing is written there"
        )
    below = path.relative_to(root)
    for part in (*reversed(below.parents), below):
        if part != Path() and (root / part).is_symlink():
            raise ConfigError(one_line(str(root / part), 4096), "", "is a link; nothing is read or written there")


def holds(path: Path, text: str) -> bool:
    """Whether it is a plain file with exactly this text."""
    try:
        return read_plain_file(path, str(path), len(text.encode("utf-8", "backslashreplace"))) == text
    except (ConfigError, FileNotFoundError):
        return False


def open_regular(path: Path | str, folder: int | None = None) -> BinaryIO | None:
    """The file if it is a regular one, not a link to one."""
    try:
        handle = os.open(path, _SAFE, dir_fd=folder)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def read_regular(path: Path, limit: int) -> bytes | None:
    """At most `limit` bytes and one more, so that too long a file shows. None: no regular file there."""
    file = open_regular(path)
    if file is None:
        return None
    with file:
        return file.read(limit + 1)


@dataclass(frozen=True, slots=True)
class Sight:
    """A regular file as it was at a moment."""

    stamp: tuple[int, ...]
    content: bytes


def sight_of(path: Path, limit: int) -> Sight | None:
    """With at most `limit` bytes and one more. None: no regular file there."""
    file = open_regular(path)
    if file is None:
        return None
    with file:
        return Sight(_stamp(os.fstat(file.fileno())), file.read(limit + 1))


def _stamp(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_ino, facts.st_mode, facts.st_size, facts.st_mtime_ns


def replace_unchanged(path: Path, seen: Sight, new: Path) -> bool:
    """Move `new` there, with the rights of what it replaces, unless that is not any more what was seen.

    Whoever writes between the look and the move is overwritten: nothing but a lock shuts that out.
    """
    new.chmod(stat.S_IMODE(seen.stamp[1]))
    if sight_of(path, len(seen.content)) != seen:
        return False
    try:
        if _stamp(path.lstat()) != seen.stamp:  # again, for reading takes much longer than this
            return False
    except FileNotFoundError:
        return False
    new.replace(path)
    return True


def put_if_free(new: Path, path: Path) -> bool:
    """Have `new` there too, or there only; False, and nothing is done, if another made something there."""
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError:  # a disk without such links
        if os.path.lexists(path):
            return False
        new.replace(path)
    return True


def read_tail(path: Path, limit: int) -> bytes:
    file = open_regular(path)
    if file is None:
        return b""
    with file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read(limit)


def join(parts: tuple[Path, ...], whole: Path) -> int:
    """One file after the other into `whole`; how many bytes that were."""
    with whole.open("wb") as target:
        for part in parts:
            target.writelines(chunks_of(part))
        return target.tell()


def chunks_of(path: Path) -> Iterator[bytes]:
    file = open_regular(path)
    if file is None:
        return
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk


def sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    """By their names; none of a folder that cannot be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Held by one process at a time; the others wait. The file stays, and holds nothing."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
