"""What people say to a workflow, and what others write into its files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, CleanUp, Integrate, RunChecks
from loopwright.kernel.events import CancelRequested, Integrated
from loopwright.kernel.model import NO_KEY, Cleanup, Commit, Demand, Ending, Part
from loopwright.kernel.trust import Trust
from loopwright.loops.closing import take_command
from loopwright.loops.course import Station, where
from loopwright.loops.workflow import closing
from loopwright.loops.workflow.state import Stopped, WorkflowPhase, WorkflowState
from tests.loops import verified as v
from tests.loops.workflow import (
    BASE,
    BLOCKER,
    CANCEL,
    CLEANED,
    COLLEAGUE,
    FORBIDDEN,
    GREEN,
    LANDED,
    REFUSED,
    SAID,
    At,
    advises,
    at_work,
    cancelled,
    checked,
    combined,
    does,
    keys,
    makes,
    outcome,
    passes,
    planned,
    play,
    refuses,
    runs,
    says,
    seen,
    stuck,
    task,
    thoroughly,
    train,
    wanted,
)

D1 = Demand("T-001", ("make", "part-1"))

# --- cancel ---------------------------------------------------------------------------------------------------------


def test_every_open_loop_of_a_task_is_told_that_the_workflow_ends() -> None:
    state = play(planned(task(1), task(2), task(3, 1)), stuck(1), CANCEL)
    assert [(str(run.key), run.name, run.said) for run in runs(state)] == [
        ("cancel-2-1.0", "T-001", CANCEL_SAID),
        ("cancel-1-2.0", "T-002", CANCEL_SAID),
    ]
    state = play(state, makes(1), cancelled(2))
    assert wanted(state, CleanUp).choice is Cleanup.ROLLBACK
    ended = outcome(play(state, CLEANED))
    assert (ended.ending, ended.cleanup, ended.commit) == (Ending.CANCELLED, Cleanup.ROLLBACK, BASE)
    assert ended.parts[0] == Part(
        name="T-001: Do part 1", ending=Ending.CANCELLED, attempts=1, loop=ended.parts[0].loop
    )


CANCEL_SAID = CancelRequested(cleanup=Cleanup.ROLLBACK)


def test_it_cannot_be_cancelled_twice() -> None:
    with pytest.raises(InvalidTransition, match="the workflow is ending"):
        play(planned(), CANCEL, CANCEL)
    with pytest.raises(InvalidTransition, match="the workflow has ended"):
        play(planned(), CANCEL, cancelled(1), CLEANED, CANCEL)


PLACES = {
    "at work": ((), "CANCEL"),
    "the panel thinks": ((stuck(1),), "CANCEL"),
    "on the train": ((makes(1),), "CLEAN_UP"),
    "merged": ((makes(1), combined()), "CLEAN_UP"),
    "passed": ((makes(1), combined(), GREEN), "CLEAN_UP"),
    "at a gate": ((makes(1), combined(), v.NOTHING_ELSE), "CLEAN_UP"),
    "looked at": (does(1), "CLEAN_UP"),
    "reviewed": ((*does(1), *seen()), "CLEAN_UP"),
    "a finding": ((*does(1), *seen(), *thoroughly(passes(BLOCKER))), "CLEAN_UP"),
    "discussed": ((*does(1), *seen(), *thoroughly(passes(BLOCKER)), says("discuss")), "CLEAN_UP"),
    "verified": ((*does(1), *seen(), *thoroughly()), "CLEAN_UP"),
    "at the last gate": ((*does(1), *seen(), *thoroughly(), v.NOTHING_ELSE), "CLEAN_UP"),
    "shipped": ((*does(1), *seen(), *thoroughly(), GREEN), "CLEAN_UP"),
    "landing": ((*does(1), *seen(), *thoroughly(), GREEN, SAID), "LAND"),
}


@pytest.mark.parametrize("place", PLACES)
def test_it_can_be_cancelled_everywhere(place: str) -> None:
    letters, then = PLACES[place]
    state = play(planned(also_cast=("panel",), attended=True), *letters, CANCEL)
    assert where(state) == then
    if then == "CANCEL":
        state = play(state, cancelled(1))
    end = play(state, LANDED if then == "LAND" else CLEANED)
    assert outcome(end).ending is (Ending.VERIFIED if then == "LAND" else Ending.CANCELLED)


def test_a_landing_that_is_refused_after_a_cancel_is_cancelled() -> None:
    state = play(planned(), *does(1), *seen(), *thoroughly(), GREEN, SAID, CANCEL, REFUSED)
    assert where(state) == Station.CLEAN_UP


def test_a_cancel_may_be_the_answer_to_a_question() -> None:
    state = play(planned(task(1), task(2), of=COLLEAGUE), *does(1), says("cancel"))
    assert (where(state), state.stopped) == (Station.CLEAN_UP, None)


# --- accept ---------------------------------------------------------------------------------------------------------


def paused() -> WorkflowState:
    """One of two tasks has landed, the other is stuck."""
    state = planned(task(1), task(2), max_iterations=2, target="refs/heads/main")
    return play(state, *does(1), stuck(2))


def test_accepting_tells_open_loops_to_end_and_lands_what_has_landed() -> None:
    state = play(paused(), says("accept"))
    (run,) = runs(state)
    assert (run.name, run.said) == ("T-002", CancelRequested(cleanup=Cleanup.KEEP_ARTIFACTS))
    state = play(state, cancelled(2))
    action = wanted(state, Integrate)
    assert (action.commit, action.base, action.tree, action.target, action.also, action.why) == (
        "m-tip-1",
        "tip-1",
        "lands",
        "",
        (replace(D1, landed=Commit("tip-1")),),
        "accepted by a person",
    )
    ended = outcome(play(state, LANDED))
    assert (ended.ending, [each.ending for each in ended.parts]) == (
        Ending.ACCEPTED,
        [Ending.VERIFIED, Ending.CANCELLED],
    )


def test_what_is_accepted_is_merged_only_by_a_persons_word() -> None:
    state = play(paused(), says("accept", merge=True), cancelled(2))
    assert wanted(state, Integrate).target == "refs/heads/main"


def test_what_was_accepted_and_could_not_land_is_never_called_verified() -> None:
    state = play(paused(), says("accept"), cancelled(2), REFUSED)
    assert (state.stopped, wanted(state, Ask).why) == (
        Stopped.LANDING,
        "the result could not be landed: the branch is locked",
    )
    for choice in ("continue", "accept"):
        assert outcome(play(state, says(choice), LANDED)).ending is Ending.ACCEPTED
    assert where(play(state, says("cancel"))) == Station.CLEAN_UP
    assert where(play(state, CANCEL)) == Station.CLEAN_UP


def test_blockers_are_what_a_person_owes_who_accepts() -> None:
    state = play(planned(max_iterations=1), *does(1), *seen(), *thoroughly(refuses(BLOCKER)), says("accept"), LANDED)
    owed = [each.issue for each in outcome(state).findings]
    assert (outcome(state).ending, owed) == (
        Ending.ACCEPTED,
        [BLOCKER.issue, "T-002 was not done: Mend: it leaks", "The thorough review has not passed it"],
    )


def test_with_nothing_landed_nothing_is_accepted_but_the_base() -> None:
    state = play(planned(max_iterations=1), makes(1), combined("bad"), checked(red=(BLOCKER,)), says("accept"))
    action = wanted(state, Integrate)
    assert (action.commit, action.base, action.tree, action.also) == (BASE, BASE, "", ())
    for into in ("", "main"):
        ended = play(state, Integrated(key=NO_KEY, branch="loop/x", commit=BASE, landed=BASE, merged_into=into))
        told = closing.lines(ended, outcome(ended))
        assert told[-1] == "Result: none; nothing has landed."
        assert (take_command(outcome(ended)), closing.owed(ended, "ann")[4]) == ("", "- **Branch**: (none)")
        assert outcome(ended).not_merged == ("nothing has landed" if into else "")


# --- answers --------------------------------------------------------------------------------------------------------


def test_what_is_not_offered_is_refused() -> None:
    for choice in ("approve", "skip", "split"):
        with pytest.raises(InvalidTransition, match="is not one of the options"):
            play(paused(), says(choice))
    finding = play(planned(attended=True), *does(1), *seen(), *thoroughly(passes(BLOCKER)))
    for choice in ("continue", "skip", "discuss"):
        with pytest.raises(InvalidTransition, match="is not one of the options"):
            play(finding, says(choice))
    with pytest.raises(InvalidTransition, match="a task needs what is to be done"):
        play(finding, says("task", text="  "))


def test_an_answer_reaches_the_tasks_that_begin_afterwards() -> None:
    state = play(planned(task(1), task(2), of=COLLEAGUE), *does(1), says("continue", text="mind the names"))
    assert json.loads(runs(state)[0].params)["answers"] == ["mind the names"]


def test_a_stop_cuts_what_is_under_way_and_going_on_takes_it_up_again() -> None:
    state = play(planned(task(1), task(2, 1), task(3), also_cast=("panel",)), stuck(3), *does(1), advises())
    assert at_work(state) == ["T-002", "T-003"]
    state = play(state, makes(3), *train("tip-3"), *seen(refuses(FORBIDDEN))[:1])
    assert keys(state) == ["escalation-1"]
    state = play(state, says("continue"))
    assert [str(run.key) for run in runs(state)] == ["task-1-2.1", "task-1-4.1"]


# --- trust ----------------------------------------------------------------------------------------------------------


def test_every_task_is_judged_by_the_base_of_the_whole() -> None:
    state = play(planned(task(1), task(2, 1), trust=Trust(allow=("tests/api/**",))), *does(1))
    given = json.loads(runs(state)[0].params)
    assert (given["trust"]["base"], given["base"], given["trust"]["allow"]) == (BASE, "tip-1", ["tests/api/**"])
    state = play(state, makes(2), combined("m2"))
    assert wanted(state, RunChecks).base == BASE


def test_what_was_held_back_is_landed_when_it_is_approved_at_the_end() -> None:
    held = checked(held=v.BENT)
    state = play(planned(), makes(1), combined("m1"), held, *does(1)[3:], *seen(), *thoroughly(), At("verify", held))
    state = play(state, SAID, LANDED, v.approves())
    run = wanted(state, RunChecks)
    assert (run.key.step, run.commit, run.also) == ("checks-held", "m1", (D1,))


def test_a_person_may_decide_on_what_is_held_back_while_others_are_at_work() -> None:
    state = play(planned(task(1), task(2)), makes(1), combined("m1"), At("checks", checked(held=v.BENT)))
    state = play(state, does(1)[3], v.approves())
    assert (at_work(state), where(state)) == (["T-002"], WorkflowPhase.EXECUTE)
    state = play(state, makes(2), combined("m2"))
    assert wanted(state, RunChecks).approved == v.BENT


def test_a_decision_while_a_task_lands_is_for_the_next() -> None:
    state = play(planned(task(1), task(2)), makes(1), combined("m1"), At("checks", checked(held=v.BENT)))
    before = wanted(state, Integrate)
    assert wanted(play(state, v.approves()), Integrate) == before
