"""Tests that show a change: they fail without it, pass with it, and fail again when it is broken.

Only tests that were red on the base, whose id is new or whose own source was altered can be witnesses. Each fails
twice on the base, passes twice on the candidate (the landing run is one of these), and notices when what the change
touched is broken. One that failed only because a name was missing on the base must also notice a wrong value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from loopwright.adapters.checks.altered_tests import called_functions
from loopwright.adapters.checks.canary.hollow import same_values
from loopwright.adapters.checks.canary.plan import BrokenChange, broken_change
from loopwright.adapters.checks.classes.examples import Examples, with_docstrings
from loopwright.adapters.checks.demands import fail_on
from loopwright.adapters.checks.ids import find_file, function_of
from loopwright.adapters.checks.reports import LARGEST, Outcome
from loopwright.adapters.checks.runners.table import Phase
from loopwright.adapters.checks.trial_runs import AGAIN, PLAIN, ChosenTests, Trial, TrialRuns
from loopwright.config.settings import CheckSettings
from loopwright.kernel.evidence import Witness
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import CheckResult, Demand, Finding, Tree
from loopwright.kernel.trust import FileClass
from loopwright.kernel.wording import join_names

_MOST_TRIED = 50  # tests of one check
_NAMED = 5  # in a sentence
_MISSING_NAME = re.compile(
    r"\b(?:ModuleNotFoundError|ImportError|NameError|AttributeError|NotImplementedError)\b"
    r"|\bTypeError: .*(?:unexpected keyword argument|takes .* positional argument|takes no arguments)"
    r"|\bis not (?:a function|a constructor|defined)\b|\bCannot find (?:module|name) '|\bexport(?:ed member| named) '"
    r"|\bdoes not exist on type '"  # up to here of JavaScript and TypeScript; of Rust and Go:
    r"|\bcannot find [a-z ,]+ `|\bunresolved import `|\bno [a-z ]+ named `|\bundefined: "
)
_MOST_OUTPUT = 1024 * 1024
Phases = tuple[Phase, ...]
_Reason = Literal["assertion", "missing-name", "exit-code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    witnesses: tuple[Witness, ...] = ()
    exercised: tuple[str, ...] = ()  # checks with a witness that fails when the touched functions raise
    idle: tuple[str, ...] = ()  # new tests that fail on the base and do not notice a broken change
    looks: bool = False  # a witness notices when the change gives a wrong value
    asserts_nothing: bool = False  # every new test passes whatever the touched functions return


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessCandidates:
    """Tests of one check that passed on the candidate and may be witnesses."""

    red: frozenset[str] = frozenset()  # on the base before the work began
    written: frozenset[str] = frozenset()  # new, or altered by the candidate
    altered: frozenset[str] = frozenset()  # those of them that are not new

    def first(self, most: int, hidden: tuple[str, ...]) -> frozenset[str]:
        """Choose acceptance tests before others, new tests before altered ones, and some cases of each function."""
        seen = Counter[str]()
        rank: dict[str, tuple[bool, bool, int]] = {}
        for test in sorted(self.written):
            seen[function_of(test)] += 1
            rank[test] = (not find_file(test, hidden), test in self.altered, seen[function_of(test)])
        return frozenset((*sorted(self.red), *sorted(rank, key=lambda test: rank[test]))[:most])


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessSearch:
    runs: TrialRuns

    async def find(self, candidates: Mapping[str, WitnessCandidates]) -> Shown:
        """Return the witnesses among these tests, by the name of their check."""
        witnesses: list[Witness] = []
        exercised: list[str] = []
        idle: list[str] = []
        looks = False
        for spec in self.runs.specs:
            found = candidates.get(spec.name, WitnessCandidates())
            reasons = await self._fail_without(spec, found)
            if not reasons:
                continue
            raised, noticing, looking = await self._notice(spec, reasons)
            looks = looks or bool(looking)
            exercised += [spec.name] if raised & noticing else []
            witnesses += [
                Witness(
                    id=test, check=spec.name, fails_on_base=reasons[test], by="base" if test in found.red else "maker"
                )
                for test in sorted(noticing)
            ]
            idle += sorted(reasons.keys() & found.written - found.altered - noticing)
        return Shown(witnesses=tuple(witnesses), exercised=tuple(exercised), idle=tuple(idle), looks=looks)

    async def assert_nothing(self, candidates: Mapping[str, WitnessCandidates]) -> bool:
        """Return whether every new test passes whatever the touched functions return."""
        broken = await self._broken()
        if not broken.names:
            return False
        for spec in self.runs.specs:
            tests = candidates.get(spec.name, WitnessCandidates()).written
            if tests != await self._blind_tests(spec, tests, broken):
                return False
        return any(each.written for each in candidates.values())

    async def _blind_tests(self, spec: CheckSettings, tests: frozenset[str], broken: BrokenChange) -> frozenset[str]:
        """Return those that pass whatever the functions return. That one raises is noticed by whoever calls it."""
        phases = broken.wrong_values()
        if not tests or not phases:
            return tests
        trial, left = await self.runs.start(spec, self.runs.desk.seen.landing, tests, phases), tests
        for phase in phases:
            left -= await trial.failing_tests(phase, left)
        return left

    async def find_idle(self, candidates: Mapping[str, WitnessCandidates]) -> tuple[Finding, ...]:
        """Find new or changed tests that pass whatever the functions of the product that they call return."""
        landing, idle = self.runs.desk.seen.landing, list[str]()
        for spec in self.runs.specs:
            tests = candidates.get(spec.name, WitnessCandidates()).written
            called = await called_functions(self.runs, spec, landing, tests) if tests else None
            if called is not None:
                broken = BrokenChange(texts=await self.runs.desk.outfit.contents(landing, called), names=called)
                idle += sorted(await self._blind_tests(spec, tests, broken))
        told = "These new or changed tests pass whatever the product code that they call returns"
        finding = engine_finding("idle-tests", f"{told}: {join_names(idle, _NAMED)}. Let each of them notice it.")
        return (finding,) if idle else ()

    async def find_by_exit_code(self, results: Iterable[CheckResult]) -> tuple[Witness, ...]:
        """Return the checks that count no tests, are trusted by a person's word, and fail without the change."""
        silent = {each.name for each in results if each.tests is None}
        without, broken = await self._without_change(), await self._broken()
        *_, hollow = (Phase(texts=broken.files), *broken.wrong_values())
        found: list[Witness] = []
        for spec in self.runs.specs:
            if spec.name not in silent or spec.trust != "exit-code" or not hollow.texts:
                continue
            tree = await self.runs.with_texts(self.runs.desk.seen.landing, hollow.texts)
            if all([await self.runs.fails(spec, each) for each in (without, without, tree)]):
                found.append(Witness(id=spec.name, check=spec.name, fails_on_base="exit-code"))
        return tuple(found)

    async def find_commands(self, demands: tuple[Demand, ...]) -> tuple[Witness, ...]:
        """Return the commands that notice when the change is broken; each was red before and passes now.

        An exit code does not say why it was red, so that a wrong value has to be noticed in any case.
        """
        broken = await self._broken()
        noticing = frozenset[str]()
        for texts in filter(None, [phase.texts for phase in broken.wrong_values()] or [broken.files]):
            tree = await self.runs.with_texts(self.runs.desk.seen.landing, texts)
            left = tuple(each for each in demands if each.name not in noticing)
            noticing |= await fail_on(self.runs.desk, left, tree)
        names = (each.name for each in demands if each.name in noticing)
        return tuple(Witness(id=name, check=name, fails_on_base="exit-code") for name in names)

    async def _without_change(self) -> Tree:
        """Where the work began, with the candidate's tests, and its examples in docstrings of the base."""
        seen, outfit = self.runs.desk.seen, self.runs.desk.outfit
        tests = frozenset(each.change.path for each in seen.made if each.kind is FileClass.TEST)
        names = {each.change.path: each.holds_tests for each in seen.made if each.holds_tests}
        old, new = [await outfit.source.texts(tree, tuple(names), limit=LARGEST) for tree in (seen.start, seen.landing)]
        pairs = {path: (Examples.of(old[path]), Examples.of(new[path])) for path in old.keys() & new.keys()}
        texts = {path: with_docstrings(b, a, names[path]).encode() for path, (a, b) in pairs.items() if a and b}
        return await outfit.checkouts.compose(seen.start, taken_from=seen.landing, paths=tests, texts=texts)

    async def red_without(self, spec: CheckSettings, found: WitnessCandidates) -> tuple[frozenset[str], Phases]:
        """Return the tests that fail without the change, and the phases on the landing tree that ask about them."""
        failed = (await self._start_without(spec, found))[1].failed
        return (frozenset(failed), await self._phases()) if failed else (frozenset(), ())

    async def _start_without(self, spec: CheckSettings, found: WitnessCandidates) -> tuple[Trial | None, ChosenTests]:
        tests, without = found.first(_MOST_TRIED, self.runs.desk.run.hidden.files), await self._without_change()
        if not tests or without == self.runs.desk.seen.landing:
            return None, ChosenTests()
        trial = await self.runs.start(spec, without, tests, (PLAIN, AGAIN))
        return trial, await self._outcome_without(trial, PLAIN, tests)

    async def _outcome_without(self, trial: Trial, phase: Phase, tests: frozenset[str]) -> ChosenTests:
        """Return how these come out. Where a name that the candidate defines keeps tests from running, they failed.

        A runner that knows phases tells of each file whether it loads.
        """
        found = await trial.outcome(phase, tests)
        not_run = tests - found.passed - found.failed.keys()
        is_told = trial.ran is not None and (found.passed or found.failed)
        if not not_run or not found.output or is_told:
            return found
        said = (await self.runs.desk.outfit.store.fetch(found.output, limit=_MOST_OUTPUT)).decode("utf-8", "replace")
        old, new = (
            " ".join((*each, *(text.decode("latin-1") for text in each.values()))) for each in await self._product()
        )
        defined = set(re.findall(r"\w+", new)) - set(re.findall(r"\w+", old))
        lacking = (line for line in said.splitlines() if _MISSING_NAME.search(line))
        line = next((each for each in lacking if defined.intersection(re.findall(r"\w+", each))), "")
        told = dict.fromkeys(not_run if line else (), engine_finding("not-built", line))
        return ChosenTests(passed=found.passed, failed={**found.failed, **told})

    async def _start_landing(self, spec: CheckSettings, tests: Iterable[str]) -> Trial:
        return await self.runs.start(spec, self.runs.desk.seen.landing, tests, await self._phases())

    async def _phases(self) -> Phases:
        broken = await self._broken()
        return (PLAIN, *((broken.phase("raise"), *broken.wrong_values()) if broken.names else ()))

    async def _fail_without(self, spec: CheckSettings, found: WitnessCandidates) -> dict[str, _Reason]:
        """Return the tests that fail twice without the change and pass once more with it, with why they fail."""
        trial, first = await self._start_without(spec, found)
        if trial is None or not first.failed:
            return {}
        again = await (await self._start_landing(spec, first.failed)).outcome(PLAIN, first.failed)
        second = await self._outcome_without(trial, AGAIN, again.passed) if again.passed else ChosenTests()
        steady = first.failed.keys() & second.failed.keys()
        return {test: reason_of(first.failed[test], second.failed[test]) for test in steady}

    async def _notice(
        self, spec: CheckSettings, reasons: Mapping[str, _Reason]
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Return the tests that fail when the touched functions raise, and those that notice a broken change.

        And some of these that notice a wrong value: all whose name was missing, of the others as many as are known.
        """
        broken, trial = await self._broken(), await self._start_landing(spec, reasons)
        raised = await trial.failing_tests(broken.phase("raise"), reasons)
        noticing = raised | await trial.failing_tests(Phase(texts=broken.files), reasons.keys() - raised)
        named = frozenset(test for test in noticing if reasons[test] == "missing-name")
        looking = frozenset[str]()
        for phase in broken.wrong_values():
            looking |= await trial.failing_tests(phase, named - looking)
        others = noticing - named
        for phase in broken.wrong_values() if broken.names and others and not looking else ():
            looking |= (await trial.outcome(phase, others)).failed.keys()
        return raised, others | looking, looking

    async def changes_types_alone(self) -> bool:
        """Return whether nothing of the product differs but annotations."""
        made = [each.change for each in self.runs.desk.seen.made if each.kind is FileClass.PRODUCT]
        old, new = await self._product()
        return bool(made) and all(
            each.path in old and each.path in new and same_values(old[each.path], new[each.path]) for each in made
        )

    async def _broken(self) -> BrokenChange:
        return broken_change(*await self._product())

    async def _product(self) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
        """Return the changed files of the product that are still there: as they were, and as they are."""
        seen, outfit = self.runs.desk.seen, self.runs.desk.outfit
        product = [each.change for each in seen.made if each.kind is FileClass.PRODUCT]
        paths = tuple(change.path for change in product if change.how != "removed")
        return await outfit.contents(seen.start, paths), await outfit.contents(seen.landing, paths)


def reason_of(*failures: Finding) -> _Reason:
    """Return why a test fails on the base: for a missing name alone, or because something was wrong."""
    is_missing = all(_MISSING_NAME.search(f"{each.issue}\n{each.evidence}") for each in failures)
    return "missing-name" if is_missing else "assertion"


def candidates_of(
    before: Mapping[str, Outcome], now: Mapping[str, Outcome], altered: frozenset[str], red: frozenset[str]
) -> WitnessCandidates:
    """Choose by id: `before` are the outcomes where the work began, `now` those of what would land."""
    passed = frozenset(test for test, how in now.items() if how == "passed")
    written = frozenset(test for test in passed if test not in before or test in altered) - red
    return WitnessCandidates(red=red & passed, written=written, altered=written & before.keys())
