"""Files that tests of the base name in a way of their language's own: what is embedded, included or taken in raw."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source, judge_by_name
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_EMBEDDED = re.compile(r"^//go:embed[ \t]+([^\n]+)", re.MULTILINE)
_OF_SCRIPTS = re.compile(
    r"""["'`]([^"'`\n?]+)\?(?:raw|url|inline)\b | \btoMatchFileSnapshot\(\s*["'`]([^"'`\n]+)["'`]""", re.VERBOSE
)
_OF_RUST = re.compile(
    r"""\binclude!\s*[({\[](?:[^";]|"\w+"){0,120}?"([^"\n]+\.\w+)" | \#\s*\[\s*path\s*=\s*"([^"\n]+)\"""", re.VERBOSE
)
_JUDGES = re.compile(r"\b(?:assert\w*|panic)\s*!")
_ITEMS = re.compile(r"\b(?:fn|mod|struct|enum|trait|impl)\b")


async def named_by_tests(source: TreeReader, base: Commit, layout: Layout, before: Mapping[str, str]) -> dict[str, str]:
    """For each changed file a test that names it. Tests are read only where one of them could."""
    plain = (path for path in before if judge_by_name(path) is None and not path.endswith(".md"))
    changed = [path for path in plain if not layout.is_test(path)]
    data = [path for path in changed if not is_source(path)]
    shown = [path for path in changed if not path.endswith(_SCRIPTS)]
    values = [path for path in changed if not path.endswith(".rs") or not _ITEMS.search(before[path])]
    judging = [path for path in changed if path.endswith(".rs") and _JUDGES.search(before[path])]
    found: dict[str, str] = {}
    for suffixes, may_be in (((".go",), data), (_SCRIPTS, shown), ((".rs",), [*values, *judging])):
        paths = await source.paths(base) if may_be else ()
        tests = tuple(path for path in paths if path.endswith(suffixes) and layout.is_test(path))[:_MOST]
        for test, text in (await source.texts(base, tests, limit=_LARGEST)).items() if tests else ():
            patterns = tuple(_named(test, text))
            found |= {path: test for path in may_be if any(_is_meant(path, each) for each in patterns)}
    shared = await _of_product(source, base, layout, [path for path in judging if path in found and path not in values])
    return {path: test for path, test in found.items() if path not in shared}


async def _of_product(source: TreeReader, base: Commit, layout: Layout, named: list[str]) -> frozenset[str]:
    """Code of Rust that tests take in to test it: the crate has it as a module or a target, or takes it in as well."""
    if not named:
        return frozenset()
    paths = await source.paths(base)
    others = tuple(p for p in paths if p.endswith((".rs", "Cargo.toml")) and not layout.is_test(p))[: 2 * _MOST]
    texts = await source.texts(base, others, limit=_LARGEST)
    said = {each for file, text in texts.items() if file.endswith(".rs") for each in _named(file, text)}
    return frozenset(path for path in named if _is_of_crate(path, texts) or any(_is_meant(path, each) for each in said))


def _is_of_crate(path: str, texts: Mapping[str, str]) -> bool:
    folder, name = posixpath.split(path)
    stem = posixpath.basename(folder) if name == "mod.rs" else name.removesuffix(".rs")
    if name in ("lib.rs", "main.rs", "build.rs") or posixpath.basename(folder) == "bin":
        return True
    module, target = (
        re.compile(rf"\bmod\s+(?:r#)?{re.escape(stem)}\s*;"),
        re.compile(rf"""[/"']{re.escape(name)}["']"""),
    )
    return any((module if file.endswith(".rs") else target).search(text) for file, text in texts.items())


def _named(test: str, text: str) -> Iterator[str]:
    """From where the test lies."""
    if test.endswith(".go"):
        words = [word.strip('"`').removeprefix("all:") for line in _EMBEDDED.findall(text) for word in line.split()]
    elif test.endswith(".rs"):
        words = [taken or found for taken, found in _OF_RUST.findall(text)]
    else:
        words = [taken or shown for taken, shown in _OF_SCRIPTS.findall(text)]
    yield from (posixpath.normpath(posixpath.join(posixpath.dirname(test), word)) for word in words)


def _is_meant(path: str, pattern: str) -> bool:
    if pattern.startswith("/"):  # after the folder of the crate
        return f"/{path}".endswith(pattern)
    return matches(path, pattern) or path.startswith(f"{pattern}/")
