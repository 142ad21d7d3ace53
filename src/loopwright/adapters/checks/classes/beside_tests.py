"""Helpers that lie beside tests in a folder whose name says nothing: `qa/compare.py` beside `qa/test_calc.py`.

A product may have its tests beside it, too. So a folder is one of tests only where all speaks for it: its tests are
named for what lies elsewhere and for nothing in it, they take in all that lies in it, and nothing else knows of it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.judged_with import is_script, scripts_taken_in
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.modules import bare, imported_names, is_module
from loopwright.adapters.checks.classes.packages import KnownPackages
from loopwright.kernel.judges import judge_by_name
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_PYTHON = (".py",)
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_NAMED_FOR = re.compile(r"test[-_.](?P<after>.+)|(?P<before>.+?)[-_.](?:tests?|spec)", re.IGNORECASE)
_OF_PRODUCT = frozenset({"src", "lib", "app", "apps", "source", "pkg", "packages", "core"})
_SETTINGS = ("pyproject.toml", "setup.py", "setup.cfg", "package.json")
_PACKAGED = (
    r"""\b(?:packages|include|py[-_]modules|where|from|main|module|bin|exports|files)\b"""
    r"""(?:[^\]\n]*|["']?\s*[=:]\s*\[[^\]]*)["'/]{name}["'/.]"""
)
_STARTED = r"""["']?\b{name}(?:\.\w+)*:\w"""

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """Paths of one language: what lies in it, tests and others, and what lies elsewhere."""

    name: str
    tests: tuple[str, ...]
    others: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def may_be_of_tests(self) -> bool:
        """By names alone."""
        subjects = frozenset(map(_subject, self.tests)) - {""}
        if posixpath.basename(self.name) in _OF_PRODUCT:
            return False
        return subjects.isdisjoint(map(_stem, self.others)) and not subjects.isdisjoint(map(_stem, self.elsewhere))


async def beside_tests(
    source: TreeReader, base: Commit, layout: Layout, before: Collection[str], added: Iterable[str]
) -> dict[str, str]:
    """For each helper that is changed, or that something new has the name of, a test that takes it in."""
    paths = await source.paths(base)
    fresh = {bare(path) for path in added}
    found: dict[str, str] = {}
    for suffixes in (_PYTHON, _SCRIPTS):
        code = [path for path in paths if path.endswith(suffixes) and judge_by_name(path) is None]
        changed = [p for p in code if (p in before or bare(p) in fresh) and not layout.is_test(p)]
        for name in sorted({folder for path in changed for folder in _around(path, code, layout)}):
            folder = _folder(name, code, layout)
            if folder.may_be_of_tests and f"{posixpath.dirname(name)}/__init__.py".lstrip("/") not in paths:
                helping = await _helping(source, base, folder, paths)
                found |= {path: helping[path] for path in changed if path in helping}
    return found


def _around(path: str, code: list[str], layout: Layout) -> Iterator[str]:
    """The next folder around it that tests lie in."""
    folder = posixpath.dirname(path)
    while folder:
        if any(posixpath.dirname(each) == folder and layout.is_test(each) for each in code):
            yield folder
            return
        folder = posixpath.dirname(folder)


def _folder(name: str, code: list[str], layout: Layout) -> _Folder:
    inside = [path for path in code if path.startswith(f"{name}/")]
    plain = [path for path in code if not layout.is_test(path)]
    return _Folder(
        name=name,
        tests=tuple(path for path in inside if layout.is_test(path)),
        others=tuple(path for path in plain if path.startswith(f"{name}/")),
        elsewhere=tuple(path for path in plain if not path.startswith(f"{name}/")),
    )


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    stem = name.partition(".")[0]
    return posixpath.basename(folder) if stem in ("__init__", "index") else stem


def _subject(test: str) -> str:
    found = _NAMED_FOR.fullmatch(posixpath.splitext(posixpath.basename(test))[0])
    return found["after"] or found["before"] if found else ""


async def _helping(source: TreeReader, base: Commit, folder: _Folder, paths: tuple[str, ...]) -> dict[str, str]:
    asked = (*folder.tests, *folder.others, *folder.elsewhere)[:_MOST]
    manifests = tuple(path for path in paths if posixpath.basename(path) in _SETTINGS)[:_MOST]
    texts = await source.texts(base, (*asked, *manifests), limit=_LARGEST)
    if any(path not in texts for path in (*asked, *manifests)):
        return {}
    known = {path: texts[path] for path in manifests}
    is_own = any("/" in path and f"{folder.name}/".startswith(f"{posixpath.dirname(path)}/") for path in manifests)
    if is_own or _is_known(folder.name, [texts[path] for path in folder.elsewhere if path in texts], known.values()):
        return {}
    taking = _python(frozenset(asked)) if folder.tests[0].endswith(".py") else _scripts(known)
    taken = {path: taking(path, texts[path]) for path in (*folder.tests, *folder.others) if path in texts}
    subjects = [path for path in folder.elsewhere if _stem(path) in map(_subject, folder.tests)]
    if not any(taken[test](path) for test in folder.tests if test in taken for path in subjects):
        return {}
    helping, waiting = dict[str, str](), list(folder.tests)
    while waiting:
        importer = waiting.pop()
        for path in folder.others:
            if path not in helping and importer in taken and taken[importer](path):
                helping[path] = importer
                waiting.append(path)
    # What nothing takes in there is a program, or a part that is found by its name.
    is_whole = all(path in helping or not texts.get(path, "").strip() or _is_marker(path) for path in folder.others)
    return helping if is_whole else {}


def _is_marker(path: str) -> bool:
    return posixpath.basename(path) in ("__init__.py", "conftest.py")


def _is_known(folder: str, product: list[str], manifests: Iterable[str]) -> bool:
    """Whether anything but its own tests names the folder: as a part of the product, or as a word of its code."""
    name = re.escape(posixpath.basename(folder))
    packaged = re.compile(f"{_PACKAGED.format(name=name)}|{_STARTED.format(name=name)}")
    return any(re.search(rf"\b{name}\b", text) for text in product) or any(map(packaged.search, manifests))


_Taking = Callable[[str, str], Callable[[str], bool]]


def _python(tracked: frozenset[str]) -> _Taking:
    def taking(path: str, text: str) -> Callable[[str], bool]:
        names = imported_names(path, text)
        return lambda other: any(is_module(other, name, tracked) for name in names)

    return taking


def _scripts(manifests: Texts) -> _Taking:
    taken_in = partial(scripts_taken_in, KnownPackages.of(manifests))

    def taking(path: str, text: str) -> Callable[[str], bool]:
        words = frozenset(taken_in(path, text))
        return lambda other: any(is_script(other, word) for word in words)

    return taking
