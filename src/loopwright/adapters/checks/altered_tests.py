"""Tests of the base that a candidate changes: which are gone, altered or moved, and which no longer notice anything.

The base's versions have judged the product already. What is asked here is whether the new versions still look: the
product functions that the altered tests called on the base are stubbed on the candidate's product, and a test that
fails then as it was and passes as it is now is weakened. Data and helpers are tried with the tests that use them:
those of the base that open or import them. Other languages than Python are compared by ids alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal

from loopwright.adapters.checks.canary.hollow import StubForm, names_at, names_in
from loopwright.adapters.checks.canary.plan import BrokenChange
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.ids import Lost, Outcomes, function_of, lost, place_of
from loopwright.adapters.checks.runners.asking import asked
from loopwright.adapters.checks.runners.table import Phase
from loopwright.adapters.checks.sources_of_tests import (
    FileAlteration,
    compare_tests,
    imported_names,
    last_name,
    name_in_file,
)
from loopwright.adapters.checks.trial_runs import PLAIN, TrialRuns
from loopwright.config.settings import CheckSettings
from loopwright.kernel.evidence import AlteredTest, WeakenedTest
from loopwright.kernel.model import Tree
from loopwright.kernel.trust import FileClass
from loopwright.kernel.wording import join_names

_MOST_TRIED = 50  # altered test functions of one file
_LARGEST = 512 * 1024
_NAMED = 3  # stubbed functions in a sentence
_FORMS: tuple[StubForm, ...] = ("object", "none", "raise")
_How = Literal["gone", "skipped", "fewer-cases", "blind", "untried", "altered"]
_Ids = Mapping[str, frozenset[str]]  # by the file they stand in, or by the name of their function
_Fresh = Mapping[str, Mapping[str, bool]]  # by their body: the ids of new test functions, and whether each passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Alterations:
    tests: Mapping[str, tuple[AlteredTest, ...]] = field(default_factory=dict)  # by file
    by_file: _Ids = field(default_factory=dict)  # ids whose own source differs, or whatever they may use
    weakened: Mapping[str, tuple[WeakenedTest, ...]] = field(default_factory=dict)  # by file: only a person lets it in
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
        every = {path: _each(path, tests, "altered") for path, tests in self.by_file.items() if tests}
        unread = {path: (WeakenedTest(file=path, how="altered"),) for path in self.unread}
        return replace(self, weakened={**unread, **every, **self.weakened})

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
    path: str  # empty: it stands for all files of tests that did not change
    before: Outcomes  # of its tests where the work began
    now: Outcomes
    old_text: str | None = None
    new_text: str | None = None

    def lost(self) -> Lost:
        """Return the test functions with fewer cases, or fewer that run: gone, skipped or expected to fail."""
        then, since = (tuple((function_of(test), how) for test, how in each) for each in (self.before, self.now))
        return lost(then, since)

    def find_moved(self, fresh: _Fresh) -> _Ids:
        """Return the functions that are gone from here and stand elsewhere, with the ids of what stands for them.

        A test whose unchanged body has another id was moved; so was one whose name is now in another class, with as
        many cases. Whether they still notice what the old ones did is tried.
        """
        bodies, ran = self.compare().bodies, _count_passed(self.before)
        found = {test: fresh.get(bodies.get(name_in_file(test), ""), {}) for test in self.lost().tests}
        same = {test: frozenset(ids) for test, ids in found.items() if any(ids.values()) or (ids and not ran[test])}
        return {**same, **self._find_renamed()}

    def _find_renamed(self) -> _Ids:
        then, since = ({function_of(test) for test, _ in each} for each in (self.before, self.now))
        gone, new = (_grouped((last_name(test), test) for test in each) for each in (then - since, since - then))
        alone = (last for last in gone.keys() & new.keys() if len(gone[last]) == len(new[last]) == 1)
        before, now = _count_passed(self.before), _count_passed(self.now)
        pairs = ((*gone[last], *new[last]) for last in alone)
        ids = _grouped((function_of(test), test) for test, _ in self.now)
        return {old: ids[fresh] for old, fresh in pairs if before[old] <= now[fresh]}

    def cases(self, functions: Iterable[str]) -> frozenset[str]:
        """Return the ids of these functions where the work began."""
        wanted = frozenset(functions)
        return frozenset(test for test, _ in self.before if function_of(test) in wanted)

    def compare(self, *, as_helper: bool = False) -> FileAlteration:
        """As a helper it is compared as a whole: who imports a test may take more of it than that it is run."""
        if self.old_text is None:
            return FileAlteration()  # of no language that could be compared
        outcomes = () if as_helper else (*self.before, *self.now)
        names = frozenset(name_in_file(test) for test, _ in outcomes)
        return compare_tests(self.old_text, self.new_text or "", names)


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
        as_a_whole = {each.change.path for each in made if each.change.moved}  # as the same file elsewhere
        tests = defaultdict[str, list[AlteredTest]](list)
        altered = defaultdict[str, frozenset[str]](frozenset)
        weakened = defaultdict[str, tuple[WeakenedTest, ...]](tuple)
        not_run = defaultdict[str, set[str]](set)
        for spec in self.runs.specs:
            if not before.get(spec.name):
                continue
            files = tuple(self._files(spec, changed, before[spec.name], now.get(spec.name, ()), old, new))
            by_path = self._by_file(spec, before[spec.name])
            users = await self._users(spec, files, by_path)
            there, tried = _by_name(test for test, _ in now.get(spec.name, ())), dict[str, frozenset[str]]()
            for file in files:
                moved = file.find_moved(fresh)
                there = {**there, **{_name(old): ids for old, ids in moved.items()}}
                rows, differing, gone = _compare(file, moved)
                using = users.get(file.path, frozenset())
                rows += _list_tests(using - differing, "altered")
                for path in (file.path,) if file.path else users:
                    tests[path] += rows
                    weakened[path] += tuple(replace(each, file=path) for each in gone)
                    not_run[path].update(lost(file.before, file.now).tests)
                differing |= _with_neighbours(using, by_path)
                altered[file.path] |= frozenset(test for test in differing if _name(test) in there)
                tried[file.path] = altered[file.path] | (
                    file.cases(moved) if file.path not in as_a_whole else frozenset()
                )
            for path, noticed_less in (await self._weakened(spec, tried, there)).items():
                weakened[path] += noticed_less
        named = any(before.values())
        # What a check does not name cannot be compared; a file that is gone is gone all the same.
        taken = frozenset(c.change.path for c in made if c.change.how == "removed" and not c.change.moved)
        removed = {path: (WeakenedTest(file=path, how="gone"),) for path in changed if path in taken and not named}
        return Alterations(
            tests=_mark_weakened(tests, weakened),
            by_file=dict(altered),
            weakened={**removed, **{path: tuple(dict.fromkeys(each)) for path, each in weakened.items() if each}},
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
        if not then.keys() >= set(changed):  # data, or a helper: tests of any file may be gone with it
            near = frozenset(test for each in (then, since) for path in ("", *changed) for test in each.get(path, ()))
            rest = (tuple(each for each in outcomes if each[0] not in near) for outcomes in (before, now))
            yield _ChangedFile(path="", before=next(rest), now=next(rest))

    def _by_file(self, spec: CheckSettings, outcomes: Outcomes) -> _Ids:
        """Return the ids by the files they name; those that name none stand under an empty path."""
        where = self.desk.where(spec.run)
        files_of = replace(where, paths=where.paths | self.desk.seen.changed).of(outcomes)
        return _grouped((file, test) for test, _ in outcomes for file in files_of(test) or ("",))

    async def _fresh_bodies(self, now: Mapping[str, Outcomes]) -> _Fresh:
        """Return the parsed test functions that the candidate has under new names."""
        made = self.desk.seen.made
        paths = tuple(c.change.path for c in made if c.kind is FileClass.TEST and c.change.how != "removed")
        old, new = await self._texts(self.desk.seen.start, paths), await self._texts(self.desk.seen.landing, paths)
        fresh = defaultdict[str, dict[str, bool]](dict)
        for spec in self.runs.specs:
            outcomes = dict(now.get(spec.name, ()))
            there = self._by_file(spec, tuple(outcomes.items()))
            for path, text in new.items():
                names = _grouped((name_in_file(test), test) for at in ("", path) for test in there.get(at, ()))
                for name, body in compare_tests(old.get(path, ""), text, frozenset(names)).fresh.items():
                    fresh[body] |= {test: outcomes[test] == "passed" for test in names[name]}
        return fresh

    async def _users(self, spec: CheckSettings, files: tuple[_ChangedFile, ...], then: _Ids) -> _Ids:
        """Return the tests of other files that use a changed one: that import it, or open it where it holds no tests.

        A helper that only gained names changes nothing for them, unless they import all of its names.
        """
        helpers = {each.path: each.compare(as_helper=True).everything for each in files if each.path}
        texts = await self._texts(self.desk.seen.start, tuple(then)) if helpers else {}
        words = {path: imported_names(text) for path, text in texts.items()}

        def tests_with(helper: str, *names: str) -> frozenset[str]:
            near = helper.removesuffix("conftest.py")
            using = (path for path, named in words.items() if {_stem(helper), *names} <= named or path.startswith(near))
            return frozenset(test for path in using if path != helper for test in then[path])

        found = {path: tests_with(path, *(() if everything else "*")) for path, everything in helpers.items()}
        loose = helpers.keys() - then.keys()
        data = tuple(path for path in loose if not path.endswith(".py") or (helpers[path] and not found[path]))
        tests = _by_name(test for each in then.values() for test in each)
        for path, user in await self._opened(spec, data, tests):
            found[path] |= then.get(user) or tests.get(_name(user)) or tests_with(user)
        return {path: using for path, using in found.items() if using or path in loose}

    async def _opened(self, spec: CheckSettings, paths: tuple[str, ...], tests: _Ids) -> tuple[tuple[str, str], ...]:
        """Return these files with those who open them where the work began: tests, modules of tests, helpers."""
        if not paths:
            return ()
        # Our runner of unittest has to be told what it runs.
        every = tests.values() if asked(spec.run, self.desk.texts).runner == "unittest" else ()
        wanted, phases = frozenset[str]().union(*every), (Phase(reads=paths),)
        ran = (await self.runs.start(spec, self.desk.seen.start, wanted, phases)).ran
        return (ran and ran.notes) or ()

    async def _weakened(self, spec: CheckSettings, tried: _Ids, there: _Ids) -> dict[str, tuple[WeakenedTest, ...]]:
        """Return the tests that noticed a stubbed product function as they were, and do not any more."""
        many = {path for path, tests in tried.items() if len({function_of(test) for test in tests}) > _MOST_TRIED}
        found = {path: _each(path, tried[path], "untried") for path in many}
        tests = frozenset(test for path, each in tried.items() if path not in many for test in each)
        if not tests:
            return found
        called = await called_functions(self.runs, spec, self.desk.seen.start, tests)
        if called is None:
            return {path: _each(path, each, "untried") for path, each in tried.items() if each}
        cases = {test: there[_name(test)] for test in tests}
        since = {test: each & {test} or each for test, each in cases.items()}  # the same case, if it is still there
        blind = await self._blind(spec, since, called)
        stubbed = join_names([f"{path}: {name}" for path in sorted(called) for name in sorted(called[path])], _NAMED)
        for path, each in tried.items():
            if path not in many and each & blind:
                found[path] = _each(path, each & blind, "blind", stubbed)
        return found

    async def _blind(
        self, spec: CheckSettings, tests: Mapping[str, frozenset[str]], called: Mapping[str, frozenset[str]]
    ) -> frozenset[str]:
        """One wrong value that a test notices as it is now is enough to say that it looks.

        `tests` are those of the base, each with what stands for it now. One that fails by itself, without a stub,
        notices nothing.
        """
        seen = self.desk.seen
        changed = frozenset(each.change.path for each in seen.made if each.kind is FileClass.TEST)
        as_before = await self.desk.outfit.checkouts.compose(seen.landing, taken_from=seen.start, paths=changed)
        texts = await self.desk.outfit.contents(seen.landing, called)
        names = {path: called[path] & names_in(text) for path, text in texts.items()}
        broken = BrokenChange(texts=texts, names=names)
        phases = tuple(phase for phase in map(broken.phase, _FORMS) if phase.texts)
        if not phases:
            return frozenset()
        others, beside = await self.beside(spec, frozenset(tests))
        since = frozenset[str]().union(*tests.values())
        now = await self.runs.start(spec, seen.landing, since | others, (PLAIN, *phases, *beside))
        steady = (await now.outcome(PLAIN, since)).passed
        left, blind = frozenset(tests), frozenset[str]()
        for phase in phases:
            failed = (await now.outcome(phase, since)).failed.keys() & steady
            left = frozenset(test for test in left if not tests[test] & failed)
            if not left:
                break
            then = await self.runs.start(spec, as_before, left, (PLAIN, *phases))
            noticed = (await then.outcome(phase, left)).failed.keys() & (await then.outcome(PLAIN, left)).passed
            blind, left = blind | noticed, left - noticed
        return blind


async def called_functions(
    runs: TrialRuns, spec: CheckSettings, tree: Tree, tests: frozenset[str]
) -> dict[str, frozenset[str]] | None:
    """Return the product functions that these tests call on a tree, by file; None where that was not recorded."""
    trial = await runs.start(spec, tree, tests, (Phase(records=True),))
    if trial.ran is None or trial.ran.notes is None:
        return None
    lines = defaultdict[str, set[int]](set)
    for path, line in trial.ran.notes:
        if path.endswith(".py") and runs.desk.steering.layout.is_judged(path):
            lines[path].add(int(line))
    texts = await runs.desk.outfit.contents(tree, lines)
    return {path: names_at(text, frozenset(lines[path])) for path, text in texts.items()}


def _compare(file: _ChangedFile, moved: _Ids) -> tuple[list[AlteredTest], frozenset[str], list[WeakenedTest]]:
    """Compare by source and by id; return the tests to name, the ids of altered ones, and the tests that run less."""
    found, less = file.compare(), file.lost()
    missing = frozenset(less.tests)
    here = {test for test, _ in file.now}
    differing = found.altered | (frozenset(map(name_in_file, moved)) if found.everything else frozenset())
    edited = frozenset(test for test in moved if moved[test] <= here and name_in_file(test) in differing)
    still, gone = {function_of(test) for test, _ in file.now}, missing - frozenset(moved)
    own = file.cases((still - missing) | edited)
    altered = frozenset(test for test in own if found.everything or name_in_file(test) in found.altered)
    how: dict[str, _How] = {
        test: "gone" if test not in still else "skipped" if test in less.skipped else "fewer-cases" for test in gone
    }
    rows = _list_tests(frozenset(moved) - edited, "moved")
    rows += [AlteredTest(id=test, how="weakened" if test in still else "gone") for test in sorted(gone)]
    rows += _list_tests(altered, "altered")
    return rows, altered, [WeakenedTest(file=file.path, id=test, how=how[test]) for test in sorted(gone)]


def _mark_weakened(
    tests: Mapping[str, list[AlteredTest]], weakened: Mapping[str, tuple[WeakenedTest, ...]]
) -> dict[str, tuple[AlteredTest, ...]]:
    """Call the altered and moved tests that notice less than before weakened."""
    less = {test.id for each in weakened.values() for test in each}
    return {
        path: tuple(replace(row, how="weakened") if row.how != "gone" and row.id in less else row for row in rows)
        for path, rows in tests.items()
    }


def _list_tests(tests: Iterable[str], how: Literal["altered", "moved"]) -> list[AlteredTest]:
    return [AlteredTest(id=test, how=how) for test in sorted(set(map(function_of, tests)))]


def _count_passed(outcomes: Outcomes) -> Counter[str]:
    return Counter(function_of(test) for test, how in outcomes if how == "passed")


def _each(path: str, tests: Iterable[str], how: _How, stubbed: str = "") -> tuple[WeakenedTest, ...]:
    names = sorted(set(map(function_of, tests)))
    return tuple(WeakenedTest(file=path, id=name, how=how, stubbed=stubbed) for name in names)


def _grouped(pairs: Iterable[tuple[str, str]]) -> _Ids:
    found = defaultdict[str, set[str]](set)
    for group, test in pairs:
        found[group].add(test)
    return {group: frozenset(tests) for group, tests in found.items()}


def _by_name(tests: Iterable[str]) -> _Ids:
    """Return the cases of each test function."""
    return _grouped((_name(test), test) for test in tests)


def _name(test: str) -> str:
    return place_of(function_of(test))


def _with_neighbours(tests: frozenset[str], by_file: _Ids) -> frozenset[str]:
    """Add the other tests of these files, unless they are too many: what one of them read may be kept for others."""
    wide = frozenset(test for each in by_file.values() if each & tests for test in each)
    return wide if len(_by_name(wide)) <= _MOST_TRIED else tests


def _stem(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == "__init__.py" else pure.stem
