"""A checkout that is laid when the first command needs it, and the commands of one chain in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace

from loopwright.adapters.checks.checkouts import CleanCheckout
from loopwright.adapters.checks.execution import Starter
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.single_test import alone
from loopwright.adapters.checks.spec import CheckSpec, predecessors
from loopwright.adapters.steps import StepWatch


@dataclass(slots=True, kw_only=True)
class Bench:
    """Not shared between chains: what one check leaves behind is seen only by those that come `after` it."""

    lay: Callable[[], AbstractAsyncContextManager[CleanCheckout]]
    starter: Starter
    specs: tuple[CheckSpec, ...]
    slots: asyncio.Semaphore
    stack: AsyncExitStack
    watch: StepWatch | None = None
    _laid: CleanCheckout | None = None
    _done: set[str] = field(default_factory=set)
    _reruns: dict[tuple[tuple[str, ...], int], Ran] = field(default_factory=dict)

    async def run(self, spec: CheckSpec) -> Ran:
        """Run it, after those it builds on, which may not have run here: their receipts are no build artifacts."""
        for earlier in predecessors(spec, self.specs):
            if earlier.name not in self._done:
                await self._start(earlier)
        return await self._start(spec)

    async def rerun(self, spec: CheckSpec, test: str, turn: int) -> str | None:
        """How `test` came out alone. Where it cannot be run alone, one run of all serves every test."""
        argv = alone(spec.run, test)
        held = self._reruns.get((argv, turn))
        if held is None:
            held = self._reruns[argv, turn] = await self.run(replace(spec, run=argv))
        return held.outcome(test) if held.finished else None

    async def _start(self, spec: CheckSpec) -> Ran:
        if self._laid is None:
            self._laid = await self.stack.enter_async_context(self.lay())
        else:
            await self._laid.restore()  # what ran before was the candidate's code, and may have bent the tests
        async with self.slots:
            ran = await self.starter.start(spec, self._laid.folder, self.watch)
        self._done.add(spec.name)
        return ran
