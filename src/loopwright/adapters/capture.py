"""One stream of a step's output in flat memory: the head on disk, the tail in a ring, the middle only counted.

Standard library only: the supervisor runs it.
"""

from __future__ import annotations

import os

BUFFER = 1 << 16
LEFT = 4 << 20  # read at the end: more than a full pipe. Whoever still writes then is no process of ours
SHOWN = 300  # characters of the last line; a sign of life must fit one atomic pipe write
_CODE = b"\x1b["  # parameters follow, then one letter
_PARAMETERS = b"0123456789:;<=>? "


class KeptStream:
    """One stream of output. The head goes to its file at once, the tail stays in a ring until the end."""

    def __init__(self, source: int, path: str, head: int, tail: int) -> None:
        self.source, self.head, self.tail = source, head, tail
        self.total = self.written = self.at = 0
        self.ring = memoryview(bytearray(max(tail, BUFFER)))
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        os.set_blocking(source, False)

    def take(self) -> int | None:
        """Read once. 0: the stream has ended; None: nothing there."""
        size, at = len(self.ring), self.at
        try:
            count = os.readv(self.source, [self.ring[at:], self.ring[:at]])
        except BlockingIOError:
            return None
        wanted = min(count, max(0, self.head - self.total))
        if wanted:
            self._write(self.last(count, at + count)[:wanted])
        self.total += count
        self.at = (at + count) % size
        return count

    def last(self, count: int, end: int) -> bytes:
        """The `count` bytes of the ring that end at `end`."""
        size = len(self.ring)
        start = (end - count) % size
        piece = self.ring[start : start + count]
        return bytes(piece) if len(piece) == count else bytes(piece) + bytes(self.ring[: count - len(piece)])

    def _write(self, data: bytes) -> None:
        try:
            while data:
                count = os.write(self.file, data)
                self.written += count
                data = data[count:]
        except OSError:
            self.head = 0  # a full disk ends the record, not the step; the rest is counted as dropped

    def finish(self) -> int:
        """Take what is left, add the tail to the file, and say how many bytes were dropped."""
        left = LEFT
        while left > 0 and (count := self.take()):
            left -= count
        rest = self.total - self.written
        tail = min(rest, self.tail)
        if rest > tail:
            self._write(f"\n… {(rest - tail) / 1e6:.1f} MB omitted …\n".encode())
        self._write(self.last(tail, self.at))
        os.close(self.file)
        return rest - tail

    def last_line(self) -> str:
        seen = _strip_codes(self.last(min(self.total, len(self.ring), 4096), self.at))
        lines = seen.replace(b"\r", b"\n").rstrip().rpartition(b"\n")
        return lines[2][:SHOWN].decode("utf-8", "backslashreplace")[:SHOWN]


def _strip_codes(output: bytes) -> bytes:
    """Return the output without the codes that set colours or move the cursor; by hand, for `re` slows every start."""
    first, *rest = output.split(_CODE)
    return first + b"".join(piece.lstrip(_PARAMETERS)[1:] for piece in rest)
