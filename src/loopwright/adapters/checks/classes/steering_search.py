"""What the base says of its own checks: the texts that steer them, what these call, and where its tests are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.called import called
from loopwright.adapters.checks.classes.called_files import Called
from loopwright.adapters.checks.classes.collecting import (
    Configured,
    Discovery,
    collected_globs,
    configured_setups,
    discoveries,
    doctest_globs,
    runs_doctests,
)
from loopwright.adapters.checks.classes.command_lines import Command, joined
from loopwright.adapters.checks.classes.layout import Layout, collected_by_name, completed
from loopwright.adapters.checks.classes.links import Links
from loopwright.adapters.checks.classes.loaded_code import loaded_among, with_loaded
from loopwright.adapters.checks.classes.steering_files import configures_tests, steering
from loopwright.adapters.checks.classes.walk import CODE
from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge
from loopwright.kernel.model import Change, Commit

_LARGEST = 512 * 1024  # bytes read of one file
_MOST_READ = 3000  # files that are looked into for tests
_DATA = re.compile(
    r"(?:^|/)(?:__?fixtures?__?|fixtures?|testdata|data|samples?|snapshots?|resources|assets|cassettes|golden|cases)/"
)
_PLAIN_DATA = (Judge.MANIFEST, Judge.LOCK, Judge.BUILD, Judge.FORGE, Judge.HIDDEN, Judge.COMPILED)
_ROUNDS = 6  # of scripts that call scripts, and of folders that these work in


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    layout: Layout
    texts: Mapping[str, str]  # of what steers checks
    called: Called
    yielding: frozenset[str]  # files that tests were collected from
    setups: frozenset[str]  # what runners load first
    doctests: bool
    globs: tuple[str, ...]  # of texts collected as tests
    collected: tuple[str, ...]  # patterns that a runner is configured to collect
    discovered: tuple[Discovery, ...]
    links: Links = field(default_factory=Links)
    linked: Mapping[str, str] = field(default_factory=dict)  # files that judge by the name that a link gives them

    def collects(self, path: str, tracked: frozenset[str]) -> bool:
        """Whether a runner is told to take the file for a test."""
        return any(matches(path, pattern) for pattern in self.collected) or any(
            each.imports(path, tracked) for each in self.discovered
        )

    def is_data_of_tests(self, change: Change, judge: Judge, tracked: frozenset[str]) -> bool:
        """Return whether tests read it as data: no check works in its folder, and no test lies in it or below it."""
        path, folder = change.path, posixpath.dirname(change.path)
        if judge not in _PLAIN_DATA or not self.layout.is_test(path):
            return False
        if change.how == "added" and _DATA.search(path):
            return not path.endswith((".pyc", ".pyo"))
        tests = self.yielding or filter(collected_by_name, tracked)
        steers = folder in self.called.places or any(each.startswith(f"{folder}/") for each in tests)
        return judge is not Judge.COMPILED and not steers

    def loaded_among(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Of files of a candidate those that another of them loads, though they are named like texts; and by which."""
        return loaded_among(texts, self.layout)

    def judging_files(self, paths: frozenset[str]) -> frozenset[str]:
        """Files whose content decides: tests of the base with their data, what checks run and compare with.

        A file that checks name decides from when it is there.
        """
        return frozenset(path for path in paths if self.layout.is_test(path)) | self.called.files.keys()

    def folders_of(self, command: Command, paths: frozenset[str]) -> frozenset[str]:
        """Folders that runners of this check may name its tests from: where they work, those above, and others that
        they are given, if a file there configures them."""
        own = called((command,), paths, self.texts, self.layout.is_test)
        above = {"", *(folder for at, _ in own.ran for folder in _with_those_above(at))}
        near = (path for path in paths if posixpath.dirname(path) in own.places)
        return frozenset(above | {posixpath.dirname(path) for path in near if configures_tests(path)})


