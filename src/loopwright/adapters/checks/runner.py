"""The checks port over real commands: the judging run, the landing run, the trial; and one verdict of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.checks.candidate import Candidate, changes_of, composed
from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.coverage_floor import NewCode
from loopwright.adapters.checks.environment import Digests
from loopwright.adapters.checks.execution import Bench, Starter
from loopwright.adapters.checks.order import chains, selected
from loopwright.adapters.checks.runners.scripts import Texts, steering_files
from loopwright.adapters.checks.sequence import Chain, Drops, Trees
from loopwright.adapters.checks.tamper_signs import found_in
from loopwright.config.settings import CheckSettings
from loopwright.errors import EngineError
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import CheckResult, Commit, Finding, Tree
from loopwright.kernel.trust import Claim, Trust
from loopwright.ports.agent import Update, Watch
from loopwright.ports.checks import ChecksRun, Examined
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store

_IDS_GONE = "ids-gone"
_LARGEST_SCRIPT = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandChecks:
    """Implements `ports.checks.Checks`."""

    specs: tuple[CheckSettings, ...]
    checkouts: Checkouts
    source: ObjectReader
    store: Store
    clock: Clock
    root: Path  # the person's repository
    runs: Path  # run folders; emptied again, what is worth keeping goes to the store
    digests: Digests
    classifier: Classifier
    protected: tuple[str, ...] = ()
    parallel: int = 4

    async def examine(self, commit: Commit, trust: Trust, approved: tuple[str, ...] = ()) -> Examined:
        seen = await self._candidate(commit, trust, approved)
        return Examined(
            gated=changes_of(seen.gated), evidence=seen.evidence, lands=seen.landing, held=changes_of(seen.held)
        )

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        began = self.clock.monotonic()
        run = replace(run, trust=run.trust.on(run.base), base=run.trust.on(run.base).base)
        seen = await self._candidate(run.commit, run.trust, run.approved)
        async with AsyncExitStack() as stack:
            slots = asyncio.Semaphore(max(1, self.parallel))
            texts = await self.source.texts(run.base, steering_files(self._commands), limit=_LARGEST_SCRIPT)
            desk = _Desk(checks=self, run=run, seen=seen, stack=stack, watch=watch, slots=slots, texts=texts)
            report = await desk.report(await self._findings(run, seen))
        return replace(report, seconds=self.clock.monotonic() - began)

    async def _candidate(self, commit: Commit, trust: Trust, approved: tuple[str, ...]) -> Candidate:
        classifier = replace(self.classifier, allow=trust.allow, artifacts=trust.artifacts)
        classed = await classifier.classify(trust.base, commit)
        return await composed(classed, commit, trust, approved, checkouts=self.checkouts, source=self.source)

    async def _findings(self, run: ChecksRun, seen: Candidate) -> tuple[Finding, ...]:
        return await found_in(seen.classed, self.source, run, self._commands, held=seen.held)

    @property
    def _commands(self) -> tuple[tuple[str, ...], ...]:
        return tuple(spec.run for spec in self.specs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """One verification: what all its runs share."""

    checks: CommandChecks
    run: ChecksRun
    seen: Candidate
    stack: AsyncExitStack
    watch: Watch
    slots: asyncio.Semaphore
    texts: Texts  # of files that say which runner a command starts

    async def report(self, findings: tuple[Finding, ...]) -> ChecksReported:
        """The landing run can only fail, and is the judging run where both trees are the same."""
        seen, specs = self.seen, selected(self.checks.specs, self.run.names)
        differs = seen.landing != seen.judging
        # How much of the new code tests reach is a matter of the new tests, too.
        judged = tuple(spec for spec in specs if not differs or spec.report != "coverage")
        judging = await self._results(judged, seen.judging)
        landing = await self._results(specs, seen.landing) if differs and _is_green(judging) else ()
        return ChecksReported(
            key=self.run.key,
            tree=seen.judging,
            results=judging,
            landing=landing,
            findings=findings,
            lands=seen.landing,
            held=changes_of(seen.held),
            nothing_else=seen.landing == seen.base,
            claim=await self._claim(specs, (*judging, *landing)),
            unable=tuple(result.unable for result in judging if result.unable) if self.run.preflight else (),
        )

    async def _claim(self, specs: tuple[CheckSettings, ...], ran: tuple[CheckResult, ...]) -> Claim | None:
        """What only a person can allow. Nothing is installed before it is approved, so that a manifest is not tried."""
        changes, failing = changes_of(self.seen.open), _failing(ran)
        if _is_green(ran):
            return Claim(changes=changes, at_once=True) if self.seen.waiting else None
        if any(each.is_manifest for each in self.seen.open):
            return Claim(changes=changes, failing=failing, at_once=True)
        if not changes:
            return _of_gone_alone(ran)
        trial = await self._results(specs, self.seen.whole, dropping=True)
        return Claim(changes=changes, failing=failing, dropped=_gone(trial)) if _is_green(trial) else None

    async def _results(
        self, specs: tuple[CheckSettings, ...], tree: Tree, *, dropping: bool = False
    ) -> tuple[CheckResult, ...]:
        """Independent chains run side by side, each on a checkout of its own. `dropping`: any test may be gone."""
        found: dict[str, CheckResult] = {}
        changes = changes_of(self.seen.classed)
        for results in await _side_by_side(
            [self._chain(each, tree, dropping=dropping).results(changes) for each in chains(specs)]
        ):
            found |= {result.name: result for result in results}
        return tuple(found[spec.name] for spec in specs)

    def _chain(self, specs: tuple[CheckSettings, ...], tree: Tree, *, dropping: bool) -> Chain:
        checks, run, seen = self.checks, self.run, self.seen
        return Chain(
            specs=specs,
            run=run,
            trees=Trees(candidate=tree, base=seen.base),
            candidate=self._bench(specs, tree, run.commit, seen.paths("removed")),
            base=self._bench(specs, seen.base, run.base, seen.paths("added")),
            store=checks.store,
            clock=checks.clock,
            digests=checks.digests,
            drops=Drops(ids=frozenset(run.may_drop), files=run.trust.allow, any=dropping),
            new_code=NewCode(
                source=checks.source,
                base=seen.base,
                candidate=tree,
                changes=changes_of(seen.classed),
                protected=checks.protected,
            ),
        )

    def _bench(self, specs: tuple[CheckSettings, ...], tree: Tree, commit: Commit, lacking: frozenset[str]) -> Bench:
        checks, run, watch = self.checks, self.run, self.watch
        return Bench(
            lay=lambda: checks.checkouts.lay(tree, commit=commit, base=run.base),
            starter=Starter(
                store=checks.store,
                environment=checks.digests.environment,
                root=checks.root,
                runs=checks.runs,
                lacking=lacking,
                texts=self.texts,
            ),
            specs=specs,
            slots=self.slots,
            stack=self.stack,
            watch=lambda text, size: watch(Update(loop=run.loop, key=run.key, text=text, bytes=size)),
        )


def _is_green(results: tuple[CheckResult, ...]) -> bool:
    return all(result.passed for result in results)


def _failing(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    failures = (each for result in results for each in result.failures)
    return tuple(dict.fromkeys(each.rule for each in failures if each.category == "tests"))


def _gone(results: tuple[CheckResult, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for result in results for test in result.gone))


def _of_gone_alone(results: tuple[CheckResult, ...]) -> Claim | None:
    """Nothing is wrong but that tests of the base are gone: a person may let exactly those go."""
    failures = [each for result in results for each in result.failures]
    if not failures or any(not each.rule.startswith(_IDS_GONE) for each in failures):
        return None
    return Claim(dropped=_gone(results))


async def _side_by_side(runs: list[Coroutine[None, None, tuple[CheckResult, ...]]]) -> list[tuple[CheckResult, ...]]:
    """All of them, or the first error alone: callers wait for `CheckNotRunnable`, not for a group of one."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run) for run in runs]
    except BaseExceptionGroup as failed:  # not `except*`: what that raises is wrapped again by some versions of Python
        raise _first(failed) from None
    return [task.result() for task in tasks]


def _first(failed: BaseExceptionGroup[EngineError]) -> EngineError:
    error = failed.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
