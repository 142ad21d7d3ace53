"""Folders that imports of Python start from: what lies there stands in front of what is installed."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.called_files import Called
from loopwright.adapters.checks.classes.command_lines import Command, joined
from loopwright.adapters.checks.classes.layout import Layout, collected_by_name
from loopwright.adapters.checks.classes.modules import imported_names
from loopwright.adapters.checks.classes.taken_names import ROOTS, TESTS, is_taken, module_of, own_names, taken_name
from loopwright.kernel.judges import is_example
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")
_BELOW_IT = ("", "src", "lib", "python")
_ON_THE_PATH = re.compile(
    r"""\b(?:pythonpath|package[-_]dir|where)["']?\s*[=:]\s*(\[[^\]]*\]|\{[^}]*\}|\S+)""", re.IGNORECASE
)
_PUT_THERE = re.compile(r"\bsys\.path\b|\baddsitedir\b|\bsyspath_prepend\b")
_LITERAL = re.compile(r"""(?<=["'])[\w./-]+(?=["'])""")
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Which are taken: `own` by the base and where, `installed` by the environment of checks."""

    own: frozenset[tuple[str, str]] = frozenset()
    installed: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()  # folders that imports start from
    hiding: Mapping[str, str] = field(default_factory=dict)  # new files, with what of the tests they stand in front of

    def taken_by(self, path: str, tracked: frozenset[str], *, is_link: bool) -> str:
        """The name that a new file takes; empty when it takes none. `tracked` are the candidate's files, too."""
        module = f"{path}/__init__.py" if is_link else path
        return self.hiding.get(path, "") or taken_name(
            module, tracked=tracked, own=self.own, taken=self.installed, roots=self.roots
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """In the base. `taken` are names of what is installed."""

    source: TreeReader
    base: Commit
    layout: Layout
    taken: frozenset[str]

    async def found(
        self, added: Collection[str], named: Called, commands: Iterable[Command], texts: Mapping[str, str]
    ) -> Names:
        paths = await self.source.paths(self.base)
        told = frozenset(_on_the_path(commands, texts))
        return Names(
            own=own_names(paths),
            installed=self.taken,
            roots=await self._roots(added, named, told, paths),
            hiding=await self._hiding(added, told, paths) if added else {},
        )

    async def _roots(
        self, added: Collection[str], named: Called, told: frozenset[str], paths: tuple[str, ...]
    ) -> frozenset[str]:
        """Asked only where something was added that would take a name, if only it lay where imports start from."""
        tracked = frozenset(paths)
        modules = [posixpath.split(module_of(path) or path) for path in added]  # a link may be a package, too
        doubtful = {folder for folder, name in modules if is_taken(name, self.taken)}
        if not doubtful:
            return frozenset()
        known = {at for at, _ in named.ran}.union(self._in_front(paths, named), told)
        unknown = {folder for folder in doubtful - known if "/" in folder and f"{folder}/__init__.py" not in tracked}
        return frozenset(known | await self._started_from(unknown, paths))

    def _in_front(self, paths: tuple[str, ...], named: Called) -> Iterator[str]:
        """Projects, what runners put in front for a set-up or a test, and folders of scripts."""
        tracked = frozenset(paths)
        for path in paths:
            folder, name = posixpath.split(path)
            is_test = self.layout.is_test(path)
            if name in _PROJECT and not is_test and not is_example(path):
                yield from (posixpath.join(folder, below).rstrip("/") for below in _BELOW_IT)
            is_collected = name == "conftest.py" or (is_test and path.endswith(".py") and collected_by_name(path))
            is_run = path.endswith(".py") and path in named.files
            if (is_collected or is_run) and f"{folder}/__init__.py" not in tracked:
                yield folder

    async def _hiding(self, added: Collection[str], told: frozenset[str], paths: tuple[str, ...]) -> Mapping[str, str]:
        """What tests import by a bare name from folders of their own, and would find in the product first."""
        python = [path for path in paths if path.endswith(".py")]
        known = {part for path in python for part in module_of(path).split("/")}
        if known.isdisjoint(posixpath.basename(module_of(path) or path) for path in added):
            return {}
        judging = (path for path in python if self.layout.is_test(path) or posixpath.basename(path) == "conftest.py")
        said = await self.source.texts(self.base, tuple(judging)[:_MOST], limit=_LARGEST)
        folders = frozenset(folder for path in python for folder in _above(path))
        told |= {folder for path, text in said.items() for folder in _put_there(path, text, folders)}
        helpers = defaultdict[str, list[tuple[str, str, str]]](list)
        for at, held, file in self._helpers(told, paths):
            for name in (held, *_above(held)):
                helpers[name].append((at, held, file))
        own, starts = own_names(paths), {*ROOTS, *told}
        found = dict[str, tuple[str, str]]()
        for path in added:
            whole = module_of(path) or ("" if "." in posixpath.basename(path) else path)  # a link may be a package
            for at in starts:
                name = _below(at, whole)
                hidden = [(file, held) for place, held, file in helpers.get(name, ()) if place != at]
                if hidden and (at, name.split("/")[0]) not in own:
                    found[path] = hidden[0]
        if not found:
            return {}
        wanted = {name for path, text in said.items() for name in imported_names(path, text)}
        return {path: file for path, (file, name) in found.items() if name.replace("/", ".") in wanted}

    def _helpers(self, told: frozenset[str], paths: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
        """The folder that an import starts from, the module and the file, which is no test itself."""
        tracked, python = frozenset(paths), [path for path in paths if path.endswith(".py")]
        beside = {posixpath.dirname(path) for path in python if collected_by_name(path)}
        folders = {folder for path in python for folder in _above(path) if posixpath.basename(folder) in TESTS}
        starts = {folder for folder in beside | folders | told if f"{folder}/__init__.py" not in tracked}
        for path in python:
            if not collected_by_name(path) and posixpath.basename(path) not in ("__init__.py", "conftest.py"):
                yield from ((at, _below(at, module_of(path)), path) for at in starts.intersection((*_above(path), "")))

    async def _started_from(self, folders: Collection[str], paths: tuple[str, ...]) -> frozenset[str]:
        """Those of which a module is imported by its bare name that no other folder has."""
        if not folders:
            return frozenset()
        own = own_names(paths)
        elsewhere = {name for place, name in own if place not in folders}
        python = tuple(path for path in paths if path.endswith(".py"))[:_MOST]
        texts = await self.source.texts(self.base, python, limit=_LARGEST)
        imported = {name for text in texts.values() for name in _IMPORTED.findall(text)} - elsewhere
        return frozenset(place for place, name in own if place in folders and name in imported)


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _below(folder: str, path: str) -> str:
    """What is left of a path; empty where it does not lie there."""
    if not folder:
        return path
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else ""


def _on_the_path(commands: Iterable[Command], texts: Mapping[str, str]) -> Iterator[str]:
    said = [("", " ".join(command)) for command in commands]
    said += ((posixpath.dirname(path), text) for path, text in texts.items())
    for at, text in said:
        for value in _ON_THE_PATH.findall(text):
            words = [word for word in re.split(r"""[\s"'\[\]{}:;,=]+""", value) if word]
            yield from (joined(place, word) for word in words for place in (at, ""))


def _put_there(path: str, text: str, folders: frozenset[str]) -> Iterator[str]:
    """Folders that a set-up or a test may put on the path of imports: those it names, and has words for it."""
    starts = (*_above(path), "") if _PUT_THERE.search(text) else ()
    for line in text.splitlines() if starts else ():
        words = _LITERAL.findall(line)
        for word in (*words, "/".join(words)) if words else ():
            yield from folders.intersection(joined(start, word) for start in starts)
