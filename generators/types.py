"""A JSON Schema (draft 2020-12) from a frozen dataclass: what `kernel.codec` writes of it and reads back."""

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping

from loopwright.kernel.codec import SPREAD
from loopwright.kernel.model import Key, Point

Json = dict[str, object]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(kind: typing.Any, *, open_ended: bool = False) -> Json:  # noqa: ANN401 - a dataclass, its own part named
    """A field that has a default may be missing, and nothing else may be there.

    `open_ended`: a later version may add fields, so that whoever reads it must not mind.
    """
    defs: dict[str, Json] = {}
    whole = _pulled_out(form_of(kind, defs, open_ended=open_ended), defs)
    return {**whole, "$defs": dict(sorted(defs.items()))} if defs else whole


def form_of(kind: typing.Any, defs: dict[str, Json], *, open_ended: bool = False) -> Json:  # noqa: ANN401 - any type
    """The schema of a field's type; dataclasses go to `defs`."""
    if hasattr(kind, "__supertype__"):
        return form_of(kind.__supertype__, defs, open_ended=open_ended)
    if kind is type(None):
        return {"type": "null"}
    if kind in (object, typing.Any):
        return {}
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is None or dataclasses.is_dataclass(origin):
        return _plain(kind, defs, open_ended=open_ended)
    if origin is typing.Annotated:
        return {"description": args[1], **form_of(args[0], defs, open_ended=open_ended)}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [form_of(arg, defs, open_ended=open_ended) for arg in args]}
    if origin in (tuple, list):
        return {"type": "array", "items": form_of(args[0], defs, open_ended=open_ended)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": form_of(args[1], defs, open_ended=open_ended)}
    raise TypeError(f"no JSON Schema for {kind}")


def _plain(kind: typing.Any, defs: dict[str, Json], *, open_ended: bool) -> Json:  # noqa: ANN401 - any type
    if kind in (Key, Point):  # values with a text form
        return {"type": "string"}
    record: type = typing.get_origin(kind) or kind
    if issubclass(record, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if not dataclasses.is_dataclass(record):
        return {"type": _SCALARS[kind]}
    name = (typing.get_origin(kind) or kind).__name__
    if name not in defs:
        defs[name] = {}  # a type may hold itself
        defs[name] = _record(kind, defs, open_ended=open_ended)
    return {"$ref": f"#/$defs/{name}"}


def _record(kind: typing.Any, defs: dict[str, Json], *, open_ended: bool) -> Json:  # noqa: ANN401 - any type
    record = typing.get_origin(kind) or kind
    hints = typing.get_type_hints(record, include_extras=True)
    named = dict(zip(getattr(record, "__parameters__", ()), typing.get_args(kind), strict=True))
    properties: Json = {}
    needed: list[str] = []
    for field in dataclasses.fields(record):
        form = form_of(named.get(hints[field.name], hints[field.name]), defs, open_ended=open_ended)
        if field.metadata == SPREAD:
            inner: typing.Any = _pulled_out(form, defs)
            properties |= inner["properties"]
            needed += inner.get("required", ())
            continue
        name = field.name.rstrip("_")
        properties[name] = form
        needed += [name] if _is_needed(field) else []
    closed: Json = {} if open_ended else {"additionalProperties": False}
    return {"type": "object", "properties": properties, **closed, **({"required": needed} if needed else {})}


def _pulled_out(reference: Json, defs: dict[str, Json]) -> Json:
    """What a reference stands for, no longer among the definitions."""
    return defs.pop(str(reference["$ref"]).rpartition("/")[2])


def _is_needed(field: "dataclasses.Field[object]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
