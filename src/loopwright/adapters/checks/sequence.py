"""The checks of one chain on one candidate: receipts first, then runs, the base, the reruns, the verdict."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.coverage_floor import NewCode, covered
from loopwright.adapters.checks.environment import Digests
from loopwright.adapters.checks.execution import Bench
from loopwright.adapters.checks.ids import Outcomes, file_of, lost, read_back, renumbered, unsteady, written
from loopwright.adapters.checks.judgement import (
    CheckJudgement,
    Ran,
    Standard,
    failures,
    judge,
    mark,
    missed,
    needs_base,
    suspects,
)
from loopwright.adapters.checks.order import touches
from loopwright.adapters.checks.receipts import (
    MOST_MARKS,
    Receipt,
    ReceiptBook,
    as_result,
    outcome_on_base,
    receipt_key,
    standard,
    stands,
    stands_for_base,
)
from loopwright.adapters.checks.runnable import cannot_run
from loopwright.config.settings import CheckSettings
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import matches
from loopwright.kernel.model import NOT_TOUCHED, Blob, Change, CheckResult, Finding, Severity, Tree
from loopwright.ports.checks import ChecksRun
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store

Alone = Callable[[str, int], Awaitable[str | None]]  # the outcome of a test in its n-th run alone; None: not there
_RUNS_ON_BASE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """What really lies in the two checkouts."""

    candidate: Tree
    base: Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """Which tests of the base may be gone: by a person's word on their ids or files; in a trial any.

    `apart` are names of tests and groups in files that are left out of this run, for ids that name no file.
    """

    ids: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()  # patterns
    any: bool = False
    all: bool = False  # those of a person's word may be all there are: a run with other tests follows
    added_to: frozenset[str] = frozenset()  # files of tests in which cases may have got other numbers
    apart: frozenset[str] = frozenset()

    def among(self, tests: Outcomes) -> frozenset[str]:
        named = "|".join(map(re.escape, sorted(self.apart))) or "(?!)"
        is_apart = re.compile(rf"(?:^|[ .>/:#])(?:{named})(?:$|[ .>/:#\[])")
        let_go = {test for test, _ in tests if self.any or self._lets_go(file_of(test)) or is_apart.search(test)}
        return self.ids | let_go

    def _lets_go(self, file: str) -> bool:
        return bool(file) and any(matches(file, pattern) for pattern in self.files)

    @property
    def mark(self) -> str:
        """A pass by somebody's word is a pass for whoever has it, and for nobody else."""
        if not (self.ids or self.files or self.any or self.added_to or self.apart):
            return ""
        others = (" all" if self.all else "", *(f" {sorted(each)}" for each in (self.added_to, self.apart)))
        return f"{sorted(self.ids)} {self.files} {self.any}{''.join(others)}"

    def leave_none(self, tests: Outcomes) -> bool:
        return self.all and bool(tests) and {test for test, _ in tests} <= self.among(tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    specs: tuple[CheckSettings, ...]  # in running order
    run: ChecksRun
    trees: Trees
    candidate: Bench
    base: Bench
    store: Store
    book: ReceiptBook
    clock: Clock
    digests: Digests
    new_code: NewCode
    drops: Drops = field(default_factory=Drops)

    async def results(self, changes: tuple[Change, ...]) -> tuple[CheckResult, ...]:
        """One result per check. After a failure, what comes after it is skipped and counts as failed."""
        results: dict[str, CheckResult] = {}
        for spec in self.specs:
            failed = [name for name in spec.after if name in results and not results[name].passed]
            if failed:
                results[spec.name] = _skipped(spec, failed[0])
            elif spec.paths and not touches(changes, spec.paths):
                results[spec.name] = CheckResult(name=spec.name, passed=True, note=NOT_TOUCHED)
            else:
                results[spec.name] = await self._result(spec)
        return tuple(results.values())

    async def _result(self, spec: CheckSettings) -> CheckResult:
        environment = await self.digests.of(spec)
        key = receipt_key(self.trees.candidate, spec.name, spec.run, environment + self.drops.mark)
        held = await self.book.find(key)
        if held is not None and await self._still_stands(spec, held, environment):
            return as_result(held)
        ran = await self._on_candidate(spec)
        receipt = await self._receipt(spec, ran, tree=self.trees.candidate, key=key, environment=environment)
        base = await self._base(spec, receipt) if needs_base(spec, ran) else None
        base = await self._collected_twice(spec, ran, base)
        judged = await self._judged(spec, ran, base)
        if self.drops.any and base is not None:
            judged = replace(judged, lost=lost(await self._ids(base), ran.ids, self.drops.ids))
        receipt = _with(receipt, judged, base_missing=needs_base(spec, ran) and base is None)
        if ran.finished:
            await self.book.keep(receipt)
        return replace(
            as_result(receipt),
            reused=False,
            seconds=ran.seconds,
            receipt=key if ran.finished else "",
            unable=cannot_run(spec, ran),
        )

    async def _on_candidate(self, spec: CheckSettings) -> Ran:
        ran = await self.candidate.run(spec)
        if spec.report != "coverage" or ran.report is None:
            return ran
        return covered(spec, ran, await self.new_code.lines(ran.lines))

    async def _on_base(self, spec: CheckSettings) -> Ran:
        """Nothing is new on the base."""
        ran = await self.base.run(spec)
        return covered(spec, ran, {}) if spec.report == "coverage" and ran.report is not None else ran

    async def _still_stands(self, spec: CheckSettings, held: Receipt, environment: str) -> bool:
        """A pass holds on any base, as long as it has all tests of that base; what is new hangs on the base."""
        if not stands(held, base=self.run.base, step=self.run.step) or held.terms != self.new_code.terms(spec):
            return False
        if spec.report == "coverage" and held.base != self.run.base:
            return False
        if held.base == self.run.base or held.tests is None:
            return True
        wanted = await self._standard(await self._base(spec, replace(held, environment=environment)))
        if wanted.tests is not None and held.tests < wanted.tests:
            return False
        return not lost(wanted.ids, await self._ids(held), wanted.may_drop)

    async def _base(self, spec: CheckSettings, candidate: Receipt) -> Receipt | None:
        """The base's own receipt, made now if there is none yet. None: the base does not run to its end."""
        if self.trees.base == self.trees.candidate:
            return candidate
        key = receipt_key(self.trees.base, spec.name, spec.run, candidate.environment)
        held = await self.book.find(key)
        is_measured_alike = held is not None and held.terms == self.new_code.terms(spec)
        if held is not None and is_measured_alike and stands_for_base(held, spec, self.run.loop):
            return held
        ran = await self._on_base(spec)
        if not ran.finished:
            return None
        made = await self._receipt(spec, ran, tree=self.trees.base, key=key, environment=candidate.environment)
        made = _with(made, judge(spec, ran, Standard(bent=frozenset(ran.bent))))
        await self.book.keep(made)
        return made

    async def _judged(self, spec: CheckSettings, ran: Ran, base: Receipt | None) -> CheckJudgement:
        measure = await self._standard(base, ran.ids)
        spec = replace(spec, may_be_empty=spec.may_be_empty or self.drops.leave_none(measure.ids))
        flaky = [test for test in suspects(spec, ran, measure) if await self._flips(spec, test, base)]
        return judge(spec, ran, measure, tuple(flaky))

    async def _standard(self, base: Receipt | None, ran: Outcomes = ()) -> Standard:
        tests = await self._ids(base) if base else ()
        return standard(base, tests, self.drops.among(tests) | renumbered(tests, ran, self.drops.added_to))

    async def _ids(self, receipt: Receipt) -> Outcomes:
        return (read_back(await self.store.fetch(receipt.ids)) or ()) if receipt.ids else ()

    async def _collected_twice(self, spec: CheckSettings, ran: Ran, base: Receipt | None) -> Receipt | None:
        """The base, run once more if tests seem lost: ids that differ from run to run measure nothing."""
        came_to_none = not ran.ids and not ran.tests
        is_alone = base is None or base.collected > 1 or self.trees.base == self.trees.candidate
        if base is None or is_alone or came_to_none or not missed(ran, await self._standard(base, ran.ids)):
            return base
        again = await self._on_base(spec)
        if not again.finished:
            return base
        found = sorted(unsteady(await self._ids(base), again.ids))
        twice = replace(base, unsteady=tuple(found), collected=base.collected + 1)
        await self.book.keep(twice)
        return twice

    async def _flips(self, spec: CheckSettings, test: str, base: Receipt | None) -> bool:
        return await flips(
            test,
            candidate=lambda test, turn: self.candidate.rerun(spec, test, turn),
            base=lambda test, turn: self.base.rerun(spec, test, turn),
            on_base=outcome_on_base(base, test) if self.trees.base != self.trees.candidate else None,
        )

    async def _receipt(self, spec: CheckSettings, ran: Ran, *, tree: Tree, key: str, environment: str) -> Receipt:
        """Of the run alone: not judged yet, so a fail."""
        return Receipt(
            key=key,
            check=spec.name,
            command=spec.run,
            tree=tree,
            base=self.run.base,
            exit_code=ran.exit_code,
            result="fail",
            tests=ran.tests,
            environment=environment,
            output=ran.output,
            seconds=ran.seconds,
            at=self.clock.now(),
            loop=self.run.loop,
            step=self.run.step,
            reported=ran.report is not None,
            failing=tuple(mark(finding) for finding in failures(spec, ran))[:MOST_MARKS],
            coverage=ran.coverage,
            terms=self.new_code.terms(spec),
            note=ran.report.note if ran.report else "",
            ids=await self.store.keep(written(ran.ids)) if ran.ids else Blob(""),
            runner=ran.runner,
            bent=ran.bent[:MOST_MARKS],
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
