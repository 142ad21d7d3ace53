"""The published forms of the keys of `loop.toml`: the rows of the guide, and its JSON Schema."""

import json
import re

from loopwright.config.keys import shape_of
from loopwright.config.settings import Settings
from loopwright.kernel.shapes import Field, Shape

_BLOCK = re.compile(r"(<!-- keys of (?P<name>\S+) -->\n).*?(<!-- end of keys -->)", re.DOTALL)


def keys_of(shape: Shape, *, only_obeyed: bool = True) -> list[Field]:
    """The keys that are no tables. What nothing obeys yet is not published."""
    return [field for field in shape.fields if not is_table(field) and (field.obeyed or not only_obeyed)]


def is_table(field: Field) -> bool:
    return bool(_below(field.shape).fields)


def _below(shape: Shape) -> Shape:
    return shape.each if shape.each and shape.each.fields else shape


def tables(shape: Shape, path: str = "") -> dict[str, Shape]:
    """Every table that has keys by its path; `NAME` stands for what a person chooses. Of twins only the first."""
    found = {path or "top": shape} if keys_of(shape) else {}
    for field in shape.fields:
        inner = _below(field.shape)
        if field.obeyed and is_table(field) and inner not in found.values():
            below = f"{path}.{field.name}".removeprefix(".") + ("" if inner is field.shape else ".NAME")
            found |= tables(inner, below)
    return found


def blocks(page: str) -> list[str]:
    return [block["name"] for block in _BLOCK.finditer(page)]


def filled_in(page: str) -> str:
    """The page with the rows of every block made anew."""
    known = tables(shape_of(Settings))
    return _BLOCK.sub(lambda block: block[1] + rows(known[block["name"]]) + block[3], page)


def rows(shape: Shape) -> str:
    head = "| key | holds | without it | means |\n|---|---|---|---|\n"
    cells = ((f"`{key.name}`", key.shape.says, without(key), key.means) for key in keys_of(shape))
    return head + "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def without(key: Field) -> str:
    if key.required:
        return "required"
    if key.unset:
        return key.unset
    match key.default:
        case float() as seconds if "a time such as" in key.shape.says:
            return f'`"{duration_text(seconds)}"`'
        case None | "" | ():
            return "none"
        case tuple() | bool() | str() as value:
            return f"`{json.dumps(value)}`"
        case value:
            return f"`{value}`"


def duration_text(seconds: float) -> str:
    """The shortest way to write it: 1800 is `30m`."""
    if seconds != int(seconds):
        return f"{seconds:.6f}".rstrip("0") + "s"
    left, text = int(seconds), ""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"
