"""PyYAML's events put together to plain data, strictly, with the line of every key.

What an unquoted word means follows the core schema of YAML 1.2, not what YAML 1.1 guessed: `true`, `false` and `null`
(also `True`, `TRUE`, `~` and nothing at all), `12`, `-3`, `0x1f`, `0o17`, `1.5`, `2e3`, `.inf`, `.nan`. So `no`, `on`
and `yes`, dates, `12:30` and `1_000` are text. One step stricter than 1.2: a number with leading zeros, such as `007`,
is text too, since that is what keeps it as it was written.

The only file that imports `yaml`, which takes time that every start of the command would pay: import it where it is
needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import yaml

from loopwright.adapters.yaml_nodes import DEPTH_LIMIT, NODE_LIMIT, NUMBER_LIMIT, Located
from loopwright.errors import ConfigError
from loopwright.kernel.shapes import Path, shown
from loopwright.kernel.visible import visible

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def compose(text: str, file: str) -> Located:
    """Events are made as they are asked for, so that a text that is too deep or too long is stopped in time."""
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    composing = _Composing(file, yaml.parse(text, Loader=loader))
    try:
        return Located(value=composing.document(), lines=composing.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        says = visible(f"is not YAML: {error.problem}")
        raise ConfigError(file, "", says, line=mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: an escape beyond the last character
        raise ConfigError(file, "", visible(f"is not YAML: {error}")) from error


@dataclass(slots=True)
class _Composing:
    file: str
    events: Iterator[yaml.Event]
    lines: dict[Path, int] = field(default_factory=lambda: {(): 1})
    nodes: int = 0

    def document(self) -> object:
        value, documents = None, 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._fail((), "holds more than one document; keep one", event)
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, ())
        return value

    def _value(self, event: yaml.Event, at: Path) -> object:
        self._admit(event, at)
        self.lines.setdefault(at, _line(event))  # a value is looked for where its key is
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, at)
        if len(at) == DEPTH_LIMIT:
            self._fail((), f"is nested deeper than {DEPTH_LIMIT} levels", event)
        return self._mapping(at) if isinstance(event, yaml.MappingStartEvent) else self._list(at)

    def _mapping(self, at: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            self._admit(event, at)
            key = self._key(event, at, found)
            found[key] = self._value(next(self.events), (*at, key))
        return found

    def _list(self, at: Path) -> list[object]:
        found: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self._value(event, (*at, len(found))))
        return found

    def _key(self, event: yaml.Event, at: Path, before: dict[str, object]) -> str:
        key = self._scalar(event, at) if isinstance(event, yaml.ScalarEvent) else None
        if not isinstance(event, yaml.ScalarEvent) or not isinstance(key, str):
            self._fail(at, "a key has to be text; put it in quotes", event)
        if key == "<<" and event.implicit[0]:
            self._fail(at, "a merge key (<<) is not allowed; write the keys out", event)
        path = (*at, key)
        if key in before:
            self._fail(path, f"is given twice, first on line {self.lines[path]}; keep one", event)
        self.lines[path] = _line(event)
        return key

    def _admit(self, event: yaml.Event, at: Path) -> None:
        self.nodes += 1
        if isinstance(event, yaml.AliasEvent):
            self._fail(at, "an alias (*) is not allowed; repeat the value", event)
        if getattr(event, "anchor", None) is not None:
            self._fail(at, "an anchor (&) is not allowed; write the value out where it is needed", event)
        if getattr(event, "tag", None) is not None:
            self._fail(at, "a tag (!) is not allowed; write a plain value", event)
        if self.nodes > NODE_LIMIT:
            self._fail((), f"has more than {NODE_LIMIT} keys and values", event)

    def _scalar(self, event: yaml.ScalarEvent, at: Path) -> object:
        text = event.value
        if _SURROGATE.search(text):
            self._fail(at, "has an escape that is no character", event)
        if not event.implicit[0]:  # in quotes, so that it is text
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NO_NUMBER.fullmatch(text):
            return float(text.replace(".", ""))
        is_whole, is_real = _WHOLE.fullmatch(text), _REAL.fullmatch(text)
        if (is_whole or is_real) and len(text) > NUMBER_LIMIT:
            self._fail(at, f"a number has at most {NUMBER_LIMIT} digits; put it in quotes", event)
        if is_whole:
            return int(text, 0)
        return float(text) if is_real else text

    def _fail(self, at: Path, says: str, event: yaml.Event) -> NoReturn:
        raise ConfigError(self.file, shown(at), says, line=_line(event))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
