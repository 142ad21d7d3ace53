"""A `SHAPE.md` as people, agents and we ourselves write it, read back into a shape.

What counts stands below headings: criteria, what must not happen, and the verification of each. A list is one of
bullets or, in a code block, of JSON; a verification is a table or, in a code block, an object of JSON. Where there are
code blocks of JSON they count alone: they gather what the bullets of every aspect say. All else on the page is prose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from loopwright.kernel.model import AgentReport
from loopwright.loops.workflow.evidence import GREEN_BEFORE, UNCOMMANDED
from loopwright.loops.workflow.reading import argv_of
from loopwright.loops.workflow.shape import (
    TYPES,
    WorkShape,
    bars_completion,
    criterion_name,
    folded,
    reaches_away,
    read_shape,
    with_engine_rules,
)

# A pattern here looks at no character twice, however a page is made: what could is read by hand.
_LONGEST_LINE = 16_000  # characters
_HEADING = re.compile(r"#{1,6}\s+")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_CLOSING = re.compile(r"`{3,}|~{3,}")
_BULLET = re.compile(r"\s*(?:[-*+•□]|\d{1,3}[.)])\s+(?:\[[ xX]?\]\s+)?(?P<text>\S.*)")
_CRITERION = re.compile(r"criterion-\d+: ")
_UNCOMMANDED = re.compile(rf" \({UNCOMMANDED}: ")
_TYPED = re.compile(rf" \((?:{'|'.join(TYPES)})(?:: {GREEN_BEFORE})?\)$")
_NUMBERED = re.compile(r"^mustNot-\d+: ")
_SEEN = " (seen by "
_ITS_COMMAND = re.compile(r"its command, which fails then: (?P<argv>\[.*\])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")
_NO_COMMAND = re.compile(r"|[-\u2013\u2014]|none|n/a|manual|all checks|checks: .*", re.IGNORECASE)
_KINDS = {
    "criteria": re.compile(r"(?:\w+\s+)?criteria\b", re.IGNORECASE),
    "mustNot": re.compile(r".*\bmust[\s-]*not", re.IGNORECASE),
    "verification": re.compile(r"verification\b", re.IGNORECASE),
    "aspects": re.compile(r"aspects$", re.IGNORECASE),
    "decisions": re.compile(r"(?:expert\s+)?decisions$", re.IGNORECASE),
    "conflicts": re.compile(r"conflicts$", re.IGNORECASE),
}


def read_shape_page(page: str) -> WorkShape | str:
    """With enough rules to begin with, or a sentence that says why no work can go by it."""
    for number, line in enumerate(page.splitlines(), start=1):
        if len(line) > _LONGEST_LINE:
            return f"line {number} has more than {_LONGEST_LINE:,} characters"
    held: dict[str, list[list[str]]] = {"": [], **{name: [] for name in _KINDS}}
    for kind, lines in _sections(page):
        held[kind].append(lines)
    criteria = _texts(held["criteria"], _criterion)
    rows, notes = _verification(held["verification"])
    known = {folded(str(each)) for each in criteria}
    known |= {name for at in range(1, len(criteria) + 1) for name in (criterion_name(at), str(at))}
    criteria += [row["criterion"] for row in rows if folded(row["criterion"]) not in known]
    if not criteria:
        return "no criterion was found: it has no list below a heading `Criteria`"
    named = {kind: _texts(held[kind], _named) for kind in ("aspects", "decisions", "conflicts")}
    named["decisions"] += notes
    shape = {"criteria": criteria, "mustNot": _texts(held["mustNot"], _rule), "verification": rows, **named}
    found = read_shape(AgentReport(extras=json.dumps({"shape": shape})))
    if isinstance(found, str):
        return found
    if away := reaches_away(found):
        return away
    if unseen := bars_completion(found):
        return f"nothing would show that these hold, they are assumed: {', '.join(unseen)}"
    return with_engine_rules(found)


# --- the page ---------------------------------------------------------------------------------------------------------


def _sections(page: str) -> Iterator[tuple[str, list[str]]]:
    """The lines below each heading; nothing in a code block is one."""
    kind, lines, fence = "", list[str](), ""
    for line in page.splitlines():
        heading = None if fence else _HEADING.match(line)
        if mark := _FENCE.match(line):
            fence = "" if line.strip() == fence else fence or mark[1]
        if heading is None:
            lines.append(line)
            continue
        yield kind, lines
        kind, lines = _kind_of(line[heading.end() :].rstrip("# \t")), []
    yield kind, lines


def _kind_of(title: str) -> str:
    plain = re.sub(r"[*_`]|\[\]", "", title).strip()
    return next((kind for kind, names in _KINDS.items() if names.match(plain)), "")


def _json(lines: list[str]) -> Iterator[object]:
    """What stands in code blocks, where it is JSON."""
    block: list[str] | None = None
    for line in lines:
        if block is None:
            block = [] if _FENCE.match(line) else None
        elif _CLOSING.fullmatch(line.strip()):
            with suppress(ValueError, RecursionError):
                yield _loaded("\n".join(block))
            block = None
        else:
            block.append(line)


def _loaded(text: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Raises `ValueError`, also for half a character, which no log can hold."""
    said = json.loads(text)
    json.dumps(said, ensure_ascii=False).encode()
    return said


