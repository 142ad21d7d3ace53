"""One holder per loop, by a lock of the kernel's that vanishes with the process that holds it.

The lock belongs to the open file (`F_OFD_SETLK`), so two stores in one process exclude each other
too, and nothing is lost when another part of the process closes the same file.
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from loopwright.adapters.files import PRIVATE_FILE, make_private
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import moment

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid


def describe_process(now: float) -> str:
    """Who holds a loop, for the person who finds it held."""
    return f"pid {os.getpid()} on {os.uname().nodename} since {moment(now)}"


@dataclass(frozen=True, slots=True)
class _Held:
    descriptor: int
    fence: int


class Locks:
    """The locks that one store holds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[LoopId, _Held] = {}

    def take(self, loop: LoopId) -> int | None:
        """The open, locked file, or None when somebody else has it."""
        make_private(self._folder)
        descriptor = os.open(self._file(loop), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _wanted())
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def keep(self, loop: LoopId, descriptor: int, fence: int) -> None:
        self._held[loop] = _Held(descriptor, fence)

    def fence(self, loop: LoopId) -> int | None:
        held = self._held.get(loop)
        return held.fence if held else None

    def release(self, loop: LoopId, fence: int) -> None:
        if self.fence(loop) == fence:
            os.close(self._held.pop(loop).descriptor)

    def is_held(self, loop: LoopId) -> bool:
        """By anyone, this store included. Takes no lock and makes no file."""
        try:
            descriptor = os.open(self._file(loop), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _wanted())
        finally:
            os.close(descriptor)
        return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)

    def close(self) -> None:
        for held in self._held.values():
            os.close(held.descriptor)
        self._held.clear()

    def _file(self, loop: LoopId) -> Path:
        return self._folder / f"{quote(loop, safe='')}.lock"


def _wanted() -> bytes:
    return struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
