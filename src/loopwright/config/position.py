"""The line on which a key of a TOML text stands: `tomllib` does not tell.

Not a parser: it follows strings, comments and brackets closely enough for any text that `tomllib`
accepts, and answers something sensible, never an exception, for any other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r"""(?P<text>\"{3}(?:\\.|[^\\])*?(?:\"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?)
    |(?P<skip>\#[^\n]*|[ \t\r]+)
    |(?P<end>\n)
    |(?P<mark>[\[\]{},=.])
    |(?P<word>[^\s\[\]{},=.\#"']+|.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_DEEPEST = 64  # paths longer than this cost memory and name nothing we know
_LAST_CODE_POINT = 0x10FFFF


def line_of(text: str, path: Path) -> int | None:
    """The line of `path`: of itself, of the first key below it (`[a.b]` names `a` too), or of the table around it."""
    lines = dict(reversed(list(places(text))))  # the first place of a key counts
    below = (line for place, line in lines.items() if path and place[: len(path)] == path)
    around = (lines[path[:size]] for size in range(len(path) - 1, 0, -1) if path[:size] in lines)
    return lines.get(path) or min(below, default=None) or next(around, None)


def places(text: str) -> Iterator[tuple[Path, int]]:
    """Every key, table header and array entry with its line, in the order of the text."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    scan = _Scan()
    for token in _TOKEN.finditer(text):
        if token.lastgroup != "skip":
            for path in scan.take(token.lastgroup or "", token.group()):
                yield path, bisect_right(starts, token.start())


@dataclass(slots=True)
class _Frame:
    """A table (`entry` is None) or an array (`entry` counts) that is open at this point of the text."""

    path: Path
    entry: int | None = None
    in_value: bool = False
    key: list[str] = field(default_factory=list)

    def close_value(self) -> None:
        self.in_value = False
        self.key.clear()


@dataclass(slots=True)
class _Scan:
    frames: list[_Frame] = field(default_factory=lambda: [_Frame(())])
    header: int = 0  # brackets seen of a `[table]` or `[[array]]` header
    arrays: dict[Path, int] = field(default_factory=dict)

    def take(self, group: str, token: str) -> Iterator[Path]:
        if self.header:
            yield from self._in_header(group, token)
        elif self.frames[-1].in_value or self.frames[-1].entry is not None:
            yield from self._in_value(group, token)
        else:
            yield from self._in_key(group, token)

    def _in_header(self, group: str, token: str) -> Iterator[Path]:
        (frame,) = self.frames
        if token == "[" and not frame.key:
            self.header = 2
        elif group in ("text", "word"):
            frame.key.append(_name(group, token))
        elif token == "]" or group == "end":
            yield self._open_table(tuple(frame.key), is_array=self.header > 1)
            self.header = 0
            self.frames[0].in_value = group != "end"  # the rest of the line holds no key

    def _open_table(self, path: Path, *, is_array: bool) -> Path:
        if is_array:
            self.arrays[path] = self.arrays.get(path, -1) + 1
        path = self._within_arrays(path)
        self.frames = [_Frame(path)]
        return path

    def _within_arrays(self, path: Path) -> Path:
        whole: Path = ()
        for size in range(1, len(path) + 1):
            whole += (path[size - 1],)
            if path[:size] in self.arrays:
                whole += (self.arrays[path[:size]],)
        return whole

    def _in_key(self, group: str, token: str) -> Iterator[Path]:
        frame = self.frames[-1]
        if group in ("text", "word"):
            if len(frame.key) < _DEEPEST:
                frame.key.append(_name(group, token))
                yield frame.path + tuple(frame.key)
        elif token == "=":
            frame.in_value = True
        elif token == "[" and len(self.frames) == 1 and not frame.key:
            self.header = 1
        elif token == "}":
            self._close()
        elif token == "," or group == "end":
            frame.key.clear()

    def _in_value(self, group: str, token: str) -> Iterator[Path]:
        frame = self.frames[-1]
        at = frame.path + (tuple(frame.key) if frame.entry is None else (frame.entry,))
        if token in ("]", "}"):
            self._close()
        elif token == "," and frame.entry is not None:
            frame.entry += 1
        elif (token == "," and len(self.frames) > 1) or (group == "end" and len(self.frames) == 1):
            frame.close_value()
        elif group != "end":
            if frame.entry is not None:
                yield at
            if token in ("[", "{"):
                self.frames.append(_Frame(at if len(at) < _DEEPEST else (), entry=0 if token == "[" else None))

    def _close(self) -> None:
        if len(self.frames) > 1:
            self.frames.pop()


def _name(group: str, token: str) -> str:
    if group == "word":
        return token
    inner = token[1:-1] if len(token) > 1 and token[-1] == token[0] else token[1:]
    return _ESCAPE.sub(_unescaped, inner) if token[0] == '"' else inner


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is None:
        return _ESCAPED.get(found[3], found[3])
    point = int(code, 16)
    return chr(point) if point <= _LAST_CODE_POINT else ""