def _texts(sections: list[list[str]], read: Callable[[str], object]) -> list[Any]:
    """Each once, in their order; those that say nothing left out."""
    lists = [each for lines in sections for each in _json(lines) if isinstance(each, list)]
    said = [one for each in lists for one in each] or [one for lines in sections for one in _bullets(lines)]
    found = [read(each) if isinstance(each, str) else each for each in said if each]
    return list({json.dumps(each): each for each in found}.values())


def _bullets(lines: list[str]) -> Iterator[str]:
    """A line that is indented below a bullet goes on with it."""
    parts: list[str] = []
    for line in lines:
        if bullet := _BULLET.fullmatch(line):
            yield " ".join(parts)
            parts = [bullet["text"]]
        elif parts and line.startswith(" ") and line.strip():
            parts.append(line.strip())
        else:
            yield " ".join(parts)
            parts = []
    yield " ".join(parts)


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text).strip()


def _criterion(text: str) -> str:
    ours = _CRITERION.match(text)
    return _plain(_without_its_type(text[ours.end() :]) if ours else text)


def _without_its_type(text: str) -> str:
    if text.endswith(")") and (found := _UNCOMMANDED.search(text)):
        return text[: found.start()]
    return _TYPED.sub("", text)


def _named(text: str) -> str:
    return _plain(re.sub(r"^(?:aspect|decision|conflict): ", "", text))


def _rule(text: str) -> dict[str, Any]:
    said, mark, seen = text[:-1].rpartition(_SEEN) if text.endswith(")") else ("", "", "")
    rule: dict[str, Any] = {"text": _plain(_NUMBERED.sub("", said if mark else text))}
    if not mark:
        return rule
    command = _ITS_COMMAND.fullmatch(seen)
    argv = _argv(_plain(command["argv"])) if command else ()
    return rule | ({"command": list(argv)} if argv else {"seen": _plain(seen)})


# --- how it is verified -----------------------------------------------------------------------------------------------


def _verification(sections: list[list[str]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows, and a note for each command that only a shell could run."""
    objects = [each for lines in sections for each in _json(lines) if isinstance(each, dict)]
    said = [_of_json(name, value) for each in objects for name, value in each.items()]
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for cells in said or [row for lines in sections for row in _table(lines)]:
        name, command = cells["criterion"], cells.get("command", "")
        argv = () if _NO_COMMAND.fullmatch(command) else _argv(command)
        if not argv and not _NO_COMMAND.fullmatch(command):
            notes.append(f"the command of {name} needs a shell and is not run, the checks are: {command}")
        kind = {"type": cells["type"]} if cells.get("type") else {}
        rows.append({"criterion": name, **kind, "command": list(argv)})
    return rows, notes


def _of_json(name: str, value: object) -> dict[str, str]:
    """A command alone, as a line or a list, or an object of the table's columns."""
    cells = value if isinstance(value, dict) else {"command": value}
    told = {key: each if isinstance(each, str) else json.dumps(each) for key, each in cells.items()}
    return {**told, "criterion": name}


def _table(lines: list[str]) -> Iterator[dict[str, str]]:
    names: list[str] = []
    for line in (line.strip() for line in lines):
        if not line.startswith("|"):
            names = []
            continue
        cells = [cell.strip() for cell in _CELL_END.split(line.strip("|"))]
        if not names:
            names = [folded(_plain(cell)) for cell in cells]
        elif "criterion" in names and not all(_RULE.fullmatch(cell) for cell in cells):
            yield dict(zip(names, map(_unquoted, cells), strict=False))


def _unquoted(cell: str) -> str:
    """What was meant by a cell: code as it stands there, else without the marks that keep it from being markup."""
    before, behind = (len(cell) - len(rest) for rest in (cell.lstrip("`"), cell.rstrip("`")))
    marks = min(before, behind, len(cell) // 2)
    return cell[marks : len(cell) - marks].replace("\\|", "|").strip() if marks else _plain(cell)


def _argv(command: str) -> tuple[str, ...]:
    """As a list of JSON, which is how we write it, or as a line that somebody would type."""
    if not command.startswith("["):
        return argv_of(command)
    with suppress(ValueError, RecursionError):
        return tuple(map(str, _loaded(command)))
    return ()
