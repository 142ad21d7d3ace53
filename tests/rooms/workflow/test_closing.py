"""What a workflow says at its end, at a pause and in between."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.model import Ending, Outcome
from loopwright.loops.workflow import closing, files
from loopwright.loops.workflow.kind import KIND
from loopwright.loops.workflow.state import WorkflowState
from tests.loops.workflow import (
    BLOCKER,
    LANDED,
    advises,
    cancelled,
    does,
    planned,
    play,
    refuses,
    says,
    seen,
    stuck,
    task,
    thoroughly,
    workflow,
)
from tests.rooms.workflow.stories import LOOP, VERIFIED, finished, page, story


def test_every_task_is_told_in_a_line() -> None:
    state = play(planned(task(1), task(2)), stuck(1))
    assert closing.so_far(state)[0].startswith("T-001, wave 1: Do part 1; under way (1 attempt): ")
    assert closing.so_far(state)[1] == "T-002, wave 1: Do part 2; under way"


def test_the_closing_says_what_landed_and_what_is_left() -> None:
    done = finished().state
    told = closing.lines(done, replace(VERIFIED, branch="loop/auth-1", commit=done.tip))
    assert "Complete after 1 iteration." in told
    assert any(line.startswith("Result: branch loop/auth-1") for line in told)
    nothing = closing.lines(planned(), Outcome(ending=Ending.CANCELLED))
    assert "Result: none; nothing has landed." in nothing
    kept = closing.lines(done, Outcome(ending=Ending.CANCELLED, note="why"))
    assert any("what has landed of the tasks" in line for line in kept)


def test_the_report_of_a_cancel_counts_and_every_other_end_has_none() -> None:
    state = play(planned(task(1), task(2)), *does(1))
    told = closing.report(state, Outcome(ending=Ending.CANCELLED), "$1.50")
    assert told[:3] == ("Iterations: 1", "Cost: $1.50", "Done: 1 of 2 tasks")
    assert closing.report(state, VERIFIED, "$1.50") == ()


def test_when_it_has_ended_nothing_is_in_progress_any_more() -> None:
    at_the_limit = planned(task(1), task(2), also_cast=("panel",), max_iterations=2)
    told = story(at_the_limit).then(*does(1), stuck(2), advises("look"), says("accept"), cancelled(2), LANDED)
    assert closing.so_far(told.state)[1].startswith("T-002, wave 1: Do part 2; not done (1 attempt)")
    line = files.task_lines(told.state)[1]
    assert (line.status, line.note) == ("pending", "")


def test_what_landed_so_far_is_said_before_a_person_decides() -> None:
    assert closing.landed_so_far(planned()) == ()
    assert closing.landed_so_far(play(planned(), *does(1))) == ("1 task landed so far (tip-1).",)


def test_what_a_person_owes_is_what_was_not_done_with_what_fails_of_it_and_what_nobody_reviewed() -> None:
    at_the_limit = planned(task(1), task(2), max_iterations=2, max_same_failure=9)
    told = story(at_the_limit).then(*does(1), stuck(2), says("accept"), cancelled(2), LANDED)
    owed = closing.owed(told.state, "ann")
    assert owed[2] == "- **Accepted**: 1 of 2 tasks"
    assert owed[5:] == (
        "- **Known issues**:",
        "  - [high] T-002 was not done: Do part 2",
        "  - [high] t::one - assert 1 == 2 (in T-002)",
        "  - [high] No thorough review was made of it",
    )
    assert "**Note:** Accepted by a person with 3 known issues, see .loop/debt.md" in page(told, "complete")
    assert any(
        "with 3 known issues, 1 unfinished task, recorded" in line
        for line in closing.lines(told.state, Outcome(ending=Ending.ACCEPTED))
    )


def test_where_a_review_was_made_its_blockers_are_owed_too() -> None:
    blocked = play(planned(max_iterations=1), *does(1), *seen(), *thoroughly(refuses(BLOCKER)))
    owed = closing.owed(blocked, "ann")
    assert any("it leaks" in line for line in owed)
    assert "  - [high] The thorough review has not passed it" in owed
    assert any("it leaks" in line for line in closing.unresolved(blocked))
    assert closing.unresolved(planned())[0].startswith("T-001")


def test_what_is_accepted_with_all_its_tasks_done_is_not_called_complete() -> None:
    done = finished()
    taken = replace(done, state=accepted_as_it_is(done.state))
    assert "**Status:** Accepted | Wave 1 of 1 | " in page(taken, "complete")


def accepted_as_it_is(state: WorkflowState) -> WorkflowState:
    return replace(state, course=replace(state.course, outcome=Outcome(ending=Ending.ACCEPTED)))


def test_the_result_says_where_it_stands() -> None:
    unclear = closing.result(LOOP, workflow(), {})
    assert (unclear.shape, unclear.spec_score, unclear.stage) == (None, None, "intent")
    limit = closing.result(LOOP, play(planned(max_iterations=1, max_same_failure=9), stuck(1)), {})
    assert (limit.stage, limit.shape, limit.tasks.total) == ("paused", "tool", 1)


def test_the_line_below_the_lanes_says_who_waits_for_whom() -> None:
    assert closing.summary(workflow()) == "intent"
    waiting = closing.summary(planned(task(1), task(2, 1)))
    assert "wave 1 of 2" in waiting


def test_the_kind_tells_the_tasks_in_the_status() -> None:
    assert KIND.status(workflow()).tasks is None
    assert KIND.status(planned()).tasks == {"done": 0, "total": 1, "wave": 1, "waves": 1}
    assert KIND.tells_more(LOOP, workflow()) == ".loop/workflow/auth-1/PROGRESS.md"
