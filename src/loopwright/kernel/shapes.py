"""What data from outside may look like: how it is read, how a sentence says it, how JSON Schema says it.

The one dialect for every file and answer that people, agents and other tools write. A shape gives the value in plain
form, or a `Problem` with its place inside the data; whoever reads a file adds its name and the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loopwright.kernel.visible import is_all_harmless

Path = tuple[str | int, ...]

_LARGE = 10**18
_SHOWN = 60
_MOST_DIGITS = 300  # a number of so many can still be compared with any other
_MOST = 1e308  # what no number of ours comes near to; JSON has nothing larger


@dataclass(frozen=True, slots=True)
class Problem:
    """`at` leads into the value; `says` completes the sentence that begins with the place."""

    says: str
    at: Path = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`fields` are those of a record, `each` what a list holds, or a table whose keys are names."""

    says: str
    read: Callable[[object], object]
    json: Mapping[str, object]
    fields: tuple[Field, ...] = ()
    each: Shape | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One key of a record. `default` and `unset` say in the guide what holds without it."""

    name: str
    shape: Shape
    means: str = ""
    required: bool = False
    default: object = None
    unset: str = ""
    obeyed: bool = True  # False: known, but refused at a new start until its capability is there


# Sentences


def found(value: object) -> str:
    """How a value is called in a sentence."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {_short(value)}" if value else "an empty text"
        case int() if abs(value) > _LARGE:
            return "a very large number"  # Python refuses to print the largest
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a table of keys"
        case _:
            return f"the date or time {value}"


def _short(value: str) -> str:
    """At most `_SHOWN` characters in quotes; what is invisible is escaped, for it goes to a terminal."""
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return json.dumps(cut, ensure_ascii=not (cut.isprintable() and is_all_harmless(cut)))


def each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """For JSON that others wrote: of two values of one key nobody can tell which is meant."""
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} is there twice in one object")
        table[key] = value
    return table


def few_digits(text: str) -> int:
    """A whole number of JSON. Python gives up on thousands of digits in words of its own; nobody means so many."""
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:20]}… has more than {_MOST_DIGITS} digits")
    return int(text)


def expected(says: str, value: object) -> Problem:
    return Problem(f"expected {says}, found {found(value)}")


def fitted(shape: Shape, value: object, error: Callable[[Path, str], Exception]) -> Any:  # noqa: ANN401 - data
    """The value in plain form. Raises what `error` makes of the place and the sentence where it has another shape."""
    held = shape.read(value)
    if isinstance(held, Problem):
        raise error(held.at, held.says)
    return held


