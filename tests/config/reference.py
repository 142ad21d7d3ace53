"""The published forms of the table of keys: the rows of the guide and the JSON Schema of `loop.toml`."""

import json
import re
from dataclasses import MISSING, fields

from loopwright.config.durations import duration_text
from loopwright.config.schema import ROOT, VERSION, Key, Table
from loopwright.config.shapes import NAME_PATTERN

_BLOCK = re.compile(r"(<!-- keys of (?P<name>\S+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)
_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def tables(table: Table = ROOT, path: str = "") -> dict[str, Table]:
    """Every table that has keys by its path; `NAME` stands for what a person chooses."""
    found = {path or "top": table} if table.keys else {}
    for inner in filter(is_obeyed, table.tables):
        below = f"{path}.{inner.name}".removeprefix(".") + (".NAME" if inner.named else "")
        found |= tables(inner, below)
    return found


def is_obeyed(entry: Key | Table) -> bool:
    """What nothing obeys yet is not published."""
    return entry.obeyed


def filled_in(page: str) -> str:
    """The page with the rows of every block made anew."""
    known = tables()
    return _BLOCK.sub(lambda block: block[1] + rows(known[block["name"]]) + block[3], page)


def blocks(page: str) -> list[str]:
    return [block["name"] for block in _BLOCK.finditer(page)]


def rows(table: Table) -> str:
    head = "| key | holds | without it | means |\n|---|---|---|---|\n"
    cells = (
        (f"`{key.name}`", key.shape.says, default_text(table, key), key.means) for key in filter(is_obeyed, table.keys)
    )
    return head + "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def default_text(table: Table, key: Key) -> str:
    if key.required:
        return "required"
    if key.unset:
        return key.unset
    value = next((field.default for field in fields(table.kind) if field.name == key.name), MISSING)
    match value:
        case float() if "a time such as" in key.shape.says:
            return f'`"{duration_text(value)}"`'
        case None | "" | ():
            return "none"
        case tuple():
            return f"`{json.dumps(value)}`"
        case bool() | str():
            return f"`{json.dumps(value)}`"
        case _:
            return f"`{value}`"


def json_schema() -> dict[str, object]:
    return {
        "$schema": _SCHEMA,
        "title": "loop.toml",
        "description": "The configuration of Loopwright in a repository, as the data that its TOML stands for.",
        **_object(ROOT),
    }


def _object(table: Table) -> dict[str, object]:
    keys = {key.name: {"description": key.means, **key.shape.json} for key in filter(is_obeyed, table.keys)}
    if table is ROOT:
        keys["version"] = {"description": keys["version"]["description"], "const": VERSION}
    inner = {below.name: _below(below) for below in filter(is_obeyed, table.tables)}
    required = [key.name for key in table.keys if key.required]
    form: dict[str, object] = {"type": "object", "properties": {**keys, **inner}, "additionalProperties": False}
    return {**form, "required": required} if required else form


def _below(table: Table) -> dict[str, object]:
    if not table.named:
        return {"description": table.means, **_object(table)}
    names = {"pattern": f"^{NAME_PATTERN}$"}
    return {
        "description": table.means,
        "type": "object",
        "propertyNames": names,
        "additionalProperties": _object(table),
    }
