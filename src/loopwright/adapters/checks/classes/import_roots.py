"""Folders that imports of Python start from: what lies there stands in front of what is installed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.called import Called
from loopwright.adapters.checks.classes.command_lines import Command, joined
from loopwright.adapters.checks.classes.layout import Layout, collected_by_name
from loopwright.adapters.checks.classes.taken_names import is_taken, module_of, own_names
from loopwright.kernel.judges import is_example
from loopwright.kernel.model import Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")
_BELOW_IT = ("", "src", "lib", "python")
_ON_THE_PATH = re.compile(
    r"""\b(?:pythonpath|package[-_]dir|where)["']?\s*[=:]\s*(\[[^\]]*\]|\{[^}]*\}|\S+)""", re.IGNORECASE
)
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """In the base. `taken` are names of what is installed."""

    source: TreeReader
    base: Commit
    layout: Layout
    taken: frozenset[str]

    async def found(
        self, added: Collection[str], named: Called, commands: Iterable[Command], texts: Mapping[str, str]
    ) -> frozenset[str]:
        """Asked only where something was added that would take a name, if only it lay where imports start from."""
        paths = await self.source.paths(self.base)
        tracked = frozenset(paths)
        modules = [posixpath.split(module_of(path) or path) for path in added]  # a link may be a package, too
        doubtful = {folder for folder, name in modules if is_taken(name, self.taken)}
        if not doubtful:
            return frozenset()
        known = {at for at, _ in named.ran}.union(self._in_front(paths, named), _on_the_path(commands, texts))
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


def _on_the_path(commands: Iterable[Command], texts: Mapping[str, str]) -> Iterator[str]:
    said = [("", " ".join(command)) for command in commands]
    said += ((posixpath.dirname(path), text) for path, text in texts.items())
    for at, text in said:
        for value in _ON_THE_PATH.findall(text):
            words = [word for word in re.split(r"""[\s"'\[\]{}:;,=]+""", value) if word]
            yield from (joined(place, word) for word in words for place in (at, ""))
