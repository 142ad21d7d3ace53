"""What landed with a task and what people say, for the tasks that come after it."""

from __future__ import annotations

import json

import pytest

from loopwright.kernel.actions import Ask, RunChecks
from loopwright.kernel.events import Answered
from loopwright.kernel.faults import KEPT, engine_finding
from loopwright.kernel.model import Commit, Demand, Key
from loopwright.kernel.trust import LandedBefore, is_named
from loopwright.loops.workflow.making import words_of
from loopwright.loops.workflow.state import Recalled, TaskStanding
from tests.loops.workflow import (
    ALL_ROLES,
    GREEN,
    NO_CHANGE,
    RED,
    TOOL,
    At,
    checked,
    combined,
    conflicts,
    does,
    finding,
    landed,
    makes,
    passes,
    planned,
    plans,
    play,
    refuses,
    runs,
    says,
    scores,
    seen,
    shapes,
    stuck,
    task,
    thoroughly,
    wanted,
    workflow,
)

PUT_BACK = engine_finding(KEPT, "The change to tests/test_one.py was put back")


# --- who may change what landed ---------------------------------------------------------------------------------------


def test_a_task_that_the_engine_makes_may_change_no_more_than_the_one_it_stands_for() -> None:
    where = finding("it fails", file="tests/test_one.py")
    state = play(planned(task(1), task(2)), *does(1), makes(2), combined("both"), At("checks", checked(red=(where,))))
    red = state.tasks[2]
    assert (red.origin, words_of(red), red.plan.files) == ("red", words_of(state.tasks[1]), ())
    state = play(planned(task(1), task(2)), *does(1), makes(2), conflicts("c2", "tests/test_one.py"))
    conflict = state.tasks[2]
    assert (words_of(conflict), conflict.plan.files) == (words_of(state.tasks[1]), ("tests/test_one.py",))
    state = play(state, makes(3), conflicts("c3", "src/a.py"))
    assert words_of(state.tasks[3]) == words_of(state.tasks[1])


def test_what_is_found_or_said_in_a_review_names_no_file() -> None:
    blocker = finding("tests/test_one.py could be clearer", file="tests/test_one.py")
    found = (refuses(blocker), passes(), passes())
    alone = play(planned(task(1)), *does(1), *seen(), *thoroughly(*found))
    assert words_of(alone.tasks[1]) == ()
    asked = play(planned(task(1), attended=True), *does(1), *seen(), *thoroughly(*found))
    told = play(asked, says("task", text="make tests/test_one.py clearer"))
    assert words_of(told.tasks[1]) == ()


def test_what_a_command_starts_stays_as_it_landed_whatever_files_a_later_task_names() -> None:
    first = {**task(1), "verify": ["python", "tools/look.py"]}
    other = {**task(2), "files": ["tools/look.py"]}
    state = play(planned(first, task(3), other), *does(1))
    assert state.promised == (Demand("T-001", ("python", "tools/look.py"), landed=Commit("tip-1")),)
    state = play(state, makes(2), combined("m2"), GREEN, landed("tip-2"))
    state = play(state, makes(3), combined("m3"), GREEN, landed("tip-3"))
    assert [each.landed for each in state.promised] == ["tip-1", "tip-2", "tip-3"]


def test_a_plan_that_names_a_test_lets_no_task_change_it() -> None:
    state = planned({**task(1), "files": ["tests/test_one.py"]})
    (run,) = runs(state)
    after = json.loads(run.params)["after"]
    assert (after["commit"], after["own"], after["allow"]) == ("base", [], [])
    merged = wanted(play(state, makes(1), combined("both")), RunChecks).after
    assert merged == LandedBefore(commit=Commit("base"), alone=True)


def test_tests_that_landed_before_run_alone_as_well_on_the_merged_tree() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), combined("both"))
    assert wanted(state, RunChecks).after.alone


# --- what people say --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allow", [(), ("tests/test_one.py", "tests/api/**")])
def test_guidance_reaches_the_task_that_is_stuck_and_releases_only_what_is_allowed(allow: tuple[str, ...]) -> None:
    state = play(planned(max_iterations=3), *[stuck(1, RED, PUT_BACK)] * 3)
    assert "`loop answer revise --allow FILE GUIDANCE` lets it" in wanted(state, Ask).question
    state = play(state, says("revise", text="tests/test_one.py is right", allow=allow))
    (run,) = runs(state)
    let = f"\n\nMay be changed, although it landed before: {', '.join(allow)}" if allow else ""
    told = f"tests/test_one.py is right{let}"
    assert run.said == Answered(key=Key("escalation", 1), choice="continue", count=1, text=told, allow=allow)
    state = play(state, stuck(1, RED, asked=2), makes(1), combined("m1"))
    after = wanted(state, RunChecks).after
    assert after.allow == allow
    assert [after.is_allowed(path) for path in ("tests/test_one.py", "tests/api/a.py")] == [bool(allow)] * 2
    assert state.tasks[0].guidance == ""  # it has been told


def test_what_a_person_allowed_is_given_to_the_loops_that_begin_later() -> None:
    allow = ("tests/test_one.py",)
    state = play(planned(task(1), task(2, 1), max_iterations=3), *[stuck(1)] * 3)
    state = play(state, says("revise", text="in blue", allow=allow), *does(1))
    (run,) = runs(state)
    assert (run.said, json.loads(run.params)["after"]["allow"]) == (None, list(allow))


@pytest.mark.parametrize(
    "description", ["Change tests/test_one.py too", "Be sure tests/test_one.py still passes", "Keep tests/test_one.py"]
)
def test_only_a_file_that_a_task_is_planned_to_change_is_its_business(description: str) -> None:
    state = play(planned({**task(1), "description": description}))
    assert not is_named("tests/test_one.py", words_of(state.tasks[0]))
    listed = play(planned({**task(1), "description": description, "files": ["tests/test_one.py"]}))
    assert is_named("tests/test_one.py", words_of(listed.tasks[0]))


def test_who_is_to_bring_another_change_in_has_not_done_so_by_leaving_all_as_it_is() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), conflicts("c2", "a"), stuck(3, NO_CHANGE))
    assert (state.tasks[1].standing, state.tasks[2].stuck, state.done) == (TaskStanding.MERGING, 1, 1)


def test_a_loop_that_begins_after_it_was_said_has_heard_it() -> None:
    state = play(
        planned(task(1), task(2, 1), max_iterations=3), *[stuck(1)] * 3, says("revise", text="in blue"), *does(1)
    )
    (run,) = runs(state)
    assert (run.name, run.said, json.loads(run.params)["answers"]) == ("T-002", None, ["in blue"])


def test_what_was_learned_and_confirmed_is_told_to_whoever_makes() -> None:
    learned = (Recalled(title="a", text="clocks differ", confirmed=True), Recalled(title="b", text="no matter"))
    state = play(workflow(recalled=learned, cast=ALL_ROLES), scores(TOOL), shapes("It holds"), plans(task(1)))
    (run,) = runs(state)
    assert json.loads(run.params)["part"]["learned"] == ["clocks differ"]


def test_what_is_allowed_counts_where_something_landed_before() -> None:
    before = LandedBefore(commit=Commit("tip"), allow=("a",))
    assert (before.also_allowed(("b",)).allow, before.also_allowed(()).allow) == (("a", "b"), ("a",))
    assert LandedBefore().also_allowed(("b",)) == LandedBefore()
