"""How a key of `loop.toml` is declared, once: its shape, its meaning and its default stand with the dataclass field.

The reader, the guide and the published JSON Schema are made from these declarations.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import field, fields, replace
from functools import cache
from typing import Any, TypeVar

from loopwright.kernel import shapes
from loopwright.kernel.shapes import Field, Problem, Shape, expected

T = TypeVar("T")

NAME_PATTERN = r"[a-z0-9-]{1,40}"
_DECLARED = "key"


def key(shape: Shape, means: str, default: T, *, unset: str = "", obeyed: bool = True) -> T:
    """A field with its declaration; `unset` says what happens without it where the default does not."""
    said = Field(name="", shape=shape, means=means, default=default, unset=unset, obeyed=obeyed)
    return field(default=default, metadata={_DECLARED: said})


def needed(shape: Shape, means: str) -> Any:  # noqa: ANN401 - whatever type the field has
    """As `key`, for a field that has no default."""
    return field(metadata={_DECLARED: Field(name="", shape=shape, means=means, required=True)})


def table(means: str, default: T, *, obeyed: bool = True) -> T:
    """A field that is a table of its own, with the keys of its dataclass."""
    return key(shape_of(type(default)), means, default, obeyed=obeyed)


def limit_table(means: str, default: T, **keys: tuple[Shape, str]) -> T:
    """A table for the limits of one loop, whose dataclass is the loop's own and declares nothing."""
    told = (
        Field(name=name, shape=shape, means=about, default=getattr(default, name))
        for name, (shape, about) in keys.items()
    )
    return key(shapes.record(*told, closed=True), means, default)


def tables(means: str, kind: type[T], *, obeyed: bool = True) -> tuple[T, ...]:
    """A field that holds any number of tables, each under a name that the person chooses."""
    rule = "a name has 1 to 40 lower-case letters, digits and -"
    shape = shapes.named(shape_of(kind), names=NAME_PATTERN, rule=rule)
    nothing: tuple[T, ...] = ()
    return key(listed(shape, lambda name, inner: {"name": name, **inner}), means, nothing, obeyed=obeyed)


def listed(shape: Shape, entry: Callable[[str, Any], dict[str, object]]) -> Shape:
    """What a shape of names reads, as a list of records."""

    def read(value: object) -> object:
        held = shape.read(value)
        return [entry(name, inner) for name, inner in held.items()] if isinstance(held, dict) else held

    return replace(shape, read=read)


def shape_of(kind: type[object]) -> Shape:
    """The table that a dataclass with declared fields stands for; the same value at every call."""
    return _shape(kind)  # type: ignore[arg-type]  # a type is hashable; mypy's stub says otherwise


@cache
def _shape(kind: type) -> Shape:
    declared = [each for each in fields(kind) if _DECLARED in each.metadata]
    return shapes.record(*(replace(each.metadata[_DECLARED], name=each.name) for each in declared), closed=True)


# Shapes that only this file has


def or_unlimited(inner: Shape) -> Shape:
    says = f'{inner.says}, or "unlimited"'

    def read(value: object) -> object:
        if value == "unlimited":
            return None
        return expected(says, value) if isinstance(value, str) else inner.read(value)

    return Shape(says=says, read=read, json={"anyOf": [inner.json, {"const": "unlimited"}]})


def one_or_several(item: Shape, says: str) -> Shape:
    """A single text stands for the list that holds it."""
    many = shapes.several(item, says, least=1, unique=True)
    return Shape(
        says=says,
        read=lambda value: many.read([value] if isinstance(value, str) else value),
        json={"anyOf": [item.json, many.json]},
    )


def argv() -> Shape:
    """A command as a list of words. One text would need a shell, and we never start one."""
    word = shapes.matching("text without a null character", r"[^\0]*")
    words = shapes.several(word, 'a command as a list of words such as ["pytest", "-q"]', least=1)

    def read(value: object) -> object:
        if isinstance(value, str):
            return Problem(f"expected {words.says}, found one text; write {_split(value)}")
        if isinstance(value, list) and value and value[0] == "":
            return Problem("the first word is the program, and it is empty", (0,))
        return words.read(value)

    return replace(words, read=read)


def _split(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return json.dumps(words or ["program"], ensure_ascii=False)


def glob() -> Shape:
    """A path or a pattern below the root of the repository, with forward slashes."""
    says = 'a path below the repository such as "tests/**"'
    fits = r"(?!/)(?![A-Za-z]:)(?!(?:.*/)?\.{1,2}(?:/|$))(?!.*//)[^\0\n\\]+"

    def advice(value: str) -> str:
        if value.startswith("/") or re.match(r"[A-Za-z]:", value):
            return "it may not be absolute"
        if ".." in value.split("/"):
            return "it may not lead out with .."
        return 'write it without "."-folders, empty folders and backslashes' if value else ""

    return shapes.matching(says, fits, advice)


FLAG, DURATION, ARGV = shapes.flag(), shapes.duration(), argv()
COUNT = shapes.whole(1)
MONEY = shapes.number(0, 1_000_000, "an amount in US dollars, 0 or more")
PERCENT = shapes.number(0, 100, "a percentage from 0 to 100")
NAMES = one_or_several(
    shapes.matching("a name of lower-case letters, digits and -", NAME_PATTERN), "a name or a list of names"
)
PATTERN = glob()
PATTERNS = shapes.several(PATTERN, 'a list of paths such as ["tests/**"]', unique=True)
VARIABLES = shapes.several(
    shapes.matching(
        "the name of an environment variable",
        r"[A-Za-z_][A-Za-z0-9_]*",
        lambda value: "give the name alone, its value comes from your environment" if "=" in value else "",
    ),
    'a list of names such as ["HOME"]',
    unique=True,
)
WORDS = shapes.several(shapes.matching("text that is not empty", r"[^\0\n]+"), "a list of texts", unique=True)
URLS = shapes.several(
    shapes.matching('an address such as "mailto://person@example.com"', r"[a-z][a-z0-9+.-]*://[^\s\0]+"),
    "a list of addresses",
    unique=True,
)
FOLDER = shapes.matching("the name of one folder", r"(?!\.{1,2}$)[^/\\\0\n]{1,100}")
FILE = shapes.matching("the path of a file", r"[^\0\n]+")
