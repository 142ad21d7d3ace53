"""Imports of a test file that take more names than they did: told as they stood, so that only what is new is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from loopwright.adapters.checks.classes.brackets import blanked

_JS = re.compile(
    r"""^(?:
      (?P<head>import(?:\ type)?)\s+(?:(?P<whole>[\w$]+)\s*,?\s*)?(?:\{(?P<names>[^{}]*)\}\s*)?
        (?P<place>from\s*['"][^'"\n]+['"])
      | (?P<kind>const|let|var)\s+\{(?P<parts>[^{}]*)\}\s*
        (?P<call>=\s*(?:await\s+)?(?:require|import)\(\s*['"][^'"\n]+['"]\s*\))
    )[ \t]*;?""",
    re.VERBOSE | re.MULTILINE,
)
_RUST = re.compile(
    r"^(?P<head>[ \t]*(?:pub(?:\([^)]*\))?\s+)?use)\s+(?P<place>[\w:]+)::(?:\{(?P<names>[^{}]*)\}|(?P<one>\w+))\s*;",
    re.MULTILINE,
)
_GO = re.compile(r"""^(?P<head>import)[ \t]*(?:(?P<one>(?:\w+[ \t]+)?"[^"\n]+")|\((?P<lines>[^()]*)\))""", re.MULTILINE)
_STATEMENTS = {
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), _JS),
    ".rs": _RUST,
    ".go": _GO,
}
_NAME = re.compile(r"(?:type\s+)?(?P<name>[\w$]+)(?:\s*(?:\bas\b|:)\s*(?P<local>[\w$]+))?")
_PACKAGE = re.compile(r"""(?:(?P<local>\w+)[ \t]+)?"(?:[^"\n]*/)?(?P<name>[\w.-]+)\"""")

_OWN = (
    r"\b(?:const|let|var|function\*?|class)\s+(?:[{{\[][^}}\]]*)?\b{0}\b"
    r"|\([^()]*\b{0}\b[^()]*\)\s*(?::[^=\n]*)?=>|(?<![\w.$]){0}\s*=>|\bfunction\b[^()]*\([^()]*\b{0}\b[^()]*\)"
)
_WHOLE = r"^(?:export\s+)?(?:const|let|var|class|(?:async\s+)?function\*?|import)\b[^\n=(]*\b{0}\b"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import:
    start: int
    text: str
    place: tuple[str, ...]  # where from, and by which words
    names: dict[str, str]  # what is taken, with the name that it has here

    def widens(self, was: _Import, bare: str) -> bool:
        """Whether it is the same with more names, none of which meant something in the base's code."""
        if self.place != was.place or not was.names.items() <= self.names.items():
            return False
        return not any(takes(name, bare) for taken, name in self.names.items() if taken not in was.names)


def takes(name: str, bare: str) -> bool:
    """Whether code, bare of strings and comments, would mean something else by this name if a file had it as a whole.

    What says it of a variable or parameter of its own goes on doing so.
    """
    word = re.escape(name)
    if re.search(rf"(?<![\w$.]){word}(?![\w$])(?!\s*:)", bare) is None:
        return False
    return re.search(_OWN.format(word), bare) is None or re.search(_WHOLE.format(word), bare, re.MULTILINE) is not None


def unwidened(path: str, before: str, after: str) -> str:
    """`after`, its imports as in the base where they only take more from the same place."""
    pattern = _STATEMENTS.get(PurePosixPath(path).suffix)
    if pattern is None:
        return after
    old, new = (list(_imports(pattern, path, text)) for text in (before, after))
    fresh = [each for each in new if each.text not in {was.text for was in old}]
    kept, bare = {each.text for each in new}, blanked(path, before)
    swaps = []
    for was in old:
        now = next((each for each in fresh if was.text not in kept and each.widens(was, bare)), None)
        if now is not None:
            fresh.remove(now)
            swaps.append((now, was))
    for now, was in sorted(swaps, key=lambda swap: -swap[0].start):
        after = after[: now.start] + was.text + after[now.start + len(now.text) :]
    return after


def _imports(pattern: re.Pattern[str], path: str, text: str) -> Iterator[_Import]:
    """Those whose names can all be told. What stands in a string or a comment is none."""
    bare = blanked(path, text)
    for found in pattern.finditer(text):
        parts = {name: part for name, part in found.groupdict().items() if part is not None}
        is_code = not bare[found.start() : found.end()].isspace()
        names = _names(parts) if is_code else None
        if names is not None:
            place = (parts.get(each, "") for each in ("head", "kind", "place", "call"))
            words = tuple(re.sub(r"\s", "", each) for each in place)
            yield _Import(start=found.start(), text=found[0], place=words, names=names)


def _names(parts: dict[str, str]) -> dict[str, str] | None:
    listed = parts["lines"].splitlines() if "lines" in parts else _listed(parts)
    names = {"default": parts["whole"]} if "whole" in parts else {}
    for each in filter(None, map(str.strip, listed)):
        found = _NAME.fullmatch(each) or _PACKAGE.fullmatch(each)
        if found is None:
            return None
        names[each] = found["local"] or found["name"]
    return names


def _listed(parts: dict[str, str]) -> list[str]:
    return ",".join(parts.get(each, "") for each in ("names", "parts", "one")).split(",")
