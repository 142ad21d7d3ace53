"""Values of any type with every field set or as few as will do, and samples with alternatives taken apart."""

import dataclasses
import enum
import types
import typing
from collections.abc import Iterator
from itertools import islice


def example_of(kind: typing.Any, *, full: bool) -> typing.Any:  # noqa: ANN401 - a value of whatever the type says
    """A value of the type with every field set, or with as few as will do."""
    kind = getattr(kind, "__supertype__", kind)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return args[-1 if full else 0]
    if origin in (typing.Union, types.UnionType):
        return example_of(args[0], full=full) if full else None
    if origin is tuple:
        return (example_of(args[0], full=full),) * 2 if full else ()
    if issubclass(kind, enum.Enum):
        return list(kind)[-1 if full else 0]
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        chosen = [field for field in dataclasses.fields(kind) if full or field.default is dataclasses.MISSING]
        return kind(**{field.name: example_of(hints[field.name], full=full) for field in chosen})
    return {str: "{}", int: 1, float: 0.5, bool: True}[kind]


def alternatives(sample: object) -> Iterator[object]:
    """Where a sample says `"a | b"` (or `"a|b"`), one sample for each; all other values stay as they are."""
    places = list(_choices(sample, ()))
    if not places:
        yield sample
        return
    for path, words in places:
        yield from (_plain(_with(sample, path, word)) for word in words)


def _choices(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], list[str]]]:
    if isinstance(value, str) and "|" in value:
        yield path, [word.strip() for word in value.split("|") if word.strip() != "…"]
    for key, inner in _inside(value):
        yield from _choices(inner, (*path, key))


def _inside(value: object) -> list[tuple[str | int, object]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _with(value: object, path: tuple[str | int, ...], word: str) -> object:
    if not path:
        return word
    if isinstance(value, dict):
        return {key: _with(inner, path[1:], word) if key == path[0] else inner for key, inner in value.items()}
    assert isinstance(value, list)
    return [_with(inner, path[1:], word) if index == path[0] else inner for index, inner in enumerate(value)]


def _plain(value: object) -> object:
    """The first alternative wherever there are some left."""
    while place := next(islice(_choices(value, ()), 1), None):
        value = _with(value, place[0], place[1][0])
    return value
