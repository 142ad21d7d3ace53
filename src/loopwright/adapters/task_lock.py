"""The locks of a folder of task files, as Claude Code takes them, and one more among ourselves.

Seen with Claude Code 2.1.197 and 2.1.325, which use proper-lockfile: the lock on a file is the empty folder
`<file>.lock`, made by `mkdir` and removed by `rmdir`; its holder renews its time of change every 5 s, and whoever finds
it older than 10 s removes it and takes it. `.lock.lock`, on the empty file `.lock`, is taken to give out a number and
make a file; `N.json.lock` to change one. It waits about 2.7 s for either, so that ours are held only while we write.

Ours come first to agree among themselves by `flock` on `.lock`, which ends with its process. Our folders are made
without the right to write, which tells them from others': one that is found while we hold the `flock` is that of a dead
process, and is taken at once. What their protocol leaves open is that two may find the same old lock, and the slower
remove the one that the faster has just taken. We look once more right before.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopwright.errors import ConfigError, TaskListLocked

LOCK = ".lock"
STALE = 10.0  # seconds
_OURS = 0o500
_PAUSE = 0.005


class Patience:
    """How long is waited for all locks of one piece of work together."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._until = seconds, time.monotonic() + seconds

    def wait(self, lock: Path, has_it: Callable[[], bool]) -> None:
        """Until it has it. Raises `TaskListLocked`."""
        while not has_it():
            if time.monotonic() >= self._until:
                raise TaskListLocked(str(lock), self._seconds)
            time.sleep(_PAUSE)


@contextmanager
def alone_among_ours(folder: Path, patience: Patience) -> Iterator[None]:
    """Raises `TaskListLocked`, and `ConfigError` if something else is in the place of the lock."""
    path = folder / LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _in_the_way(path) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _in_the_way(path)
        patience.wait(path, lambda: _flocked(handle))
        yield
    finally:
        os.close(handle)


@contextmanager
def holding(file: Path, patience: Patience) -> Iterator[None]:
    """The lock on a file, as others take it too; only for whoever is `alone_among_ours`.

    Raises `TaskListLocked`, and `ConfigError` if something else is in its place.
    """
    lock = file.with_name(f"{file.name}.lock")
    patience.wait(lock, lambda: _made(lock))
    try:
        yield
    finally:
        with suppress(FileNotFoundError):  # somebody thought that we were dead, and perhaps holds it now
            if _is_ours(lock.lstat()):
                lock.rmdir()


def _flocked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _made(lock: Path) -> bool:
    try:
        lock.mkdir(mode=_OURS)
    except FileExistsError:
        _remove_if_dead(lock)
        return False
    return True


def _remove_if_dead(lock: Path) -> None:
    """Looks twice, so that a lock that was taken anew in between is let be."""
    try:
        seen = lock.lstat()
        if not stat.S_ISDIR(seen.st_mode):
            raise _in_the_way(lock)
        if _is_dead(seen) and os.path.samestat(again := lock.lstat(), seen) and again.st_mtime_ns == seen.st_mtime_ns:
            lock.rmdir()
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        raise ConfigError(str(lock), "", "is a lock with something in it; remove it") from error


def _is_dead(lock: os.stat_result) -> bool:
    return _is_ours(lock) or lock.st_mtime < time.time() - STALE


def _is_ours(lock: os.stat_result) -> bool:
    return not lock.st_mode & stat.S_IWUSR


def _in_the_way(path: Path) -> ConfigError:
    return ConfigError(str(path), "", "is not what a lock on tasks is made of; remove it")
