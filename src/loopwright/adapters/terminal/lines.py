"""Reading lines from a terminal without holding up anything else, so that a prompt can be taken back."""

from __future__ import annotations

import asyncio
import os
import termios
from contextlib import suppress

_CHUNK = 4096
_LONGEST = 64 * 1024


class TerminalLines:
    """Lines typed at the terminal behind `handle`."""

    def __init__(self, handle: int) -> None:
        self._handle, self._held = handle, b""

    def forget(self) -> None:
        """Drop what was typed before the question was on the screen: it is no answer to it."""
        self._held = b""
        with suppress(termios.error):
            termios.tcflush(self._handle, termios.TCIFLUSH)

    async def next(self) -> str | None:
        """The next line without its end; None when the person closed the input (Ctrl-D) or went away."""
        while b"\n" not in self._held and len(self._held) < _LONGEST:
            chunk = await self._chunk()
            if not chunk:
                return None
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line.decode("utf-8", "backslashreplace")

    async def _chunk(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._handle, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._handle)
        try:
            return os.read(self._handle, _CHUNK)
        except OSError:
            return b""
