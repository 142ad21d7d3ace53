"""An agent that is a Python callable: for embedding and for tests. It runs in our own process, so nothing can kill it.

A plain function runs in a thread; when its run is cancelled it is waited for, because a thread
cannot be ended from outside. A coroutine function is cancelled like any task.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from loopwright.adapters.agents.context import facts_of
from loopwright.adapters.agents.contract import NO_REPORT, with_verdict
from loopwright.adapters.agents.handover import laid_beside
from loopwright.adapters.agents.remains import code_line
from loopwright.adapters.agents.result import Result, check_result, identified
from loopwright.errors import AgentGarbled
from loopwright.kernel.events import AgentFailed, AgentReported
from loopwright.kernel.findings import cut
from loopwright.kernel.model import AgentReport, Usage
from loopwright.kernel.visible import visible
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.clock import Clock

Said = dict[str, object] | AgentReport | None
Function = Callable[[dict[str, object]], Said | Awaitable[Said]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableAgent:
    """`function` gets what `LOOP_CONTEXT` holds, with `workspace`, and returns a result as the file would hold it."""

    name: str
    function: Function
    clock: Clock
    usd: float = 0.0
    handed: Callable[[AgentRun], Mapping[str, str]] = lambda _run: {}  # files laid beside the work while it is done

    def reservation(self, role: str, agent: str = "") -> float:  # noqa: ARG002  one price, whoever is asked for
        return self.usd

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:  # noqa: ARG002  a callable shows no progress
        began = self.clock.monotonic()
        facts = facts_of(run, self.name)
        with laid_beside(run.folder, self.handed(run)):
            # Whatever the callable raises is its answer, not ours; cancellation of the run comes through.
            (said,) = await asyncio.gather(self._said(facts), return_exceptions=True)
        seconds = self.clock.monotonic() - began
        if isinstance(said, BaseException):
            detail = cut(visible(f"{type(said).__name__}: {said}"), 2000)
            return AgentFailed(key=run.key, reason="crashed", detail=detail, usage=Usage(seconds=seconds))
        return self._answer(run, said, seconds)

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:  # noqa: ARG002  what ran in a dead process is gone
        return None

    async def _said(self, facts: dict[str, object]) -> Said:
        call = partial(self.function, facts)
        said = call() if inspect.iscoroutinefunction(self.function) else await _in_thread(call)
        return await said if isinstance(said, Awaitable) else said

    def _answer(self, run: AgentRun, said: Said, seconds: float) -> AgentAnswer:
        usage = Usage(seconds=seconds)
        try:
            result = _result(said)
            usage = replace(result.usage, seconds=seconds)
            report = replace(with_verdict(run, result.report), agent=self.name)
        except AgentGarbled as error:
            cost = replace(usage, usd=error.usd) if usage.usd is None else usage
            return AgentFailed(key=run.key, reason="garbled", detail=error.why, usage=cost)
        report = identified(report, lambda finding: code_line(run.folder, finding))
        return AgentReported(key=run.key, report=report, usage=usage)


def _result(said: Said) -> Result:
    if said is None:
        return Result(NO_REPORT, Usage())
    return Result(said, Usage()) if isinstance(said, AgentReport) else check_result(said)


async def _in_thread(call: Callable[[], Said | Awaitable[Said]]) -> Said | Awaitable[Said]:
    """One of its own: a few that think for minutes would take up the pool, which git and all the others work in."""
    cancelled: asyncio.CancelledError | None = None
    with ThreadPoolExecutor(max_workers=1) as own:
        future = asyncio.get_running_loop().run_in_executor(own, call)
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        raise cancelled
    return future.result()
