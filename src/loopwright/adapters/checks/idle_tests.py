"""New tests that look at nothing: they pass whatever the product functions that they call return."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.adapters.checks.altered_tests import called_functions
from loopwright.adapters.checks.canary.plan import BrokenChange
from loopwright.adapters.checks.trial_runs import TrialRuns
from loopwright.adapters.checks.witnesses import WRONG_VALUES
from loopwright.config.settings import CheckSettings
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import Finding
from loopwright.kernel.wording import join_names

_NAMED = 5


async def find_idle_tests(runs: TrialRuns, tests: Mapping[str, frozenset[str]]) -> tuple[Finding, ...]:
    """`tests` are those that came with the candidate, by check. What a runner does not record is not tried."""
    idle = [test for spec in runs.specs for test in sorted(await _idle(runs, spec, tests.get(spec.name, frozenset())))]
    told = f"These new tests pass whatever the product code that they call returns: {join_names(idle, _NAMED)}"
    return (engine_finding("idle-tests", f"{told}. Let each of them notice it."),) if idle else ()


async def _idle(runs: TrialRuns, spec: CheckSettings, tests: frozenset[str]) -> frozenset[str]:
    landing, left = runs.desk.seen.landing, tests
    called = await called_functions(runs, spec, landing, tests) if tests else None
    if called is None:
        return frozenset()
    broken = BrokenChange(texts=await runs.desk.outfit.contents(landing, called), names=called)
    # Whoever only calls a function notices that it raises.
    phases = tuple(phase for phase in map(broken.phase, WRONG_VALUES) if phase.texts)
    trial = await runs.start(spec, landing, tests, phases)
    for phase in phases:
        left &= (await trial.outcome(phase, left)).passed
        left &= (await trial.run_apart(phase, left)).passed if left else left  # a module may have called it before
    return left
