"""Product code that reaches into what tests it: asks whether it is tested, patches the runner, ends it, or reads the
answers. Told by its text, so that it is a sign and no proof: code that hides what it names is not seen here."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.python_fields import compared_fields, fields_kept_out
from loopwright.adapters.checks.python_patches import root_of
from loopwright.adapters.checks.reaching_python import (
    imported_in_python,
    is_python,
    reached_in_python,
    runs_files,
)
from loopwright.adapters.checks.reaching_words import LOOKS_BY_WORDS, leaves
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_source
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.trust import Classed, FileClass
from loopwright.ports.checks import ChecksRun

_LARGEST, _MOST_FILES = 512 * 1024, 4000
_NO_LONGER = "no longer compares "
_LOADS = re.compile(
    r"""(?:\brequire\(|\bfrom\b|\bimport\b\(?|\binclude\w*!?\(?|\bpath\s*=)\s*['"]([^'"\n]+)['"]|^\s*(?:\.|source)\s+(\S+)""",
    re.MULTILINE,
)


# Interpreters and loaders care little how a file is called.
_BY_CONTENT = (
    (re.compile(r"\A#![^\n]*\bpython"), ".py"),
    (re.compile(r"\A#![^\n]*\b(?:node|deno|bun)\b"), ".js"),
    (re.compile(r"\A#![^\n]*sh\b"), ".sh"),
    (re.compile(r"\A#![^\n]*\bperl\b"), ".pl"),
    (re.compile(r"\A#![^\n]*\bruby\b"), ".rb"),
    (re.compile(r"\A(?:#![^\n]*\n)?<\?php\b"), ".php"),
    (re.compile(r"\bcfg!\s*\(|#\[\s*cfg\(|^\s*(?:pub(?:\([^)]*\))?\s+)?fn\s+\w+\s*[(<]", re.MULTILINE), ".rs"),
    (
        re.compile(
            r"\brequire\(\s*['\"]|\bmodule\.exports\b|^exports\.\w+\s*=|^import\b[^\n]*\bfrom\s*['\"]", re.MULTILINE
        ),
        ".js",
    ),
)


def reached(path: str, text: str, roots: frozenset[str] = frozenset()) -> frozenset[str]:
    """What of its tests the code reaches for, in words that complete "This code …"."""
    if (language := _language(path, text)) == ".py":
        return frozenset(reached_in_python(path, text, roots))
    look = LOOKS_BY_WORDS.get(language)
    return frozenset(look(path, text)) if look else frozenset()


def _language(path: str, text: str) -> str:
    """The suffix that says how it is looked into; empty for data."""
    if is_looked_into(path):
        return _suffix(path)
    return next((suffix for pattern, suffix in _BY_CONTENT if pattern.search(text)), "")


def is_looked_into(path: str) -> bool:
    return path.endswith(".py") or _suffix(path) in LOOKS_BY_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The ground on which a candidate is looked at: `judges` are files of the base whose content decides."""

    source: TreeReader
    layout: Layout
    judges: frozenset[str] = frozenset()
    by_output: bool = False  # some check's tests are counted from what is printed

    async def findings(self, classed: tuple[Classed, ...], run: ChecksRun) -> tuple[Finding, ...]:
        """Only what is new in this product: one that reached for its tests before, anywhere, may go on doing so.

        A person who allows the path beforehand allows this, too.
        """
        free = tuple(each for each in classed if _is_free(each, run.trust.allow))
        paths = tuple(each.change.path for each in free)
        after = await self.source.texts(run.commit, paths, limit=_LARGEST)
        before = await self.source.texts(run.base, paths, limit=_LARGEST)
        roots = frozenset(map(root_of, await self.source.paths(run.base))) if free else frozenset()
        found = await asyncio.to_thread(self._new_marks, before, after, roots)  # while the checks run
        product = (each.change.path for each in free if each.kind is FileClass.PRODUCT)
        code = frozenset(path for path in product if _language(path, after.get(path, "")))
        unread = tuple(_unread(path) for path in sorted(code) if path not in after)
        if not any(found.values()):
            return unread
        texts = await self._product(run)
        known = frozenset[str]().union(*(self._reached(path, text, roots) for path, text in texts.items()))
        loaded = code | _loaded(found.keys() - code, {**texts, **{path: after.get(path, "") for path in code}})
        new = {path: marks - known for path, marks in sorted(found.items()) if path in loaded}
        compared = frozenset(_kept_out(each) for text in texts.values() for each in compared_fields(text))
        told = {path: _without_new_fields(marks, compared) for path, marks in new.items()}
        return (*unread, *(_finding(path, marks) for path, marks in sorted(told.items()) if marks))

    def _new_marks(
        self, before: Mapping[str, str], after: Mapping[str, str], roots: frozenset[str]
    ) -> dict[str, frozenset[str]]:
        found = {path: marks for path, text in after.items() if (marks := self._reached(path, text, roots))}
        return {path: marks - self._reached(path, before.get(path, ""), roots) for path, marks in found.items()}

    async def _product(self, run: ChecksRun) -> Mapping[str, str]:
        paths = await self.source.paths(run.base)
        product = tuple(p for p in paths if is_looked_into(p) and self.layout.is_product(p) and p not in self.judges)
        return await self.source.texts(run.base, product[:_MOST_FILES], limit=_LARGEST)

    def _reached(self, path: str, text: str, roots: frozenset[str]) -> frozenset[str]:
        if not _language(path, text):
            return frozenset(reached_in_python(path, text, roots)) if is_python(text) else frozenset()
        # A script that checks run may well be run by the product, too; what they compare with may not.
        answers = frozenset(each for each in self.judges if self.layout.is_test(each) or not is_source(each))
        leaving = frozenset(leaves(path, text)) if self.by_output and _may_leave(path) else frozenset()
        tests = modules_of_tests(answers).intersection(imported_in_python(text)) if path.endswith(".py") else ()
        return (
            reached(path, text, roots)
            | leaving
            | {f"names a file that judges it ({each})" for each in _named(text, answers)}
            | {f"imports its tests ({each})" for each in tests}
            | {_kept_out(each) for each in (fields_kept_out(text) if path.endswith(".py") else ())}
        )


def _kept_out(field: str) -> str:
    return f"{_NO_LONGER}{field}"


def _without_new_fields(marks: frozenset[str], compared: frozenset[str]) -> frozenset[str]:
    """A field that was never compared may stay so: no test of the base relies on it."""
    return frozenset(each for each in marks if not each.startswith(_NO_LONGER) or each in compared)


@lru_cache(maxsize=4)
def modules_of_tests(tests: frozenset[str]) -> frozenset[str]:
    """The names by which tests can be imported: their whole path, and where no package is around them their own."""
    found: set[str] = set()
    for path in (each.removesuffix("/__init__.py").removesuffix(".py") for each in tests if each.endswith(".py")):
        folder, _, stem = path.rpartition("/")
        found.add(path.removeprefix("src/").replace("/", "."))
        if f"{folder}/__init__.py" not in tests and stem not in sys.stdlib_module_names:
            found.add(stem)
    return frozenset(found)


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix


def _may_leave(path: str) -> bool:
    """A program's own entry ends it, as it should."""
    file = PurePosixPath(path)
    return file.name not in (
        "main.rs",
        "__main__.py",
        "cli.js",
        "cli.ts",
        "cli.mjs",
        "cli.cjs",
    ) and file.parent.name not in ("bin", "cmd", "cli")


def _is_free(classed: Classed, allow: tuple[str, ...]) -> bool:
    path, is_judged = classed.change.path, classed.kind in (FileClass.PRODUCT, FileClass.TEXT)
    return is_judged and classed.change.how != "removed" and not any(matches(path, pattern) for pattern in allow)


def _loaded(paths: AbstractSet[str], product: Mapping[str, str]) -> frozenset[str]:
    """Data, texts and examples: code wherever the product runs or imports them as such."""
    is_run = any(runs_files(text) for path, text in product.items() if path.endswith(".py"))
    run = {path for path in paths if is_run and not is_looked_into(path)}
    words = frozenset(word for path, text in product.items() for word in _imported(path, text)) if paths else ()
    return frozenset(run | {path for path in paths if PurePosixPath(path).parent.name in words})


def _imported(path: str, text: str) -> Iterator[str]:
    """The names in all it loads, of folders and of modules."""
    if path.endswith(".py"):
        yield from (part for name in imported_in_python(text) for part in name.split("."))
    else:
        yield from (part for found in _LOADS.findall(text) for part in "".join(found).split("/"))


def _finding(path: str, marks: frozenset[str]) -> Finding:
    return identify(
        Finding(
            severity=Severity.HIGH,
            category="tampering",
            rule="reaches-into-tests",
            file=path,
            issue=f"Product code {' and '.join(sorted(marks))}: {path}",
            guidance="Code must do the same whether it is tested or not. What helps tests belongs among the tests;"
            " where the product needs it all the same, a person says so with `--allow`.",
        )
    )


def _unread(path: str) -> Finding:
    return identify(
        Finding(
            severity=Severity.HIGH,
            category="tampering",
            rule="unreadable",
            file=path,
            issue=f"Product code is too large, or no file, so that nobody can say what it does: {path}",
            guidance=f"Code is looked into up to {_LARGEST // 1024} KiB a file. Make it smaller, or keep data apart"
            " from code; where it must be so, a person says so with `--allow`.",
        )
    )


def _named(text: str, answers: frozenset[str]) -> frozenset[str]:
    """Who knows where the answers are need not work them out."""
    return answers.intersection(word.strip("./") for word in re.findall(r"[\w./-]+", text))