def _with_those_above(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def _is_loaded(path: str, texts: Mapping[str, str]) -> bool:
    name = re.escape(posixpath.splitext(posixpath.basename(path))[0])
    loads = re.compile(
        rf"""^\s*(?:from|import)\b.*\b{name}\b|\bimport\s*\([^)]*\b{name}\b|/{name}(?:\.\w+)?['"]""", re.MULTILINE
    )
    return any(loads.search(text) for other, text in texts.items() if other != path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringSearch:
    source: TreeReader
    base: Commit
    given: Layout  # what a person wrote
    commands: tuple[Command, ...]
    yielding: frozenset[str]  # as the runners name them
    # The layout with loaded code, by base and layout without it: tens of megabytes are read to find it.
    loaded: dict[tuple[object, ...], Layout] = field(default_factory=dict)

    async def found(self, paths: tuple[str, ...]) -> Steering:
        """The layout is what a person wrote, or what is detected; and tests that only a configuration tells."""
        links = Links.of(await self.source.links(self.base), paths)
        layout = completed(self.given, paths)
        layout = replace(layout, tests=(*layout.tests, *links.tests(layout, paths)))
        texts, named = await self._steering(paths, layout, links)
        yielding = self._yielding(named, paths)
        told = Configured.of(self.commands, named, texts, discoveries(self.commands, texts), yielding)
        asked = told.may_be_tests(paths, layout)[:_MOST_READ]
        known = told.with_tests(layout, paths, await self.source.texts(self.base, asked, limit=_LARGEST))
        known = await self._with_loaded(known, paths, texts)
        if known != layout:
            texts, named = await self._steering(paths, known, links)
        named = await self._with_alone(named, paths)
        return Steering(
            layout=known,
            texts=texts,
            called=named,
            yielding=yielding,
            setups=configured_setups(texts, frozenset(paths)),
            doctests=runs_doctests(self.commands, texts),
            globs=doctest_globs(self.commands, texts),
            collected=collected_globs(self.commands, texts),
            discovered=discoveries(self.commands, texts),
            links=links,
            linked={**links.judges(), **{links.names[name]: name for name in named.files if name in links.names}},
        )

    async def _with_loaded(self, layout: Layout, paths: tuple[str, ...], texts: Mapping[str, str]) -> Layout:
        key = (self.base, layout, *texts.values())
        if key not in self.loaded:
            self.loaded.clear()  # a loop has one base
            self.loaded[key] = await with_loaded(self.source, self.base, layout, paths, texts.values())
        return self.loaded[key]

    async def _with_alone(self, named: Called, paths: tuple[str, ...]) -> Called:
        """What code of a command loads before it runs tests steers them, where nothing of the project loads it."""
        if not named.alone:
            return named
        sources = tuple(path for path in paths if path.endswith(CODE))[:_MOST_READ]
        texts = await self.source.texts(self.base, sources, limit=_LARGEST)
        alone = {path: why for path, why in named.alone.items() if not _is_loaded(path, texts)}
        return replace(named, files={**alone, **named.files})

    def _yielding(self, named: Called, paths: tuple[str, ...]) -> frozenset[str]:
        """A runner that works in a folder names its tests from there."""
        tracked = frozenset(paths)
        below = {joined(place, path) for place in named.places for path in self.yielding if path not in tracked}
        return self.yielding | (below & tracked)

    async def _steering(self, files: tuple[str, ...], layout: Layout, links: Links) -> tuple[Mapping[str, str], Called]:
        """The texts that say what checks call, and what that is: a script may name the next one."""
        paths = (*files, *(name for name in links.names if name not in links.targets))
        tracked = frozenset(paths)
        texts = dict(await links.texts(self.source, self.base, steering(self.commands, paths), limit=_LARGEST))
        for _ in range(_ROUNDS):
            named = called(self.commands, tracked, texts, layout.is_test)
            near = steering((), paths, named.places)
            wanted = tuple(sorted(((named.files.keys() | set(near)) & tracked) - texts.keys()))
            more = await links.texts(self.source, self.base, wanted, limit=_LARGEST)
            if not more:
                return texts, named
            texts |= more
        return texts, called(self.commands, tracked, texts, layout.is_test)