def shown(path: Path) -> str:
    """How a message names a place: `findings[2].line`. A key that is no plain word is quoted."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_quoted(part)}" for part in path).removeprefix(".")


def _quoted(part: str) -> str:
    return part if re.fullmatch(r"[\w-]{1,60}", part) else ascii(part[:60])


def nearest(name: str, known: Sequence[str], choices: Sequence[str] | None = None) -> str:
    """The advice that ends a sentence about an unknown name; `choices` are those of the known that may be offered."""
    import difflib  # noqa: PLC0415 - only a mistake needs it, and every start would pay

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    words = known if choices is None else choices
    return f"choose from {', '.join(words)}" if words else "leave it out, for there is none to choose"


# Single values


def fitting(says: str, fits: Callable[[object], bool], json_form: Mapping[str, object]) -> Shape:
    return Shape(says=says, read=lambda value: value if fits(value) else expected(says, value), json=json_form)


def choice(*words: str) -> Shape:
    says = "one of " + ", ".join(word or "nothing" for word in words)
    return fitting(says, lambda value: value in words, {"enum": list(words)})


def flag() -> Shape:
    return fitting("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})


def text(least: int = 0) -> Shape:
    says = "text that is not empty" if least else "text"
    form = {"type": "string", "minLength": least} if least else {"type": "string"}
    return fitting(says, lambda value: isinstance(value, str) and len(value) >= least, form)


def whole(least: int, most: int = 1_000_000_000) -> Shape:
    says = f"a whole number, at least {least}"

    def read(value: object) -> object:
        if type(value) is not int or value < least:  # True is an int to Python, and to nobody else
            return expected(says, value)
        return value if value <= most else expected(f"a whole number, at most {most}", value)

    return Shape(says=says, read=read, json={"type": "integer", "minimum": least, "maximum": most})


def number(least: float = -_MOST, most: float = _MOST, says: str = "a number") -> Shape:
    def fits(value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most

    bounds = {name: bound for name, bound in (("minimum", least), ("maximum", most)) if abs(bound) != _MOST}
    return fitting(says, fits, {"type": "number", **bounds})


def matching(says: str, pattern: str, advice: Callable[[str], str] = lambda _: "") -> Shape:
    """Text that fits `pattern` whole; `advice` may say more about one that does not."""
    compiled = re.compile(pattern)

    def read(value: object) -> object:
        if not isinstance(value, str):
            return expected(says, value)
        if compiled.fullmatch(value):
            return value
        more = advice(value)
        return Problem(expected(says, value).says + (f"; {more}" if more else ""))

    return Shape(says=says, read=read, json={"type": "string", "pattern": f"^(?:{pattern})$"})


def duration() -> Shape:
    says = 'a time such as "30m", "90s" or "1h30m", or whole seconds, more than 0 and at most 30 days'

    def read(value: object) -> object:
        seconds = parse_duration(value)
        return expected(says, value) if seconds is None else seconds

    json_form = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": f"^{DURATION_PATTERN}$"}]}
    return Shape(says=says, read=read, json=json_form)


# What holds others


def several(
    item: Shape, says: str = "a list", *, least: int = 0, most: int | None = None, unique: bool = False
) -> Shape:
    def read(value: object) -> object:
        if not isinstance(value, list):
            return expected(says, value)
        if len(value) < least:
            return Problem(f"expected {says}, found none")
        if most is not None and len(value) > most:
            return Problem(f"expected at most {most} entries, found {len(value)}")
        plain: list[object] = []
        for index, entry in enumerate(value):
            held = item.read(entry)
            if isinstance(held, Problem):
                return within(index, held)
            if unique and held in plain:
                return Problem(f"{found(held)} stands here twice; remove one", (index,))
            plain.append(held)
        return plain

    form: dict[str, object] = {"type": "array", "items": item.json}
    form |= {"minItems": least} if least else {}
    form |= {} if most is None else {"maxItems": most}
    return Shape(says=says, read=read, json=form | ({"uniqueItems": True} if unique else {}), each=item)


def named(each: Shape, says: str = "a table of keys", names: str = "", rule: str = "") -> Shape:
    """Any number of keys that somebody else chooses, if they fit the pattern `names`, else `rule` is said."""
    fits = re.compile(names or r"(?s:.*)")

    def read(value: object) -> object:
        if not isinstance(value, dict):
            return expected(says, value)
        plain: dict[str, object] = {}
        for name, inner in value.items():
            held = each.read(inner) if fits.fullmatch(name) else Problem(rule)
            if isinstance(held, Problem):
                return within(name, held)
            plain[name] = held
        return plain

    form: dict[str, object] = {"type": "object"}
    form |= {"propertyNames": {"pattern": f"^{names}$"}} if names else {}
    return Shape(says=says, read=read, json=form | {"additionalProperties": each.json}, each=each)


def record(*fields: Field, says: str = "a table of keys", closed: bool = False) -> Shape:
    """Keys that are known. Others are kept as they are, or refused where it is `closed`; without a value a known key is
    as good as absent.
    """
    known = {field.name: field for field in fields}

    def read(value: object) -> object:
        if not isinstance(value, dict):
            return expected(says, value)
        plain: dict[str, object] = {}
        for name, inner in value.items():
            if name not in known:
                held = Problem(f"unknown key; {_advice(name, fields)}") if closed else inner
            elif inner is None:
                continue
            else:
                held = known[name].shape.read(inner)
            if isinstance(held, Problem):
                return within(name, held)
            plain[name] = held
        missing = [field for field in fields if field.required and field.name not in plain]
        return Problem(f"{missing[0].name} is missing; give it {missing[0].shape.says}") if missing else plain

    return Shape(says=says, read=read, json=_object(fields, closed=closed), fields=fields)


def keyed(says: str, /, *required: str, **keys: Shape | tuple[Shape, str]) -> Shape:
    """An open record from the names of its keys, each with its shape, or with its shape and meaning."""
    pairs = {name: key if isinstance(key, tuple) else (key, "") for name, key in keys.items()}
    return record(
        *(Field(name=name, shape=pair[0], means=pair[1], required=name in required) for name, pair in pairs.items()),
        says=says,
    )


def text_or(whole_form: Shape) -> Shape:
    """Text where nothing more is to be said, or the record that says more."""
    says = f"text, or {whole_form.says}"

    def read(value: object) -> object:
        if isinstance(value, str):
            return value
        return whole_form.read(value) if isinstance(value, dict) else expected(says, value)

    form = {"anyOf": [{"type": "string"}, whole_form.json]}
    return Shape(says=says, read=read, json=form, fields=whole_form.fields)


def ruled(shape: Shape, rule: Callable[[Any], Problem | None], json_form: Mapping[str, object]) -> Shape:
    """The shape with a rule for what has it, which `json_form` adds to the schema."""

    def read(value: object) -> object:
        held = shape.read(value)
        return held if isinstance(held, Problem) else rule(held) or held

    return replace(shape, read=read, json={**shape.json, **json_form})


def within(place: str | int, problem: Problem) -> Problem:
    """The problem as it is told from outside of where it was found."""
    return Problem(problem.says, (place, *problem.at))


def _advice(name: str, fields: tuple[Field, ...]) -> str:
    return nearest(name, [field.name for field in fields], [field.name for field in fields if field.obeyed])


def _object(fields: tuple[Field, ...], *, closed: bool) -> dict[str, object]:
    """What nothing obeys yet is not published. TOML has no null, so that only what is open may say it."""
    told = [field for field in fields if field.obeyed]
    properties: dict[str, object] = {}
    for field in told:
        form = field.shape.json if closed or field.required else _or_null(field.shape.json)
        properties[field.name] = {"description": field.means, **form} if field.means else form
    required = [field.name for field in told if field.required]
    whole_form: dict[str, object] = {"type": "object", "properties": properties}
    whole_form |= {"additionalProperties": False} if closed else {}
    return whole_form | ({"required": required} if required else {})


def _or_null(form: Mapping[str, object]) -> Mapping[str, object]:
    match form:
        case {"type": str() as kind}:
            return {**form, "type": [kind, "null"]}
        case {"enum": [*words]}:
            return {**form, "enum": [*words, None]}
        case _:
            return {"anyOf": [form, {"type": "null"}]}


def given(shape: Shape, value: object, at: Path = ()) -> Iterator[tuple[Path, Field | None, object]]:
    """Every key of the data with what is known of it; None for one that no record names."""
    known = {field.name: field for field in shape.fields}
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for name, inner in pairs:
        field = known.get(str(name))
        if shape.fields:
            yield (*at, name), field, inner
        below = field.shape if field else shape.each
        if below:
            yield from given(below, inner, (*at, name))


# --- times as people write them: `30m`, `90s`, `1h30m`; a whole number is seconds -------------------------------------

DURATION_PATTERN = r"(?=[0-9])(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?"
LONGEST = 30 * 86400.0

_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([dhms])")
_WHOLE_DURATION = re.compile(DURATION_PATTERN)
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def parse_duration(value: object) -> float | None:
    """Seconds, more than 0 and at most 30 days; None when it is anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _within_a_month(value)
    if not isinstance(value, str) or not _WHOLE_DURATION.fullmatch(value):
        return None
    return _within_a_month(sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION_PART.findall(value)))


def _within_a_month(seconds: float) -> float | None:
    return float(seconds) if 0 < seconds <= LONGEST else None
