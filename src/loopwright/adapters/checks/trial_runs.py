"""Runs of chosen tests on trees that are made for the purpose. None of them is a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.ids import place_of, surroundings
from loopwright.adapters.checks.judgement import Ran, failures
from loopwright.adapters.checks.order import predecessors
from loopwright.adapters.checks.runners.table import Pace
from loopwright.adapters.checks.single_test import choose_tests
from loopwright.adapters.checks.sources_of_tests import function_of, name_in_file
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding, Tree

_PLAIN_WORD = re.compile(r"(?!and$|or$|not$)[A-Za-z_][A-Za-z0-9_]+")  # as an expression over names takes it


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTests:
    """How chosen tests came out. A test whose module does not load has failed with what the module says."""

    passed: frozenset[str] = frozenset()
    failed: Mapping[str, Finding] = field(default_factory=dict)
    calls: tuple[tuple[str, int], ...] | None = None  # None: not recorded
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRuns:
    desk: Desk
    specs: tuple[CheckSettings, ...]

    async def run(self, spec: CheckSettings, tree: Tree, tests: Iterable[str], *, records: bool = False) -> ChosenTests:
        """Run only these tests where the command can choose; else more of them, or all."""
        wanted = frozenset(tests)
        functions = tuple(sorted({function_of(test) for test in wanted}))
        chosen = choose_tests(spec.run, functions)
        words = () if chosen else tuple(sorted({name_in_file(each).rpartition(".")[2] for each in functions}))
        only = words if all(map(_PLAIN_WORD.fullmatch, words)) else ()
        bench = self.desk.bench((*predecessors(spec, self.specs), spec), tree, self.desk.run.commit)
        ran = await bench.run(replace(spec, run=chosen or spec.run), pace=Pace(only=only, records=records))
        return outcomes_of(spec, ran, wanted)

    async def fails(self, spec: CheckSettings, tree: Tree) -> bool:
        """Run the whole check, and believe its exit code alone."""
        bench = self.desk.bench((*predecessors(spec, self.specs), spec), tree, self.desk.run.commit)
        ran = await bench.run(spec)
        return not (ran.finished and ran.exit_code == 0)

    async def with_texts(self, tree: Tree, texts: Mapping[str, bytes]) -> Tree:
        """Return the tree with these files replaced."""
        return await self.desk.outfit.checkouts.compose(tree, taken_from=tree, paths=frozenset(), texts=texts)


def outcomes_of(spec: CheckSettings, ran: Ran, wanted: frozenset[str]) -> ChosenTests:
    """Read the outcomes of these tests off a run."""
    found = {each.rule: each for each in failures(spec, ran) if each.category == "tests"}
    places = {place_of(test): finding for test, finding in found.items()}
    passed = frozenset(test for test, how in ran.ids if how == "passed" and test in wanted) - found.keys()
    failed = {test: found[test] for test in wanted if test in found}
    for test in wanted - passed - failed.keys():
        around = {place for place in places if _is_around(place, test)}
        if around:
            failed[test] = places[max(around, key=len)]
    return ChosenTests(passed=passed, failed=failed, calls=ran.calls, seconds=ran.seconds)


def _is_around(place: str, test: str) -> bool:
    """unittest names a module that does not load without its packages where it was asked for a test in it."""
    return any(f".{each}".endswith(f".{place}") for each in surroundings(frozenset({test})))
