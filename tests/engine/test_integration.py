"""Landing is told as it was: what does not go together is refused with its findings, what cannot be moved is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from loopwright.engine.integration import integrate
from loopwright.kernel.actions import Integrate
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Integrated, IntegrationRefused
from loopwright.kernel.model import CheckResult, Commit, Demand, Finding, Key, Severity, Tree
from loopwright.ports.checks import ChecksRun
from loopwright.ports.workspace import Merge, Moved, Workspace
from loopwright.testing.fakes import MemoryWorkspace
from tests.engine.worlds import LOOP, Fakes, failing, passing

TIP, RESULT, MERGED = Commit("tip"), Commit("result"), Commit("merged")
CLEAN = Merge(onto=TIP, commit=MERGED, tree=Tree("t"))
LAND = Integrate(
    key=Key.parse("land-1.1"),
    commit=RESULT,
    base=Commit("base"),
    message="Add a",
    target="refs/heads/main",
    branch="loop/x",
)
Verdicts = Callable[[ChecksRun], tuple[CheckResult, ...]]


@dataclass(slots=True)
class Target:
    """A workspace whose target behaves as it is told."""

    merge_is: Merge = CLEAN
    moves: tuple[Moved, ...] = (Moved(how="done"),)
    workspace: MemoryWorkspace = field(default_factory=MemoryWorkspace)
    asked: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.workspace, name)

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        return self.merge_is

    async def advance(self, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
        self.asked += 1
        return self.moves[min(self.asked, len(self.moves)) - 1]


def landed(
    target: Target, checks: Verdicts = lambda _run: (passing(),), action: Integrate = LAND
) -> Integrated | IntegrationRefused:
    world = replace(Fakes(checks=checks).world(), workspace=cast(Workspace, target))
    return asyncio.run(integrate(world, LOOP, action, "s-1"))


def test_what_goes_together_is_merged() -> None:
    result = Integrated(key=LAND.key, branch="loop/x", commit=MERGED, merged_into="main", landed=LAND.commit)
    assert landed(Target()) == result


def test_a_conflict_is_refused_with_a_finding_for_every_path_and_the_tip_to_go_on_from() -> None:
    paths = tuple(f"{name}.py" for name in "abcdefg")
    refused = landed(Target(merge_is=replace(CLEAN, tree=Tree(""), conflicts=paths)))
    assert isinstance(refused, IntegrationRefused)
    assert (refused.reason, refused.onto, refused.merged) == ("conflict", TIP, "")
    assert refused.detail == "main has moved on, and both sides changed a.py, b.py, c.py, d.py, e.py"
    assert [(each.file, each.rule) for each in refused.findings] == [(path, "merge-conflict") for path in paths]
    assert len({each.fingerprint for each in refused.findings} - {""}) == len(paths)


def test_failing_tests_of_the_merged_tree_are_findings() -> None:
    silent = CheckResult(name="lint", passed=False)
    refused = landed(Target(), lambda _run: (failing("test_b"), silent))
    assert isinstance(refused, IntegrationRefused)
    assert (refused.reason, refused.onto, refused.merged) == ("checks", TIP, MERGED)
    assert refused.detail == "main has moved on, and merged with it these fail: test, lint"
    assert [each.rule for each in refused.findings] == ["test_b", "check-lint"]


def test_a_tree_that_no_check_has_seen_is_checked_where_the_target_has_not_moved_too() -> None:
    straight = Target(merge_is=replace(CLEAN, fast_forward=True))
    assert isinstance(landed(straight, lambda _run: (failing("test_b"),)), Integrated)
    refused = landed(straight, lambda _run: (failing("test_b"),), replace(LAND, unseen=True))
    assert isinstance(refused, IntegrationRefused)
    assert (refused.detail, refused.merged) == ("on top of main these fail: test", MERGED)


def test_what_a_task_brings_has_to_pass_on_the_merged_tree_too() -> None:
    demands = (Demand("T-001", ("make", "one")), Demand("mustNot-1", ("make", "two")))
    fakes = Fakes(checks=lambda _run: (passing(),), unmet=("mustNot-1",))
    world = replace(fakes.world(), workspace=cast(Workspace, Target()))
    refused = asyncio.run(integrate(world, LOOP, replace(LAND, also=demands), "s-1"))
    assert isinstance(refused, IntegrationRefused)
    assert (refused.reason, refused.detail) == ("checks", "main has moved on, and merged with it these fail: mustNot-1")
    assert [(each.rule, each.requirement) for each in refused.findings] == [("mustNot-1", "mustNot-1")]
    assert [run.also for run in fakes.checked] == [demands]


def test_no_check_on_the_merged_tree_is_no_pass() -> None:
    refused = landed(Target(), lambda _run: ())
    assert isinstance(refused, IntegrationRefused)
    assert [each.rule for each in refused.findings] == ["no-result"]


def test_what_a_person_accepted_is_merged_without_checks_and_conflicts_all_the_same() -> None:
    accepted = replace(LAND, verified=False)
    done = landed(Target(), lambda _run: (failing("test_b"),), accepted)
    assert isinstance(done, Integrated)
    assert done.merged_into == "main"
    refused = landed(Target(merge_is=replace(CLEAN, conflicts=("a.py",))), action=accepted)
    assert isinstance(refused, IntegrationRefused)


def test_with_what_nobody_has_seen_it_together_with_it_is_looked_at_first() -> None:
    """A target that has moved may make other things fail than those that were accepted."""
    accepted, red = replace(LAND, verified=False, known_on=Commit("")), lambda _run: (failing("test_b"),)
    refused = landed(Target(), red, accepted)
    assert isinstance(refused, IntegrationRefused)
    assert (refused.reason, refused.onto) == ("checks", TIP)
    assert isinstance(landed(Target(), red, replace(accepted, known_on=refused.onto)), Integrated)
    assert isinstance(landed(Target(), red, replace(accepted, known_on=Commit("another"))), IntegrationRefused)
    assert isinstance(landed(Target(merge_is=replace(CLEAN, fast_forward=True)), red, accepted), Integrated)


@pytest.mark.parametrize(
    ("target", "why", "command"),
    [
        (Target(merge_is=replace(CLEAN, gone=True)), "it does not exist any more", "git branch main loop/x"),
        (
            Target(moves=(Moved(how="dirty", detail="dirty", take="git merge 1"),)),
            "dirty",
            "git merge 1",
        ),
        (Target(moves=(Moved(how="moved"),)), "it moved 5 times", "git merge loop/x"),
    ],
    ids=["gone", "dirty", "moving"],
)
def test_a_target_that_cannot_be_moved_leaves_the_result_on_its_branch_with_the_one_command(
    target: Target, why: str, command: str
) -> None:
    left = landed(target)
    assert isinstance(left, Integrated)
    assert (left.branch, left.commit, left.merged_into) == ("loop/x", RESULT, "")
    assert left.not_merged.startswith(why)
    assert left.note == f"not merged into main: {left.not_merged}"
    assert (left.take, f"`{command}`" in left.note) == (command, True)


def test_what_goes_on_top_of_a_result_and_does_not_go_together_with_the_target_leaves_its_branch_where_it_is() -> None:
    target, red = Target(merge_is=replace(CLEAN, tree=Tree(""), conflicts=("a.py",))), Target()
    assert isinstance(landed(target, action=replace(LAND, on_top=True)), IntegrationRefused)
    assert isinstance(landed(red, lambda _run: (failing("test_b"),), replace(LAND, on_top=True)), IntegrationRefused)
    assert (target.workspace.branches, red.workspace.branches) == ({}, {})


@pytest.mark.parametrize(
    ("target", "take"),
    [
        (Target(merge_is=replace(CLEAN, gone=True)), "git branch main loop/x"),
        (
            Target(moves=(Moved(how="dirty", detail="main has changes of yours", take="git merge loop/x"),)),
            "git merge loop/x",
        ),
    ],
    ids=["gone", "dirty"],
)
def test_what_goes_on_top_of_a_result_is_on_its_branch_where_only_the_target_cannot_be_moved(
    target: Target, take: str
) -> None:
    left = landed(target, action=replace(LAND, on_top=True))
    assert isinstance(left, Integrated)
    assert (left.merged_into, bool(left.not_merged), left.take) == ("", True, take)
    assert target.workspace.branches == {"loop/x": LAND.commit}


@pytest.mark.parametrize("where", ["refs/heads/main", ""])
def test_what_goes_on_top_of_a_result_is_on_its_branch_too_in_the_end(where: str) -> None:
    target = Target()
    done = landed(target, action=replace(LAND, on_top=True, target=where))
    assert (isinstance(done, Integrated), target.workspace.branches) == (True, {"loop/x": LAND.commit})


def test_a_target_that_moved_once_is_tried_again() -> None:
    target = Target(moves=(Moved(how="moved"), Moved(how="done")))
    done = landed(target)
    assert isinstance(done, Integrated)
    assert (done.merged_into, target.asked) == ("main", 2)


def test_a_log_of_before_says_no_more_than_it_did() -> None:
    old = decode(Integrated, '{"key":"land-1.1","branch":"b","commit":"c","merged_into":"","note":"not merged"}')
    assert (old.not_merged, old.note) == ("", "not merged")
    refused = decode(IntegrationRefused, '{"key":"land-1.1","reason":"conflict","detail":"d","findings":[]}')
    assert (refused.onto, refused.merged) == ("", "")


def test_a_blocking_finding_about_the_merge_refuses_it() -> None:
    cheating = Finding(severity=Severity.CRITICAL, rule="tests-removed", issue="2 tests are gone")

    class Cheated:
        async def run(self, run: ChecksRun, watch: object) -> object:
            report = await Fakes(checks=lambda _run: (passing(),)).world().checks.run(run, lambda _update: None)
            return replace(report, findings=(cheating,))

    world = replace(Fakes().world(), workspace=cast(Workspace, Target()), checks=Cheated())  # type: ignore[arg-type]
    refused = asyncio.run(integrate(world, LOOP, LAND, "s-1"))
    assert isinstance(refused, IntegrationRefused)
    assert [(each.rule, bool(each.fingerprint)) for each in refused.findings] == [("tests-removed", True)]
