"""Secrets that were let through to an agent do not come back in what it printed: they are replaced by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_SECRET_NAME = re.compile("TOKEN|KEY|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6  # a shorter value is no secret, and would be found in ordinary words


class Redactor:
    """Replaces every known secret by `[redacted:NAME]`, also where one lies across two chunks."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = {
            value.encode("utf-8", "surrogateescape"): name
            for name, value in sorted(environment.items(), reverse=True)
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
        }
        self._names = {value: f"[redacted:{name}]".encode() for value, name in values.items()}
        ordered = sorted(values, key=len, reverse=True)
        self._longest = len(ordered[0]) if ordered else 0
        self._pattern = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None

    @property
    def knows_any(self) -> bool:
        return self._pattern is not None

    def data(self, data: bytes) -> bytes:
        return b"".join(self.stream((data,)))

    def text(self, text: str) -> str:
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks, redacted. Memory: one chunk and the longest secret."""
        held = b""
        for chunk in chunks:
            held += chunk
            # Whatever starts before this point lies wholly in what we hold, even the longest secret.
            done, rest = self._replaced(held, len(held) - self._longest + 1 if self._longest else len(held))
            held = rest
            yield done
        yield self._replaced(held, len(held))[0]

    def _replaced(self, data: bytes, until: int) -> tuple[bytes, bytes]:
        pieces: list[bytes] = []
        at = 0
        for found in self._pattern.finditer(data) if self._pattern else ():
            if found.start() >= until:
                break
            pieces += (data[at : found.start()], self._names[found.group()])
            at = found.end()
        until = max(until, at, 0)
        return b"".join(pieces) + data[at:until], data[until:]
