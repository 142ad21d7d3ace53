"""A value with some of its fields changed: as `dataclasses.replace`, for values that change with every event.

The state of a large loop has dozens of fields, and `dataclasses.replace` looks each of them up by name and hands all of
them to the constructor, every time: it took a third of all that scheduling a task costs. Here a function that is made
once for each kind of value copies the fields, one after the other, as one would write it by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=256)
def _copier(kind: type) -> Callable[[Any], Any]:
    """Copies all fields into what has the slots of that kind and is not frozen yet."""
    names = tuple(field.name for field in fields(kind))
    scope: dict[str, Any] = {"thawed": type(f"Thawed{kind.__name__}", (), {"__slots__": names})}
    copying = "".join(f"    made.{name} = value.{name}\n" for name in names)
    exec(f"def copied(value):\n    made = thawed()\n{copying}    return made\n", scope)  # noqa: S102 - as dataclasses do
    copied: Callable[[Any], Any] = scope["copied"]
    return copied


def replace(value: T, /, **changes: Any) -> T:  # noqa: ANN401 - the fields of the value
    """Of a frozen dataclass with slots and nothing to do after it is made."""
    kind = type(value)
    made = _copier(kind)(value)  # type: ignore[arg-type]  # a type is hashable; mypy's stub says otherwise
    for name, new in changes.items():
        setattr(made, name, new)
    made.__class__ = kind  # the slots are the same: from here on nobody writes to it
    return made  # type: ignore[no-any-return]
