"""Many files copied at once, sharing nothing that can be written: cloned where the disk can, else copied by the kernel.

Never hard links: whoever writes through one writes into the other. Paths are text: there are tens of thousands.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_THREADS = 4  # the disk is waited for, not the processor
_WORTH_THREADS = 200


def for_all(work: Callable[[T], None], items: Iterable[T]) -> None:
    """`work` for each, side by side where there are many. The first error is raised."""
    todo = list(items)
    if len(todo) < _WORTH_THREADS:
        for item in todo:
            work(item)
        return

    def portion(first: int) -> None:
        for item in todo[first::_THREADS]:
            work(item)

    with ThreadPoolExecutor(_THREADS) as threads:
        for done in [threads.submit(portion, first) for first in range(_THREADS)]:
            done.result()


def copy_entry(source: str, target: str) -> None:
    """One file or link, with mode and times. What is neither is left out: a pipe is nobody's dependency."""
    found = os.lstat(source)
    if stat.S_ISLNK(found.st_mode):
        Path(target).symlink_to(os.readlink(source))  # noqa: PTH115 a Path drops the "." of "./a"
    elif stat.S_ISREG(found.st_mode):
        _copy_file(source, target, found)


def put_file(target: str, content: bytes, found: os.stat_result) -> None:
    """A new file with this content, and the mode and times of another."""
    descriptor = _created(target, found)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
        out.flush()
        _like(descriptor, found)


def _copy_file(source: str, target: str, found: os.stat_result) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = _created(target, found)
        try:
            _move_bytes(reading, writing, found.st_size)
            _like(writing, found)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _created(target: str, found: os.stat_result) -> int:
    mode = stat.S_IMODE(found.st_mode) & 0o777 | stat.S_IWUSR
    return os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def _like(descriptor: int, found: os.stat_result) -> None:
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o777)
    os.utime(descriptor, ns=(found.st_atime_ns, found.st_mtime_ns))


def _move_bytes(reading: int, writing: int, size: int) -> None:
    """The kernel clones the blocks where the disk can share them until one side is written."""
    try:
        while size > 0 and (moved := os.copy_file_range(reading, writing, size)):
            size -= moved
    except (AttributeError, OSError):  # not on every system, nor from every disk to every other
        os.lseek(reading, 0, os.SEEK_SET)
        os.lseek(writing, 0, os.SEEK_SET)
        with os.fdopen(reading, "rb", closefd=False) as source, os.fdopen(writing, "wb", closefd=False) as target:
            shutil.copyfileobj(source, target)
