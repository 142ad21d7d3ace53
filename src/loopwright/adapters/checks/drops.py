"""Which tests of the base may be gone from a run, and which files of the base the ids of a check mean. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from posixpath import basename, join, normpath

from loopwright.adapters.checks.ids import Outcomes, file_of
from loopwright.adapters.checks.judgement import Standard
from loopwright.adapters.checks.reports import counted
from loopwright.kernel.gates import matches

FilesOf = Callable[[str], frozenset[str]]  # the files that an id may mean; none: it names no file of the base


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Of one check: its runners name files from the folders they work in, or from one above."""

    paths: frozenset[str]  # files of the base
    folders: frozenset[str]

    def of(self, tests: Outcomes) -> FilesOf:
        """Where a name means files of several folders, it may be any of them.

        A file that is in none of the folders, but elsewhere: the commands work in folders nobody knows of. Then any
        file of the base that ends like the name may be meant.
        """
        names = {file_of(test) for test, _ in tests} - {""}
        near = {name: {normpath(join(folder, name)) for folder in self.folders} & self.paths for name in names}
        if all(near.values()):
            return lambda test: frozenset(near.get(file_of(test), ()))
        alike = defaultdict[str, set[str]](set)
        for path in self.paths:
            alike[basename(path)].add(path)
        far = {name: {p for p in alike[basename(name)] if f"/{p}".endswith(f"/{name}")} for name in names}
        is_lost = any(far[name] and not near[name] for name in names)
        found = {name: near[name] | far[name] if is_lost else near[name] for name in names}
        return lambda test: frozenset(found.get(file_of(test), ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """Which tests of the base may be gone: by a person's word on their ids or files; in a trial any."""

    ids: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()  # patterns
    any: bool = False
    all: bool = False  # those of a person's word may be all there are: a run with other tests follows
    altered: frozenset[str] = frozenset()  # files of tests that differ: what is gone from them is examined apart

    @property
    def go_by_file(self) -> bool:
        return bool(self.files or self.altered)

    def among(self, tests: Outcomes, files_of: FilesOf) -> frozenset[str]:
        """A word that may be meant for another file is none. An id that names no file may be of an altered one.

        One that holds no tests itself, data or a helper, may be of any of them.
        """
        holding = frozenset(file for test, _ in tests for file in files_of(test)) if self.altered else frozenset()

        def is_allowed(test: str) -> bool:
            files = files_of(test)
            return bool(files) and all(any(matches(file, each) for each in self.files) for file in files)

        def is_altered(test: str) -> bool:
            return bool(self.altered) and (files_of(test) <= self.altered or not self.altered <= holding)

        return self.ids | {test for test, _ in tests if self.any or is_allowed(test) or is_altered(test)}

    @property
    def mark(self) -> str:
        """A pass by somebody's word is a pass for whoever has it, and for nobody else."""
        if not (self.ids or self.go_by_file or self.any):
            return ""
        others = f"{' all' if self.all else ''} {sorted(self.altered)}"
        return f"{sorted(self.ids)} {self.files} {self.any}{others}"

    def leave_none(self, wanted: Standard) -> bool:
        is_named = 0 < (wanted.tests or 0) <= counted(wanted.ids)
        return self.all and is_named and {test for test, _ in wanted.ids} <= wanted.may_drop
