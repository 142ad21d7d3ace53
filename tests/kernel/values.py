"""Any value of a frozen type, for hypothesis: finite numbers, short texts, short tuples."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from loopwright.kernel.model import Key, Point


def values(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a union is not a type
    """Every part of every field may take any value that its annotation allows."""
    origin = get_origin(kind)
    if hasattr(kind, "__supertype__"):
        return values(kind.__supertype__)
    if origin is Literal:
        return st.sampled_from(get_args(kind))
    if origin in (Union, UnionType):
        return st.one_of(*(values(arg) for arg in get_args(kind)))
    if origin is tuple and Ellipsis not in get_args(kind):
        return st.tuples(*map(values, get_args(kind)))
    if origin is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=2).map(tuple)
    if kind in _TEXTS:
        return _TEXTS[kind]
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return _SCALARS[kind]


def _record(kind: type) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: values(hints[field.name]) for field in fields(kind)})


_TEXTS: dict[Any, st.SearchStrategy[Any]] = {
    Key: st.one_of(st.text(max_size=5), st.sampled_from(("review-1.1", "wait-fix-2.3", "gate-protected-e1"))).map(
        Key.parse
    ),
    Point: st.builds(Point, st.sampled_from(("FIX", "LAND")), st.integers(0, 9)),
}
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=5),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    NoneType: st.none(),
}
