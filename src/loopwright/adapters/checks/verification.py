"""One verification: the judging run, the landing run, the trials; one verdict of all of them, and what they show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from loopwright.adapters.checks.altered_tests import Alterations, AlteredTests
from loopwright.adapters.checks.canary.answers import count_tests
from loopwright.adapters.checks.canary.hollow import digest
from loopwright.adapters.checks.canary.look import look_at
from loopwright.adapters.checks.canary.plan import to_break
from loopwright.adapters.checks.candidate import changes_of, is_altered_test, without_allowed_tests, without_tests
from loopwright.adapters.checks.demands import demanded
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.drops import Drops
from loopwright.adapters.checks.ids import Outcomes, find_file, loads_now, place_of, surroundings
from loopwright.adapters.checks.ignored_files import with_ignored_files
from loopwright.adapters.checks.judgement import COVERED, FEWER, FLOOR
from loopwright.adapters.checks.landing_scope import scoped_to
from loopwright.adapters.checks.package_places import refuse_other_trees
from loopwright.adapters.checks.receipts import receipt_key
from loopwright.adapters.checks.red_tests import find_still_red
from loopwright.adapters.checks.reports import LARGEST, Outcome
from loopwright.adapters.checks.required import WEAK, is_weak, to_land
from loopwright.adapters.checks.runners.table import Phase
from loopwright.adapters.checks.sequence import run_checks
from loopwright.adapters.checks.sources_of_tests import last_name
from loopwright.adapters.checks.trial_runs import Trial, TrialRuns
from loopwright.adapters.checks.witnesses import Shown, WitnessCandidates, WitnessSearch, candidates_of
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import Change, CheckResult, Finding
from loopwright.kernel.trust import Canary, Claim, Classed, FileClass, tests_of
from loopwright.kernel.wording import join_names

T = TypeVar("T")

_NAMED = 5  # in a sentence
_IDS_GONE = ("ids-gone", "newly-skipped")
_NOT_RUN = "tests that landed before are no longer run, or skipped now"
_ALONE = "tests that landed before pass only together with the tests that come now: without these they fail"
_ASSERT_NOTHING = (
    "The new tests run the change and pass whatever it returns: they assert nothing. Write a test that looks at what"
    " the changed code does."
)
_LEVELS = {"noticed": Level.GUARDED, "not-shown": Level.NOT_SHOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    desk: Desk
    specs: tuple[CheckSettings, ...]
    asks_about_tests: bool = False  # a person is asked about every altered test of the base
    trials: list[Trial] = field(default_factory=list)

    async def preflight(self) -> ChecksReported:
        """The base itself: what cannot run here never will, and what is red was so before anybody was paid."""
        tree, key = self.desk.seen.base, self.desk.run.key
        try:
            await refuse_other_trees(self.desk, self.specs)
            ran = await run_checks(self.desk, self.specs, tree)
        except CheckNotRunnable as error:
            return ChecksReported(key=key, tree=tree, results=(), unable=(str(error),))
        results = tuple(with_ignored_files(each, self.desk.outfit.root, self.desk.environment) for each in ran)
        unable = tuple(result.unable for result in results if result.unable)
        weak = () if unable or not await is_weak(self.desk, self.specs, results) else (WEAK,)
        return ChecksReported(key=key, tree=tree, results=results, unable=unable + weak)

    async def before_work(self) -> ChecksReported:
        """The demands alone, on the commit as it is."""
        run, source = self.desk.run, self.desk.outfit.source
        also = await demanded(self.desk, run.commit)
        return ChecksReported(key=run.key, tree=await source.tree(run.commit), results=(), also=also)

    async def without_allowed_tests(self) -> Verification:
        """Judge without the tests that a person let change: in one process they could patch the product for others.

        Where other tests of the base fail without them, or none is left, they judge as the candidate has them.
        """
        desk = self.desk
        if not desk.seen.allowed_tests:
            return self
        apart = replace(desk, seen=await without_allowed_tests(desk.seen, desk.outfit.checkouts))
        whole = await run_checks(desk, self.specs, desk.seen.base)
        rest = tuple(map(_without_floor, await run_checks(apart, self.specs, apart.seen.measure)))
        has_tests = all(left.tests or not each.tests for left, each in zip(rest, whole, strict=True))
        return replace(self, desk=apart) if has_tests and _rules(rest) <= _rules(whole) else self

    async def report(self, signs: Awaitable[tuple[Finding, ...]]) -> ChecksReported:
        """The landing run can only fail, and is the judging run where both trees are the same."""
        ran = await self._run()
        findings = await signs
        failed, told = await self._by_what_landed(ran) if ran.is_green else ((), ())
        ran = replace(ran, landing=failed or ran.landing)
        if ran.is_green and (still_red := await self._still_red(ran)) is not None:
            claim, finding = still_red  # it is green only because a test was changed that was red before
            return replace(self._report_of(ran, (*findings, *told, finding)), claim=claim)
        altered = await self._alterations(ran) if ran.is_green else Alterations()
        judge = self if not altered.weakened else await self._without_weakened(altered)
        return await judge.judged(ran, altered, (*findings, *told))

    async def _still_red(self, ran: Runs) -> tuple[Claim, Finding] | None:
        judging, landing = await self._outcomes(ran.judging), await self._outcomes(ran.landing)
        changed = tuple(change.path for change in self.desk.seen.red_changes)
        names = dict.fromkeys((*judging, *landing))
        now = (_as_landed(judging.get(name, ()), landing.get(name, ()), changed) for name in names)
        return await find_still_red(self.desk, self.specs, {test: how for each in now for test, how in each.items()})

    def _report_of(self, ran: Runs, findings: tuple[Finding, ...]) -> ChecksReported:
        seen = self.desk.seen
        return ChecksReported(
            key=self.desk.run.key,
            tree=seen.judging,
            results=ran.judging,
            landing=ran.landing,
            findings=findings,
            lands=seen.landing,
            held=changes_of(seen.held),
            written=self._unseen_tests(),
        )

    def _unseen_tests(self) -> tuple[str, ...]:
        """Return the tests of agents that land without a person's word. What the base has elsewhere is none of them."""
        seen, approved = self.desk.seen, self.desk.run.approved
        tests = (each for each in seen.classed if each.kind is FileClass.TEST and not each.change.moved)
        told = (each for each in tests if each not in seen.held and not each.allowed and each.change not in approved)
        return tuple(each.change.path for each in told)

    async def judged(self, ran: Runs, altered: Alterations, findings: tuple[Finding, ...]) -> ChecksReported:
        """Judge the candidate without the tests that were weakened, which are held back by now."""
        seen = self.desk.seen
        if altered.weakened and ran.is_green:
            ran = replace(ran, landing=await self._landing(ran.lands) if seen.landing != seen.judging else ())
        also = await demanded(self.desk) if ran.is_green else ()
        if ran.is_green and self.desk.run.trust.in_force and await is_weak(self.desk, ran.lands, ran.all):
            findings = (*findings, engine_finding("weak", WEAK))
        if ran.is_green and self.desk.run.tries_new_tests:
            candidates = await self._candidates(ran, altered.altered)
            findings = (*findings, *await self._search.find_idle(candidates))
        whole = await self._with_held(altered) if ran.is_green else ()
        own = self._own_tests_fail(whole)
        is_good = ran.is_green and not own and _is_green(also)
        shown = await self._shown(ran, altered, also) if is_good else Shown()
        canary = await self._canary(ran, shown) if is_good else None
        evidence = await self._evidence(ran, altered, canary, shown) if is_good else None
        if canary and evidence and (canary.said, evidence.level) == ("noticed", Level.UNTESTED):
            canary = replace(canary, said="untested-change", sentence=_ASSERT_NOTHING)
        return replace(
            self._report_of(ran, (*findings, *own)),
            nothing_else=self._leaves_nothing(ran.judging, canary),
            shared_versions=tuple(each.change.path for each in seen.held if each.shares_version),
            claim=await self._claim(ran, altered) if _is_green(also) else None,
            canary=await self._with_code(canary) if canary and canary.said not in ("noticed", "not-shown") else canary,
            evidence=evidence,
            also=also,
            would_drop=tuple(dict.fromkeys((*self._gone_with(changes_of(seen.held), whole), *altered.dropped))),
            weakened=tuple(each for tests in altered.weakened.values() for each in tests),
        )

    async def _run(self) -> Runs:
        seen = self.desk.seen
        differs = seen.landing != seen.judging
        # How much of the new code tests reach is a matter of the new tests, too.
        judged = tuple(spec for spec in self.specs if not differs or spec.report != "coverage")
        lands = to_land(self.desk, self.specs)
        drops = replace(self.desk.drops, all=differs)
        judging = await run_checks(self.desk, judged if differs else lands, seen.judging, drops)
        judging = tuple(map(_without_floor, judging)) if differs else judging
        landing = await self._landing(lands) if differs and _is_green(judging) else ()
        return Runs(lands=lands, drops=drops, judging=judging, landing=landing)

    async def _landing(self, specs: tuple[CheckSettings, ...]) -> tuple[CheckResult, ...]:
        """Run the candidate's own tests: only those that differ where the command can choose, all if these are red."""
        seen, drops = self.desk.seen, self.desk.drops
        collected = tuple(sorted(self.desk.steering.yielding))
        texts = await self.desk.outfit.source.texts(seen.base, collected, limit=LARGEST)
        if parts := scoped_to(specs, seen, texts):
            results = await run_checks(self.desk, parts, seen.landing, replace(drops, any=True), whole=specs)
            if _is_green(results):
                return results
        return await run_checks(self.desk, specs, seen.landing, replace(drops, altered=seen.altered_tests))

    async def _by_what_landed(self, ran: Runs) -> tuple[tuple[CheckResult, ...], tuple[Finding, ...]]:
        """Tests of before also pass by themselves: those that come now could patch what they look at. And all of them
        are still run: the product could make them vanish."""
        desk, seen = self.desk, self.desk.seen
        apart = tuple(spec for spec in self.specs if spec.report != "coverage")
        alone: tuple[CheckResult, ...] = ()
        if seen.earlier is not None:
            alone = tuple(map(_without_floor, await run_checks(desk, apart, seen.earlier, ran.drops)))
            if not _is_green(alone):
                return alone, (engine_finding("needs-its-own-tests", _ALONE),)
        if seen.before is None:
            return (), ()
        now = alone or await run_checks(desk, apart, seen.landing, ran.drops)
        then = await run_checks(desk, apart, seen.before, ran.drops)
        missed = await desk.outfit.not_run([each.receipt for each in then], [each.receipt for each in now], desk.book)
        return (), (engine_finding("landed-tests-gone", f"{_NOT_RUN}: {join_names(missed, _NAMED)}"),) if missed else ()

    async def _alterations(self, ran: Runs) -> Alterations:
        """Compare the tests that differ with those of the base; a person's word covers the files that it names."""

        async def beside(spec: CheckSettings, altered: frozenset[str]) -> tuple[frozenset[str], tuple[Phase, ...]]:
            candidates = await self._candidates(ran, altered)
            return await self._search.red_without(spec, candidates.get(spec.name, WitnessCandidates()))

        before, judged = await self._outcomes(await self._where_it_began(ran)), await self._outcomes(ran.judging)
        # Where a file did not load, a runner may have run no other: then nobody knows what the base had.
        before = {n: judged[n] if loads_now(each, judged.get(n, ())) else each for n, each in before.items()}
        tests = AlteredTests(runs=self._runs, beside=beside)
        found = await tests.examine(before, await self._outcomes(ran.landing or ran.judging))
        found = found.asked_about() if self.asks_about_tests else found
        return found.without(self._let_in())

    @property
    def _runs(self) -> TrialRuns:
        return TrialRuns(desk=self.desk, specs=self.specs, trials=self.trials)

    @property
    def _search(self) -> WitnessSearch:
        return WitnessSearch(runs=self._runs)

    def _let_in(self) -> frozenset[str]:
        """Return the paths of changes that a person approved, or allowed beforehand."""
        approved = self.desk.run.approved
        return frozenset(each.change.path for each in self.desk.seen.made if each.allowed or each.change in approved)

    async def _where_it_began(self, ran: Runs) -> tuple[CheckResult, ...]:
        """Return a run of the tests that were there when the work began.

        The base's own run, and not the judging one: that has the tests that a person let in.
        """
        seen = self.desk.seen
        if seen.start == seen.base:
            return await run_checks(self.desk, self.specs, seen.base) if count_tests(ran.all) else ran.judging
        if not any(each.kind is FileClass.TEST for each in seen.made):
            return ran.landing or ran.judging
        if seen.earlier is None:
            return ran.judging
        apart = tuple(spec for spec in self.specs if spec.report != "coverage")
        return await run_checks(self.desk, apart, seen.earlier, ran.drops)

    async def _outcomes(self, results: tuple[CheckResult, ...]) -> dict[str, Outcomes]:
        desk = self.desk
        return {each.name: await desk.outfit.ids(each.receipt, desk.book) for each in results if each.receipt}

    async def _without_weakened(self, altered: Alterations) -> Verification:
        paths = frozenset(altered.weakened)
        seen = await without_tests(self.desk.seen, paths, self.desk.outfit.checkouts)
        return replace(self, desk=replace(self.desk, seen=seen))

    def _leaves_nothing(self, judging: tuple[CheckResult, ...], canary: Canary | None) -> bool:
        """Where the base has no test, new ones have to show something: what lands besides them is not enough."""
        seen, is_test = self.desk.seen, self.desk.steering.layout.is_test
        if seen.leaves_nothing(is_test):
            return True
        counts = [result.tests for result in judging if result.tests is not None]
        is_shown = canary is None or canary.said != "not-shown"
        return bool(counts) and not any(counts) and not is_shown and seen.holds_more_than_tests(is_test)

    async def _claim(self, ran: Runs, altered: Alterations) -> Claim | None:
        """What only a person can allow. Nothing is installed before it is approved, so that a manifest is not tried."""
        seen, changes = self.desk.seen, changes_of(self.desk.seen.open)
        if ran.is_green:
            return Claim(changes=changes, at_once=True) if seen.waiting else None
        failing = _failing(ran.all)
        if altered.weakened:  # what is left needs the tests that were held back
            return Claim(changes=changes, failing=failing, dropped=altered.dropped, at_once=True)
        if not _is_green(ran.judging):
            changes = changes_of((*seen.open, *self._contradicting(failing)))
        if not changes:
            return _of_gone_alone(ran.all)
        new = await self._new(failing, ran.judging) if ran.landing else ()
        claim = Claim(
            changes=changes,
            failing=tuple(each for each in failing if each not in new),
            new=new,
            messages=_messages(ran.all, failing),
        )
        if any(each.is_manifest for each in seen.open):
            # Tests of the candidate alone fail: an attempt like others, which its maker may mend.
            return replace(await self._of_manifest(claim), at_once=not ran.landing)
        trial = await run_checks(self.desk, self.specs, seen.whole, replace(self.desk.drops, any=True))
        return replace(claim, dropped=self._gone_with(changes, trial)) if _is_green(trial) else None

    def _gone_with(self, changes: tuple[Change, ...], results: tuple[CheckResult, ...]) -> tuple[str, ...]:
        """Return the tests that are gone in a trial of the whole candidate, without those of other files in it."""
        others = tuple(each.change for each in self.desk.seen.classed if each.change not in changes)
        foreign = tests_of(_gone(results), others, changes)
        return tuple(test for test in _gone(results) if test not in foreign)

    def _contradicting(self, failing: tuple[str, ...]) -> tuple[Classed, ...]:
        """Return the changed files with tests that hold what fails; all of them where something else fails."""
        own = (each for each in self.desk.seen.classed if each.kind is FileClass.TEST and each.change.how != "added")
        tests = (*own, *(each for each in self.desk.seen.classed if each.holds_tests))
        altered = {each.change.path: each for each in tests if each.change.path not in self._let_in()}
        outcomes: Outcomes = tuple((test, "failed") for test in failing)
        files = [self.desk.where(spec.run).of(outcomes) for spec in self.specs]
        held = [{path for files_of in files for path in files_of(test)} for test in failing]
        for test, places in zip(failing, held, strict=True):  # examples are named by the module that they are in
            places |= {path for path in altered if place_of(path) in surroundings(frozenset({test}))}
        if not failing or any(not places & altered.keys() for places in held):
            return tuple(altered.values())
        needed = set[str]().union(*held)
        return tuple(each for path, each in altered.items() if path in needed)

    async def _of_manifest(self, claim: Claim) -> Claim:
        """What was red on the base may fail for another reason, or for want of what the manifest brings."""
        red = frozenset(_failing(await run_checks(self.desk, self.specs, self.desk.seen.base)))
        before = tuple(each for each in claim.failing if each in red)
        failing = tuple(each for each in claim.failing if each not in red)
        return replace(claim, failing=failing, before=before, untried=True)

    async def _new(self, tests: tuple[str, ...], judging: tuple[CheckResult, ...]) -> tuple[str, ...]:
        """Those that came with the candidate: the run that judged, with all tests of the base, has no such id."""
        known = {test for outcomes in (await self._outcomes(judging)).values() for test, _ in outcomes}
        return tuple(test for test in tests if known and test not in known)

    async def _with_held(self, altered: Alterations) -> tuple[CheckResult, ...]:
        """The runs with what is held back: whoever decides is to see which tests an approval would let go.

        Weakened tests were run before they were held back.
        """
        held = tuple(each for each in self.desk.seen.held if each.change.path not in altered.weakened)
        if any(each.is_manifest for each in held) or not any(map(is_altered_test, held)):
            return ()
        return await run_checks(self.desk, self.specs, self.desk.seen.whole, replace(self.desk.drops, any=True))

    def _own_tests_fail(self, whole: tuple[CheckResult, ...]) -> tuple[Finding, ...]:
        """A candidate whose own tests fail never lands, whatever else it changed: holding them back would hide it."""
        if _is_green(whole) or not self.desk.run.trust.in_force:
            return ()
        held = self.desk.seen.held
        paths = join_names([each.change.path for each in held], _NAMED)
        failing = join_names(_failing(whole) or [each.name for each in whole if not each.passed], _NAMED)
        told = f"Your own tests fail: {failing}, with {paths} as you left it; fix the code or the tests"
        return (engine_finding("own-tests-fail", told, file=held[0].change.path),)

    async def _canary(self, ran: Runs, shown: Shown) -> Canary | None:
        seen, run = self.desk.seen, self.desk.run
        if seen.landing == seen.base:
            return None  # nothing lands that could be broken
        if run.trust.tests_to_come and not any(result.tests for result in ran.judging):
            return None  # the base has no test that could notice it, and others are still to be written
        # Against the base of trust more functions are touched than since the work began.
        exercised = shown.exercised if seen.start == seen.base else ()
        since = (run.after.commit,) if run.after.noticed else ()
        asked = " ".join(("canary", seen.base, "reads" if run.trust.tests_to_come else "", *since, "by", *exercised))
        return await self._found_once(Canary, asked, partial(look_at, self._runs, ran.judging, ran.landing, exercised))

    async def _with_code(self, canary: Canary) -> Canary:
        """Note the code that nobody noticed: what a person approves of it holds until that changes."""
        names = canary.missed or to_break(self.desk.seen.classed)
        texts = await self.desk.outfit.contents(self.desk.seen.landing, {name.partition(": ")[0] for name in names})
        return replace(canary, code=tuple((name, digest(texts, name)) for name in names))

    async def _evidence(self, ran: Runs, altered: Alterations, canary: Canary | None, shown: Shown) -> Evidence | None:
        """Say how much the checks show of the change. Where its tests are still to be written, nobody asks.

        Where only new tests notice when the change raises, they have to look at what it returns, too.
        """
        if self.desk.run.trust.tests_to_come:
            return None
        level = _LEVELS.get(canary.said, Level.UNTESTED) if canary else Level.NOT_SHOWN
        witnesses = shown.witnesses
        if canary is not None and canary.where == "landing" and not shown.looks:
            if await self._assert_nothing(ran, altered):
                level, witnesses = Level.UNTESTED, ()
        elif level is Level.GUARDED and await self._search.changes_types_alone():
            level = Level.NOT_SHOWN
        existing = {last_name(each.id) for each in altered.landing}  # a moved test has another id, and is no new one
        seen = self.desk.seen  # what earlier parts of the same work changed is guarded by itself
        without_code = not (await self.desk.outfit.compare(seen.made, seen.start, seen.landing)).code
        level = Level.NOT_SHOWN if without_code and level is Level.GUARDED else level
        return Evidence(
            level=Level.SHOWN if witnesses else level,
            witnesses=witnesses,
            altered_tests=altered.landing,
            uncompared=tuple(path for path in altered.unread if path not in (*altered.weakened, *altered.let_in)),
            idle_tests=tuple(test for test in shown.idle if last_name(test) not in existing),
            without_code=without_code,
        )

    async def _shown(self, ran: Runs, altered: Alterations, also: tuple[CheckResult, ...]) -> Shown:
        if self.desk.run.trust.tests_to_come:
            return Shown()
        red_before = frozenset(each.name for each in also if each.red_before)
        demands = tuple(each for each in self.desk.run.also if each.name in red_before)

        async def find() -> Shown:
            found = await self._search.find(await self._candidates(ran, altered.altered))
            shown = await self._search.find_commands(demands) if demands else ()
            if not found.witnesses and not shown:
                shown = await self._search.find_by_exit_code(ran.judging)
            return replace(found, witnesses=(*found.witnesses, *shown), looks=found.looks or bool(shown))

        commands = tuple(CheckSettings(name=each.name, run=each.argv) for each in demands)
        return await self._found_once(Shown, "witnesses", find, commands)

    async def _assert_nothing(self, ran: Runs, altered: Alterations) -> bool:
        async def find() -> Shown:
            candidates = await self._candidates(ran, altered.altered)
            return Shown(asserts_nothing=await self._search.assert_nothing(candidates))

        return (await self._found_once(Shown, "assertions", find)).asserts_nothing

    async def _found_once(
        self, kind: type[T], what: str, find: Callable[[], Awaitable[T]], also: tuple[CheckSettings, ...] = ()
    ) -> T:
        """Found once for the same trees and commands: what was seen then is seen again."""
        desk, seen = self.desk, self.desk.seen
        marks = " ".join([await desk.outfit.digests.of(spec) for spec in self.specs])
        words = tuple(word for spec in (*self.specs, *also) for word in (spec.name, *spec.run))
        key = receipt_key(seen.landing, f"{what} {seen.start} {seen.judging}", words, marks)
        return await desk.book.find_once(kind, key, find)

    async def _candidates(self, ran: Runs, altered: frozenset[str]) -> dict[str, WitnessCandidates]:
        before = await self._outcomes(await self._where_it_began(ran))
        judging, landing = await self._outcomes(ran.judging), await self._outcomes(ran.landing)
        examples = [
            (place_of(each.change.path), f".{name}") for each in self.desk.seen.made for name in each.holds_tests
        ]
        ids = {test for each in (*judging.values(), *landing.values()) for test, _ in each} if examples else set()
        altered |= {t for t in ids for module, name in examples if t.startswith(f"{module}.") and t.endswith(name)}
        changed = tuple(each.change.path for each in self.desk.seen.made if each.kind is FileClass.TEST)
        counting = count_tests(ran.all)
        red = await self._outcomes(await run_checks(self.desk, self.specs, self.desk.seen.base)) if counting else {}
        return {
            name: candidates_of(
                dict(before.get(name, ())),
                _as_landed(judging.get(name, ()), landing.get(name, ()), changed),
                altered,
                frozenset(test for test, how in red.get(name, ()) if how == "failed"),
            )
            for name in dict.fromkeys((*judging, *landing))
        }


