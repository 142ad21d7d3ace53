"""Tests of the base that a candidate changes: which are gone, altered or moved, and which no longer notice anything.

The base's versions have judged the product already. What is asked here is whether the new versions still look: the
product functions that the altered tests called on the base are stubbed on the candidate's product, and a test that
fails then as it was and passes as it is now is weakened. Other languages than Python are compared by ids alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from loopwright.adapters.checks.canary.hollow import StubForm, names_at, names_in
from loopwright.adapters.checks.canary.plan import BrokenChange
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.ids import Outcomes, lost
from loopwright.adapters.checks.runners.table import Phase
from loopwright.adapters.checks.sources_of_tests import (
    FileAlteration,
    compare_tests,
    function_of,
    imported_names,
    name_in_file,
)
from loopwright.adapters.checks.trial_runs import TrialRuns
from loopwright.config.settings import CheckSettings
from loopwright.kernel.evidence import AlteredTest
from loopwright.kernel.model import Tree
from loopwright.kernel.trust import FileClass

_MOST_TRIED = 50  # altered test functions of one file
_LARGEST = 512 * 1024
_FORMS: tuple[StubForm, ...] = ("object", "none", "raise")
_ByFile = Mapping[str, frozenset[str]]  # ids by the file they stand in


@dataclass(frozen=True, slots=True, kw_only=True)
class Alterations:
    tests: Mapping[str, tuple[AlteredTest, ...]] = field(default_factory=dict)  # by file
    by_file: _ByFile = field(default_factory=dict)  # ids whose own source differs, or whatever they may use
    weakened: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ids by the file that only a person lets in
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ids that are gone or skipped, by file
    unread: tuple[str, ...] = ()  # changed files of tests, where no check names the tests that it runs
    let_in: frozenset[str] = frozenset()  # files that a person let be changed

    @property
    def landing(self) -> tuple[AlteredTest, ...]:
        """Return the altered tests that land; those of weakened files are held back."""
        files = ((path, rows) for path, rows in self.tests.items() if path not in self.weakened)
        return tuple(dict.fromkeys(replace(row, confirmed=path in self.let_in) for path, rows in files for row in rows))

    @property
    def altered(self) -> frozenset[str]:
        return frozenset(test for tests in self.by_file.values() for test in tests)

    def asked_about(self) -> Alterations:
        """The same, where a person looks at every file with an altered test."""
        every = {path: tuple(sorted(tests)) for path, tests in self.by_file.items() if tests}
        return replace(self, weakened={**dict.fromkeys(self.unread, ()), **every, **self.weakened})

    @property
    def dropped(self) -> tuple[str, ...]:
        """Tests of the base that would not run any more with the files that were weakened."""
        return tuple(test for path in self.weakened for test in self.lost.get(path, ()))

    def without(self, paths: frozenset[str]) -> Alterations:
        """The same, where a person let these files be changed."""
        weakened = {path: ids for path, ids in self.weakened.items() if path not in paths}
        return replace(self, weakened=weakened, let_in=paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChangedFile:
    path: str
    before: Outcomes  # of its tests where the work began
    now: Outcomes
    old_text: str | None
    new_text: str | None

    def lost(self) -> frozenset[str]:
        """Return the test functions with fewer cases, or fewer that run: gone, skipped or expected to fail."""
        return frozenset(lost(_by_function(self.before), _by_function(self.now)).tests)

    def not_run(self) -> tuple[str, ...]:
        """Return the ids that are gone, or skipped now."""
        return lost(self.before, self.now).tests

    def compare(self) -> FileAlteration:
        if self.old_text is None:
            return FileAlteration()  # of no language that could be compared
        names = frozenset(name_in_file(test) for test, _ in (*self.before, *self.now))
        return compare_tests(self.old_text, self.new_text or "", names)


def _by_function(outcomes: Outcomes) -> Outcomes:
    return tuple((function_of(test), how) for test, how in outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredTests:
    """The tests of one candidate, compared with those where the work began."""

    runs: TrialRuns
    beside: Callable[[CheckSettings, frozenset[str]], Awaitable[tuple[frozenset[str], tuple[Phase, ...]]]]
    # What else is asked of the landing tree once the altered tests of a check are known: tests, and their phases.

    @property
    def desk(self) -> Desk:
        return self.runs.desk

    async def examine(self, before: Mapping[str, Outcomes], now: Mapping[str, Outcomes]) -> Alterations:
        """`before` and `now` are the outcomes by check: of the tests of the base, and of those that would land."""
        made = self.desk.seen.made
        changed = tuple(c.change.path for c in made if c.kind is FileClass.TEST and c.change.how != "added")
        if not changed:
            return Alterations()
        old, new = await self._texts(self.desk.seen.start, changed), await self._texts(self.desk.seen.landing, changed)
        fresh = await self._fresh_bodies(now)
        tests = defaultdict[str, list[AlteredTest]](list)
        altered = defaultdict[str, frozenset[str]](frozenset)
        weakened = defaultdict[str, set[str]](set)
        not_run = defaultdict[str, set[str]](set)
        for spec in self.runs.specs:
            if not before.get(spec.name):
                continue
            files = tuple(self._files(spec, changed, before[spec.name], now.get(spec.name, ()), old, new))
            helped = await self._helped(spec, files, before[spec.name], now.get(spec.name, ()))
            tried: dict[str, frozenset[str]] = {}
            for file in files:
                found = _compare(file, fresh)
                tests[file.path] += found.rows
                weakened[file.path] |= found.gone
                not_run[file.path].update(file.not_run())
                tried[file.path] = found.altered | helped.get(file.path, frozenset())
                altered[file.path] |= tried[file.path]
            for path, noticed_less in (await self._weakened(spec, tried)).items():
                weakened[path] |= noticed_less
        named = any(before.values())
        # What a check does not name cannot be compared; a file that is gone is gone all the same.
        taken = frozenset(c.change.path for c in made if c.change.how == "removed" and not c.change.moved)
        removed = {} if named else {path: () for path in changed if path in taken}
        return Alterations(
            tests={path: tuple(_with_weakened(rows, weakened.values())) for path, rows in tests.items()},
            by_file=dict(altered),
            weakened={**removed, **{path: tuple(sorted(ids)) for path, ids in weakened.items() if ids}},
            lost={path: tuple(sorted(ids)) for path, ids in not_run.items() if ids},
            unread=() if named else changed,
        )

    async def _texts(self, tree: Tree, paths: tuple[str, ...]) -> Mapping[str, str]:
        python = tuple(path for path in paths if path.endswith(".py"))
        return await self.desk.outfit.source.texts(tree, python, limit=_LARGEST)

    def _files(
        self,
        spec: CheckSettings,
        changed: tuple[str, ...],
        before: Outcomes,
        now: Outcomes,
        old: Mapping[str, str],
        new: Mapping[str, str],
    ) -> Iterator[_ChangedFile]:
        then, since = self._by_file(spec, before), self._by_file(spec, now)
        for path in changed:
            # Of ids that name no file nobody can say which it is: what is gone of them may be gone from any.
            named = path if path in then else ""
            yield _ChangedFile(
                path=path,
                before=tuple(each for each in before if each[0] in then.get(named, ())),
                now=tuple(each for each in now if each[0] in since.get(named, ())),
                old_text=old.get(path),
                new_text=new.get(path),
            )

    def _by_file(self, spec: CheckSettings, outcomes: Outcomes) -> _ByFile:
        """Return the ids by the files they name; those that name none stand under an empty path."""
        where = self.desk.where(spec.run)
        files_of = replace(where, paths=where.paths | self.desk.seen.changed).of(outcomes)
        found = defaultdict[str, set[str]](set)
        for test, _ in outcomes:
            for file in files_of(test) or ("",):
                found[file].add(test)
        return {file: frozenset(tests) for file, tests in found.items()}

    async def _fresh_bodies(self, now: Mapping[str, Outcomes]) -> frozenset[str]:
        """Return the parsed test functions that the candidate has under new names."""
        made = self.desk.seen.made
        paths = tuple(c.change.path for c in made if c.kind is FileClass.TEST and c.change.how != "removed")
        old, new = await self._texts(self.desk.seen.start, paths), await self._texts(self.desk.seen.landing, paths)
        names = frozenset(name_in_file(test) for outcomes in now.values() for test, _ in outcomes)
        found = (compare_tests(old.get(path, ""), text, names) for path, text in new.items())
        return frozenset(body for each in found for body in each.fresh.values())

    async def _helped(
        self, spec: CheckSettings, files: tuple[_ChangedFile, ...], before: Outcomes, now: Outcomes
    ) -> _ByFile:
        """Return the tests that import a changed file which holds no tests itself, by that file.

        One that only gained names changes nothing for them, unless they import all of its names.
        """
        by_file = self._by_file(spec, before)
        helpers = [each for each in files if each.path not in by_file and each.path.endswith(".py")]
        if not helpers:
            return {}
        texts = await self._texts(self.desk.seen.start, tuple(by_file))
        words = {path: imported_names(text) for path, text in texts.items()}
        kept = {test for test, _ in now}
        return {
            each.path: frozenset(
                test
                for path, tests in by_file.items()
                if _stem(each.path) in words.get(path, ()) and (each.compare().everything or "*" in words[path])
                for test in tests & kept
            )
            for each in helpers
        }

    async def _weakened(self, spec: CheckSettings, tried: _ByFile) -> dict[str, set[str]]:
        """Return the tests that noticed a stubbed product function as they were, and do not any more."""
        many = {path for path, tests in tried.items() if len({function_of(test) for test in tests}) > _MOST_TRIED}
        found = {path: set(tried[path]) for path in many}  # altered and not tried: a person looks
        tests = frozenset(test for path, each in tried.items() if path not in many for test in each)
        if not tests:
            return found
        called = await called_functions(self.runs, spec, self.desk.seen.start, tests)
        if called is None:
            return {path: set(each) for path, each in tried.items() if each}
        blind = await self._blind(spec, tests, called)
        for path, each in tried.items():
            if path not in many and each & blind:
                found[path] = set(each & blind)
        return found

    async def _blind(
        self, spec: CheckSettings, tests: frozenset[str], called: Mapping[str, frozenset[str]]
    ) -> frozenset[str]:
        """One wrong value that a test notices as it is now is enough to say that it looks."""
        seen = self.desk.seen
        changed = frozenset(each.change.path for each in seen.made if each.kind is FileClass.TEST)
        as_before = await self.desk.outfit.checkouts.compose(seen.landing, taken_from=seen.start, paths=changed)
        texts = await self.desk.outfit.contents(seen.landing, called)
        names = {path: called[path] & names_in(text) for path, text in texts.items()}
        broken = BrokenChange(texts=texts, names=names)
        phases = tuple(phase for phase in map(broken.phase, _FORMS) if phase.texts)
        if not phases:
            return frozenset()
        others, beside = await self.beside(spec, tests)
        now = await self.runs.start(spec, seen.landing, tests | others, (*phases, *beside))
        left, blind = tests, frozenset[str]()
        for phase in phases:
            left -= (await now.outcome(phase, left)).failed.keys()
            if not left:
                break
            then = await self.runs.start(spec, as_before, left, phases)
            noticed = (await then.outcome(phase, left)).failed.keys()
            blind, left = blind | (left & noticed), left - noticed
        return blind


async def called_functions(
    runs: TrialRuns, spec: CheckSettings, tree: Tree, tests: frozenset[str]
) -> dict[str, frozenset[str]] | None:
    """Return the product functions that these tests call on a tree, by file; None where that was not recorded."""
    trial = await runs.start(spec, tree, tests, (Phase(records=True),))
    if trial.ran is None or trial.ran.calls is None:
        return None
    lines = defaultdict[str, set[int]](set)
    for path, line in trial.ran.calls:
        if path.endswith(".py") and runs.desk.steering.layout.is_judged(path):
            lines[path].add(line)
    texts = await runs.desk.outfit.contents(tree, lines)
    return {path: names_at(text, frozenset(lines[path])) for path, text in texts.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    rows: tuple[AlteredTest, ...]
    altered: frozenset[str]
    gone: frozenset[str]


def _compare(file: _ChangedFile, fresh: frozenset[str]) -> _Compared:
    """Compare by source and by id. A test whose unchanged body stands under another id was moved."""
    found, missing = file.compare(), file.lost()
    moved = frozenset(test for test in missing if found.bodies.get(name_in_file(test)) in fresh)
    there, gone = frozenset(test for test, _ in file.now), missing - moved
    changed = [test for test, _ in file.before if found.everything or name_in_file(test) in found.altered]
    altered = frozenset(test for test in changed if test in there and function_of(test) not in missing)
    still = {function_of(test) for test in there}
    rows = (
        *(AlteredTest(id=test, how="moved") for test in sorted(moved)),
        *(AlteredTest(id=test, how="weakened" if test in still else "gone") for test in sorted(gone)),
        *(AlteredTest(id=test, how="altered") for test in sorted(set(map(function_of, altered)))),
    )
    return _Compared(rows=rows, altered=altered, gone=gone)


def _with_weakened(rows: Iterable[AlteredTest], weakened: Iterable[set[str]]) -> Iterator[AlteredTest]:
    names = {function_of(test) for each in weakened for test in each}
    for row in rows:
        yield replace(row, how="weakened") if row.how == "altered" and row.id in names else row


def _stem(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == "__init__.py" else pure.stem
