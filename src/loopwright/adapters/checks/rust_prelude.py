"""Names that every file of Rust has by itself, and that a glob in a test of the base would take from the product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.classes.brackets import blanked

_VALUE = r"(Some|None|Ok|Err)"
_NAME = r"(Some|None|Ok|Err|(?:debug_)?assert(?:_eq|_ne)?|panic|matches)"
_DEFINED = re.compile(rf"\b(?:fn|struct|const|static)\s+{_VALUE}\b|\bas\s+{_NAME}\b")
_PASSED_ON = re.compile(r"\bpub(?:\s*\([^)]*\))?\s+use\s+([^;]+);")
_OF_RUST = re.compile(r"\b(?:std|core|alloc|Option|Result)\b")
_VARIANTS = re.compile(r"\benum\s+(\w+)[^{;]*\{")
_MODULE = re.compile(r"\bmod\s+\w+\s*$")
_TEST = re.compile(r"#\s*\[[^\]]*\btest\b")
_GLOB = re.compile(r"\buse\s[^;]*\*")

Texts = Mapping[str, str]


def prelude_given(before: Texts, after: Texts) -> dict[str, frozenset[str]]:
    """For each file the names of the prelude that the change gives another meaning to."""
    found = {path: frozenset(_given(path, text)) for path, text in after.items() if path.endswith(".rs")}
    return {path: new for path, all_ in found.items() if (new := all_ - frozenset(_given(path, before.get(path, ""))))}


def prelude_taken(given: Mapping[str, frozenset[str]], sources: Texts) -> dict[str, frozenset[str]]:
    """In words that complete "This code …", where tests among the `sources` of the base use such a name and a glob."""
    tests = [blanked(path, text) for path, text in sources.items() if _TEST.search(text) and _GLOB.search(text)]
    used = {name for text in tests for name in frozenset().union(*given.values()) if re.search(rf"\b{name}\b", text)}
    marks = {path: frozenset(map(_told, names & used)) for path, names in given.items()}
    return {path: told for path, told in marks.items() if told}


def _told(name: str) -> str:
    return f"takes the place of a name that its tests use ({name})"


def _given(path: str, text: str) -> Iterator[str]:
    """By its modules: what types have of their own stands behind their names."""
    if not re.search(_NAME, text):
        return
    bare = blanked(path, text)
    for found in _DEFINED.finditer(bare):
        if all(_MODULE.search(head) for head in _around(bare, found.start())):
            yield found[1] or found[2]
    passed = [said for said in _PASSED_ON.findall(bare) if not _OF_RUST.search(said)]
    yield from (name for said in passed for name in re.findall(rf"\b{_NAME}\b(?!\s*::)", said))
    for found in _VARIANTS.finditer(bare):
        if any(re.search(rf"\b{found[1]}\s*::\s*\*", said) for said in passed):
            body = bare[found.end() :].partition("\n}")[0]
            yield from re.findall(rf"\b{_VALUE}\b", body)


def _around(bare: str, place: int) -> list[str]:
    """What stands before each bracket that is open there."""
    heads, begin = list[str](), 0
    for each in re.finditer(r"[{};]", bare[:place]):
        if each[0] == "{":
            heads.append(bare[begin : each.start()])
        elif each[0] == "}" and heads:
            heads.pop()
        begin = each.end()
    return heads
