"""Whether the checks look at the change: it is broken on purpose, and somebody notices or not.

What it costs: a try is one run of the checks that stops at the first failure, and none is made twice. A change that is
noticed where it should be takes one; all touched functions that the base has are broken in it at once, for one red is
enough. Only what went unnoticed is asked about again, and never by more than five more tries.
What is tried are trees, made of nothing but the change: the same candidate asks for the same ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.adapters.checks.canary.answers import answering, count_tests, find_likely, is_red, run_until_red
from loopwright.adapters.checks.canary.plan import CanaryPlan, Edits, break_files, planned, to_break
from loopwright.adapters.checks.candidate import Candidate
from loopwright.adapters.checks.ids import Outcomes, file_of
from loopwright.adapters.checks.package_places import packages_elsewhere
from loopwright.adapters.checks.trial_runs import TrialRuns, failed_tests
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import CheckResult, Tree
from loopwright.kernel.trust import Canary, Classed, FileClass
from loopwright.kernel.wording import counted, join_names

_Place = Literal["judging", "landing", "base"]
_How = Literal["exercises", "reads"]
_TO_COME = "The tests of this change are still to be written: none that is there notices when it is broken on purpose."
_NOBODY = (
    "No test passes here, so that none can notice when the change is broken on purpose: write one that passes, and"
    " fails without it."
)
_NO_CHECK = "No check that runs tests can say whether it looks at this change."
_LARGEST, _MOST_READ = 512 * 1024, 400  # bytes of a file of tests, and such files
_MOST_NAMED = 5
_DONE = {"exercises": "made to raise", "reads": "made unparsable"}


async def look_at(
    runs: TrialRuns,
    judging: tuple[CheckResult, ...],
    landing: tuple[CheckResult, ...],
    exercised: tuple[str, ...] = (),
) -> Canary:
    """Break the change of a candidate whose runs passed.

    `exercised` are checks with a new test that fails when all that the change touched raises.
    """
    seen, trust = runs.desk.seen, runs.desk.run.trust
    old, new = count_tests(judging), count_tests(landing)
    checks, counts = answering(runs.specs, old | new)
    if not checks:
        return Canary(said="not-shown", sentence=_NO_CHECK)
    by_new_alone = bool(new and not old)  # the base has no test that could notice anything
    changes = _with_approved(seen) if by_new_alone else seen.classed
    look = _Look(
        runs=runs,
        judging={each.name: each for each in judging},
        landing={each.name: each for each in landing},
        plan=await _plan(runs, changes),
        changed=to_break(changes),
        checks=checks,
        counts=counts,
        ground="landing" if by_new_alone else "judging",
        lands_apart=seen.landing != seen.judging and not by_new_alone,
    )
    if not await look.has_green():
        if trust.tests_to_come:
            return Canary(said="not-shown", sentence=_TO_COME)
        return Canary(said="untested-change", sentence=_NOBODY)
    spared = tuple(each.change.path for each in changes if each.spared)
    if not look.plan.witness.texts:
        what = "tests, data and text" if spared else "data and text"
        return Canary(said="not-shown", sentence=f"Only {what} changed: nothing that could be broken on purpose.")
    found = await look.answer(exercised)
    if found.said in ("noticed", "untested-change"):
        found = await look.find_other_trees() or found
    if found.said in ("noticed", "disarmed") and spared:
        told = f"What was named for this review judged as it is now: {join_names(spared, _MOST_NAMED)}."
        found = replace(found, sentence=f"{found.sentence} {told}")
    return found


def _with_approved(seen: Candidate) -> tuple[Classed, ...]:
    """Where nothing was tested before, code in a place that nobody knew as one for code is what was made, once a person
    let it in."""
    made = seen.product
    return tuple(replace(each, kind=FileClass.PRODUCT) if each.change.path in made else each for each in seen.classed)


async def _plan(runs: TrialRuns, changes: tuple[Classed, ...]) -> CanaryPlan:
    seen, outfit, since = runs.desk.seen, runs.desk.outfit, runs.desk.run.after
    changed = to_break(changes)
    base, judging, landing = [await outfit.contents(each, changed) for each in (seen.base, seen.judging, seen.landing)]
    is_product = runs.desk.steering.layout.is_judged
    return planned(
        changes,
        base=base,
        judging=judging,
        landing=landing,
        before=await outfit.contents(since.commit, changed) if since.noticed and since.commit else None,
        product=tuple(path for path in await outfit.source.paths(seen.judging) if is_product(path)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Red:
    """Checks that noticed what was broken."""

    where: _Place
    edits: Edits
    checks: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Look:
    runs: TrialRuns
    judging: Mapping[str, CheckResult]  # by the names of the checks
    landing: Mapping[str, CheckResult]
    plan: CanaryPlan
    changed: tuple[str, ...]
    checks: tuple[str, ...]  # that may answer
    counts: bool  # they count tests; False: their exit codes answer, and only whether files are read
    ground: _Place
    lands_apart: bool  # the landing tree is not the judging one
    uncounted: int = 0  # tests that failed and had been skipped, or had failed and been forgiven

    async def has_green(self) -> bool:
        """Return whether a test passed that could notice anything, or nobody knows which did."""
        found = (*self.judging.values(), *self.landing.values())
        before = [await self._outcomes(each) for each in found if each.name in self.checks and each.tests]
        return not before or any(not each or any(how == "passed" for _, how in each) for each in before)

    async def answer(self, exercised: tuple[str, ...]) -> Canary:
        if self.counts and not self.runs.desk.run.trust.tests_to_come and self.plan.functions.texts:
            return await self._exercise(exercised)
        files = self.plan.files
        if files.texts:
            red = await self._try(*self._both(files, files))
            return self._noticed(red, "reads") if red else await self._unnoticed("reads", files)
        return await self._stand_in()

    async def _exercise(self, exercised: tuple[str, ...]) -> Canary:
        """Functions of the base are asked for alone: they have tests, and no new test cures what keeps these away."""
        plan = self.plan
        if plan.kept.texts:
            if red := await self._try((self.ground, plan.kept)):
                return self._noticed(red, "exercises")
            if plan.on_base.texts and (red := await self._try(("base", plan.on_base))):
                return _disarmed(red)
        if shown := tuple(name for name in self.checks if name in exercised):
            return self._noticed(_Red(where="landing", edits=plan.landing, checks=shown), "exercises")
        tries = self._both(plan.functions, plan.landing)
        red = await self._try(*(tries[1:] if plan.kept.names == plan.functions.names else tries))
        return self._noticed(red, "exercises") if red else await self._unnoticed("exercises", plan.functions)

    async def _stand_in(self) -> Canary:
        """Nothing of the change is left to break: what stands beside it shows that the checks read this tree."""
        witness = self.plan.witness
        if red := await self._try((self.ground, witness)):
            return self._noticed(red, "reads")
        told = f"no check reads what stands beside it ({_named(witness)})"
        missed = self._missed("not-shown", Edits(), f"Nothing of the change is left to break, and {told}.")
        return await self._unread(witness) or missed

    async def _unnoticed(self, how: _How, missed: Edits) -> Canary:
        is_read = await self._try((self.ground, self.plan.witness))
        if not is_read and (unread := await self._unread(missed)) is not None:
            return unread
        if self.runs.desk.run.trust.tests_to_come:
            return self._missed("not-shown", missed, _TO_COME)
        told = f"{self._nobody()} notices when the change is broken on purpose ({_DONE[how]}: {_named(missed)})"
        return self._missed("untested-change", missed, f"{told}: write a test that fails without it.")

    async def _unread(self, missed: Edits) -> Canary | None:
        """None: other code of this tree is read, or nobody but its maker has written tests, who may write more.

        A package that comes from elsewhere is not read, whatever else is.
        """
        desk, plan = self.runs.desk, self.plan
        found = await packages_elsewhere(desk, self.runs.specs, self.changed, desk.seen.judging)
        elsewhere = ", ".join(dict.fromkeys(found.values()))
        if not elsewhere and self.ground == "landing":
            return None
        is_all = plan.everything.texts == plan.witness.texts
        if not elsewhere and not is_all and await self._try((self.ground, plan.everything)):
            return None
        place = elsewhere or "they may run an installed copy, or another tree"
        told = f"all stay green with files that cannot even be parsed ({_named(plan.witness)}); {place}."
        return self._missed("unread", missed, f"No check reads this tree: {told}")

    async def find_other_trees(self) -> Canary | None:
        """Code that stands for nothing, whatever was noticed of the rest: its package comes from elsewhere, and nobody
        misses it. What tests load by its path comes from here."""
        desk = self.runs.desk
        places = await packages_elsewhere(desk, self.runs.specs, self.plan.files.names, desk.seen.base)
        for said in dict.fromkeys(places.values()):
            edits = break_files(path for path in self.plan.files.names if places.get(path) == said)
            if not await self._try(*self._both(edits, edits)):
                told = f"all stay green with files that cannot even be parsed; {said}."
                return self._missed("unread", edits, f"No check reads {_named(edits)}: {told}")
        return None

    def _both(self, edits: Edits, landing: Edits) -> tuple[tuple[_Place, Edits], ...]:
        """Where the product is judged, and where it lands."""
        return ((self.ground, edits), *((("landing", landing),) if self.lands_apart else ()))

    async def _try(self, *tries: tuple[_Place, Edits]) -> _Red | None:
        """Return the first that a check notices."""
        for where, edits in tries:
            if checks := await self._red_checks(where, edits):
                return _Red(where=where, edits=edits, checks=checks)
        return None

    async def _red_checks(self, where: _Place, edits: Edits) -> tuple[str, ...]:
        seen, results = self.runs.desk.seen, self.landing if where == "landing" else self.judging
        whole = {"judging": seen.judging, "landing": seen.landing, "base": seen.base}[where]
        broken = await self.runs.with_texts(whole, edits.texts)
        counting = count_tests(results.values())
        specs = [s for s in self.runs.specs if s.name in self.checks and (s.name in counting or not self.counts)]
        found = [self._is_red(spec, results.get(spec.name), edits, whole, broken) for spec in specs]
        red = await asyncio.gather(*found)
        return tuple(spec.name for spec, is_noticed in zip(specs, red, strict=True) if is_noticed)

    async def _is_red(
        self, spec: CheckSettings, result: CheckResult | None, edits: Edits, whole: Tree, broken: Tree
    ) -> bool:
        before = await self._outcomes(result)
        files = sorted({file_of(test) for test, how in before if how == "passed"} - {""})
        texts = await self.runs.desk.outfit.source.texts(whole, tuple(files[:_MOST_READ]), limit=_LARGEST)
        likely, seconds = find_likely(edits.names, texts), result.seconds if result else 0.0
        async with self.runs.bench(spec, broken) as bench:
            ran = await run_until_red(spec, bench.run, before, seconds=seconds, likely=likely)
        others = {test for test, how in before if how != "passed"}
        self.uncounted = max(self.uncounted, len(failed_tests(spec, ran).keys() & others))
        return is_red(spec, ran, before)

    async def _outcomes(self, result: CheckResult | None) -> Outcomes:
        """The tests of the run just made. On the base, those that it shares with the judging run."""
        desk = self.runs.desk
        return await desk.outfit.ids(result.receipt, desk.book) if result and result.receipt else ()

    def _noticed(self, red: _Red, how: _How) -> Canary:
        whose = ", by new tests alone" if red.where == "landing" else ""
        blind = tuple(name for name in self.checks if name not in red.checks)
        others = f"; not by {' and '.join(blind)}, which does not look at this change" if blind else ""
        return Canary(
            said="noticed",
            how=how,
            where="landing" if red.where == "landing" else "judging",
            noticed_by=red.checks,
            blind=blind,
            sentence=f"Broken on purpose ({_DONE[how]}: {_named(red.edits)}), it is noticed by"
            f" {' and '.join(red.checks)}{whose}{others}.",
        )

    def _missed(self, said: Literal["not-shown", "unread", "untested-change"], edits: Edits, sentence: str) -> Canary:
        return Canary(said=said, blind=self.checks, missed=edits.names, sentence=sentence)

    def _nobody(self) -> str:
        """Reports call a test skipped of which a part is: it may notice, and yet nobody can tell that it ran before."""
        if not self.uncounted:
            return "No test"
        them = counted(self.uncounted, "test that fails then was", "tests that fail then were")
        return f"No test that passed before ({them} skipped, in whole or in part, or failing)"


def _disarmed(red: _Red) -> Canary:
    return Canary(
        said="disarmed",
        how="exercises",
        blind=red.checks,
        missed=red.edits.names,
        sentence=f"On the base {' and '.join(red.checks)} notices when {_named(red.edits)} raises, with this change it"
        " does not: the product keeps its own tests from running it.",
    )


def _named(edits: Edits) -> str:
    return join_names(edits.names, _MOST_NAMED)
