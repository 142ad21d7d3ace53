"""Frozen values to JSON and back, strictly: unknown fields, wrong types and unknown kinds are refused.

A field that a stored record lacks takes its default, so that a value can grow. What has a text form
(`str` and `parse`) is stored as that text. Encoders and decoders are built once per type; the log is
written on every transition.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from math import inf, isfinite
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from loopwright.kernel.model import Key, Point

T = TypeVar("T")
_TEXTS = (Key, Point)
_SAME = frozenset((str, int, float, bool, NoneType))
Decoder = Callable[[Any, str], Any]
Writer = Callable[[Any, bool], Any]
_AS_TEXT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode
SPREAD: Mapping[str, bool] = {"spread": True}  # metadata of a field whose own fields stand beside the others


class DataclassValue(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


class DecodeError(ValueError):
    """The data does not fit the type; the message names the path inside it."""


def encode(value: object, *, sparse: bool = False) -> str:
    """Canonical JSON text: sorted keys, no spaces, so that equal values have equal text.

    `sparse` leaves out fields that hold their defaults, which is only for what is not kept for long: read by a version
    that has other defaults, it is another value.
    """
    return _AS_TEXT(plain(value, sparse=sparse))


def decode(kind: type[T], text: str) -> T:
    try:
        data = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"not JSON: {error}") from error
    return build(kind, data)


def build(kind: type[T], data: object, where: str = "$") -> T:
    """From parsed JSON to a value of `kind`."""
    decoder: Decoder = _decoder(kind)  # type: ignore[arg-type]  # a type is hashable; mypy's stub says otherwise
    result: T = decoder(data, where)
    return result


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise DecodeError("an object has the same key twice")
    return data


def _no_constant(name: str) -> None:
    raise DecodeError(f"{name} is not a number")


def plain(value: object, *, sparse: bool = False) -> Any:
    """A value as JSON has it: dataclasses as objects, tuples as lists."""
    kind: Any = value.__class__
    return value if kind in _SAME else _writer(kind)(value, sparse)


@cache
def _writer(kind: Any) -> Writer:
    if issubclass(kind, tuple | list):
        return lambda value, sparse: [plain(item, sparse=sparse) for item in value]
    if issubclass(kind, Enum):
        return lambda value, _: value.value
    if issubclass(kind, str | int | float):
        return lambda value, _: value
    if issubclass(kind, dict):
        return lambda value, sparse: {str(key): plain(item, sparse=sparse) for key, item in value.items()}
    if issubclass(kind, _TEXTS):
        return lambda value, _: str(value)
    if is_dataclass(kind):
        return partial(_object, _form(kind))
    raise TypeError(f"{kind.__name__} cannot be stored")


def _object(form: _Form, value: Any, sparse: bool) -> dict[str, Any]:  # noqa: FBT001 - as every writer has it
    """Most fields hold what is in JSON as it is: only the others are looked at."""
    if sparse:
        held = zip(form.names, form.read(value), form.defaults, strict=True)
        found = {name: one for name, one, default in held if one is not default and one != default}
    else:
        found = dict(zip(form.names, form.read(value), strict=True))
    for name, one in found.items():
        kind = one.__class__
        if kind not in _SAME:
            found[name] = _writer(kind)(one, sparse)
    for name in form.floats:
        if isinstance(found.get(name), int):
            found[name] = float(found[name])
    return found


def as_object(value: DataclassValue) -> dict[str, object]:
    """As `plain`, with the fields that are spread put in their places, and words that a field cannot be called: `from_`
    is `from`."""
    spread = {name for name, field in value.__dataclass_fields__.items() if field.metadata == SPREAD}
    found: dict[str, object] = {}
    for name, data in plain(value).items():
        found |= data if name in spread else {name.rstrip("_"): data}
    return found


class _Form(NamedTuple):
    names: tuple[str, ...]
    read: Callable[[Any], Iterable[Any]]  # what the fields hold, in this order
    defaults: tuple[Any, ...]
    floats: tuple[str, ...]  # 1 in a field for floats is 1.0: equal values have equal text


def _form(kind: Any) -> _Form:
    hints = get_type_hints(kind)
    names = tuple(field.name for field in fields(kind))
    return _Form(
        names=names,
        read=_reader(names),
        defaults=tuple(field.default for field in fields(kind)),
        floats=tuple(name for name in names if _holds_float(hints[name])),
    )


def _reader(names: tuple[str, ...]) -> Callable[[Any], Iterable[Any]]:
    """Without a step of ours for each field, where there are several."""
    return attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, name) for name in names)


def _holds_float(hint: Any) -> bool:
    return hint is float or float in get_args(hint)


@cache
def _decoder(kind: Any) -> Decoder:
    origin = get_origin(kind)
    if hasattr(kind, "__supertype__"):
        return _decoder(kind.__supertype__)
    if origin is Literal:
        return _choice(get_args(kind))
    if origin in (Union, UnionType):
        return _optional(kind)
    if origin is tuple:
        return _sequence(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enumeration(kind)
    if kind in _TEXTS:
        return _parsed(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    return _text if kind is str else _scalar(kind)


def _choice(allowed: tuple[Any, ...]) -> Decoder:
    def read(data: Any, where: str) -> Any:
        if data not in allowed:
            raise DecodeError(f"{where}: expected one of {', '.join(map(str, allowed))}, found {data!r}")
        return data

    return read


def _optional(kind: Any) -> Decoder:
    inner = [arg for arg in get_args(kind) if arg is not NoneType]
    if len(inner) != 1:
        raise TypeError(f"{kind} is not an optional type")
    decoder = _decoder(inner[0])
    return lambda data, where: None if data is None else decoder(data, where)


def _sequence(args: tuple[Any, ...]) -> Decoder:
    item = _decoder(args[0])

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, list):
            raise DecodeError(f"{where}: expected a list, found {type(data).__name__}")
        return tuple(item(value, f"{where}[{index}]") for index, value in enumerate(data))

    return read


def _enumeration(kind: type[Enum]) -> Decoder:
    def read(data: Any, where: str) -> Any:
        try:
            return kind(data)
        except ValueError:
            names = ", ".join(str(member.value) for member in kind)
            raise DecodeError(f"{where}: expected one of {names}, found {data!r}") from None

    return read


def _scalar(kind: Any) -> Decoder:
    accepted = (int, float) if kind is float else (kind,)

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, accepted) or (isinstance(data, bool) and kind is not bool):
            raise DecodeError(f"{where}: expected {kind.__name__}, found {type(data).__name__}")
        return _finite(data, where) if kind is float else data

    return read


def _text(data: Any, where: str) -> Any:
    """A lone surrogate is valid in JSON and in `str`, but no file and no database takes it."""
    if not isinstance(data, str):
        raise DecodeError(f"{where}: expected str, found {type(data).__name__}")
    try:
        data.encode()
    except UnicodeEncodeError:
        raise DecodeError(f"{where}: the text holds half a character") from None
    return data


def _parsed(kind: Any) -> Decoder:
    def read(data: Any, where: str) -> Any:
        try:
            return kind.parse(_text(data, where))
        except DecodeError:
            raise
        except ValueError:
            raise DecodeError(f"{where}: {data!r} is no {kind.__name__.lower()}") from None

    return read


def _finite(data: float, where: str) -> float:
    try:
        number = float(data)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise DecodeError(f"{where}: the number is too large")
    return number


def _record(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    known = {field.name: _decoder(hints[field.name]) for field in fields(kind)}
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            raise DecodeError(f"{where}: expected an object, found {type(data).__name__}")
        for name in sorted(data.keys() - known.keys(), key=str):
            raise DecodeError(f"{where}.{name}: unknown field")
        for name in sorted(needed - data.keys()):
            raise DecodeError(f"{where}.{name}: missing")
        return kind(**{name: known[name](value, f"{where}.{name}") for name, value in data.items()})

    return read
