"""The checks port over real commands: a candidate is taken apart by class, verified, and told in one report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.adapters.checks.candidate import Candidate, changes_of, composed, is_altered_test, without_tests
from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.desk import Desk
from loopwright.adapters.checks.hidden_tests import conceal, judge_hidden, try_on_base
from loopwright.adapters.checks.order import as_trusted, at_least_one, selected, whatever_is_there
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.receipts import ReceiptBook
from loopwright.adapters.checks.runners.scripts import steering_files
from loopwright.adapters.checks.tamper_signs import found_in
from loopwright.adapters.checks.verification import Verification
from loopwright.adapters.checks.watched_files import watched
from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Level
from loopwright.kernel.model import Change, Commit
from loopwright.kernel.trust import CanaryRule, Classed, FileClass, LandedBefore, RedTests, Trust
from loopwright.ports.agent import Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined

_LARGEST_SCRIPT = 256 * 1024
_TESTS = (FileClass.TEST, FileClass.CHANGED_TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandChecks:
    """Implements `ports.checks.Checks`."""

    specs: tuple[CheckSettings, ...]
    outfit: Outfit
    classifier: Classifier
    canary: CanaryRule = "gate"
    changed_tests: Literal["land", "ask"] = "land"
    unshown: Literal["gate", "land"] = "gate"
    parallel: int = 4
    demand_limit: float = 600.0  # seconds, as a check has them that says nothing else

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        seen = await self._candidate(await self._classifier(trust), commit, trust, approved)
        if untried:
            free = (
                each for each in seen.classed if not (each.allowed or each in seen.gated or each.change in approved)
            )
            altered = frozenset(each.change.path for each in free if is_altered_test(each))
            seen = await without_tests(seen, altered, self.outfit.checkouts)
        return Examined(
            gated=changes_of(seen.gated),
            evidence=seen.evidence,
            lands=seen.landing,
            held=changes_of(seen.held),
            put_back=seen.put_back,
            tests=tuple(each.change.path for each in seen.classed if each.kind in _TESTS),
        )

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        held = frozenset(await self.outfit.source.paths(base))
        is_test = await (await self._classifier(trust)).added_tests(trust.base)
        return lambda path: path not in held and is_test(path)

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        classed = await (await self._classifier(trust)).classify(before, after)
        return await self.outfit.compare(classed, before, after)

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        began = self.outfit.clock.monotonic()
        specs = as_trusted(selected(self.specs, run.names), run.trust)
        own_base = run.after.commit if run.after.alone else run.base  # a task on the merged tree: what landed before
        run = replace(run, trust=run.trust.on(run.base), base=run.trust.on(run.base).base)
        classifier = await self._classifier(run.trust)
        seen = await self._candidate(classifier, run.commit, run.trust, run.approved)
        seen, kept = await self._with_landed_tests(classifier, seen, run)
        seen = await self._with_red_tests(classifier, seen, run)
        commands = tuple(spec.run for spec in self.specs)
        source = self.outfit.source
        known, paths = await classifier.steering(run.base), frozenset(await source.paths(run.base))
        named = known.judging_files(paths)
        desk = Desk(
            outfit=self.outfit,
            run=run,
            seen=seen,
            texts=await source.texts(run.base, steering_files(commands), limit=_LARGEST_SCRIPT),
            paths=paths,
            steering=known,
            watched=watched(paths, named & paths),
            named=named,
            watch=watch,
            slots=asyncio.Semaphore(max(1, self.parallel)),
            book=ReceiptBook(self.outfit.store, run.loop),
            demand_limit=self.demand_limit,
        )
        report = conceal(await judge_hidden(desk, specs, await self._reported(desk, specs)), run.hidden)
        if run.hidden.files:
            await asyncio.to_thread(self.outfit.checkouts.forget)
        canary, evidence = replace(report.canary, rule=self.canary) if report.canary else None, report.evidence
        if self.canary == "off" and evidence and not evidence.witnesses:
            evidence = replace(evidence, level=Level.NOT_SHOWN)
        is_tried = not (run.preflight or run.hidden.must_fail)
        compared = await self._changed_code(classifier, seen, own_base, run) if is_tried else (False, False, ())
        return replace(
            report,
            canary=canary,
            evidence=evidence,
            unshown=self.unshown,
            seconds=self.outfit.clock.monotonic() - began,
            rests_on=desk.book.names,
            kept=kept,
            same_product=compared[0],
            alters_code=compared[1],
            changed_code=compared[2],
        )

    async def _changed_code(
        self, classifier: Classifier, seen: Candidate, base: Commit, run: ChecksRun
    ) -> tuple[bool, bool, tuple[str, ...]]:
        """Return whether the product that would land is equal after parsing, whether it has added or altered code, and
        the changed files that are not equal.

        Against the loop's own base: what earlier parts of the same work changed is not this one's.
        """
        is_own = await self.outfit.source.tree(base) != seen.base
        classed = await classifier.classify(base, run.commit) if is_own else seen.classed
        found = await self.outfit.compare(classed, base, run.commit)
        product = (each for each in classed if each.kind is FileClass.PRODUCT)
        with_tests = (each.change.path for each in product if each.is_gated or each.judged is not None)
        held = {each.change.path for each in seen.held}
        let_in = {change.path for change in run.approved} - held
        is_same = held.issuperset(found.code) and not any(each.change.path in let_in for each in classed)
        code = tuple(dict.fromkeys((*found.code, *found.rest, *with_tests)))
        return bool(classed) and is_same, not held.issuperset(found.altered), code

    async def _reported(self, desk: Desk, specs: tuple[CheckSettings, ...]) -> ChecksReported:
        if desk.run.demands_only:
            return await Verification(desk=desk, specs=specs).before_work()
        if desk.run.hidden.must_fail:
            return await try_on_base(desk, whatever_is_there(specs, tuple(desk.paths)))
        if desk.run.preflight:
            every = whatever_is_there(specs, tuple(desk.paths))
            return await Verification(desk=desk, specs=every).preflight()
        asks = self.changed_tests == "ask" or desk.run.trust.keeps_behaviour
        every = at_least_one(specs, desk.seen.classed, desk.texts)
        verification = Verification(desk=desk, specs=every, asks_about_tests=asks)
        # While the checks run there is time for it.
        commands = tuple(spec.run for spec in self.specs)
        signs = asyncio.create_task(found_in(desk, commands, judges=desk.named & desk.paths))
        try:
            return await (await verification.without_allowed_tests()).report(signs)
        finally:
            signs.cancel()  # nobody asks for them any more, if they are not there by now
            await asyncio.gather(signs, return_exceptions=True)

    async def _with_landed_tests(
        self, classifier: Classifier, seen: Candidate, run: ChecksRun
    ) -> tuple[Candidate, tuple[str, ...]]:
        """What agents wrote judges nobody; but what landed with one task can fail another, as it landed.

        It is then as if that had been the base: what changes it is put back, and it judges what is made now by itself.
        """
        before = run.after
        if not before.commit or before.commit == run.trust.base:
            return seen, ()
        let = frozenset(each.change.path for each in (*seen.approved, *(it for it in seen.classed if it.allowed)))
        moved = await self.outfit.source.changes(before.began, before.target) if before.target else ()
        theirs = frozenset(change.path for change in moved)
        since = tuple(
            replace(each, allowed=True) if _may_change(each, let, before) else each
            for each in await classifier.classify(before.commit, run.commit)
            if each.change.path not in theirs
        )
        outfit, gated = self.outfit, frozenset(each.change.path for each in since if each.is_gated)
        landing = seen.landing
        if gated:
            landing = await outfit.checkouts.compose(landing, taken_from=before.commit, paths=gated)
        seen = replace(seen, landing=landing, start=await outfit.source.tree(before.commit), made=since)
        alters = any(is_altered_test(each) and not each.allowed for each in since)
        if before.alone or alters:
            on = Trust(base=before.commit)
            then = await composed(since, run.commit, on, run.approved, checkouts=outfit.checkouts, source=outfit.source)
            is_fixed = not before.allow and not alters and not any(each.allowed for each in since)
            earlier = await outfit.checkouts.compose(then.judging, taken_from=seen.judging, paths=theirs)
            earlier_or_none = earlier if earlier != landing else None
            seen = replace(seen, earlier=earlier_or_none, before=then.base if is_fixed else None)
        held = frozenset(each.change.path for each in seen.held)  # of these another sentence tells
        return seen, tuple(sorted(gated - held))

    async def _with_red_tests(self, classifier: Classifier, seen: Candidate, run: ChecksRun) -> Candidate:
        """Add the tree in which changed tests that were red are as they were then; the oldest version wins."""
        tree, changed = seen.landing, dict[str, Classed]()
        for red in reversed(run.red):
            commit = red.commit or run.trust.base
            changes = await _changed_tests(classifier, commit, run)
            own = await self._own_tests(red)
            found = {each.change.path: each for each in changes if each.change.path not in own}
            texts = {path: each.judged for path, each in found.items() if each.holds_tests}
            tree = await self.outfit.checkouts.compose(tree, taken_from=commit, paths=frozenset(found), texts=texts)
            changed |= found
        return replace(seen, red=tree if changed else None, red_changes=changes_of(tuple(changed.values())))

    async def _own_tests(self, red: RedTests) -> frozenset[str]:
        """Return what the maker of these tests changed, and nobody after it: such a test is the maker's to mend."""
        if not red.own:
            return frozenset()
        began, left = red.own
        made, later = [await self.outfit.source.changes(*step) for step in ((began, left), (left, red.commit))]
        return frozenset(each.path for each in made) - {each.path for each in later}

    async def _classifier(self, trust: Trust) -> Classifier:
        """With what is known of the base by now: all that asks for classes asks the same one."""
        yielding = await self.outfit.files_with_tests(self.specs, trust.base)
        return replace(self.classifier, allow=trust.allow, artifacts=trust.artifacts, yielding=yielding)

    async def _candidate(
        self, classifier: Classifier, commit: Commit, trust: Trust, approved: tuple[Change, ...]
    ) -> Candidate:
        classed = await classifier.classify(trust.base, commit)
        outfit = self.outfit
        return await composed(classed, commit, trust, approved, checkouts=outfit.checkouts, source=outfit.source)


async def _changed_tests(classifier: Classifier, since: Commit, run: ChecksRun) -> tuple[Classed, ...]:
    """Return the tests of `since` that the candidate changes, allowed or not: the base's, or those added to it."""
    base = run.trust.base
    added = {each.change.path for each in await classifier.classify(base, since) if each.kind is FileClass.TEST}
    changed = await replace(classifier, allow=()).classify(since, run.commit)
    own = (each for each in changed if since == base or each.change.path in added)
    return tuple(each for each in own if each.holds_tests or is_altered_test(each))


def _may_change(each: Classed, let: frozenset[str], before: LandedBefore) -> bool:
    """By a person's word, or a test that the same part of the work has landed."""
    path = each.change.path
    return path in let or before.is_allowed(path) or (is_altered_test(each) and path in before.own)
