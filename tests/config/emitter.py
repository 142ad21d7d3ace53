"""Settings to the text of a `loop.toml`, for round trips only: people's files are never rewritten."""

import json
from collections.abc import Iterator

from generators.configuration import is_table, keys_of
from loopwright.config.keys import shape_of
from loopwright.config.settings import Settings
from loopwright.kernel.shapes import Field, Shape


def emit(settings: Settings, *, only_obeyed: bool = False) -> str:
    return "\n".join(_table(shape_of(Settings), settings, "", only_obeyed)) + "\n"


def _table(shape: Shape, value: object, path: str, only_obeyed: bool) -> Iterator[str]:  # noqa: FBT001 - handed on
    if path:
        yield f"[{path}]"
    for key in keys_of(shape, only_obeyed=only_obeyed):
        held = getattr(value, key.name)
        if held != key.default or held not in (None, "", ()):
            yield f"{key.name} = {_text(held, seconds='a time such as' in key.shape.says)}"
    for field in shape.fields:
        if is_table(field) and (field.obeyed or not only_obeyed):
            below = f"{path}.{field.name}".removeprefix(".")
            yield from _inner(field, getattr(value, field.name), below, only_obeyed)


def _inner(field: Field, value: object, path: str, only_obeyed: bool) -> Iterator[str]:  # noqa: FBT001 - handed on
    if path == "roles":
        yield f"[{path}]"
        assert isinstance(value, tuple)
        yield from (f"{role.name} = {_text(role.agents)}" for role in value)
    elif field.shape.each:
        assert isinstance(value, tuple)
        for item in value:
            yield from _table(field.shape.each, item, f"{path}.{item.name}", only_obeyed)
    else:
        yield from _table(field.shape, value, path, only_obeyed)


def _text(value: object, *, seconds: bool = False) -> str:
    match value:
        case None:
            return '"unlimited"'
        case bool():
            return "true" if value else "false"
        case float() if seconds:
            return f'"{value:.6f}s"'
        case int() | float():
            return repr(value)
        case tuple():
            return "[" + ", ".join(_text(item) for item in value) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)
