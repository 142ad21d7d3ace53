"""Runs of chosen tests on trees that are made for the purpose. None of them is a verdict."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.execution import Bench
from loopwright.adapters.checks.ids import function_of, place_of, surroundings
from loopwright.adapters.checks.judgement import Ran, failures
from loopwright.adapters.checks.order import predecessors
from loopwright.adapters.checks.runners.asking import runs_phases
from loopwright.adapters.checks.runners.table import Pace, Phase
from loopwright.adapters.checks.single_test import choose_tests
from loopwright.adapters.checks.sources_of_tests import name_in_file
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Blob, Finding, Tree

_PLAIN_WORD = re.compile(r"(?!and$|or$|not$)[A-Za-z_][A-Za-z0-9_]+")  # as an expression over names takes it
PLAIN, AGAIN = Phase(), Phase(turn=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTests:
    """How chosen tests came out. A test whose module does not load has failed with what the module says."""

    passed: frozenset[str] = frozenset()
    failed: Mapping[str, Finding] = field(default_factory=dict)
    output: Blob = Blob("")  # of a run that did not end well


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRuns:
    desk: Desk
    specs: tuple[CheckSettings, ...]
    trials: list[Trial] = field(default_factory=list)  # made so far; the same question is not asked twice

    async def start(self, spec: CheckSettings, tree: Tree, tests: Iterable[str], phases: tuple[Phase, ...]) -> Trial:
        """Run these tests, in one process for all phases, where the runner can do that."""
        wanted = frozenset(tests)
        for held in self.trials:
            if held.answers(spec, tree, wanted, phases):
                return held
        ran = await self.run(spec, tree, wanted, phases) if runs_phases(spec.run, self.desk.texts) else None
        trial = Trial(runs=self, spec=spec, tree=tree, tests=wanted, phases=phases, ran=ran)
        self.trials.append(trial)
        return trial

    async def run(self, spec: CheckSettings, tree: Tree, tests: frozenset[str], phases: tuple[Phase, ...] = ()) -> Ran:
        """Run these tests by themselves where the command can choose; else more of them. None given: all."""
        functions = tuple(sorted({function_of(test) for test in tests}))
        chosen = choose_tests(spec.run, functions) if functions else ()
        words = () if chosen else tuple(sorted({name_in_file(each).rpartition(".")[2] for each in functions}))
        only = words if all(map(_PLAIN_WORD.fullmatch, words)) else ()
        async with self.bench(spec, tree) as bench:
            return await bench.run(replace(spec, run=chosen or spec.run), Pace(only=only, phases=phases))

    @asynccontextmanager
    async def bench(self, spec: CheckSettings, tree: Tree) -> AsyncIterator[Bench]:
        """A bench for the check and those that it builds on, with a checkout that is gone afterwards."""
        specs = (*predecessors(spec, self.specs), spec)
        async with AsyncExitStack() as stack:
            yield Bench(desk=self.desk, specs=specs, tree=tree, commit=self.desk.run.commit, stack=stack)

    async def fails(self, spec: CheckSettings, tree: Tree) -> bool:
        """Run the whole check, and believe its exit code alone."""
        async with self.bench(spec, tree) as bench:
            ran = await bench.run(spec)
        return not (ran.finished and ran.exit_code == 0)

    async def with_texts(self, tree: Tree, texts: Mapping[str, bytes]) -> Tree:
        """Return the tree with these files replaced."""
        return await self.desk.outfit.checkouts.compose(tree, taken_from=tree, paths=frozenset(), texts=texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Tests on a tree in several phases."""

    runs: TrialRuns
    spec: CheckSettings
    tree: Tree
    tests: frozenset[str]
    phases: tuple[Phase, ...]
    ran: Ran | None  # None: its runner knows no phases

    def answers(self, spec: CheckSettings, tree: Tree, tests: frozenset[str], phases: tuple[Phase, ...]) -> bool:
        is_same = self.spec == spec and self.tree == tree
        return is_same and tests <= self.tests and all(phase in self.phases for phase in phases)

    def reported(self, phase: Phase, tests: frozenset[str]) -> ChosenTests | None:
        """Return what the phase left; None where it left nothing.

        All phases rest on one collection, so that a test that could not be collected has failed once, and not again.
        """
        if self.ran is None or (report := self.ran.phases[self.phases.index(phase)]) is None:
            return None
        found = outcomes_of(self.spec, replace(self.ran, report=report, refused=""), tests)
        is_collected = all(test == finding.rule for test, finding in found.failed.items())
        return found if phase == PLAIN or is_collected else None

    async def outcome(self, phase: Phase, tests: Iterable[str]) -> ChosenTests:
        """Return how these tests came out in a phase; in a run of their own where it left nothing."""
        wanted = frozenset(tests)
        found = self.reported(phase, wanted)
        return await self.run_apart(phase, wanted) if found is None else found

    async def failing_tests(self, phase: Phase, tests: Iterable[str]) -> frozenset[str]:
        """A stub that is put in place once tests are collected misses what runs before: what passes is tried apart."""
        wanted = frozenset(tests)
        if not wanted or not phase.texts:
            return frozenset()
        found = self.reported(phase, wanted) if phase in self.phases else None
        red = frozenset(found.failed) if found else frozenset()
        return red if red == wanted else red | (wanted - red - (await self.run_apart(phase, wanted - red)).passed)

    async def run_apart(self, phase: Phase, tests: frozenset[str]) -> ChosenTests:
        tree = await self.runs.with_texts(self.tree, phase.texts) if phase.texts else self.tree
        ran = await self.runs.run(self.spec, tree, tests, () if self.ran is None else (PLAIN,))
        if ran.phases and (report := ran.phases[0]) is not None:
            ran = replace(ran, report=report, refused="")
        return outcomes_of(self.spec, ran, tests)


def outcomes_of(spec: CheckSettings, ran: Ran, wanted: frozenset[str]) -> ChosenTests:
    """Read the outcomes of these tests off a run."""
    found = failed_tests(spec, ran)
    places = {place_of(test): finding for test, finding in found.items()}
    passed = frozenset(test for test, how in ran.ids if how == "passed" and test in wanted) - found.keys()
    failed = {test: found[test] for test in wanted if test in found}
    for test in wanted - passed - failed.keys():
        # unittest names a module that does not load without its packages where it was asked for a test in it.
        near = [f".{each}" for each in surroundings(frozenset({test}))]
        around = {place for place in places if any(each.endswith(f".{place}") for each in near)}
        if around:
            failed[test] = places[max(around, key=len)]
    return ChosenTests(passed=passed, failed=failed, output=ran.output if ran.exit_code else Blob(""))


def failed_tests(spec: CheckSettings, ran: Ran) -> dict[str, Finding]:
    return {each.rule: each for each in failures(spec, ran) if each.category == "tests"}
