"""A JSON Schema (draft 2020-12) from a frozen dataclass: what `kernel.codec` writes of it and reads back."""

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping

from loopwright.kernel.model import Key, Point

Json = dict[str, object]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(kind: type, *, open_ended: bool = False) -> Json:
    """A field that has a default may be missing, and nothing else may be there.

    `open_ended`: a later version may add fields, so that whoever reads it must not mind.
    """
    defs: dict[str, Json] = {}
    form_of(kind, defs, open_ended=open_ended)
    whole = defs.pop(kind.__name__)
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
    if origin is None:
        return _plain(kind, defs, open_ended=open_ended)
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
    if issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return {"type": _SCALARS[kind]}
    name = str(kind.__name__)
    if name not in defs:
        defs[name] = {}  # a type may hold itself
        hints = typing.get_type_hints(kind)
        fields = dataclasses.fields(kind)
        properties = {field.name: form_of(hints[field.name], defs, open_ended=open_ended) for field in fields}
        needed = [field.name for field in fields if _is_needed(field)]
        defs[name] = {"type": "object", "properties": properties}
        defs[name] |= {} if open_ended else {"additionalProperties": False}
        defs[name] |= {"required": needed} if needed else {}
    return {"$ref": f"#/$defs/{name}"}


def _is_needed(field: "dataclasses.Field[object]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
