"""The checks of one chain on one candidate: receipts first, then runs, the base, the reruns, the verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

from loopwright.adapters.checks.candidate import changes_of
from loopwright.adapters.checks.coverage_floor import NewCode, covered, terms_of
from loopwright.adapters.checks.desk import Desk, side_by_side
from loopwright.adapters.checks.drops import Drops, Whereabouts
from loopwright.adapters.checks.environment import EnvironmentChanged, in_one_environment
from loopwright.adapters.checks.execution import Bench
from loopwright.adapters.checks.ids import lost, unsteady
from loopwright.adapters.checks.judgement import (
    CheckJudgement,
    Ran,
    Standard,
    judge,
    missed,
    needs_base,
    suspects,
)
from loopwright.adapters.checks.order import chains, touches
from loopwright.adapters.checks.receipts import (
    MOST_MARKS,
    Receipt,
    as_result,
    is_of_nothing,
    outcome_on_base,
    receipt_key,
    standard,
    stands,
    stands_for_base,
)
from loopwright.adapters.checks.runnable import cannot_run
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.model import NOT_TOUCHED, NOTHING_YET, CheckResult, Finding, Severity, Tree

Alone = Callable[[str, int], Awaitable[str | None]]  # the outcome of a test in its n-th run alone; None: not there
_RUNS_ON_BASE = 2
_NOWHERE = Whereabouts(frozenset(), frozenset())


async def run_checks(
    desk: Desk,
    specs: tuple[CheckSettings, ...],
    tree: Tree,
    drops: Drops | None = None,
    whole: tuple[CheckSettings, ...] = (),
) -> tuple[CheckResult, ...]:
    """Independent chains run side by side, each on a checkout of its own, which the next runs may have.

    `whole`: `specs` run a part of these.
    """
    async with AsyncExitStack() as stack:
        run, seen = desk.run, desk.seen
        base = seen.base if tree == seen.base else seen.measure
        runs = [
            Chain(
                desk=desk,
                specs=chain,
                tree=tree,
                base_tree=base,
                candidate=bench(tree=tree, commit=run.commit, lacking=seen.paths("removed")),
                base=bench(tree=base, commit=run.base, lacking=seen.paths("added")),
                drops=drops or desk.drops,
                whole={spec.name: spec for spec in whole},
            ).results()
            for chain in chains(specs)
            for bench in (partial(Bench, desk=desk, specs=chain, stack=stack),)
        ]
        found = {result.name: result for results in await side_by_side(runs) for result in results}
    return tuple(found[spec.name] for spec in specs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    desk: Desk
    specs: tuple[CheckSettings, ...]  # in running order
    tree: Tree
    base_tree: Tree
    candidate: Bench
    base: Bench
    drops: Drops
    whole: Mapping[str, CheckSettings]  # by name, where `specs` run a part of their tests

    async def results(self) -> tuple[CheckResult, ...]:
        """One result per check. After a failure, what comes after it is skipped and counts as failed."""
        changes = changes_of(self.desk.seen.classed)
        results: dict[str, CheckResult] = {}
        for spec in self.specs:
            failed = [name for name in spec.after if name in results and not results[name].passed]
            if failed:
                results[spec.name] = _skipped(spec, failed[0])
            elif spec.paths and not touches(changes, spec.paths):
                results[spec.name] = CheckResult(name=spec.name, passed=True, note=NOT_TOUCHED)
            else:
                results[spec.name] = await in_one_environment(spec, partial(self._made, spec))
        return tuple(results.values())

    async def _made(self, spec: CheckSettings) -> CheckResult:
        environment = await self.desk.outfit.digests.of(spec)
        key = receipt_key(self.tree, spec.name, spec.run, environment + self.drops.mark)
        held = await self.desk.book.find(key)
        if held is not None and await self._still_stands(spec, held, environment):
            return _told(spec, held)
        ran = await self._on_candidate(spec, environment)
        receipt = await self.desk.receipt(spec, ran, tree=self.tree, key=key, environment=environment)
        base = await self._base(spec, receipt) if needs_base(spec, ran) else None
        base = await self._collected_twice(spec, ran, base)
        judged = await self._judged(spec, ran, base)
        if self.drops.any and base is not None:
            wanted = standard(base, await self.desk.outfit.ids_of(base), self.drops.ids)
            judged = replace(judged, lost=lost(wanted.ids, ran.ids, wanted.may_drop))
        receipt = _with(receipt, judged, base_missing=needs_base(spec, ran) and base is None)
        if ran.finished:
            await self.desk.book.keep(receipt)
        return replace(
            _told(spec, receipt),
            reused=False,
            seconds=ran.seconds,
            receipt=key if ran.finished else "",
            unable=cannot_run(spec, ran),
        )

    async def _run(self, spec: CheckSettings, bench: Bench, environment: str) -> Ran:
        ran = await bench.run(spec)
        if await self.desk.outfit.digests.of(spec) != environment:
            raise EnvironmentChanged
        return ran

    async def _on_candidate(self, spec: CheckSettings, environment: str) -> Ran:
        ran = await self._run(spec, self.candidate, environment)
        if spec.report != "coverage" or ran.report is None:
            return ran
        seen, outfit = self.desk.seen, self.desk.outfit
        code = NewCode(
            source=outfit.source,
            base=seen.base,
            candidate=self.tree,
            changes=changes_of(seen.classed),
            protected=outfit.protected,
        )
        new = await code.lines(ran.lines)
        return covered(spec, ran, new, await code.left_out(ran.lines, new))

    async def _on_base(self, spec: CheckSettings, environment: str) -> Ran:
        """Nothing is new on the base."""
        ran = await self._run(spec, self.base, environment)
        return covered(spec, ran, {}) if spec.report == "coverage" and ran.report is not None else ran

    async def _still_stands(self, spec: CheckSettings, held: Receipt, environment: str) -> bool:
        """A pass holds on any base, as long as it has all tests of that base; what is new hangs on the base."""
        run = self.desk.run
        if not stands(held, base=run.base, step=run.step) or held.terms != terms_of(spec, self.desk.outfit.protected):
            return False
        is_by_word = self.drops.all and bool(self.drops.mark)  # then it is bound to that word, and may be of nothing
        if is_of_nothing(held, spec) and not (spec.may_be_empty or is_by_word):
            return False
        if spec.report == "coverage" and held.base != self.desk.run.base:
            return False
        if held.base == self.desk.run.base or held.tests is None:
            return True
        base = await self._base(spec, replace(held, environment=environment))
        wanted = await self._standard(spec, base)
        if wanted.tests is not None and held.tests < wanted.tests:
            return False
        return not lost(wanted.ids, await self.desk.outfit.ids_of(held), wanted.may_drop)

    async def _base(self, spec: CheckSettings, candidate: Receipt) -> Receipt | None:
        """The base's own receipt, made now if there is none yet. None: the base does not run to its end."""
        if self.base_tree == self.tree:
            return candidate
        spec = self.whole.get(spec.name, spec)
        key = receipt_key(self.base_tree, spec.name, spec.run, candidate.environment)
        held = await self.desk.book.find(key)
        is_measured_alike = held is not None and held.terms == terms_of(spec, self.desk.outfit.protected)
        if held is not None and is_measured_alike and stands_for_base(held, spec, self.desk.run.loop):
            return held
        ran = await self._on_base(spec, candidate.environment)
        if not ran.finished:
            return None
        made = await self.desk.receipt(spec, ran, tree=self.base_tree, key=key, environment=candidate.environment)
        # There is nothing of a candidate in it: what it writes it may.
        made = _with(made, judge(spec, ran, Standard(bent=frozenset(ran.bent), wrote=ran.wrote)))
        await self.desk.book.keep(made)
        return made

    async def _judged(self, spec: CheckSettings, ran: Ran, base: Receipt | None) -> CheckJudgement:
        measure = await self._standard(spec, base)
        spec = replace(spec, may_be_empty=spec.may_be_empty or self.drops.leave_none(measure))
        flaky = [test for test in suspects(spec, ran, measure) if await self._flips(spec, test, base)]
        return judge(spec, ran, measure, tuple(flaky))

    async def _standard(self, spec: CheckSettings, base: Receipt | None) -> Standard:
        tests = await self.desk.outfit.ids_of(base)
        files_of = (self.desk.where(spec.run) if self.drops.go_by_file else _NOWHERE).of(tests)
        return standard(base, tests, self.drops.among(tests, files_of))

    async def _collected_twice(self, spec: CheckSettings, ran: Ran, base: Receipt | None) -> Receipt | None:
        """The base, run once more if tests seem lost: ids that differ from run to run measure nothing."""
        came_to_none = not ran.ids and not ran.tests
        is_alone = base is None or base.collected > 1 or self.base_tree == self.tree
        if base is None or is_alone or came_to_none or not missed(ran, await self._standard(spec, base)):
            return base
        again = await self._on_base(spec, base.environment)
        if not again.finished:
            return base
        found = sorted(unsteady(await self.desk.outfit.ids_of(base), again.ids))
        twice = replace(base, unsteady=tuple(found), collected=base.collected + 1)
        await self.desk.book.keep(twice)
        return twice

    async def _flips(self, spec: CheckSettings, test: str, base: Receipt | None) -> bool:
        return await flips(
            test,
            candidate=lambda test, turn: self.candidate.rerun(spec, test, turn),
            base=lambda test, turn: self.base.rerun(spec, test, turn),
            on_base=outcome_on_base(base, test) if self.base_tree != self.tree else None,
        )


