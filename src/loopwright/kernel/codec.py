"""Frozen values to JSON and back, strictly: unknown fields, wrong types and unknown kinds are refused.

A field that a stored record lacks takes its default, so that a value can grow. Encoders and
decoders are built once per type; the log is written on every transition.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Decoder = Callable[[Any, str], Any]


class DecodeError(ValueError):
    """The data does not fit the type; the message names the path inside it."""


def encode(value: object) -> str:
    """Canonical JSON text: sorted keys, no spaces, so that equal values have equal text."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def decode(kind: type[T], text: str) -> T:
    try:
        data = json.loads(text, object_pairs_hook=_no_duplicates)
    except ValueError as error:
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


def _plain(value: object) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _names(value.__class__)}
    raise TypeError(f"{type(value).__name__} cannot be stored")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


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
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    return _scalar(kind)


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
        return float(data) if kind is float else data

    return read


def _record(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    known = {field.name: _decoder(hints[field.name]) for field in fields(kind)}
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            raise DecodeError(f"{where}: expected an object, found {type(data).__name__}")
        for name in data.keys() - known.keys():
            raise DecodeError(f"{where}.{name}: unknown field")
        for name in needed - data.keys():
            raise DecodeError(f"{where}.{name}: missing")
        return kind(**{name: known[name](value, f"{where}.{name}") for name, value in data.items()})

    return read
