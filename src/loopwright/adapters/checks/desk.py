"""Where the runs of one verification are made: checks on a tree, side by side, with all that they share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.candidate import Candidate
from loopwright.adapters.checks.classes.steering_search import Steering
from loopwright.adapters.checks.coverage_floor import terms_of
from loopwright.adapters.checks.drops import Drops, Whereabouts
from loopwright.adapters.checks.ids import written
from loopwright.adapters.checks.judgement import Ran, failures, mark
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.receipts import MOST_MARKS, Receipt, ReceiptBook
from loopwright.config.settings import CheckSettings
from loopwright.errors import EngineError
from loopwright.kernel.model import Blob, CheckResult, Tree
from loopwright.ports.agent import Watch
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

    async def receipt(self, spec: CheckSettings, ran: Ran, *, tree: Tree, key: str, environment: str) -> Receipt:
        """Return a receipt of the run alone: not judged yet, so a fail."""
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
            at=self.outfit.clock.now(),
            loop=self.run.loop,
            step=self.run.step,
            reported=ran.report is not None,
            failing=tuple(mark(finding) for finding in failures(spec, ran))[:MOST_MARKS],
            coverage=ran.coverage,
            terms=terms_of(spec, self.outfit.protected),
            note=ran.report.note if ran.report else "",
            ids=await self.outfit.store.keep(written(ran.ids)) if ran.ids else Blob(""),
            runner=ran.runner,
            bent=ran.bent[:MOST_MARKS],
            wrote=ran.wrote.of_at_most(MOST_MARKS),
        )

    def where(self, command: tuple[str, ...]) -> Whereabouts:
        return Whereabouts(self.paths, self.steering.folders_of(command, self.paths))


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