def _with(receipt: Receipt, judged: CheckJudgement, *, base_missing: bool = False) -> Receipt:
    notes = (receipt.note, judged.note, "the base could not be run: nothing to compare with" if base_missing else "")
    return replace(
        receipt,
        result="pass" if judged.passed else "fail",
        forgiven=judged.forgiven,
        failures=judged.failures,
        flaky=judged.flaky,
        known=judged.known,
        gone=judged.lost.gone[:MOST_MARKS],
        newly_skipped=judged.lost.skipped[:MOST_MARKS],
        note="; ".join(filter(None, notes)),
    )


def _told(spec: CheckSettings, receipt: Receipt) -> CheckResult:
    found = as_result(receipt)
    note = "; ".join(filter(None, (found.note, NOTHING_YET)))
    return replace(found, note=note) if is_of_nothing(receipt, spec) else found


def _skipped(spec: CheckSettings, failed: str) -> CheckResult:
    why = f"skipped: {failed} failed"
    finding = Finding(
        severity=Severity.HIGH, category="checks", rule=f"skipped {spec.name}", issue=f"check {spec.name!r} {why}"
    )
    return CheckResult(name=spec.name, passed=False, failures=(identify(finding),), note=why)


async def flips(test: str, *, candidate: Alone, base: Alone, on_base: str | None) -> bool:
    """Whether a test that failed on the candidate is flaky.

    `on_base` is how it came out in the full run on the base, where that is known. A test that
    flips with the candidate only is a failure: the change made it so.
    """
    if await candidate(test, 0) != "passed":
        return False
    seen = {on_base} if on_base else set()
    for turn in range(_RUNS_ON_BASE):
        outcome = await base(test, turn)
        if outcome not in ("passed", "failed"):
            return False
        seen.add(outcome)
        if len(seen) > 1:
            return True
    return False
