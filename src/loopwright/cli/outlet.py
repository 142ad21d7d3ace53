"""Writing to those who watch without ever waiting for them: work goes on, and signals act, though nobody reads.

What does not go out at once is held, up to a limit, and tried again; what is more than that is dropped and said.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import time
from contextlib import suppress
from typing import TextIO

from loopwright.kernel.wording import counted

_MOST_HELD = 1 << 20  # bytes
_PIECE = 512  # bytes at a time, where only asking beforehand keeps a write from waiting
_AGAIN = 0.1  # seconds until what is held is tried again


class Outlet:
    """A text stream over a real one that has a descriptor."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.encoding = stream.encoding or "utf-8"
        self._handle = stream.fileno()
        self._own, self._kind = _opened_again(self._handle)
        self._held = bytearray()
        self._dropped = 0  # lines
        self._waits = False  # until it is tried again
        self._gone = False

    @property
    def waits(self) -> bool:
        """Whether somebody has to read what is written; a file takes it at once."""
        return self._kind != "file"

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self._handle

    def write(self, text: str) -> int:
        data = text.encode(self.encoding, "backslashreplace")
        if self._gone or (self._held and len(self._held) + len(data) > _MOST_HELD):
            self._dropped += text.count("\n")
        else:
            self._held += data
        self.push()
        return len(text)

    async def drained(self) -> None:
        """When all went out. Raises `BrokenPipeError` once nobody is there: whoever waits for this may be stopped."""
        import asyncio  # noqa: PLC0415 - most commands need none

        while self._held and not self._gone:
            await asyncio.sleep(_AGAIN)
            self.push()
        if self._gone:
            raise BrokenPipeError(errno.EPIPE, "nobody reads any more")

    def flush(self) -> None:
        self.push()

    def push(self) -> None:
        """Write what goes out now."""
        self._waits = False
        while self._held and not self._gone:
            count = self._written(bytes(self._held[: 1 << 16]))
            if count is None:
                break
            del self._held[:count]
        if not self._held and self._dropped and not self._gone:
            lost, self._dropped = self._dropped, 0
            said = f"… {counted(lost, 'line was', 'lines were')} not read in time …\n"
            self._held += said.encode(self.encoding, "backslashreplace")
        if self._held and not self._waits and (asyncio := sys.modules.get("asyncio")):
            with suppress(RuntimeError):  # nobody runs whom it would have to wake
                asyncio.get_running_loop().call_later(_AGAIN, self.push)
                self._waits = True

    def settle(self, patience: float) -> None:
        """Give a slow reader so many seconds at the end."""
        until = time.monotonic() + patience
        self.push()
        while self._held and not self._gone and time.monotonic() < until:
            select.select([], [self._own], [], _AGAIN)
            self.push()

    def _written(self, data: bytes) -> int | None:
        """How many bytes went out; None: none would without waiting."""
        try:
            match self._kind:
                case "socket":
                    import socket  # noqa: PLC0415 - every start would pay for what hardly anybody has

                    with socket.socket(fileno=os.dup(self._own)) as end:
                        return end.send(data, socket.MSG_DONTWAIT)
                case "asked":
                    ready = select.select([], [self._own], [], 0)[1]
                    return os.write(self._own, data[:_PIECE]) if ready else None
                case _:
                    return os.write(self._own, data)
        except BlockingIOError:
            return None
        except (OSError, ValueError):
            self._gone = True  # nobody is there any more
            self._held.clear()
            return None


def _opened_again(handle: int) -> tuple[int, str]:
    """A descriptor that does not wait. The one we were given is shared with others, who want it as it is."""
    mode = os.fstat(handle).st_mode
    if stat.S_ISSOCK(mode):
        return handle, "socket"
    if not stat.S_ISFIFO(mode) and not os.isatty(handle):
        return handle, "file"
    try:
        return os.open(f"/proc/self/fd/{handle}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "own"
    except OSError:
        return handle, "asked"
