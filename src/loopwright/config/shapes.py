"""What a value in `loop.toml` may look like: how it is read, how it is said, how JSON Schema says it.

A shape returns the value in plain form, or a `Problem` in words a person can act on.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loopwright.config.durations import DURATION_PATTERN, parse_duration

NAME_PATTERN = r"[a-z0-9-]{1,40}"

_LARGE = 10**18
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """`at` leads from the key into its value; `says` completes the sentence that begins with the key."""

    says: str
    at: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    says: str
    read: Callable[[object], object]
    json: Mapping[str, object]


def found(value: object) -> str:
    """How a value of TOML is called in a sentence."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {_short(value)}"
        case int() if abs(value) > _LARGE:
            return "a very large number"  # Python refuses to print the largest
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return f"the date or time {value}"


def _short(value: str) -> str:
    """At most `_SHOWN` characters in quotes; what is not printable is escaped, for it goes to a terminal."""
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


def expected(says: str, value: object) -> Problem:
    return Problem(f"expected {says}, found {found(value)}")


def choice(*words: str) -> Shape:
    says = "one of " + ", ".join(words)
    return Shape(says=says, json={"enum": list(words)}, read=lambda v: v if v in words else expected(says, v))


def flag() -> Shape:
    says = "true or false"
    return Shape(says=says, json={"type": "boolean"}, read=lambda v: v if isinstance(v, bool) else expected(says, v))


def whole(least: int, most: int = 1_000_000_000) -> Shape:
    says = f"a whole number, at least {least}"

    def read(value: object) -> object:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            return expected(says, value)
        return value if value <= most else expected(f"a whole number, at most {most}", value)

    return Shape(says=says, read=read, json={"type": "integer", "minimum": least, "maximum": most})


def number(least: float, most: float, says: str) -> Shape:
    def read(value: object) -> object:
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        return expected(says, value)

    return Shape(says=says, read=read, json={"type": "number", "minimum": least, "maximum": most})


def or_unlimited(inner: Shape) -> Shape:
    says = f'{inner.says}, or "unlimited"'

    def read(value: object) -> object:
        if value == "unlimited":
            return None
        return expected(says, value) if isinstance(value, str) else inner.read(value)

    return Shape(says=says, read=read, json={"anyOf": [inner.json, {"const": "unlimited"}]})


def duration() -> Shape:
    says = 'a time such as "30m", "90s" or "1h30m", or whole seconds, more than 0 and at most 30 days'

    def read(value: object) -> object:
        seconds = parse_duration(value)
        return expected(says, value) if seconds is None else seconds

    json_form = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{DURATION_PATTERN}$"}]}
    return Shape(says=says, read=read, json=json_form)


def text(says: str, pattern: str, advice: Callable[[str], str] = lambda _: "") -> Shape:
    """Text that fits `pattern` whole; `advice` may say more about one that does not."""
    compiled = re.compile(pattern)

    def read(value: object) -> object:
        if not isinstance(value, str):
            return expected(says, value)
        if compiled.fullmatch(value):
            return value
        more = advice(value)
        return Problem(expected(says, value).says + (f"; {more}" if more else ""))

    return Shape(says=says, read=read, json={"type": "string", "pattern": f"^(?:{pattern})$"})


def several(item: Shape, says: str, *, least: int = 0, repeats: bool = False) -> Shape:
    def read(value: object) -> object:
        if not isinstance(value, list) or len(value) < least:
            return expected(says, value) if not isinstance(value, list) else Problem(f"expected {says}, found none")
        plain = [item.read(entry) for entry in value]
        for index, entry in enumerate(plain):
            if isinstance(entry, Problem):
                return Problem(entry.says, (index, *entry.at))
            if not repeats and entry in plain[:index]:
                return Problem(f"{found(entry)} stands here twice; remove one", (index,))
        return plain

    form: dict[str, object] = {"type": "array", "items": item.json, "minItems": least}
    return Shape(says=says, read=read, json=form if repeats else {**form, "uniqueItems": True})


def one_or_several(item: Shape, says: str) -> Shape:
    """A single text stands for the list that holds it."""
    many = several(item, says, least=1)

    def read(value: object) -> object:
        if isinstance(value, str):
            alone = item.read(value)
            return alone if isinstance(alone, Problem) else [alone]
        return many.read(value)

    return Shape(says=says, read=read, json={"anyOf": [item.json, many.json]})


def argv() -> Shape:
    """A command as a list of words. One text would need a shell, and we never start one."""
    word = text("text without a null character", r"[^\0]*")
    words = several(word, 'a command as a list of words such as ["pytest", "-q"]', least=1, repeats=True)

    def read(value: object) -> object:
        if isinstance(value, str):
            return Problem(f"expected {words.says}, found one text; write {_split(value)}")
        if isinstance(value, list) and value and value[0] == "":
            return Problem("the first word is the program, and it is empty", (0,))
        return words.read(value)

    return Shape(says=words.says, read=read, json=words.json)


def _split(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return json.dumps(words or ["program"], ensure_ascii=False)


def pattern() -> Shape:
    """A path or a glob below the root of the repository, with forward slashes."""
    says = 'a path below the repository such as "tests/**"'
    fits = r"(?!/)(?![A-Za-z]:)(?!(?:.*/)?\.{1,2}(?:/|$))(?!.*//)[^\0\n\\]+"

    def advice(value: str) -> str:
        if value.startswith("/") or re.match(r"[A-Za-z]:", value):
            return "it may not be absolute"
        if ".." in value.split("/"):
            return "it may not lead out with .."
        return 'write it without "."-folders, empty folders and backslashes' if value else ""

    return text(says, fits, advice)
