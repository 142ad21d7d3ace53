"""One verification: the judging run, the landing run, the trial, the canary; and one verdict of all of them."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, replace

from loopwright.adapters.checks.candidate import changes_of
from loopwright.adapters.checks.demands import demanded
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.drops import Drops
from loopwright.adapters.checks.ignored_files import with_ignored_files
from loopwright.adapters.checks.judgement import COVERED, FEWER, FLOOR, UNSURE
from loopwright.adapters.checks.laboratory import look_at
from loopwright.adapters.checks.package_places import refuse_other_trees
from loopwright.adapters.checks.required import WEAK, is_weak, to_land
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import CheckResult, Finding, Severity
from loopwright.kernel.trust import Canary, Claim, Classed, FileClass

_OF_TESTS = (FileClass.CHANGED_TEST, FileClass.PRODUCT)  # what is held back of a product file are the tests inside it
_NAMED = 5  # in a sentence
_IDS_GONE = ("ids-gone", "newly-skipped")
_BY_NUMBER = (FEWER, UNSURE)
_ALONE = "tests that landed before pass only together with the tests that come now: without these they fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    desk: Desk
    specs: tuple[CheckSettings, ...]

    async def preflight(self) -> ChecksReported:
        """The base itself: what cannot run here never will, and what is red was so before anybody was paid."""
        tree, key = self.desk.seen.base, self.desk.run.key
        try:
            await refuse_other_trees(self.desk, self.specs)
            ran = await self.desk.results(self.specs, tree)
        except CheckNotRunnable as error:
            return ChecksReported(key=key, tree=tree, results=(), unable=(str(error),))
        results = tuple(with_ignored_files(each, self.desk.outfit.root, self.desk.environment) for each in ran)
        unable = tuple(result.unable for result in results if result.unable)
        weak = () if unable or not await is_weak(self.desk, self.specs, results) else (WEAK,)
        return ChecksReported(key=key, tree=tree, results=results, unable=unable + weak)

    async def report(self, signs: Awaitable[tuple[Finding, ...]]) -> ChecksReported:
        """The landing run can only fail, and is the judging run where both trees are the same."""
        seen, differs = self.desk.seen, self.desk.seen.landing != self.desk.seen.judging
        # How much of the new code tests reach is a matter of the new tests, too.
        judged = tuple(spec for spec in self.specs if not differs or spec.report != "coverage")
        lands = to_land(self.desk, self.specs)
        drops = self.desk.drops
        judges = replace(drops, all=differs, mingled=seen.mingled)
        judging = await self.desk.results(judged if differs else lands, seen.judging, judges)
        judging = tuple(map(_without_floor, judging)) if differs else judging
        landing: tuple[CheckResult, ...] = ()
        if differs and _is_green(judging):
            landing = await self.desk.results(lands, seen.landing, replace(drops, added_to=seen.added_to))
        findings = await signs
        failed, told = await self._by_what_landed(judges) if _is_green((*judging, *landing)) else ((), ())
        landing, findings = failed or landing, (*findings, *told)
        green = _is_green((*judging, *landing))
        also = await demanded(self.desk) if green else ()
        # A loop of before had no preflight to say so, and no maker can mend it. What failed may have come to no count.
        if green and self.desk.run.trust.in_force and await is_weak(self.desk, lands, (*judging, *landing)):
            findings = (*findings, engine_finding("weak", WEAK))
        whole = await self._with_held() if green else ()
        own = await self._own_tests_fail(whole, judging)
        is_refuted = any(each.severity is Severity.HIGH for each in own) or not _is_green(also)
        canary = await self._canary(judging, landing, whole) if green and not is_refuted else None
        return ChecksReported(
            key=self.desk.run.key,
            tree=seen.judging,
            results=judging,
            landing=landing,
            findings=(*findings, *own),
            lands=seen.landing,
            held=changes_of(seen.held),
            nothing_else=self._leaves_nothing(judging, canary),
            claim=await self._claim(judging, landing) if _is_green(also) else None,
            canary=canary,
            also=also,
            would_drop=_gone(whole),
            written=_written(seen.classed),
        )

    async def _by_what_landed(self, judges: Drops) -> tuple[tuple[CheckResult, ...], tuple[Finding, ...]]:
        """Tests of before also pass by themselves: those that come now could patch what they look at. And all of them
        are still run: the product could make them vanish."""
        desk, seen = self.desk, self.desk.seen
        apart = tuple(spec for spec in self.specs if spec.report != "coverage")
        alone: tuple[CheckResult, ...] = ()
        if seen.earlier is not None:
            alone = tuple(map(_without_floor, await desk.results(apart, seen.earlier, judges)))
            if not _is_green(alone):
                return alone, (engine_finding("needs-its-own-tests", _ALONE),)
        if seen.before is None:
            return (), ()
        now = alone or await desk.results(apart, seen.landing, judges)
        then = await desk.results(apart, seen.before, judges)
        missed = await desk.outfit.not_run([each.receipt for each in then], [each.receipt for each in now], desk.book)
        return (), (engine_finding("landed-tests-gone", _not_run(missed)),) if missed else ()

    def _leaves_nothing(self, judging: tuple[CheckResult, ...], canary: Canary | None) -> bool:
        """Where the base has no test, new ones have to show something: what lands besides them is not enough."""
        seen, is_test = self.desk.seen, self.desk.steering.layout.is_test
        if seen.leaves_nothing(is_test):
            return True
        counts = [result.tests for result in judging if result.tests is not None]
        is_shown = canary is None or canary.said != "not-shown"
        return bool(counts) and not any(counts) and not is_shown and seen.holds_more_than_tests(is_test)

    async def _claim(self, judging: tuple[CheckResult, ...], landing: tuple[CheckResult, ...]) -> Claim | None:
        """What only a person can allow. Nothing is installed before it is approved, so that a manifest is not tried."""
        seen, ran = self.desk.seen, (*judging, *landing)
        changes = changes_of(seen.open)
        if _is_green(ran):
            return Claim(changes=changes, at_once=True) if seen.waiting else None
        if not changes:
            return _of_gone_alone(ran)
        failing = _failing(ran)
        new = await self._new(failing, judging) if landing else ()
        claim = Claim(changes=changes, failing=tuple(each for each in failing if each not in new), new=new)
        if any(each.is_manifest for each in seen.open):
            return await self._of_manifest(claim)
        trial = await self.desk.results(self.specs, seen.whole, replace(self.desk.drops, any=True))
        return replace(claim, dropped=_gone(trial)) if _is_green(trial) else None

    async def _of_manifest(self, claim: Claim) -> Claim:
        """What was red on the base may fail for another reason, or for want of what the manifest brings."""
        red = frozenset(_failing(await self.desk.results(self.specs, self.desk.seen.base)))
        before = tuple(each for each in claim.failing if each in red)
        failing = tuple(each for each in claim.failing if each not in red)
        return replace(claim, failing=failing, before=before, at_once=True)

    async def _new(self, tests: tuple[str, ...], judging: tuple[CheckResult, ...]) -> tuple[str, ...]:
        """Those that came with the candidate: the run that judged, with all tests of the base, has no such id."""
        desk = self.desk
        known = {test for each in judging for test, _ in await desk.outfit.ids(each.receipt, desk.book)}
        return tuple(test for test in tests if known and test not in known)

    async def _with_held(self) -> tuple[CheckResult, ...]:
        """The runs with what is held back: whoever decides is to see which tests an approval would let go."""
        held = self.desk.seen.held
        if any(each.is_manifest for each in held) or not any(each.kind in _OF_TESTS for each in held):
            return ()
        return await self.desk.results(self.specs, self.desk.seen.whole, replace(self.desk.drops, any=True))

    async def _own_tests_fail(
        self, whole: tuple[CheckResult, ...], judging: tuple[CheckResult, ...]
    ) -> tuple[Finding, ...]:
        """New tests of the candidate say that its code is wrong, and stand where tests of the base were changed, too:
        to hold them back would hide it.

        Of a test that the base has, the base's version counts. Where a judge's file is held back too, or no test is
        what failed, nobody knows whose fault it is. All that is only told.
        """
        held = self.desk.seen.held
        if _is_green(whole) or not self.desk.run.trust.in_force:
            return ()
        failing = _failing(whole)
        new = await self._new(failing, judging)
        paths = _some(tuple(each.change.path for each in held))
        is_own = new and all(each.kind in _OF_TESTS for each in held)
        told = (
            f"New tests of yours fail with your own code: {_some(new)}; they would be held back ({paths}), and the"
            " tests of the base pass, but what you say yourself must hold: mend the code, or these tests"
            if is_own
            else f"with what is held back ({paths}) the checks do not pass: {_some(failing) or _some(_red(whole))}"
        )
        severity = Severity.HIGH if is_own else Severity.MEDIUM
        return (engine_finding("own-tests-fail", told, severity=severity, file=held[0].change.path),)

    async def _canary(
        self, judging: tuple[CheckResult, ...], landing: tuple[CheckResult, ...], whole: tuple[CheckResult, ...]
    ) -> Canary | None:
        seen = self.desk.seen
        if seen.landing == seen.base:
            return None  # nothing lands that could be broken
        if self.desk.run.trust.tests_to_come and not any(result.tests for result in judging):
            return None  # the base has no test that could notice it, and others are still to be written
        found = await look_at(self.desk, self.specs, judging, landing)
        if found.said != "untested-change" or not whole or not _is_green(whole):
            return found
        with_held = replace(self.desk, seen=replace(seen, landing=seen.whole))
        if (await look_at(with_held, self.specs, judging, whole)).said != "noticed":
            return found
        paths = _some(tuple(each.change.path for each in seen.held))
        told = f"Only tests that are held back notice when the change is broken on purpose ({paths}):"
        return replace(found, sentence=f"{told} put new tests into a file of their own, or a person approves these.")


def _written(classed: tuple[Classed, ...]) -> tuple[str, ...]:
    """Tests of agents. What the base has elsewhere is none of them."""
    return tuple(each.change.path for each in classed if each.kind is FileClass.TEST and not each.change.moved)


def _is_green(results: tuple[CheckResult, ...]) -> bool:
    return all(result.passed for result in results)


def _without_floor(result: CheckResult) -> CheckResult:
    """How much its tests run is asked of the landing run, which has the new ones as well."""
    if not result.failures or any(not each.rule.startswith(FLOOR) for each in result.failures):
        return result
    return replace(result, passed=True, failures=(), note="what it covers is measured with the new tests")


def _failing(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    failures = (each for result in results for each in result.failures)
    return tuple(dict.fromkeys(each.rule for each in failures if each.category == "tests" and each.rule not in COVERED))


def _red(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    return tuple(result.name for result in results if not result.passed)


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _gone(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for result in results for test in result.gone))


def _not_run(tests: tuple[str, ...]) -> str:
    named = ", ".join(tests[:_NAMED]) + (f" and {len(tests) - _NAMED} more" if tests[_NAMED:] else "")
    return f"tests that landed before are no longer run, or skipped now: {named}"


def _of_gone_alone(results: tuple[CheckResult, ...]) -> Claim | None:
    """Nothing is wrong but that tests of the base are gone: a person may let exactly those go."""
    failures = [each for result in results for each in result.failures]
    if not failures or any(not each.rule.startswith((*_IDS_GONE, *_BY_NUMBER)) for each in failures):
        return None
    return Claim(
        dropped=_gone(results),
        by_number=any(each.rule.startswith(_BY_NUMBER) for each in failures),
        at_once=any(each.rule.startswith(UNSURE) for each in failures),
    )
