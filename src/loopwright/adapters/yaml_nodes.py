"""A stream of YAML events put together to plain data, strictly, with the line of every key.

What an unquoted word means follows the core schema of YAML 1.2, not what YAML 1.1 guessed: `true`, `false` and `null`
(also `True`, `TRUE`, `~` and nothing at all), `12`, `-3`, `0x1f`, `0o17`, `1.5`, `2e3`, `.inf`, `.nan`. So `no`, `on`
and `yes`, dates, `12:30` and `1_000` are text. One step stricter than 1.2: a number with leading zeros, such as `007`,
is text too, since that is what keeps it as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from loopwright.errors import ConfigError
from loopwright.kernel.shapes import Path, shown

NODE_LIMIT = 100_000
DEPTH_LIMIT = 32
NUMBER_LIMIT = 100  # characters: turning digits into a number takes quadratic time

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    kind: Literal["document", "scalar", "mapping", "list", "end"]
    line: int
    text: str = ""
    plain: bool = False  # an unquoted word, whose type is to be found out
    refused: str = ""  # why this may not stand here


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What a YAML text says, and where it says it."""

    value: object
    lines: Mapping[Path, int]

    def plain(self) -> object:
        """Dictionaries, lists, texts, numbers, booleans and `None`."""
        return self.value

    def line(self, *path: str | int) -> int:
        """The line, from 1, of a key or entry; of the nearest one around it where there is none."""
        return next(self.lines[path[:size]] for size in range(len(path), -1, -1) if path[:size] in self.lines)


@dataclass(slots=True)
class _Open:
    """A mapping or list that is open at this point of the text; a mapping may have a key that waits for its value."""

    path: Path
    value: dict[str, object] | list[object]
    key: str | None = None


@dataclass(slots=True, kw_only=True)
class Nodes:
    """What the events told so far; `take` raises `ConfigError` at the first that may not be."""

    file: str
    root: object = None
    lines: dict[Path, int] = field(default_factory=lambda: {(): 1})
    opened: list[_Open] = field(default_factory=list)
    nodes: int = 0
    documents: int = 0

    def take(self, event: Event) -> None:
        match event.kind:
            case "document":
                self.documents += 1
                if self.documents > 1:
                    self._fail((), "holds more than one document; keep one", event.line)
            case "end":
                self.opened.pop()
            case "scalar" | "mapping" | "list":
                self._node(event)

    def _node(self, event: Event) -> None:
        self.nodes += 1
        at = self._place()
        if event.refused:
            self._fail(at, event.refused, event.line)
        if self.nodes > NODE_LIMIT:
            self._fail((), f"has more than {NODE_LIMIT} keys and values", event.line)
        holder = self.opened[-1] if self.opened else None
        if holder and isinstance(holder.value, dict) and holder.key is None:
            self._key(event, holder, holder.value)
        else:
            self._value(event, at)

    def _place(self) -> Path:
        """Of the node that comes next; a key that is still to come stands for its mapping."""
        if not self.opened:
            return ()
        holder = self.opened[-1]
        if isinstance(holder.value, list):
            return (*holder.path, len(holder.value))
        return holder.path if holder.key is None else (*holder.path, holder.key)

    def _key(self, event: Event, holder: _Open, mapping: dict[str, object]) -> None:
        key = self._scalar(event, holder.path) if event.kind == "scalar" else None
        if not isinstance(key, str):
            self._fail(holder.path, "a key has to be text; put it in quotes", event.line)
        if key == "<<" and event.plain:
            self._fail(holder.path, "a merge key (<<) is not allowed; write the keys out", event.line)
        path = (*holder.path, key)
        if key in mapping:
            self._fail(path, f"is given twice, first on line {self.lines[path]}; keep one", event.line)
        holder.key = key
        self.lines[path] = event.line

    def _value(self, event: Event, at: Path) -> None:
        self.lines.setdefault(at, event.line)  # a value is looked for where its key is
        if event.kind == "scalar":
            self._put(self._scalar(event, at))
            return
        if len(self.opened) == DEPTH_LIMIT:
            self._fail((), f"is nested deeper than {DEPTH_LIMIT} levels", event.line)
        inner: dict[str, object] | list[object] = {} if event.kind == "mapping" else []
        self._put(inner)
        self.opened.append(_Open(at, inner))

    def _put(self, value: object) -> None:
        if not self.opened:
            self.root = value
            return
        holder = self.opened[-1]
        if isinstance(holder.value, list):
            holder.value.append(value)
        elif holder.key is not None:
            holder.value[holder.key] = value
            holder.key = None

    def _scalar(self, event: Event, at: Path) -> object:
        text = event.text
        if _SURROGATE.search(text):
            self._fail(at, "has an escape that is no character", event.line)
        if not event.plain:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NO_NUMBER.fullmatch(text):
            return float(text.replace(".", ""))
        is_whole, is_real = _WHOLE.fullmatch(text), _REAL.fullmatch(text)
        if (is_whole or is_real) and len(text) > NUMBER_LIMIT:
            self._fail(at, f"a number has at most {NUMBER_LIMIT} digits; put it in quotes", event.line)
        if is_whole:
            return int(text, 0)
        return float(text) if is_real else text

    def located(self) -> Located:
        return Located(value=self.root, lines=self.lines)

    def _fail(self, at: Path, says: str, line: int) -> NoReturn:
        raise ConfigError(self.file, shown(at), says, line=line)
