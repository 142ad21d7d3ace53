"""Tests inside files of the product: cut out, so that the base's judge the candidate's code."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loopwright.adapters.checks.classes.brackets import Pair, blanked, pairs
from loopwright.adapters.checks.classes.examples import Examples, bent, may_matter, with_docstrings

_ATTRIBUTE = re.compile(
    r"""(?:^[ \t]*)?\#\s*\[\s*(?:cfg\s*\(\s*(?:all\s*\((?:[^()]|\([^()]*\))*)?\btest\b | (?:\w+::)*test\b
       | cfg\s*\(\s*any\s*\(\s*(?:(?:test|miri|doctest|fuzzing|loom|kani)\s*,?\s*)+\)
       | (?:\w+::)*(?:rstest|quickcheck|test_case|proptest)\b)
    """,
    re.MULTILINE | re.VERBOSE,
)
_REDEFINES = re.compile(r"\bmacro_rules!\s*(assert\w*|debug_assert\w*|panic|unreachable|matches)\b")
_MACRO = re.compile(r"\bmacro_rules!\s*(\w+)\s*[({\[]")
_VITEST = re.compile(r"^if\s*\(\s*import\.meta\.vitest\s*\)\s*", re.MULTILINE)
_ITEM = re.compile(
    r"(?:\s*\#!?\[[^\n]*\]\s*(?:\n|(?=\w)))*\s*((?:pub(?:\([^)]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*\w+[!]?\s*[^{};\n]*)"
)
_FENCE = re.compile(r"^[ \t]*//[/!][ \t]?```([^\n]*)\n((?:[ \t]*//[/!][^\n]*\n)*?)[ \t]*//[/!][ \t]?```", re.MULTILINE)


_BLOCK = re.compile(r"/\*[*!].*?\*/", re.DOTALL)
_IN_BLOCK = re.compile(r"^[ \t*]*```([^\n]*)\n(.*?)^[ \t*]*```", re.MULTILINE | re.DOTALL)
_ATTRIBUTED = re.compile(r"""\bdoc\s*=\s*(?:r(\#*)"(.*?)"\1|"((?:\\.|[^"\\])*)")""", re.DOTALL)
_NOT_RUN = re.compile(r"text|ignore|no_run|toml|sh|console|json")


@dataclass(frozen=True, slots=True)
class PutBack:
    """What the file holds in the judging run, where that is not simply the candidate's. `why` is empty where it is."""

    why: str = ""
    judged: str | None = None
    waits: bool = False
    differing: tuple[str, ...] = ()  # names of what these tests are in, or stand beside


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    start: int
    end: int
    text: str


PLAIN = PutBack()
_DEEPER = "\0"


def put_back(path: str, before: str, after: str, *, doctests: bool, installed: frozenset[str] = frozenset()) -> PutBack:
    """`before` or `after` is empty where there is no such file; `installed` are modules of the checks' environment."""
    if path.endswith(".rs"):
        if doctests and not Counter(_fences(before)) <= Counter(_fences(after)):
            return PutBack("examples in its documentation, which are tests, were changed", waits=True)
        if redefined := set(_REDEFINES.findall(after)) - set(_REDEFINES.findall(before)):
            return PutBack(f"{min(redefined)} is defined anew, which tests judge with", waits=True)
        if bent := _judging_macros(path, before) - _judging_macros(path, after):
            return PutBack(f"the macro {min(bent)[0]}, which tests judge with, was changed", waits=True)
        return _blocks_put_back(path, before, after, _rust_blocks)
    if re.search(r"\.[cm]?[jt]sx?$", path) and "import.meta.vitest" in before + after:
        return _blocks_put_back(path, before, after, _vitest_blocks)
    if path.endswith(".py") and doctests:
        return _examples_put_back(before, after, installed.difference(re.split(r"[/.]", path), sys.stdlib_module_names))
    return PLAIN


def _judging_macros(path: str, text: str) -> frozenset[tuple[str, str]]:
    """Macros that make tests or assert something, with their text; those that lie in tests are put back with them."""
    bare = blanked(path, text)
    found = pairs(bare) or ()
    ends = {pair.start: pair.end for pair in found}
    items = ((place.start(), _ITEM.match(bare, place.start())) for place in _ATTRIBUTE.finditer(bare))
    tests = [(start, _end_of_item(bare, item.end(), found)) for start, item in items if item]
    heads = [head for head in _MACRO.finditer(bare) if not any(a < head.start() < b for a, b in tests)]
    bodies = ((head[1], text[head.start() : end]) for head in heads if (end := ends.get(head.end() - 1, 0)))
    return frozenset((name, body) for name, body in bodies if re.search(r"\bassert\w*!|#\[\s*test\b", body))


def _rust_blocks(path: str, text: str) -> tuple[_Block, ...] | None:
    """Every item that exists only for tests; None where one cannot be cut out.

    One that lies deeper, in an `impl` or a macro, is no block of tests; it is kept apart by its name.
    """
    bare = blanked(path, text)
    found = pairs(bare)
    if found is None:
        return None if _ATTRIBUTE.search(text) else ()
    blocks: list[_Block] = []
    makers = {name for name, body in _judging_macros(path, text) if _ATTRIBUTE.search(body)}
    for attribute in _heads(bare, makers):
        start = attribute.start()
        if blocks and start < blocks[-1].end:
            continue
        item = _ITEM.match(bare, start)
        deeper = any(pair.start < start < pair.end for pair in found)
        if item is None and not deeper:
            return None
        end = _end_of_item(bare, item.end() if item else attribute.end(), found)
        name = " ".join(item[1].split()) if item and not deeper else f"{_DEEPER}{text[start:end]}"
        blocks.append(_Block(name, start, end, text[start:end]))
    return tuple(blocks)


def _heads(bare: str, makers: set[str]) -> Iterator[re.Match[str]]:
    """Where an item begins that exists only for tests: by its attribute, or as a call of a macro that makes them."""
    called = re.compile(rf"^[ \t]*(?:{'|'.join(sorted({*makers, 'quickcheck', 'proptest'}))})!\s*[({{\[]", re.MULTILINE)
    heads = (*_ATTRIBUTE.finditer(bare), *called.finditer(bare))
    yield from sorted(heads, key=lambda head: head.start())


def _end_of_item(bare: str, place: int, found: tuple[Pair, ...]) -> int:
    opens, stops = bare.find("{", place), bare.find(";", place)
    if stops != -1 and (opens == -1 or stops < opens):
        end = stops + 1
    else:
        end = next((pair.end for pair in found if pair.start == opens), len(bare))
    return end + 1 if bare[end : end + 1] == "\n" else end


def _vitest_blocks(path: str, text: str) -> tuple[_Block, ...] | None:
    bare = blanked(path, text)
    found = pairs(bare)
    heads = list(_VITEST.finditer(bare))
    if found is None or text.count("import.meta.vitest") != len(heads):
        return None
    blocks = []
    for place, head in enumerate(heads):
        end = next((pair.end for pair in found if pair.start == head.end()), 0)
        if not end:
            return None
        blocks.append(_Block(f"vitest {place}", head.start(), end, text[head.start() : end]))
    return tuple(blocks)


def _blocks_put_back(
    path: str, before: str, after: str, cut: Callable[[str, str], tuple[_Block, ...] | None]
) -> PutBack:
    old, new = cut(path, before), cut(path, after)
    if before and not after:
        return PutBack("tests of the base are in it and go with it", waits=True) if old != () else PLAIN
    if old is None or new is None or _deeper(old) != _deeper(new):
        return PutBack("tests inside it cannot be told from its code", waits=True)
    old, new = (tuple(block for block in each if not block.name.startswith(_DEEPER)) for each in (old, new))
    if [block.text for block in old] == [block.text for block in new]:
        return PLAIN
    if any(len({block.name for block in each}) != len(each) for each in (old, new)):
        return PutBack("tests inside it cannot be told from its code", waits=True)
    wanted = {block.name: block.text for block in old}
    return PutBack("tests inside it differ", judged=_with_blocks(after, new, wanted), differing=tuple(wanted))


def _deeper(blocks: tuple[_Block, ...]) -> list[str]:
    return sorted(block.text for block in blocks if block.name.startswith(_DEEPER))


def _with_blocks(text: str, blocks: tuple[_Block, ...], wanted: dict[str, str]) -> str:
    out, place = [], 0
    for block in blocks:
        out += [text[place : block.start], wanted.get(block.name, "")]
        place = block.end
    held = {block.name for block in blocks}
    missing = [body for name, body in wanted.items() if name not in held]
    whole = "".join((*out, text[place:]))
    return whole if not missing else whole.rstrip("\n") + "\n\n" + "".join(missing)


def _examples_put_back(before: str, after: str, others: frozenset[str]) -> PutBack:
    if not may_matter(before, after):
        return PLAIN
    old, new = Examples.of(before, others), Examples.of(after, others)
    if old is None or new is None:
        has_none = old is None or not old.tested
        return PLAIN if has_none else PutBack("it cannot be parsed, and has tests of the base", waits=True)
    if why := bent(old, new):
        return PutBack(why, waits=True)
    tested, now = old.tested, new.tested
    differing = [name for name, examples in tested.items() if now.get(name) != examples]
    if not differing:
        return PLAIN
    if gone := [name for name in differing if name not in new.docstrings]:
        return PutBack(f"the tests in the docstring of {gone[0] or 'the module'} are gone", waits=True)
    return PutBack(
        "tests in docstrings differ", judged=with_docstrings(old, new, differing), differing=tuple(differing)
    )


def _fences(text: str) -> tuple[str, ...]:
    """Examples in documentation comments of Rust, which its test command runs."""
    blocks = (each for block in _BLOCK.findall(text) for each in _IN_BLOCK.findall(block))
    lines = tuple(body for kind, body in (*_FENCE.findall(text), *blocks) if not _NOT_RUN.search(kind))
    said = tuple(raw or plain for _, raw, plain in _ATTRIBUTED.findall(text))
    return (*lines, *(said if any("```" in each for each in said) else ()))
