"""Where the runs of one verification are made: checks on a tree, side by side, with all that they share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from loopwright.adapters.checks.candidate import Candidate, changes_of
from loopwright.adapters.checks.classes.steering_search import Steering
from loopwright.adapters.checks.coverage_floor import NewCode
from loopwright.adapters.checks.drops import Drops, Whereabouts
from loopwright.adapters.checks.environment import CheckOutfit
from loopwright.adapters.checks.execution import Bench, Starter
from loopwright.adapters.checks.order import chains
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.receipts import ReceiptBook
from loopwright.adapters.checks.sequence import Chain, Trees
from loopwright.config.settings import CheckSettings
from loopwright.errors import EngineError
from loopwright.kernel.model import CheckResult, Commit, Tree
from loopwright.ports.agent import Update, Watch
from loopwright.ports.checks import ChecksRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    outfit: Outfit
    run: ChecksRun  # its base is the base of trust
    seen: Candidate
    texts: Mapping[str, str]  # of files that say which runner a command starts
    paths: frozenset[str]  # files of the base
    steering: Steering  # what is known of its checks, and what of it is product and tests
    watched: frozenset[str]  # files of the base that judge
    named: frozenset[str]  # by the checks, whether they are there or not
    stack: AsyncExitStack
    watch: Watch
    slots: asyncio.Semaphore
    book: ReceiptBook
    demand_limit: float  # seconds of each command that is not a check

    @property
    def environment(self) -> Mapping[str, str]:
        return self.outfit.digests.environment

    @property
    def drops(self) -> Drops:
        """What a person's word lets go in any run."""
        return Drops(ids=frozenset(self.run.may_drop), files=self.run.trust.allow)

    async def results(
        self,
        specs: tuple[CheckSettings, ...],
        tree: Tree,
        drops: Drops | None = None,
        whole: tuple[CheckSettings, ...] = (),
    ) -> tuple[CheckResult, ...]:
        """Independent chains run side by side, each on a checkout of its own, which the next runs may have.

        `whole`: `specs` run a part of these.
        """
        changes, drops = changes_of(self.seen.classed), drops or self.drops
        by_name = {spec.name: spec for spec in whole}
        async with AsyncExitStack() as stack:
            desk = replace(self, stack=stack)
            runs = [desk.chain(each, tree, drops, by_name).results(changes) for each in chains(specs)]
            found = {result.name: result for results in await side_by_side(runs) for result in results}
        return tuple(found[spec.name] for spec in specs)

    def chain(
        self, specs: tuple[CheckSettings, ...], tree: Tree, drops: Drops, whole: Mapping[str, CheckSettings]
    ) -> Chain:
        outfit, run, seen = self.outfit, self.run, self.seen
        base = seen.base if tree == seen.base else seen.measure
        return Chain(
            specs=specs,
            run=run,
            trees=Trees(candidate=tree, base=base),
            candidate=self.bench(specs, tree, run.commit, seen.paths("removed")),
            base=self.bench(specs, base, run.base, seen.paths("added")),
            store=outfit.store,
            book=self.book,
            clock=outfit.clock,
            digests=outfit.digests,
            where=self.where,
            drops=drops,
            whole=whole,
            new_code=NewCode(
                source=outfit.source,
                base=seen.base,
                candidate=tree,
                changes=changes_of(seen.classed),
                protected=outfit.protected,
            ),
        )

    def where(self, command: tuple[str, ...]) -> Whereabouts:
        return Whereabouts(self.paths, self.steering.folders_of(command, self.paths))

    def bench(
        self, specs: tuple[CheckSettings, ...], tree: Tree, commit: Commit, lacking: frozenset[str] = frozenset()
    ) -> Bench:
        outfit, run, watch = self.outfit, self.run, self.watch
        is_base, product = tree in (self.seen.base, self.seen.measure), self.seen.product
        changed = self.seen.judged_anew if tree == self.seen.judging else self.seen.changed
        return Bench(
            lay=lambda: outfit.checkouts.lay(tree, commit=commit, base=run.base),
            starter=Starter(
                store=outfit.store,
                outfit=CheckOutfit(digests=outfit.digests, is_base=is_base, rest_on=self.book.rest_on),
                root=outfit.root,
                runs=outfit.runs,
                lacking=lacking,
                # What the candidate changed of them does not judge, and may be put into form by a formatter.
                watched=self.watched if is_base else self.watched - changed,
                texts=self.texts,
            ),
            specs=specs,
            is_judging=lambda path: path in self.named or self.steering.layout.is_test(path),
            files=self.paths | self.seen.changed,
            is_judged=lambda path: path in product or self.steering.layout.is_judged(path),
            slots=self.slots,
            stack=self.stack,
            laid=self.book.rest_on,
            watch=lambda text, size: watch(Update(loop=run.loop, key=run.key, text=text, bytes=size)),
        )


async def side_by_side(runs: list[Coroutine[None, None, tuple[CheckResult, ...]]]) -> list[tuple[CheckResult, ...]]:
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
