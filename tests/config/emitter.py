"""Settings to the text of a `loop.toml`, for round trips only: people's files are never rewritten."""

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace

from loopwright.config.schema import ROOT, Table
from loopwright.config.settings import RoleSettings, Settings


def emit(settings: Settings, *, only_obeyed: bool = False) -> str:
    return "\n".join(_table(obeyed(ROOT) if only_obeyed else ROOT, settings, "")) + "\n"


def obeyed(table: Table) -> Table:
    tables = tuple(obeyed(inner) for inner in table.tables if inner.obeyed)
    return replace(table, keys=tuple(key for key in table.keys if key.obeyed), tables=tables)


def _table(table: Table, value: object, path: str) -> Iterator[str]:
    if path:
        yield f"[{path}]"
    defaults = {field.name: field.default for field in fields(table.kind)}
    for key in table.keys:
        held = getattr(value, key.name)
        if held == defaults[key.name] and held in (None, "", ()):
            continue
        yield f"{key.name} = {_text(held, seconds='a time such as' in key.shape.says)}"
    for inner in table.tables:
        yield from _inner(inner, getattr(value, inner.name), f"{path}.{inner.name}".removeprefix("."))


def _inner(table: Table, value: object, path: str) -> Iterator[str]:
    if table.kind is RoleSettings:
        yield f"[{path}]"
        assert isinstance(value, tuple)
        yield from (f"{role.name} = {_text(role.agents)}" for role in value)
    elif table.named:
        assert isinstance(value, tuple)
        for item in value:
            yield from _table(table, item, f"{path}.{item.name}")
    else:
        yield from _table(table, value, path)


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


def required_keys(table: Table) -> set[str]:
    """Keys whose dataclass has no default: the schema must call exactly these required."""
    return {f.name for f in fields(table.kind) if f.default is MISSING and f.default_factory is MISSING} - {"name"}
