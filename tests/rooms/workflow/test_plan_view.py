"""The plan as `loop plan` shows it, and the line below the rows of the live view."""

from dataclasses import replace

from loopwright.kernel.model import LoopId
from loopwright.loops.workflow.closing import summary
from loopwright.loops.workflow.plan_view import plan_lines, shown_plan
from loopwright.loops.workflow.state import TaskRow, TaskStanding, with_task
from tests.rooms.workflow.states import at_work, begun, done, planned, standing

LOOP = LoopId("do-things-1")


def test_a_plan_is_shown_wave_by_wave() -> None:
    state = begun(done(begun(at_work(planned(1, verify=("true",)), planned(2, 1), planned(3, 2))), 0))
    state = with_task(state, 1, replace(state.tasks[1], attempts=2, stuck=2, origin="finding"))
    assert list(plan_lines(shown_plan(LOOP, state))) == [
        "Do things All of them. (do-things-1)",
        "Stage executing, wave 2 of 3, 1 of 3 tasks done",
        "",
        "Wave 1",
        "  [x] T-001  Do thing 1",
        "      verify: true",
        "",
        "Wave 2",
        "  [>] T-002  Do thing 2  (2 attempts, 2 failed, made of a finding)",
        "",
        "Wave 3",
        "  [ ] T-003  Do thing 3  (waits for T-002)",
    ]
    assert shown_plan(LOOP, state, "paused").stage == "paused"


def test_before_there_is_a_plan_that_is_said() -> None:
    empty = replace(at_work(), tasks=TaskRow())
    plan = shown_plan(LOOP, empty)
    assert (plan.mermaid, plan.waves) == ("", 0)
    assert list(plan_lines(plan))[1:] == ["Stage executing: there is no plan yet."]
    assert summary(empty) == "executing"


def test_a_task_in_conflict_says_who_brings_it_in() -> None:
    state = standing(begun(at_work(planned(1), planned(2))), 0, TaskStanding.MERGING)
    state = with_task(state, 0, replace(state.tasks[0], instead=1))
    assert list(plan_lines(shown_plan(LOOP, state)))[4] == "  [>] T-001  Do thing 1  (T-002 brings it in)"


def test_the_live_view_sums_up_waves_tasks_and_iterations() -> None:
    state = replace(done(begun(at_work(planned(1), planned(2, 1))), 0), iterations=2)
    assert summary(state) == "wave 2 of 2 · 1/2 tasks · iteration 3"
