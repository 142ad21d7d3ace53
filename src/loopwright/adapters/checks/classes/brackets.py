"""Reading Rust and JavaScript just far enough to know where a block ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUST = re.compile(
    r"""//[^\n]* | b?c?r(?P<hash>\#*)".*?"(?P=hash) | [bc]?"(?:\\.|[^"\\])*"
      | b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\])'
    """,
    re.VERBOSE | re.DOTALL,
)
_JS = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | `(?:\\.|\$\{(?:[^{}`]|\{[^{}`]*\})*\}|[^`\\])*(?:`|\Z)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | (?:(?<=[=(,:\[!&|?{};+])|(?<=return)|(?<=^))[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Pair:
    """The places of a pair of brackets."""

    start: int
    end: int


def blanked(path: str, text: str) -> str:
    """The text with strings and comments blanked out, every place where it was."""
    if path.endswith(".rs"):
        return _RUST.sub(_blank, _without_nested_comments(text))
    return _JS.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _without_nested_comments(text: str) -> str:
    """Block comments of Rust nest, which no pattern knows. A string may hold their signs, so that strings go along."""
    out, place = [], 0
    signs = re.compile(_RUST.pattern + r"| /\* ", re.VERBOSE | re.DOTALL)
    while found := signs.search(text, place):
        end = found.end()
        if found[0] == "/*":
            end = _end_of_comment(text, found.start())
            out += [text[place : found.start()], re.sub(r"[^\n]", " ", text[found.start() : end])]
        else:
            out.append(text[place:end])
        place = end
    return "".join((*out, text[place:]))


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for sign in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if sign[0] == "/*" else -1
        if depth == 0:
            return start + sign.end()
    return len(text)


def pairs(bare: str) -> tuple[Pair, ...] | None:
    """All brackets of a blanked text, in the order in which they open; None where they do not match."""
    open_: list[tuple[int, str]] = []
    found = []
    for sign in re.finditer(r"[()\[\]{}]", bare):
        char = sign[0]
        if char in "([{":
            open_.append((sign.start(), char))
            continue
        if not open_ or open_[-1][1] != _CLOSES[char]:
            return None
        found.append(Pair(open_.pop()[0], sign.end()))
    return None if open_ else tuple(sorted(found, key=lambda pair: pair.start))
