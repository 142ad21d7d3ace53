"""Shapes of plain data that was read from a file, and what is wrong with a value that has another.

Keys that a shape does not name are other tools' own: they are never complained about. A key that is given without a
value is as good as absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from loopwright.kernel.quoting import one_line

Path = tuple[str | int, ...]
Problem = tuple[Path, str]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Text:
    least: int = 0


@dataclass(frozen=True, slots=True)
class Whole:
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Word:
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    of: Shape
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    fields: tuple[tuple[str, Shape], ...]
    required: tuple[str, ...] = ()


Shape = Text | Whole | Flag | Word | Many | Record


def check(shape: Shape, value: object, at: Path = ()) -> Iterator[Problem]:
    """Everything that is wrong with `value`, in the order of the shape."""
    if isinstance(shape, Many):
        yield from _check_many(shape, value, at)
    elif isinstance(shape, Record):
        yield from _check_record(shape, value, at)
    elif not _fits(shape, value):
        yield at, f"has to be {_told(shape)}, not {_kind(value)}"


def _fits(shape: Text | Whole | Flag | Word, value: object) -> bool:
    match shape:
        case Text():
            return isinstance(value, str) and len(value) >= shape.least
        case Whole():
            # True is an int to Python, and to nobody else.
            return type(value) is int and shape.least <= value and (shape.most is None or value <= shape.most)
        case Flag():
            return isinstance(value, bool)
        case Word():
            return value in shape.words
        case _:
            assert_never(shape)


def _told(shape: Text | Whole | Flag | Word) -> str:
    match shape:
        case Text():
            return "text"
        case Whole():
            return f"a whole number from {shape.least}" + ("" if shape.most is None else f" to {shape.most}")
        case Flag():
            return "true or false"
        case Word():
            return "one of " + ", ".join(word or "nothing" for word in shape.words)
        case _:
            assert_never(shape)


def _check_many(shape: Many, value: object, at: Path) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield at, f"has to be a list, not {_kind(value)}"
        return
    if len(value) < shape.least or (shape.most is not None and len(value) > shape.most):
        yield at, f"has to have {shape.least} to {shape.most} entries, not {len(value)}"
    for index, entry in enumerate(value):
        yield from check(shape.of, entry, (*at, index))


def _check_record(shape: Record, value: object, at: Path) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield at, f"has to be a mapping, not {_kind(value)}"
        return
    for name, inner in shape.fields:
        if value.get(name) is not None:
            yield from check(inner, value[name], (*at, name))
        elif name in shape.required:
            yield at, f"{name} is missing"


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"{one_line(value, _SHOWN)!r}" if value else "an empty text"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return one_line(str(value), _SHOWN)
