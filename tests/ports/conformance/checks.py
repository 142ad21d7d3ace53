"""What every implementation of the checks must do, as numbered contracts: run each on a fresh `ChecksStage`.

@pytest.mark.parametrize("contract", CONTRACTS)
def test_my_checks(contract): asyncio.run(contract(my_fresh_stage()))
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace

from loopwright.errors import CheckNotRunnable
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Commit, Demand, Key, LoopId
from loopwright.ports.agent import Update
from loopwright.ports.checks import Checks, ChecksRun
from tests.ports.conformance.store_parts import raised

LOOP, KEY = LoopId("l-1"), Key("checks", 1, tries=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksStage:
    """Two checks are configured, `build` and `test`, in this order."""

    checks: Checks
    base: Commit
    good: Commit  # both pass
    bad: Commit  # `build` passes, `test` fails
    hanging: Commit  # `test` says something and does not end
    alive: Callable[[], bool]  # whether anything that was started is still there
    met: Demand  # passes on `good`
    unmet: Demand  # fails there
    unstartable: Demand  # names no program that is there


Contract = Callable[[ChecksStage], Coroutine[None, None, None]]


def _ignore(update: Update) -> None: ...


def _run(
    stage: ChecksStage,
    commit: Commit,
    *,
    step: str = "s-1",
    names: tuple[str, ...] = (),
    also: tuple[Demand, ...] = (),
) -> ChecksRun:
    return ChecksRun(loop=LOOP, key=KEY, step=step, commit=commit, base=stage.base, names=names, also=also)


async def _report(
    stage: ChecksStage, commit: Commit, *, step: str = "s-1", names: tuple[str, ...] = ()
) -> ChecksReported:
    return await stage.checks.run(_run(stage, commit, step=step, names=names), _ignore)


def _verdicts(report: ChecksReported) -> list[tuple[str, bool]]:
    return [(result.name, result.passed) for result in report.results]


async def c01_all_configured_checks_run_and_are_told_in_their_order(stage: ChecksStage) -> None:
    report = await _report(stage, stage.good)
    assert report.key == KEY
    assert report.tree
    assert _verdicts(report) == [("build", True), ("test", True)]
    assert [result.failures for result in report.results] == [(), ()]


async def c02_a_failed_check_names_what_failed_with_an_identity(stage: ChecksStage) -> None:
    report = await _report(stage, stage.bad)
    assert _verdicts(report) == [("build", True), ("test", False)]
    failures = report.results[1].failures
    assert failures
    assert all(failure.fingerprint and failure.issue for failure in failures)


async def c03_only_the_named_checks_run(stage: ChecksStage) -> None:
    assert _verdicts(await _report(stage, stage.bad, names=("build",))) == [("build", True)]
    assert _verdicts(await _report(stage, stage.bad, names=("test",))) == [("test", False)]


async def c04_an_unknown_check_cannot_be_run(stage: ChecksStage) -> None:
    error = await raised(CheckNotRunnable, _report(stage, stage.good, names=("nothing",)))
    assert error.check == "nothing"


async def c05_running_the_same_again_says_the_same(stage: ChecksStage) -> None:
    for commit in (stage.good, stage.bad):
        first = await _report(stage, commit)
        for step in ("s-1", "s-2"):
            again = await _report(stage, commit, step=step)
            assert (again.tree, _verdicts(again)) == (first.tree, _verdicts(first))
            assert [result.failures for result in again.results] == [result.failures for result in first.results]


async def c06_each_candidate_has_its_own_tree(stage: ChecksStage) -> None:
    good, bad = await _report(stage, stage.good), await _report(stage, stage.bad)
    assert good.tree != bad.tree


async def c07_two_runs_at_once_do_not_disturb_each_other(stage: ChecksStage) -> None:
    good, bad = await asyncio.gather(_report(stage, stage.good), _report(stage, stage.bad))
    assert _verdicts(good) == [("build", True), ("test", True)]
    assert _verdicts(bad) == [("build", True), ("test", False)]


async def c08_when_a_cancelled_run_is_over_nothing_of_it_is_alive(stage: ChecksStage) -> None:
    begun = asyncio.Event()
    task = asyncio.create_task(stage.checks.run(_run(stage, stage.hanging), lambda _: begun.set()))
    await begun.wait()
    assert stage.alive()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert not stage.alive()


async def _asked(stage: ChecksStage, commit: Commit, *also: Demand, preflight: bool = False) -> ChecksReported:
    run = replace(_run(stage, commit, also=also), preflight=preflight)
    return await stage.checks.run(run, _ignore)


async def c09_demands_are_told_apart_from_checks_in_their_order(stage: ChecksStage) -> None:
    report = await _asked(stage, stage.good, stage.unmet, stage.met)
    assert _verdicts(report) == [("build", True), ("test", True)]
    assert [(each.name, each.passed) for each in report.also] == [(stage.unmet.name, False), (stage.met.name, True)]


async def c10_a_demand_that_failed_names_what_asked_for_it_with_an_identity(stage: ChecksStage) -> None:
    (unmet,) = (await _asked(stage, stage.good, stage.unmet)).also
    (failure,) = unmet.failures
    assert (failure.rule, failure.requirement) == (stage.unmet.rule, stage.unmet.name)
    assert failure.fingerprint
    assert failure.issue


async def c11_a_demand_that_cannot_be_started_has_failed_and_the_others_stand(stage: ChecksStage) -> None:
    report = await _asked(stage, stage.good, stage.unstartable, stage.met)
    assert [each.passed for each in report.also] == [False, True]
    assert [failure.requirement for failure in report.also[0].failures] == [stage.unstartable.name]


async def c12_demands_are_not_run_besides_checks_that_fail_nor_in_a_preflight(stage: ChecksStage) -> None:
    assert (await _asked(stage, stage.bad, stage.met)).also == ()
    assert (await _asked(stage, stage.good, stage.met, preflight=True)).also == ()


async def c13_before_the_work_starts_demands_run_alone_whatever_the_checks_would_say(stage: ChecksStage) -> None:
    run = replace(_run(stage, stage.good, also=(stage.unmet, stage.met)), demands_only=True)
    report = await stage.checks.run(run, _ignore)
    assert (report.results, [each.passed for each in report.also]) == ((), [False, True])


CONTRACTS: tuple[Contract, ...] = (
    c01_all_configured_checks_run_and_are_told_in_their_order,
    c02_a_failed_check_names_what_failed_with_an_identity,
    c03_only_the_named_checks_run,
    c04_an_unknown_check_cannot_be_run,
    c05_running_the_same_again_says_the_same,
    c06_each_candidate_has_its_own_tree,
    c07_two_runs_at_once_do_not_disturb_each_other,
    c08_when_a_cancelled_run_is_over_nothing_of_it_is_alive,
    c09_demands_are_told_apart_from_checks_in_their_order,
    c10_a_demand_that_failed_names_what_asked_for_it_with_an_identity,
    c11_a_demand_that_cannot_be_started_has_failed_and_the_others_stand,
    c12_demands_are_not_run_besides_checks_that_fail_nor_in_a_preflight,
)
