"""Going on where another tool had got to: no stage that is known is done again, and nothing it says is believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask
from loopwright.kernel.model import LoopId
from loopwright.kernel.trust import Trust
from loopwright.loops.course import where
from loopwright.loops.workflow import closing
from loopwright.loops.workflow.beginning import commands_taken_over
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.shape import MustNot, ShapeCriterion, WorkShape, with_engine_rules
from loopwright.loops.workflow.state import (
    Stopped,
    TakenOver,
    TakenWave,
    WorkflowPhase,
    WorkflowState,
    choice_of,
    fit_of,
    spec_of,
)
from loopwright.loops.workflow.state_file import ThoroughReview, WaveReview
from tests.loops.workflow import (
    GREEN,
    SAID,
    at_work,
    does,
    keys,
    plans,
    play,
    says,
    seen,
    task,
    wanted,
    workflow,
)

SHAPE = with_engine_rules(
    WorkShape(criteria=(ShapeCriterion("It is there", command=("test", "-f", "it")),), must_not=(MustNot("It is big"),))
)


def planned_task(number: int, *after: int, verify: tuple[str, ...] = ("make", "it")) -> PlannedTask:
    waits = tuple(f"T-{each:03d}" for each in after)
    return PlannedTask(id=f"T-{number:03d}", subject=f"Do {number}", verify=verify, blocked_by=waits)


def taken_over(stage: str = "executing", **given: object) -> WorkflowState:
    facts = {"stage": stage, "spec": 7, "fit": 45, **given}
    return workflow(taken_over=TakenOver(**facts))  # type: ignore[arg-type]


def test_every_command_that_another_tool_brings_is_known_by_what_it_is_of() -> None:
    rules = (MustNot("It is big", command=("./not-big",)), MustNot("It is red", seen="reviewers"))
    found = TakenOver(
        stage="executing",
        shape=replace(SHAPE, must_not=rules),
        tasks=(planned_task(1), planned_task(2, verify=())),
        done=("T-001",),
    )
    assert commands_taken_over(found) == (
        ("T-001", ("make", "it")),
        ("criterion-1", ("test", "-f", "it")),
        ("mustNot-1", ("./not-big",)),
    )
    assert commands_taken_over(TakenOver(stage="shape")) == ()


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


@pytest.mark.parametrize(("spec", "fit"), [(4, 22), (None, 35)])
def test_scores_that_it_went_on_with_stand_however_low(spec: int | None, fit: int) -> None:
    state = taken_over("shape", spec=spec, fit=fit, scores_stand=True)
    assert where(state) == WorkflowPhase.SHAPE
    shown = closing.result(LoopId("auth-1"), play(state, SAID), {})
    assert (shown.spec_score, shown.fit_score, shown.shape) == (spec, fit, choice_of(state).value)
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


def test_tasks_that_it_calls_done_are_worked_on_like_all_others() -> None:
    tasks = (planned_task(1), planned_task(2, 1), planned_task(3, verify=()))
    state = taken_over(tasks=tasks, done=("T-001", "T-003"))
    assert (at_work(state), state.train) == (["T-001", "T-003"], ())


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


@pytest.mark.parametrize("stage", ["shape", "decompose", "executing"])
def test_a_shape_that_is_there_is_not_made_again(stage: str) -> None:
    state = taken_over(stage, shape=SHAPE, spec=None)
    assert (where(state), state.shape) == (WorkflowPhase.PLAN, SHAPE)
    assert at_work(play(state, plans(task(1)))) == ["T-001"]


def test_its_shape_holds_for_the_tasks_that_go_on() -> None:
    assert taken_over(shape=SHAPE, tasks=(planned_task(1),)).shape == SHAPE


@pytest.mark.parametrize("passed", [True, False])
def test_a_thorough_review_of_another_tool_is_made_again(passed: bool) -> None:  # noqa: FBT001 - a parameter of a test
    said = ThoroughReview(passed=passed, blockers_remaining=0 if passed else 2, taken_over=True)
    state = taken_over("review", thorough=said, tasks=(planned_task(1),), done=("T-001",))
    state = play(state, *does(1), *seen())
    assert (where(state), state.thorough) == (WorkflowPhase.REVIEW, None)


def test_what_was_taken_over_is_told() -> None:
    wave = TakenWave(wave=2, review=WaveReview(score=7.5, issues=3, blockers=1))
    said = ThoroughReview(passed=False, blockers_remaining=1)
    tasks = (planned_task(1), planned_task(2))
    state = taken_over(shape=SHAPE, waves=(wave,), thorough=said, tasks=tasks, done=("T-001",))
    assert state.remarks == (
        "The shape is another tool's (1 criterion, 2 mustNot).",
        "The plan is another tool's (2 tasks, 1 of which it calls done, on which nothing rests here).",
        (
            "Reviews by another tool, on which nothing rests here: wave 2 7.5/10 (issues 3, blockers 1);"
            " thorough (not passed, blockers remaining 1), which is made again."
        ),
    )
    passed = taken_over("review", thorough=ThoroughReview(passed=True, blockers_remaining=0))
    assert passed.remarks == (
        "Another tool had got to review; none of its tasks was found, so the plan is made anew.",
        "Reviews by another tool, on which nothing rests here: thorough (passed), which is made again.",
    )
    assert taken_over(tasks=tasks).remarks == ("The plan is another tool's (2 tasks).",)
    assert taken_over("shape").remarks == ()


def test_a_command_that_is_not_run_is_told() -> None:
    described = replace(planned_task(1), description="Verify: make it\nVerify: make it | tee log")
    assert taken_over(tasks=(described,)).remarks == (
        "The plan is another tool's (1 task).",
        (
            "T-001 is not verified by `make it | tee log`: a task has one command, which runs without a shell."
            " Make it a check of loop.toml to have it run; `Verify: sh -c '…'` would have been taken."
        ),
    )
    silent = replace(planned_task(1, verify=()), description="Verify:")
    assert taken_over(tasks=(silent,)).remarks[1].startswith("T-001 is not verified by ``: ")
