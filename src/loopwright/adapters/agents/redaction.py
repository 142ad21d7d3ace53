"""Secrets of the person's environment do not come back in what is kept or handed on: their names stand there instead.

They are known by their values, in whatever spelling: as they are, in hexadecimal, in base64 wherever it began.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_SECRET_NAME = re.compile(
    "TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:^|_)(?:AUTH|PASS|PAT|PWD|COOKIE|DSN)(?:_|$)",
    re.IGNORECASE,
)
_SHORTEST = 6  # a shorter value is no secret, and would be found in ordinary words
_SHORTEST_SPELLING = 10
_PATH = re.compile(r"(?:/[\w.@+-]+){2,}/?")  # where something lies is no secret: a key's file, a socket
_WORD = re.compile(r"[A-Za-z]+|[0-9.]+|[a-z]+(?:[-_][a-z]+)*")
_IN_ADDRESS = re.compile(r"://[^/@:\s]*:([^/@\s]+)@")
_HANDED = 12  # a value that was handed over by name and is that long and no word


def looks_secret(name: str) -> bool:
    """`PWD` alone is where a shell stands; `DB_PWD` is a password."""
    return name != "PWD" and _SECRET_NAME.search(name) is not None


def secrets_in(environment: Mapping[str, str], handed: Collection[str] = ()) -> dict[str, str]:
    """Values with the names they have; of those in `handed`, all that could be one, whatever the name says."""
    found: dict[str, str] = {}
    for name, value in sorted(environment.items(), reverse=True):
        if within := _IN_ADDRESS.search(value):
            found[within[1]] = name
        is_one = looks_secret(name) or (name in handed and len(value) >= _HANDED and not _WORD.fullmatch(value))
        if is_one and not _PATH.fullmatch(value):
            found[value] = name
    return {value: name for value, name in found.items() if len(value) >= _SHORTEST}


class Redactor:
    """Replaces every known secret by `[redacted:NAME]`, also where one lies across two chunks."""

    def __init__(self, environment: Mapping[str, str], handed: Collection[str] = ()) -> None:
        values = {
            spelling: name
            for value, name in secrets_in(environment, handed).items()
            for spelling in _spellings(value.encode("utf-8", "surrogateescape"))
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
        is_there = any(value in data for value in self._names)  # much quicker than the pattern, and mostly the answer
        for found in self._pattern.finditer(data) if self._pattern and is_there else ():
            if found.start() >= until:
                break
            pieces += (data[at : found.start()], self._names[found.group()])
            at = found.end()
        until = max(until, at, 0)
        return b"".join(pieces) + data[at:until], data[until:]


def _spellings(value: bytes) -> Iterator[bytes]:
    yield value
    longer = [value.hex().encode(), value.hex().upper().encode()]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        # In base64 the same bytes are spelled in three ways, as they begin at the first, second or third of three;
        # the characters at both ends are shared with what stands beside them.
        longer += [encode(b"\0" * before + value)[-(-before * 4 // 3) :].rstrip(b"=")[:-1] for before in range(3)]
    yield from (spelling for spelling in longer if len(spelling) >= _SHORTEST_SPELLING)
