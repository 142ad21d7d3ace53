"""The merge train: only what passes together with all that has landed lands, one after the other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, AwaitGate, Combine, Integrate, RunChecks
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import Commit, Demand, Ending, Finding, Key, Tree
from loopwright.kernel.trust import Trust
from loopwright.loops import course as c
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import Stopped, TaskRow, TaskStanding, WorkflowPhase, WorkflowState
from tests.loops import verified as v
from tests.loops.workflow import (
    BASE,
    CANCEL,
    CLEANED,
    COLLEAGUE,
    FORBIDDEN,
    GREEN,
    LANDED,
    NO_CHANGE,
    OTHER_RED,
    RED,
    REFUSED,
    SAID,
    TOOL,
    At,
    Letter,
    at_work,
    cancelled,
    checked,
    combined,
    conflicts,
    does,
    ended,
    gates,
    keys,
    landed,
    makes,
    outcome,
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
    train,
    wanted,
    workflow,
)

D1, D2 = Demand("T-001", ("make", "part-1")), Demand("T-002", ("make", "part-2"))
NEVER = Demand("mustNot-1", ("make", "never"))


def guarded(*tasks: dict[str, object], cast: tuple[str, ...] = ()) -> WorkflowState:
    """With a rule that has a command."""
    state = workflow(cast=("scorer", "shaper", "planner", *cast))
    rules = ({"text": "It leaks", "command": ["make", "never"]}, "It breaks")
    return play(state, scores(TOOL), shapes("It holds", must_not=rules), plans(*(tasks or (task(1),))))


# --- landing --------------------------------------------------------------------------------------------------------


def test_the_commands_of_tasks_that_are_done_run_on_every_merged_tree() -> None:
    state = play(guarded(task(1), task(2)), makes(1), combined("m1"))
    assert wanted(state, RunChecks).also == (NEVER, replace(D1, start=BASE))
    state = play(state, GREEN, landed("tip-1"), makes(2), combined("m2"))
    run = wanted(state, RunChecks)
    landed_1 = replace(D1, landed=Commit("tip-1"))  # what it starts runs as it landed
    assert (run.also, run.commit, run.base, run.key) == (
        (NEVER, landed_1, replace(D2, start=BASE)),
        "m2",
        BASE,
        Key("checks", 2),
    )


def test_what_passed_is_landed_on_what_has_landed() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), combined("m2"), At("checks", checked(lands=Tree("t2"))))
    action = wanted(state, Integrate)
    assert (action.key, action.commit, action.base, action.tree, action.target) == (
        Key("land-task", 2),
        "m2",
        "tip-1",
        "t2",
        "",
    )
    assert action.message == "T-002: Do part 2"
    state = play(state, landed("tip-2"))
    assert (state.tip, state.whole, state.ground) == ("tip-2", "m2", BASE)
    assert [each.landed for each in state.tasks] == ["tip-1", "tip-2"]


def test_the_branch_of_tasks_that_cannot_be_moved_is_a_persons_matter_and_nothing_ends_as_verified() -> None:
    state = play(planned(), makes(1), combined(), GREEN, REFUSED)
    assert (state.stopped, wanted(state, Ask).why) == (Stopped.STUCK, "T-001 did not land: the branch is locked")
    state = play(state, says("continue"))
    assert (keys(state), state.passed) == (["combine-2"], False)


# --- what does not go together --------------------------------------------------------------------------------------


def test_a_conflict_becomes_a_task_with_both_sides() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), conflicts("c2", "src/a.py"))
    (run,) = runs(state)
    said = json.loads(run.params)
    assert (run.name, said["base"], said["also"]) == (
        "T-003",
        "m-tip-1",
        [{"name": "T-003", "argv": ["make", "part-2"], "own": [], "landed": "", "start": "base"}],
    )
    assert said["task"] == (
        "T-003: Bring T-002 together with what has landed\n\n"
        "T-002 (Do part 2) was made and verified by itself as commit c2, a change to commit base. But it conflicts with"
        " what has landed in src/a.py.\n\n"
        "What T-002 is to do: All of part 2.\n\n"
        "What has landed meanwhile:\n- T-001, Do part 1: commit tip-1\n\n"
        "What is wrong:\n- src/a.py conflicts with what has landed meanwhile\n\n"
        "You begin with what has landed: make the change of the other side on top of it, so that both hold.\n\n"
        "Expected to change: src/a.py"
    )
    assert [each.standing for each in tuple(state.tasks)[1:]] == [TaskStanding.MERGING, TaskStanding.RUNNING]
    state = play(state, *does(3))
    assert ([each.standing for each in state.tasks], state.done) == ([TaskStanding.DONE] * 3, 3)


def test_a_conflict_that_names_no_file_is_one_all_the_same() -> None:
    state = play(planned(), makes(1), conflicts("c1"))
    assert (at_work(state), state.tasks[0].why) == (["T-002"], "it conflicts with what has landed in some files")


def test_a_red_merged_tree_becomes_a_task_that_begins_with_it() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), combined("both"), At("checks", checked(red=(RED,))))
    (run,) = runs(state)
    assert (run.name, json.loads(run.params)["base"]) == ("T-003", "both")
    assert "on the merged tree these fail: test" in json.loads(run.params)["task"]
    state = play(state, makes(3))
    action = wanted(state, Combine)
    assert (action.base, action.commits, action.made_on) == ("m-tip-1", ("c3",), ("m-tip-1",))
    assert (state.tip, state.promised) == ("tip-1", (replace(D1, landed=Commit("tip-1")),))


def test_acceptance_tests_of_a_task_are_never_quoted_and_what_people_decided_stays_known() -> None:
    dropped = Evidence(level=Level.SHOWN, decisions=("dropped by ann",))
    made = makes(1, hidden=("tests/test_hidden.py",), evidence=dropped)
    state = play(planned(task(1), task(2)), made, combined("m"))
    assert wanted(state, RunChecks).hidden.files == ("tests/test_hidden.py",)
    state = play(state, At("checks", checked(evidence=Evidence(level=Level.SHOWN))))
    assert wanted(state, Integrate).hidden.files == ("tests/test_hidden.py",)
    assert state.tasks[0].evidence == dropped


@pytest.mark.parametrize("letters", [(conflicts("c1", "a"),), (combined("both"), checked(red=(RED,)))])
def test_what_brings_changes_together_keeps_their_acceptance_tests_and_asks_for_no_others(
    letters: tuple[Letter, ...],
) -> None:
    state = planned(child='{"examiner": "named"}')
    assert json.loads(runs(state)[0].params)["examiner"] == "named"
    assert json.loads(runs(play(state, makes(1), *letters))[0].params)["examiner"] == ""


def test_a_conflict_of_the_task_that_was_to_mend_one_ends_all_three() -> None:
    state = play(planned(task(1), task(2, 1)), makes(1), conflicts("c1", "a"), makes(3), conflicts("c3", "a"))
    assert (at_work(state), state.worst, state.worst_task) == (["T-004"], 2, "T-004")
    state = play(state, *does(4))
    assert (at_work(state), state.done, state.worst) == (["T-002"], 3, 0)


def test_what_waited_for_a_task_waits_for_whoever_stands_in_for_it() -> None:
    state = play(planned(task(1), task(2, 1)), makes(1), conflicts("c1", "a"))
    assert at_work(state) == ["T-003"]
    assert at_work(play(state, *does(3))) == ["T-002"]


def test_a_task_that_mends_a_red_tree_begins_with_it_again_if_its_loop_falls_over() -> None:
    state = play(planned(), makes(1), combined("both"), checked(red=(RED,)), ended(2, Ending.FAILED, note="x"))
    (run,) = runs(state)
    assert (run.name, json.loads(run.params)["base"]) == ("T-002//2", "both")


# --- what must not be -----------------------------------------------------------------------------------------------


def test_a_command_that_shows_what_must_not_be_stops_everything_at_once() -> None:
    state = play(guarded(task(1), task(2)), makes(1), combined("bad"), At("checks", checked(unmet=("mustNot-1",))))
    ask = wanted(state, Ask)
    assert (state.stopped, runs(state), ask.paused, ask.why) == (
        Stopped.MUST_NOT,
        (),
        False,
        "mustNot-1 became true: It leaks; failing: mustNot-1 failed: exit code 1",
    )
    assert [each.choice for each in ask.options] == ["continue", "accept", "history", "revise", "cancel"]
    state = play(state, says("continue"))
    assert (at_work(state), json.loads(runs(state)[1].params)["base"]) == (["T-002", "T-003"], "bad")
    assert (state.tip, state.tasks[0].standing) == (BASE, TaskStanding.MERGING)
    assert [each.rule for each in state.tasks[0].failures] == ["mustNot-1"]


def test_a_task_that_a_person_calls_done_is_tried_again_when_what_must_not_be_is_there() -> None:
    state = replace(guarded(), tasks=TaskRow.of((replace(guarded().tasks[0], is_red=False),)))
    state = play(state, stuck(1, NO_CHANGE), says("done"), combined(BASE), At("checks", checked(unmet=("mustNot-1",))))
    assert (state.stopped, len(state.tasks)) == (Stopped.MUST_NOT, 1)
    assert at_work(play(state, says("continue"))) == ["T-001"]


def test_what_a_person_accepts_then_is_what_has_landed_and_nothing_else() -> None:
    state = play(
        guarded(task(1), task(2)), *does(1), makes(2), combined("bad"), At("checks", checked(unmet=("mustNot-1",)))
    )
    state = play(state, says("accept"))
    action = wanted(state, Integrate)
    assert (action.commit, action.tree, action.also) == (
        "m-tip-1",
        "lands",
        (NEVER, replace(D1, landed=Commit("tip-1"))),
    )
    assert outcome(play(state, LANDED)).ending is Ending.ACCEPTED


# --- gates ----------------------------------------------------------------------------------------------------------

NEEDED = v.NOTHING_ELSE


def waits(*tasks: dict[str, object]) -> WorkflowState:
    state = planned(*(tasks or (task(1), task(2))), trust=Trust())
    return play(state, makes(1), combined("m1"), At("checks", NEEDED))


def test_a_gate_in_the_train_holds_up_nobody_else() -> None:
    state = waits()
    assert (gates(state), at_work(state), state.gated) == ([v.E1], ["T-002"], True)
    state = play(state, makes(2))
    assert (keys(state), where(state)) == ([f"gate-protected-{v.E1}"], WorkflowPhase.EXECUTE)


def test_what_is_approved_is_checked_anew_and_lands() -> None:
    state = play(waits(), v.approves())
    assert keys(state) == ["task-1-2.0", "combine-2"]
    state = play(state, combined("m1"))
    assert wanted(state, RunChecks).approved == v.BENT
    assert play(state, At("checks", GREEN), landed("t")).tip == "t"


def test_what_is_rejected_becomes_a_task_without_it() -> None:
    state = play(waits(), v.rejects())
    assert (at_work(state), state.tasks[0].why, state.course.refusals) == (
        ["T-002", "T-003"],
        "a person rejected a change in it",
        ("A person rejected the change to tests/t.py: no",),
    )
    told = [json.loads(run.params)["answers"] for run in runs(state)]
    assert told == [[], ["A person rejected the change to tests/t.py: no"]]


def test_the_same_change_again_is_rejected_without_asking() -> None:
    state = play(waits(task(1)), v.rejects(), makes(2), combined("m2"), At("checks", NEEDED))
    assert (at_work(state), gates(state), state.failures) == (["T-003"], [], 2)


def test_an_approval_given_in_the_tasks_own_loop_is_not_asked_for_again() -> None:
    state = play(planned(), makes(1, approved=v.BENT), combined("m1"), NEEDED)
    assert (gates(state), keys(state)) == ([], ["combine-2"])
    assert wanted(play(state, combined("m1")), RunChecks).approved == v.BENT


def test_nor_are_approvals_of_several_tasks_together() -> None:
    both = (*v.BENT, *v.MANIFEST)
    state = play(planned(task(1), task(2)), makes(1, approved=v.BENT), combined("m1"), At("checks", NEEDED))
    state = play(state, *train("tip-1"), makes(2, approved=v.MANIFEST), combined("m2"))
    state = play(state, At("checks", checked(held=both, nothing_else=True)))
    assert gates(state) == []


def test_nor_tests_that_a_person_let_go_there() -> None:
    gone = checked(held=v.BENT, would_drop=("t::old",), nothing_else=True)
    state = play(planned(), makes(1, approved=v.BENT, may_drop=("t::old",)), combined("m1"), gone)
    assert (gates(state), state.course.may_drop) == ([], ("t::old",))
    other = play(planned(), makes(1, approved=v.BENT), combined("m1"), gone)
    assert len(gates(other)) == 1


def test_a_task_that_a_person_took_untested_in_its_own_loop_is_not_asked_about_again() -> None:
    state = play(planned(), ended(1, Ending.ACCEPTED, commit=Commit("c1")), combined("m1"), v.UNNOTICED)
    assert (gates(state), keys(state)) == ([], ["combine-2"])
    assert len(gates(play(planned(), makes(1), combined("m1"), v.UNNOTICED))) == 1


def test_what_is_held_back_of_several_tasks_is_told_at_the_end() -> None:
    both = (*v.BENT, *v.MANIFEST)
    state = play(planned(task(1), task(2)), makes(1), combined("m1"), At("checks", checked(held=v.BENT)))
    assert wanted(state, Integrate).holds_back
    state = play(state, landed("tip-1"), makes(2), combined("m2"))
    assert wanted(state, RunChecks).commit == "m2"
    more = checked(held=both, lands=Tree("more"))
    state = play(state, At("checks", more), landed("tip-2"), *seen(), *thoroughly(), At("verify", more), SAID, LANDED)
    assert (outcome(state).held, outcome(state).ending, len(gates(state))) == (both, Ending.VERIFIED, 1)


def test_a_task_of_which_nothing_would_land_waits_for_a_person() -> None:
    state = play(planned(task(1), task(2)), *does(1), makes(2), combined("m2"), At("checks", checked(held=v.BENT)))
    assert (gates(state), state.gated) == ([v.E1], True)


def test_a_red_candidate_leaves_no_trace_on_what_has_landed() -> None:
    state = play(planned(task(1), task(2)), makes(1), combined("m1"), At("checks", checked(lands=Tree("one"))))
    state = play(state, landed("tip-1"), makes(2), combined("m2"))
    state = play(state, At("checks", checked(red=(RED,), lands=Tree("two"), held=v.BENT)))
    assert (state.course.lands, state.course.held, gates(state)) == ("one", (), [])


# --- two rules meet -------------------------------------------------------------------------------------------------


def test_a_gate_rejected_while_a_person_is_asked_changes_no_question() -> None:
    state = play(planned(task(1), task(2, 1), max_total_failures=1), *does(1), makes(2), combined("m2"))
    state = play(state, At("checks", NEEDED), *seen(refuses(FORBIDDEN))[:1], v.rejects())
    assert (state.stopped, where(state)) == (Stopped.MUST_NOT, Station.ESCALATED)


def test_a_cancelled_one_waits_at_no_gate() -> None:
    state = play(waits(), CANCEL)
    assert keys(state) == ["cancel-1-2.0"]
    assert outcome(play(state, cancelled(2), CLEANED)).ending is Ending.CANCELLED


def test_what_was_being_merged_when_everything_stopped_is_merged_anew() -> None:
    state = play(planned(task(1), task(2, 1)), *does(1), makes(2), combined("m2"), At("checks", GREEN))
    assert next(action.key.step for action in WORKFLOW.decide(state)) == "land-task"
    state = play(state, *seen(refuses(FORBIDDEN))[:1])
    assert keys(play(state, says("accept")))[-1].startswith("land-")
    assert wanted(play(state, says("accept")), Integrate).commit == "m-tip-1"
    state = play(state, says("continue"))
    assert "combine-3" in keys(state)


def test_a_colleague_lands_one_before_the_next_begins() -> None:
    state = play(planned(task(1), task(2), of=COLLEAGUE), makes(1))
    assert at_work(state) == []


@pytest.mark.parametrize("found", [RED, OTHER_RED])
def test_the_failures_of_a_merged_tree_are_counted(found: Finding) -> None:
    state = play(planned(), makes(1), combined(), checked(red=(found,)))
    assert (state.failures, state.iterations, state.tasks[0].stuck) == (1, 1, 1)


def test_an_open_gate_waits_though_a_limit_is_reached() -> None:
    state = play(planned(max_iterations=1), makes(1), combined("m1"), NEEDED)
    assert keys(state) == [f"gate-protected-{v.E1}"]
    state = play(state, v.rejects())
    assert (state.stopped, wanted(state, Ask).paused) == (Stopped.LIMIT, True)
    assert not [each for each in WORKFLOW.decide(state) if isinstance(each, AwaitGate)]


def test_a_conflict_task_begins_with_what_has_landed_when_it_begins() -> None:
    """Others may have landed since it was made: with an older start it would only conflict again. So it would without
    what is held back of them, which lies in `m-tip-1` and not in `tip-1`."""
    state = planned(task(1), task(2), task(3), parallel=3)
    state = play(state, makes(1), makes(2), makes(3), *train("tip-1"), conflicts("c2", "src/b.py"))
    first = next(run for run in runs(state) if run.name == "T-004")
    assert (json.loads(first.params)["base"], state.tasks[3].made_on) == ("m-tip-1", "m-tip-1")


def test_whoever_brings_a_change_in_brings_the_tests_it_was_verified_with() -> None:
    number, made = makes(2)
    written = (number, replace(made, written=("tests/test_two.py", "tests/named.py", "tests/landed.py")))
    state = play(planned(task(1), task(2)), *does(1), written, conflicts("c2", "src/a.py", "tests/named.py"))
    state = play(c.steered(state, written=("tests/landed.py",)), makes(3))
    assert wanted(state, Combine).keep == (("c2", "tests/test_two.py"),)
