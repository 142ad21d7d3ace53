"""Reading code of languages with braces just far enough to know which block a place lies in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_C_LIKE = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' """, re.VERBOSE | re.DOTALL
)
_GO = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | `[^`]*(?:`|\Z) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' """,
    re.VERBOSE | re.DOTALL,
)
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
_PATTERNS = {
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), _JS),
    **dict.fromkeys((".go",), _GO),
    **dict.fromkeys((".rs",), _RUST),
    **dict.fromkeys(
        (".java", ".kt", ".scala", ".cs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".php", ".swift"), _C_LIKE
    ),
    **dict.fromkeys((".json", ".dart", ".groovy", ".zig", ".proto"), _C_LIKE),
}
_CLOSES = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of brackets: both places, and how deep it lies."""

    start: int
    end: int
    depth: int
    sign: str


def has_brackets(path: str) -> bool:
    return PurePosixPath(path).suffix in _PATTERNS


def blanked(path: str, text: str) -> str:
    """The text with strings and comments blanked out, every place where it was."""
    if path.endswith(".rs"):
        text = _without_nested_comments(text)
    return _PATTERNS[PurePosixPath(path).suffix].sub(_blank, text)


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
        start, opened = open_.pop()
        found.append(Pair(start, sign.end(), len(open_), opened))
    return None if open_ else tuple(sorted(found, key=lambda pair: pair.start))


def around(place: int, found: tuple[Pair, ...]) -> Iterator[Pair]:
    """The pairs that enclose a place, the outermost first."""
    return (pair for pair in found if pair.start < place < pair.end)
