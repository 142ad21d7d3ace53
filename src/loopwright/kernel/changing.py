"""A value with some of its fields changed: as `dataclasses.replace`, for values that change with every event.

The state of a large loop has dozens of fields, and `dataclasses.replace` looks each of them up by name, every time: it
took a third of all that scheduling a task costs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from itertools import repeat
from operator import attrgetter, call
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Form(NamedTuple):
    places: dict[str, int]
    read: Callable[[Any], tuple[Any, ...]]
    write: tuple[Callable[[Any, Any], None], ...]


@lru_cache(maxsize=256)
def _form(kind: type) -> _Form:
    names = [field.name for field in fields(kind)]
    return _Form(
        places={name: place for place, name in enumerate(names)},
        read=attrgetter(*names),
        write=tuple(getattr(kind, name).__set__ for name in names),
    )


def replace(value: T, /, **changes: Any) -> T:  # noqa: ANN401 - the fields of the value
    """Of a frozen dataclass with slots, two fields or more, and nothing to do after it is made."""
    kind = type(value)
    form = _form(kind)  # type: ignore[arg-type]  # a type is hashable; mypy's stub says otherwise
    held = list(form.read(value))
    for name, new in changes.items():
        held[form.places[name]] = new
    made = object.__new__(kind)
    deque(map(call, form.write, repeat(made), held), maxlen=0)  # written without a step of ours for each field
    return made
