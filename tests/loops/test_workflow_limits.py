"""Limits: where the workflow pauses, what is granted, and what stays in force."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask
from loopwright.kernel.codec import encode
from loopwright.kernel.events import BudgetChanged, ConfigChanged
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.limits import WorkflowAllowance, WorkflowLimits
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import Stopped, WorkflowPhase
from tests.loops.harness import taken
from tests.loops.workflow import (
    BLOCKER,
    CANCEL,
    GREEN,
    LANDED,
    OTHER_RED,
    RED,
    SAID,
    TOOL_REVIEW,
    At,
    advises,
    at_work,
    conflicts,
    does,
    finding,
    keys,
    makes,
    planned,
    play,
    refuses,
    says,
    seen,
    stuck,
    task,
    thoroughly,
    wanted,
)


def limits(**given: object) -> ConfigChanged:
    return ConfigChanged(digest="d", settings="", limits=encode(WorkflowLimits(**given)))  # type: ignore[arg-type]


def test_at_the_most_iterations_it_pauses_and_keeps_everything() -> None:
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen())
    ask = wanted(state, Ask)
    assert (state.stopped, ask.paused, ask.kind, ask.why) == (
        Stopped.LIMIT,
        True,
        "escalation",
        "1 of 1 iterations are used",
    )
    assert ask.question == (
        "Paused: 1 of 1 iterations are used. 1 of 2 tasks done; to do: T-002 Do part 2. Everything is kept."
        " How should it go on?"
    )
    assert [each.choice for each in ask.options] == ["continue", "accept", "history", "revise", "cancel"]
    assert state.tip == "tip-1"


def test_where_the_command_of_a_task_fails_it_is_said_how_to_go_on_with_another_plan() -> None:
    fails = finding("exit code 1", requirement="T-001")
    ask = wanted(play(planned(task(1), task(2), max_iterations=2), stuck(1, fails), stuck(2)), Ask)
    assert (
        "What fails in T-001 is the command that its plan verifies it by (make part-1). If that is wrong: a plan cannot"
        " be edited yet, `loop answer revise`"
    ) in ask.question


def test_continue_grants_and_never_resets() -> None:
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen(), says("continue", count=10))
    assert (at_work(state), state.allowance.iterations, state.iterations) == (["T-002"], 11, 1)
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen(), says("continue"))
    assert state.allowance.iterations == 4


def test_what_is_under_way_ends_before_it_pauses() -> None:
    state = play(planned(task(1), task(2), max_iterations=2), stuck(1))
    assert (at_work(state), where(state)) == (["T-002"], WorkflowPhase.EXECUTE)
    assert play(state, stuck(2)).stopped is Stopped.LIMIT


def test_the_review_needs_no_iteration_and_what_it_finds_does() -> None:
    state = play(planned(max_iterations=1), *does(1), *seen())
    assert where(state) == WorkflowPhase.REVIEW
    assert play(state, *thoroughly(refuses(BLOCKER))).stopped is Stopped.LIMIT
    assert where(play(state, *thoroughly(), GREEN, SAID, LANDED)) == Station.DONE


def test_the_same_failure_three_times_in_a_row_pauses() -> None:
    state = play(planned(), stuck(1), stuck(1), stuck(1))
    assert (state.stopped, state.course.reasons[0]) == (Stopped.LIMIT, "T-001 failed 3 times in a row in the same way")
    state = play(state, says("continue", count=2))
    assert (at_work(state), state.allowance.same) == (["T-001"], 5)


def test_another_failure_begins_a_new_row() -> None:
    state = play(planned(), stuck(1), stuck(1), stuck(1, OTHER_RED))
    assert (at_work(state), state.worst, state.worst_task) == (["T-001"], 1, "T-001")
    assert play(state, stuck(1, RED), stuck(1, RED)).stopped is None


def test_the_longest_row_of_any_task_counts() -> None:
    state = play(planned(task(1), task(2)), stuck(1), stuck(2), stuck(2))
    assert (state.worst, state.worst_task) == (2, "T-002")
    state = play(state, *does(2))
    assert (state.worst, state.worst_task) == (1, "T-001")


def test_too_many_failures_in_all_pause() -> None:
    state = play(planned(max_total_failures=2), stuck(1), stuck(1, OTHER_RED))
    assert state.course.reasons[0] == "2 attempts failed in all"
    assert play(state, says("continue", count=1)).allowance.failures == 3


@pytest.mark.parametrize("many", [30])
def test_unlimited_iterations_leave_the_other_limits_in_force(many: int) -> None:
    state = planned(max_iterations=None)
    for number in range(many):
        if state.stopped:
            break
        state = play(state, stuck(1, finding(f"it fails {chr(97 + number)}")))
    assert wanted(state, Ask).why == "25 attempts failed in all"
    assert play(state, says("continue", count=1)).allowance == WorkflowAllowance(iterations=None, same=3, failures=26)


def test_a_panel_is_not_asked_right_before_a_pause_but_before_the_attempt_after_it() -> None:
    state = planned(task(1), task(2), max_iterations=2, also_cast=("panel",), counsel_within_limits=True)
    paused = play(state, stuck(2), stuck(1))
    assert (paused.stopped, keys(paused)) == (None, ["panel-1-t2.1"])  # whoever was asked before is heard
    paused = play(paused, advises("look"))
    assert (paused.stopped, paused.unadvised, paused.tasks[1].advice) == (Stopped.LIMIT, (0,), "Consensus: look")
    goes_on = play(paused, says("continue", count=2))
    assert (at_work(goes_on), goes_on.unadvised, keys(goes_on)[-1]) == (["T-002"], (), "panel-1-t1.1")
    advised = play(goes_on, At("panel", advises("look there")))
    assert (at_work(advised), advised.tasks[0].advice) == (["T-001", "T-002"], "Consensus: look there")
    for said in (says("revise", text="use the other clock"), limits(max_iterations=4)):
        assert keys(play(paused, said))[-1] == "panel-1-t1.1"


def test_in_an_older_log_the_panel_is_heard_though_a_limit_is_reached_and_its_advice_waits() -> None:
    state = play(planned(max_iterations=1, also_cast=("panel",)), stuck(1))
    assert keys(state) == ["panel-1-t1.1"]
    state = play(state, advises("look"))
    assert (state.stopped, state.tasks[0].advice) == (Stopped.LIMIT, "Consensus: look")


def test_a_revision_starts_the_counts_anew() -> None:
    state = play(planned(max_iterations=3), stuck(1), stuck(1), stuck(1), says("revise", text="use the other clock"))
    assert (at_work(state), state.allowance, state.worst, state.course.answers) == (
        ["T-001"],
        WorkflowAllowance(iterations=6, same=3, failures=28),
        0,
        ("use the other clock",),
    )
    unlimited = play(planned(max_iterations=None), stuck(1), stuck(1), stuck(1), says("revise", text="x"))
    assert unlimited.allowance.iterations is None


def test_a_revision_takes_back_nothing_that_was_granted() -> None:
    begun = planned(task(1), task(2, 1), max_iterations=1, of=TOOL_REVIEW, keeps_grants=True)
    paused = play(begun, *does(1), *seen())
    asked = play(paused, says("continue", count=50))
    assert (paused.stopped, asked.stopped, asked.allowance.iterations) == (Stopped.LIMIT, Stopped.CHECK_IN, 51)
    assert play(asked, says("revise", text="write it plainly")).allowance.iterations == 51
    unlimited = taken(WORKFLOW, asked, limits(max_iterations=None))
    assert play(unlimited, says("revise", text="write it plainly")).allowance.iterations is None


def test_a_revision_starts_the_row_of_same_failures_of_every_task_anew() -> None:
    twice = play(planned(task(1), task(2), max_same_failure=2), stuck(1), stuck(2), stuck(1), stuck(2))
    assert twice.stopped is Stopped.LIMIT
    again = play(twice, says("revise", text="use the other clock"), stuck(1), stuck(2))
    assert ([each.same for each in again.tasks], again.stopped) == ([1, 1], None)
    assert play(again, stuck(1), stuck(2)).stopped is Stopped.LIMIT


def test_new_limits_let_a_paused_one_go_on() -> None:
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen())
    more = play(taken(WORKFLOW, state, limits(max_iterations=3)))
    assert (at_work(more), more.allowance.iterations, more.stopped, more.course.reasons) == (["T-002"], 3, None, ())
    assert taken(WORKFLOW, state, limits(max_iterations=1, max_same_failure=9)).stopped is Stopped.LIMIT
    assert at_work(play(taken(WORKFLOW, state, limits(max_iterations=None)))) == ["T-002"]


def test_what_was_granted_stays_granted_under_new_limits() -> None:
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen(), says("continue", count=2))
    assert taken(WORKFLOW, state, limits(max_iterations=5)).allowance.iterations == 7
    assert taken(WORKFLOW, state, BudgetChanged(usd=5.0)) == state


def test_new_limits_answer_no_other_question() -> None:
    state = play(planned(task(1), task(2, 1), of=TOOL_REVIEW), *does(1), *seen())
    assert taken(WORKFLOW, state, limits(max_iterations=50)).stopped is Stopped.CHECK_IN


@pytest.mark.parametrize("choice", ["continue", "revise"])
def test_a_grant_must_say_what_it_is(choice: str) -> None:
    state = play(planned(task(1), task(2, 1), max_iterations=1), *does(1), *seen())
    with pytest.raises(InvalidTransition):
        play(state, says(choice, count=-1))


def test_it_can_be_cancelled_when_it_is_paused() -> None:
    state = play(planned(max_iterations=1), stuck(1), CANCEL)
    assert keys(state) == ["cancel-2-1.1"]


def test_no_task_begins_that_could_not_end() -> None:
    state = play(planned(task(1), task(2), task(3), max_iterations=2), makes(1))
    assert (at_work(state), state.ready) == (["T-002"], (2,))


def test_a_conflict_counts_less_than_a_longer_row_of_another_task() -> None:
    state = play(planned(task(1), task(2)), stuck(2), stuck(2), makes(1), conflicts("c1", "a"))
    assert (state.worst, state.worst_task, state.failures) == (2, "T-002", 3)
