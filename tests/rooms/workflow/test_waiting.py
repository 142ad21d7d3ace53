"""Why a task does not go on just now, for `loop explain` and the live view."""

from dataclasses import replace

from loopwright.loops.kind import Lane
from loopwright.loops.workflow.state import TaskStanding, with_task
from loopwright.loops.workflow.waiting import explained, queued
from tests.loops.workflow import NOT_COLLECTED, RED, finding
from tests.rooms.workflow.states import at_work, begun, done, planned, standing


def test_a_task_waits_for_those_that_are_not_done() -> None:
    state = begun(at_work(planned(1), planned(2), planned(3, 1, 2)))
    assert explained(state) == ("T-003 waits for T-001 (under way), T-002 (under way)",)
    assert queued(state) == (Lane(name="T-003: Do thing 3", count="wave 2", word="waits", detail="for T-001, T-002"),)
    assert explained(done(state, 0)) == ("T-003 waits for T-002 (under way)",)
    assert explained(begun(done(state, 0, 1))) == ()


def test_a_task_waits_for_whoever_works_on_its_files() -> None:
    state = begun(at_work(planned(1, files=("a.py", "b.py")), planned(2, files=("b.py",))))
    assert explained(state) == ("T-002 waits for T-001, which works on b.py",)
    made = standing(state, 0, TaskStanding.MADE)
    assert explained(made) == ("T-001 is made and lands next", "T-002 waits for T-001, which works on b.py")


def test_a_task_waits_for_a_place() -> None:
    tasks = tuple(planned(number) for number in range(1, 4))
    state = begun(at_work(*tasks, parallel=1))
    assert explained(state) == ("T-003 waits for a place: 2 of 2 are taken",)
    assert explained(standing(state, 0, TaskStanding.DONE)) == ("T-003 begins as soon as a place is free",)
    one_by_one = begun(at_work(*tasks, shape="colleague"))
    assert explained(one_by_one)[-1] == "T-003 waits for a place: 1 of 1 are taken"


def test_a_task_waits_until_a_person_has_looked() -> None:
    state = done(begun(at_work(planned(1), planned(2, 1), shape="tool-review")), 0)
    assert explained(state) == ("T-002 waits until you have looked at what is done (a check-in)",)
    (lane,) = queued(state)
    assert (lane.word, lane.detail) == ("waits", "for you to look")


def test_with_check_ins_a_wave_waits_for_those_before_it() -> None:
    state = begun(at_work(planned(1), planned(2), planned(3, 1), shape="tool-review"))
    both = replace(done(state, 0), checked_in=1)
    told = "T-003 waits for the waves before its own: as tool-review one wave is done after the other"
    assert explained(both) == (told,)


def test_what_was_made_lands_in_turn_and_what_does_not_go_together_is_brought_in_by_another() -> None:
    state = begun(at_work(planned(1), planned(2), planned(3), planned(4)))
    state = standing(standing(state, 0, TaskStanding.MADE), 1, TaskStanding.MADE)
    state = standing(standing(state, 2, TaskStanding.COUNSEL, stuck=1), 3, TaskStanding.MERGING, stuck=1)
    state = replace(state, plan=replace(state.plan, cast=("panel",)))
    assert explained(state) == (
        "T-001 is made and lands next",
        "T-002 is made and lands after 1 other",
        "T-003 is stuck (1): the panel is asked before it is tried again",
        "T-004 does not go together with what has landed: another task brings it in",
    )
    named = with_task(state, 3, replace(state.tasks[3], instead=0))
    assert [(lane.word, lane.detail, lane.failed) for lane in queued(named)] == [
        ("made", "lands next", False),
        ("made", "lands after 1 other", False),
        ("stuck", "the panel is asked", True),
        ("in conflict", "T-001 brings it in", False),
    ]


def test_a_limit_that_is_reached_lets_none_begin() -> None:
    state = replace(at_work(planned(1)), iterations=25)
    assert explained(state) == ("T-001 is not begun: 25 of 25 iterations are used",)
    assert queued(state)[0].detail == "25 of 25 iterations are used"


def test_the_usual_troubles_are_named() -> None:
    state = at_work(planned(1, verify=("test", "-f", "a b")), planned(2))
    own = finding("exit code 1", requirement="T-001")
    stuck = standing(state, 0, TaskStanding.RUNNING, own, stuck=2)
    stuck = standing(stuck, 1, TaskStanding.RUNNING, stuck=3)
    unlimited = replace(stuck, allowance=replace(stuck.allowance, iterations=None))
    assert explained(unlimited) == (
        "T-001 failed its verification 2 times; is its command right? test -f 'a b'",
        "T-002 failed its verification 3 times",
        "nobody advises on T-001, T-002: no panel is named in [roles] of loop.toml, so it is tried again without",
        "the iterations are not limited; 3 failures of one task in the same way, or 25 in all, still pause it",
    )


def test_a_command_that_passes_is_not_blamed_for_the_check_that_fails() -> None:
    state = at_work(planned(1, verify=("python", "-c", "print(1)")), planned(2))
    state = standing(state, 0, TaskStanding.RUNNING, NOT_COLLECTED, RED, stuck=3)
    state = standing(state, 1, TaskStanding.RUNNING, RED, stuck=2)
    assert explained(state)[:2] == (
        "T-001 failed its verification 3 times: t - collection failure: AttributeError: no py.test and 1 other",
        "T-002 failed its verification 2 times: t::one - assert 1 == 2",
    )
