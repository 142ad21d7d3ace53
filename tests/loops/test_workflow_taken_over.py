"""Going on where another tool had got to: no stage that is known is done again, and nothing it says is believed."""

from __future__ import annotations

import pytest

from loopwright.kernel.actions import Ask, RunChecks
from loopwright.kernel.model import Demand
from loopwright.kernel.trust import Trust
from loopwright.loops.course import where
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.state import (
    Stopped,
    TakenOver,
    TaskStanding,
    WorkflowPhase,
    WorkflowState,
    choice_of,
    fit_of,
    spec_of,
)
from loopwright.loops.workflow.stops import NOTHING_DONE
from tests.loops.workflow import (
    BASE,
    GREEN,
    SAID,
    at_work,
    checked,
    combined,
    keys,
    plans,
    play,
    says,
    task,
    wanted,
    workflow,
)


def planned_task(number: int, *after: int, verify: tuple[str, ...] = ("make", "it")) -> PlannedTask:
    waits = tuple(f"T-{each:03d}" for each in after)
    return PlannedTask(id=f"T-{number:03d}", subject=f"Do {number}", verify=verify, blocked_by=waits)


def taken_over(stage: str = "executing", **given: object) -> WorkflowState:
    facts = {"stage": stage, "spec": 7, "fit": 45, **given}
    return workflow(taken_over=TakenOver(**facts))  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", [None, 4])
def test_what_was_not_clear_enough_is_scored(spec: int | None) -> None:
    assert where(taken_over("intent", spec=spec)) == WorkflowPhase.SCORE


def test_scores_that_are_known_are_not_taken_again() -> None:
    state = taken_over("intent", fit=35)
    assert (where(state), spec_of(state), fit_of(state), choice_of(state)) == (
        WorkflowPhase.SHAPE,
        7,
        35,
        ShapeChoice.TOOL_REVIEW,
    )
    assert at_work(play(state, SAID, plans(task(1)))) == ["T-001"]


def test_scores_without_a_fit_are_of_no_use_for_the_shape() -> None:
    assert fit_of(taken_over("shape", fit=None)) == 0


def test_how_it_was_worked_stays() -> None:
    assert choice_of(taken_over(choice="colleague")) is ShapeChoice.COLLEAGUE
    assert choice_of(workflow(shape="tool", taken_over=TakenOver(stage="shape", spec=7, choice="colleague"))) is (
        ShapeChoice.TOOL
    )


def test_a_fit_that_would_have_blocked_it_is_worked_with_check_ins() -> None:
    state = taken_over(fit=10, tasks=(planned_task(1), planned_task(2, 1)))
    assert (choice_of(state), at_work(state)) == (ShapeChoice.BLOCKED, ["T-001"])


def test_tasks_that_it_calls_done_are_verified_before_they_count() -> None:
    tasks = (planned_task(1), planned_task(2, 1), planned_task(3, verify=()))
    state = taken_over(tasks=tasks, done=("T-001", "T-003"))
    assert keys(state) == ["task-1-3.0", "combine-1"]
    assert state.tasks[0].outside == "said to be done by another tool"
    state = play(state, combined(BASE))
    assert wanted(state, RunChecks).also == (Demand("T-001", ("make", "it")),)
    done = play(state, GREEN)
    assert (done.tasks[0].standing, at_work(done)) == (TaskStanding.DONE, ["T-002", "T-003"])
    undone = play(state, checked(unmet=("T-001",)))
    assert at_work(undone) == ["T-001", "T-003"]


def test_one_whose_tasks_are_all_done_is_reviewed() -> None:
    state = play(taken_over(tasks=(planned_task(1),), done=("T-001",)), combined(BASE), GREEN)
    assert wanted(state, Ask).why == NOTHING_DONE
    state = play(state, says("continue"))
    assert where(state) == WorkflowPhase.REVIEW


def test_the_checks_are_tried_on_the_base_all_the_same() -> None:
    over = TakenOver(stage="executing", spec=7, fit=45, tasks=(planned_task(1),))
    state = workflow(taken_over=over, trust=Trust(in_force=True))
    assert keys(state) == ["preflight"]
    assert at_work(play(state, GREEN)) == ["T-001"]


def test_tasks_that_wait_for_each_other_are_diagnosed() -> None:
    state = taken_over(tasks=(planned_task(1, 2), planned_task(2, 1)))
    assert (state.stopped, wanted(state, Ask).why) == (
        Stopped.STUCK,
        "a cycle, in which each task waits for the next: T-001 → T-002 → T-001",
    )
    assert play(state, says("continue")).stopped is Stopped.STUCK