def _as_landed(judging: Outcomes, landing: Outcomes, changed: tuple[str, ...]) -> dict[str, Outcome]:
    """What would land may have the tests of changed files under other ids, and its run may be of these files alone."""
    kept = ((test, how) for test, how in judging if not (landing and find_file(test, changed)))
    return dict((*kept, *landing))


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs that decide."""

    lands: tuple[CheckSettings, ...]  # the checks as the landing run is held to them
    drops: Drops
    judging: tuple[CheckResult, ...]
    landing: tuple[CheckResult, ...] = ()

    @property
    def all(self) -> tuple[CheckResult, ...]:
        return (*self.judging, *self.landing)

    @property
    def is_green(self) -> bool:
        return _is_green(self.all)


def _is_green(results: tuple[CheckResult, ...]) -> bool:
    return all(result.passed for result in results)


def _without_floor(result: CheckResult) -> CheckResult:
    """How much its tests run is asked of the landing run, which has the new ones as well."""
    if not result.failures or any(not each.rule.startswith(FLOOR) for each in result.failures):
        return result
    return replace(result, passed=True, failures=(), note="what it covers is measured with the new tests")


def _failing(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.rule for each in _failures(results)))


def _rules(results: tuple[CheckResult, ...]) -> frozenset[str]:
    return frozenset(each.rule for result in results for each in result.failures)


def _failures(results: tuple[CheckResult, ...]) -> tuple[Finding, ...]:
    failures = (each for result in results for each in result.failures)
    return tuple(each for each in failures if each.category == "tests" and each.rule not in COVERED)


def _messages(results: tuple[CheckResult, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    """Return each failing test with what it says, as its finding has it."""
    said = {each.rule: each.issue for each in _failures(results)}
    return tuple(said[test] for test in tests if test in said)


def _gone(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for result in results for test in result.gone))


def _of_gone_alone(results: tuple[CheckResult, ...]) -> Claim | None:
    """Nothing is wrong but that tests of the base are gone: a person may let exactly those go."""
    failures = [each for result in results for each in result.failures]
    if not failures or any(not each.rule.startswith((*_IDS_GONE, FEWER)) for each in failures):
        return None
    return Claim(dropped=_gone(results), by_number=any(each.rule.startswith(FEWER) for each in failures))
