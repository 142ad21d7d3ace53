"""The checks port over real commands: choose what to run, run independent chains side by side, say what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.checkouts import Checkouts, ObjectReader
from loopwright.adapters.checks.coverage_floor import NewCode
from loopwright.adapters.checks.environment import CheckOutfit, Digests
from loopwright.adapters.checks.execution import Bench, Starter
from loopwright.adapters.checks.order import chains, selected
from loopwright.adapters.checks.receipts import ReceiptBook
from loopwright.adapters.checks.sequence import Chain, Trees
from loopwright.adapters.checks.tamper_signs import found_in
from loopwright.config.settings import CheckSettings
from loopwright.errors import EngineError
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.gates import evidence, protected_changes
from loopwright.kernel.model import Change, CheckResult, Commit, Tree
from loopwright.ports.agent import Update, Watch
from loopwright.ports.checks import ChecksRun
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store


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
    protected: tuple[str, ...] = ()
    parallel: int = 4

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        began = self.clock.monotonic()
        specs = selected(self.specs, run.names)
        changes = await self.source.changes(run.base, run.commit)
        trees = Trees(candidate=await self._judged(run, changes), base=await self.source.tree(run.base))
        commands = tuple(spec.run for spec in self.specs)
        findings = await found_in(changes, self.source, run, commands, self.protected)
        by_name: dict[str, CheckResult] = {}
        async with AsyncExitStack() as stack:
            slots = asyncio.Semaphore(max(1, self.parallel))
            book = ReceiptBook(self.store, run.loop)
            outfit = _Outfit(run=run, trees=trees, changes=changes, stack=stack, watch=watch, slots=slots, book=book)
            for results in await _side_by_side([self._chain(g, outfit).results(changes) for g in chains(specs)]):
                by_name |= {result.name: result for result in results}
        return ChecksReported(
            key=run.key,
            tree=trees.candidate,
            results=tuple(by_name[spec.name] for spec in specs),
            findings=findings,
            seconds=self.clock.monotonic() - began,
            rests_on=book.names,
        )

    async def _judged(self, run: ChecksRun, changes: tuple[Change, ...]) -> Tree:
        guarded = protected_changes(changes, self.protected)
        paths = frozenset(change.path for change in guarded) if evidence(guarded) not in run.approved else frozenset()
        return await self.checkouts.compose(run.commit, taken_from=run.base, paths=paths)

    def _chain(self, specs: tuple[CheckSettings, ...], outfit: _Outfit) -> Chain:
        return Chain(
            specs=specs,
            run=outfit.run,
            trees=outfit.trees,
            candidate=self._bench(specs, outfit, outfit.trees.candidate, outfit.run.commit, outfit.removed),
            base=self._bench(specs, outfit, outfit.trees.base, outfit.run.base, outfit.added),
            book=outfit.book,
            clock=self.clock,
            digests=self.digests,
            new_code=NewCode(
                source=self.source,
                base=outfit.trees.base,
                candidate=outfit.trees.candidate,
                changes=outfit.changes,
                protected=self.protected,
            ),
        )

    def _bench(
        self, specs: tuple[CheckSettings, ...], outfit: _Outfit, tree: Tree, commit: Commit, lacking: frozenset[str]
    ) -> Bench:
        run, watch = outfit.run, outfit.watch
        return Bench(
            lay=lambda: self.checkouts.lay(tree, commit=commit, base=run.base),
            laid=outfit.book.rest_on,
            starter=Starter(
                store=self.store,
                outfit=CheckOutfit(
                    digests=self.digests, is_base=tree == outfit.trees.base, rest_on=outfit.book.rest_on
                ),
                root=self.root,
                runs=self.runs,
                lacking=lacking,
            ),
            specs=specs,
            slots=outfit.slots,
            stack=outfit.stack,
            watch=lambda text, size: watch(Update(loop=run.loop, key=run.key, text=text, bytes=size)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outfit:
    """What all chains of one run share."""

    run: ChecksRun
    trees: Trees
    changes: tuple[Change, ...]
    stack: AsyncExitStack
    watch: Watch
    slots: asyncio.Semaphore
    book: ReceiptBook

    @property
    def removed(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes if change.how == "removed")

    @property
    def added(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes if change.how == "added")


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
