"""Checks without commands: each commit has its results written down beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from loopwright.errors import CheckNotRunnable
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.findings import identify
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import Change, CheckResult, Commit, Demand, Finding, Severity, Tree
from loopwright.kernel.trust import Trust
from loopwright.ports.agent import Update, Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined


@dataclass(slots=True)
class ScriptedChecks:
    """A commit without results hangs until it is cancelled, as a check that never ends would."""

    results: Mapping[Commit, tuple[CheckResult, ...]]
    findings: Mapping[Commit, tuple[Finding, ...]] = field(default_factory=dict)
    gated: Mapping[Commit, tuple[Change, ...]] = field(default_factory=dict)  # what a person has to approve
    unmet: Mapping[Commit, tuple[str, ...]] = field(default_factory=dict)  # names of demands that fail
    runs: list[ChecksRun] = field(default_factory=list)
    under_way: int = 0

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        self.runs.append(run)
        self.under_way += 1
        try:
            watch(Update(loop=run.loop, key=run.key, text="running"))
            results = () if run.demands_only else await self._results(run.commit)
        finally:
            self.under_way -= 1
        known = {result.name for result in results}
        for name in run.names:
            if name not in known:
                raise CheckNotRunnable(name, "", "there is no such check")
        chosen = tuple(result for result in results if not run.names or result.name in run.names)
        unmet = self.unmet.get(run.commit, ())
        is_due = not run.preflight and all(result.passed for result in chosen)
        return ChecksReported(
            key=run.key,
            tree=Tree(f"tree-{run.commit}"),
            results=chosen,
            findings=self.findings.get(run.commit, ()),
            also=tuple(result_of(each, is_met=each.name not in unmet) for each in run.also) if is_due else (),
        )

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        gated = self.gated.get(commit, ())
        held = tuple(change for change in gated if change not in approved)
        return Examined(gated=gated, evidence=evidence(gated), held=held)

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        return lambda _path: False

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        return Compared(code=("a.py",))

    async def _results(self, commit: Commit) -> tuple[CheckResult, ...]:
        if commit not in self.results:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return self.results[commit]


def result_of(demand: Demand, *, is_met: bool) -> CheckResult:
    """As a command of a task tells it."""
    if is_met:
        return CheckResult(name=demand.name, passed=True)
    finding = Finding(
        severity=Severity.HIGH,
        category="checks",
        rule=demand.rule,
        requirement=demand.name,
        issue=f"{demand.rule} failed: `{' '.join(demand.argv)}` ended with exit code 1",
    )
    return CheckResult(name=demand.name, passed=False, failures=(identify(finding),))
