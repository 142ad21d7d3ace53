"""JSON Schemas of the kernel's values, made from their types, and samples with alternatives taken apart."""

import dataclasses
import enum
import types
import typing
from collections.abc import Iterator
from itertools import islice

from loopwright.kernel.events import Logged
from loopwright.kernel.model import Key, Point

Json = dict[str, object]
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def event_line() -> Json:
    """One line of the log as `loop log --json` gives it: what is common, and what each kind carries."""
    defs: dict[str, Json] = {}
    kinds = sorted(typing.get_args(Logged), key=lambda kind: str(kind.__name__))
    for kind in kinds:
        schema_of(kind, defs)
    money = {name: {"type": "number", "minimum": 0} for name in ("reserved", "released", "usd")}
    common: Json = {
        "loop": {"type": "string", "description": "The id of the loop."},
        "seq": {"type": "integer", "minimum": 1, "description": "The place in the loop's log, without gaps."},
        "at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
        "kind": {"enum": [kind.__name__ for kind in kinds]},
        "key": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "The try of an action it belongs to."},
        "text": {"type": "string", "description": "The event in a sentence."},
        "cost": {"type": "object", "properties": money, "required": sorted(money)},
        "data": {"description": "What the event carries, by its kind."},
        "hash": {"type": "string", "description": "Covers the event and the hash before it."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One event of the log",
        "description": "A line of `loop log --json`.",
        "type": "object",
        "properties": common,
        "required": sorted(common),
        "oneOf": [_of_kind(kind.__name__) for kind in kinds],
        "$defs": dict(sorted(defs.items())),
    }


def _of_kind(name: str) -> Json:
    return {"properties": {"kind": {"const": name}, "data": {"$ref": f"#/$defs/{name}"}}}


def schema_of(kind: typing.Any, defs: dict[str, Json]) -> Json:  # noqa: ANN401 - a type, whatever its form
    """The schema of a field's type; dataclasses go to `defs`."""
    if hasattr(kind, "__supertype__"):
        return schema_of(kind.__supertype__, defs)
    if kind in (Key, Point):
        return {"type": "string"}
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(arg, defs) for arg in args]}
    if origin is tuple:
        return {"type": "array", "items": schema_of(args[0], defs)}
    if kind is type(None):
        return {"type": "null"}
    if issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(kind, defs)
    return {"type": _SCALARS[kind]}


def _record(kind: type, defs: dict[str, Json]) -> Json:
    name = kind.__name__
    if name not in defs:
        hints = typing.get_type_hints(kind)
        properties = {field.name: schema_of(hints[field.name], defs) for field in dataclasses.fields(kind)}
        defs[name] = {"type": "object", "properties": properties, "additionalProperties": False}
        needed = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
        defs[name] |= {"required": needed} if needed else {}
    return {"$ref": f"#/$defs/{name}"}


def example_of(kind: typing.Any, *, full: bool) -> typing.Any:  # noqa: ANN401 - a value of whatever the type says
    """A value of the type with every field set, or with as few as will do."""
    kind = getattr(kind, "__supertype__", kind)
    if kind in (Key, Point):
        return Key("implement", 2, tries=1) if kind is Key else Point("FIX", 2)
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
