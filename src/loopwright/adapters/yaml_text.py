"""Strict YAML in, with the line of every key; plain block-style YAML out, which reads back as what was written.

What is refused: more than one document, tags, anchors and aliases, merge keys (`<<`), a key given twice, a key that
is not text, control characters, and anything too big or too deep to be a file that people look after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.adapters.yaml_nodes import Located
from loopwright.errors import ConfigError
from loopwright.kernel.visible import is_all_harmless, is_harmless

SIZE_LIMIT = 1024 * 1024  # characters

# Also what YAML 1.1 takes for the end of a line and YAML 1.2 does not: lines would be counted in two ways.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# What YAML 1.1 would take for something else: other tools read these files too.
_GUESSED = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
_UNQUOTED = re.compile(r"[^\W\d](?:[^\t\n:#]|:(?=[^ ])|(?<! )#)*(?<! )")
_LONG_KEY = 500  # a key of more than 1024 characters is found only behind a `?`
_WIDE = 0x100
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_ESCAPES_BY_CODE = str.maketrans(_ESCAPES)


def read_yaml(text: str, file: str) -> Located:
    """`file` is how messages name it. Raises `ConfigError`, and nothing else; an empty text says `None`."""
    text = text.removeprefix("\ufeff")
    if len(text) > SIZE_LIMIT:
        raise ConfigError(file, "", f"is larger than {SIZE_LIMIT // 1024} KiB")
    if found := _FORBIDDEN.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(file, "", f"has the control character {found[0]!a}; remove or escape it", line=line)
    from loopwright.adapters.yaml_events import compose  # noqa: PLC0415 - loads PyYAML

    return compose(text, file)


def write_yaml(data: object) -> str:
    """Block style, keys in their order, text of several lines as it is; whatever is invisible is escaped.

    Takes what `Located.plain` gives, and tuples for lists; anything else is a `TypeError`. Half a surrogate pair,
    which no YAML file can hold, is written out as the six characters of its escape.
    """
    return "\n".join(_lines(data)) + "\n"


def _lines(value: object) -> Iterator[str]:
    match value:
        case {} if value:
            for key, inner in value.items():
                is_open = bool(inner) and isinstance(inner, dict | list | tuple)
                yield from _pair(key, list(_lines(inner)), is_open=is_open)
        case [*items] if items:
            for item in items:
                yield from _hung("- ", _lines(item))
        case str() if _is_block(value):
            yield "|" if value.endswith("\n") else "|-"
            yield from (f"  {line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        case _:
            yield _one_line(value)


def _pair(key: object, lines: list[str], *, is_open: bool) -> Iterator[str]:
    if not isinstance(key, str):
        raise TypeError(f"a key of a YAML mapping is text, not {type(key).__name__}")
    name = _text(key)
    if len(name) > _LONG_KEY:
        yield f"? {name}"
        name = ""
    if is_open:
        yield f"{name}:"
        yield from (f"  {line}" if line else "" for line in lines)
    else:
        yield f"{name}: {lines[0]}"
        yield from lines[1:]


def _hung(mark: str, lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{mark if number == 0 else ' ' * len(mark)}{line}" if line else ""


def _is_block(text: str) -> bool:
    """Whether `|` can hold it as it is: it does not begin with space, and ends with one line end at most."""
    body = text.removesuffix("\n")
    return "\n" in body and not body[0].isspace() and not body.endswith("\n") and is_all_harmless(text)


def _one_line(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _real(value)
        case str():
            return _text(value)
        case {}:
            return "{}"
        case []:
            return "[]"
        case _:
            raise TypeError(f"YAML has no form for {type(value).__name__}")


def _real(number: float) -> str:
    text = repr(number).replace("inf", ".inf").replace("nan", ".nan")
    # YAML 1.1 takes a number without a point for text.
    return text if "." in text else text.replace("e", ".0e")


def _text(text: str) -> str:
    if _UNQUOTED.fullmatch(text) and text.lower() not in _GUESSED and is_all_harmless(text):
        return text
    whole = text.encode("utf-8", "backslashreplace").decode()
    if is_all_harmless(whole):
        return f'"{whole.translate(_ESCAPES_BY_CODE)}"'
    return '"' + "".join(map(_escaped, whole)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if is_harmless(char):
        return char
    return f"\\x{ord(char):02x}" if ord(char) < _WIDE else char.encode("ascii", "backslashreplace").decode()
