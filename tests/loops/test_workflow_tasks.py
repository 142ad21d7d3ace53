"""Tasks: when each begins, what its loop is told, and what becomes of one that is stuck."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.kernel.actions import Ask, Combine, Integrate, RunAgent, RunChecks
from loopwright.kernel.codec import decode
from loopwright.kernel.events import Answered, CancelRequested
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import Cleanup, Commit, Demand, Ending, Key, Severity
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.parts import Inner
from loopwright.loops.task_file import name_of
from loopwright.loops.tickets.state import TicketParams
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.state import (
    Stopped,
    TaskRow,
    TaskStanding,
    WorkflowPhase,
    WorkflowState,
    WorkTask,
)
from loopwright.loops.workflow.waiting import explained
from tests.loops.workflow import (
    ASKS,
    AWAY,
    BASE,
    CANCEL,
    COLLEAGUE,
    CRASHED,
    GREEN,
    NO_CHANGE,
    OTHER_RED,
    RED,
    REQUEST,
    SAID,
    TOOL,
    TOOL_REVIEW,
    VIEWS,
    At,
    advises,
    at_work,
    checked,
    combined,
    does,
    ended,
    fell_over,
    keys,
    landed,
    makes,
    planned,
    plans,
    play,
    play_each,
    reports,
    runs,
    says,
    scores,
    seen,
    stuck,
    task,
    thoroughly,
    train,
    tried,
    untried,
    wanted,
    workflow,
)


def standings(state: WorkflowState) -> list[TaskStanding]:
    return [each.standing for each in state.tasks]


# --- who begins -----------------------------------------------------------------------------------------------------


def test_every_task_is_a_feedback_loop_of_its_own_with_one_iteration_and_no_landing() -> None:
    state = planned(task(1, files=("src/a.py",)), child='{"agent": "x", "limits": {"wall": 5}}', trust=Trust())
    (run,) = runs(state)
    given = json.loads(run.params)
    assert (run.kind, run.name, run.takes, run.said, run.abreast) == ("feedback", "T-001", ("escalation",), None, 4)
    assert run.key == Key("task", 1, part="1", tries=0)
    assert given["task"] == "T-001: Do part 1\n\nAll of part 1.\n\nExpected to change: src/a.py"
    assert (given["base"], given["lands"], given["agent"]) == (BASE, False, "x")
    assert given["limits"] == {"wall": 5, "max_feedback_iterations": 1}
    assert given["also"] == [
        {"name": "T-001", "argv": ["make", "part-1"], "own": ["src/a.py"], "landed": "", "start": "base"}
    ]
    assert given["after"]["commit"] == "base"
    assert (given["part"]["task_id"], given["part"]["request"], given["part"]["advised"]) == ("T-001", REQUEST, [])


def test_a_task_is_told_what_was_wrong_before_the_workflow_began() -> None:
    state = planned(task(1))
    (run,) = runs(replace(state, course=replace(state.course, before=(RED,))))
    assert decode(FeedbackParams, run.params).before == (RED,)


IN_TICKETS = Inner(kind="tickets", task="title", details="what", name="session", attempts="max")


def test_a_task_can_be_made_in_another_loop_whose_parameters_are_called_otherwise() -> None:
    child = '{"session": "words-1a2b3c", "firm": true}'
    first = planned(task(1, files=("src/a.py",)), inner=IN_TICKETS, child=child, trust=Trust())
    (run,) = runs(first)
    given = decode(TicketParams, run.params)
    assert (run.kind, run.name, run.takes) == ("tickets", "T-001", ("escalation",))
    assert (given.title, given.what) == ("T-001: Do part 1", "All of part 1.\n\nExpected to change: src/a.py")
    assert (given.session, given.limits.max, given.lands, given.firm) == ("words-1a2b3c-t-001", 1, False, True)
    assert (given.base, given.after.commit) == (BASE, BASE)
    assert [each.argv for each in given.also] == [("make", "part-1")]
    assert given.part is not None
    assert (given.part.task_id, given.part.request) == ("T-001", REQUEST)
    (again,) = runs(play(first, fell_over(1)))
    assert decode(TicketParams, again.params).session == "words-1a2b3c-t-001-2"
    assert [each.kind for each in runs(play(first, CANCEL))] == ["tickets"]


def test_a_task_begins_as_soon_as_what_it_waits_for_is_done() -> None:
    state = planned(task(1), task(2), task(3, 1), task(4, 1, 2))
    assert at_work(state) == ["T-001", "T-002"]
    state = play(state, *does(1))
    assert at_work(state) == ["T-002", "T-003"]
    assert [json.loads(run.params)["base"] for run in runs(state)] == [BASE, "tip-1"]
    assert at_work(play(state, *does(2))) == ["T-003", "T-004"]


def test_what_has_the_longest_way_ahead_begins_first() -> None:
    assert at_work(planned(task(1), task(2), task(3, 2), task(4, 3), parallel=1)) == ["T-002", "T-001"]


def test_two_for_each_place_are_wanted_and_as_many_at_work_as_there_are_places() -> None:
    state = planned(*(task(number) for number in range(1, 6)), parallel=1)
    assert (at_work(state), {run.abreast for run in runs(state)}) == (["T-001", "T-002"], {1})
    assert len(at_work(planned(*(task(number) for number in range(1, 6)), parallel=0))) == 2


def test_nobody_works_on_a_file_that_another_works_on_or_that_is_on_its_way() -> None:
    state = planned(task(1, files=("a",)), task(2, files=("a", "b")), task(3, files=("c",)))
    assert at_work(state) == ["T-001", "T-003"]
    state = play(state, makes(1))
    assert at_work(state) == ["T-003"]
    assert at_work(play(state, *train("tip-1"))) == ["T-002", "T-003"]


def test_no_more_are_begun_than_may_end() -> None:
    state = planned(*(task(number) for number in range(1, 5)), max_iterations=2)
    assert at_work(state) == ["T-001", "T-002"]
    state = play(state, makes(1))
    assert (at_work(state), state.iterations) == (["T-002"], 1)


def test_an_unlimited_one_begins_all_there_is_room_for() -> None:
    assert len(at_work(planned(*(task(number) for number in range(1, 5)), max_iterations=None))) == 4


def test_a_task_that_two_others_name_twice_is_waited_for_once() -> None:
    twice = task(2) | {"blockedBy": ["1", "T-001"]}
    assert at_work(play(planned(task(1), twice), *does(1))) == ["T-002"]


# --- check-ins ------------------------------------------------------------------------------------------------------


def test_a_tool_with_review_checks_in_after_each_wave() -> None:
    state = planned(task(1), task(2), task(3, 1), of=TOOL_REVIEW)
    state = play(state, *does(1))
    assert (at_work(state), where(state)) == (["T-002"], WorkflowPhase.EXECUTE)
    state = play(state, *does(2), *seen())
    ask = wanted(state, Ask)
    assert (state.stopped, ask.kind, ask.paused) == (Stopped.CHECK_IN, "check-in", False)
    assert [each.choice for each in ask.options] == ["continue", "revise", "history", "cancel"]
    assert ask.question == (
        "2 of 3 tasks done; to do: T-003 Do part 3. Go on after this wave? .loop/PROGRESS.md shows where it stands."
    )
    assert at_work(play(state, says("continue"))) == ["T-003"]


def test_a_colleague_checks_in_after_each_task_and_works_at_one() -> None:
    state = planned(task(1), task(2), of=COLLEAGUE)
    assert at_work(state) == ["T-001"]
    state = play(state, *does(1))
    assert (state.stopped, "after this task" in wanted(state, Ask).question, wanted(state, Ask).why) == (
        Stopped.CHECK_IN,
        True,
        "1 task is done since you last looked",
    )
    state = play(state, says("revise", text="shorter"))
    assert (at_work(state), json.loads(runs(state)[0].params)["answers"]) == (["T-002"], ["shorter"])


def test_after_the_last_task_nobody_is_asked_before_the_review() -> None:
    assert where(play(planned(of=COLLEAGUE), *does(1), *seen())) == WorkflowPhase.REVIEW


def test_a_stuck_task_is_no_check_in() -> None:
    state = play(planned(task(1), task(2), of=COLLEAGUE), stuck(1))
    assert (at_work(state), where(state)) == (["T-001"], WorkflowPhase.EXECUTE)


def test_the_history_is_shown_and_the_question_asked_again() -> None:
    state = play(planned(task(1), task(2), of=COLLEAGUE), *does(1), says("history"))
    assert keys(state) == ["check-in-2"]


# --- stuck ----------------------------------------------------------------------------------------------------------


def test_the_first_failure_is_stuck_and_the_panels_advice_goes_into_the_retry() -> None:
    state = play(planned(also_cast=("panel",)), stuck(1, RED, commit="tried"))
    asked = wanted(state, RunAgent)
    assert (asked.role, asked.start, asked.brief.failures, asked.key) == (
        "panel",
        "tried",
        (RED,),
        Key("panel", 1, part="t1", tries=1),
    )
    assert (state.tasks[0].stuck, state.tasks[0].standing) == (1, TaskStanding.COUNSEL)
    state = play(state, advises("use the wall clock"))
    (run,) = runs(state)
    assert run.said == Answered(
        key=Key("escalation", 1), choice="continue", count=1, advice="Consensus: use the wall clock"
    )
    assert (run.key.attempt, run.name, state.counselled) == (2, "T-001", 1)
    assert json.loads(run.params)["part"]["advised"] == ["Consensus: use the wall clock"]


def test_advice_is_for_one_retry() -> None:
    state = play(planned(also_cast=("panel",)), stuck(1), advises(), stuck(1, OTHER_RED, asked=2), CRASHED, CRASHED)
    (run,) = runs(state)
    assert run.said == Answered(key=Key("escalation", 2), choice="continue", count=1)


def test_without_a_panel_it_is_simply_tried_again() -> None:
    state = play(planned(), stuck(1))
    (run,) = runs(state)
    assert run.said == Answered(key=Key("escalation", 1), choice="continue", count=1)
    assert (state.tasks[0].stuck, state.failures, state.iterations) == (1, 1, 1)


def test_a_panel_that_does_not_know_holds_nobody_up() -> None:
    state = play(planned(also_cast=("panel",)), stuck(1), reports(advice={}))
    assert [each.key.tries for each in [wanted(state, RunAgent)]] == [2]
    for letters in ((reports(advice={}),), (CRASHED, CRASHED), (AWAY,)):
        later = play(state, *letters)
        assert (at_work(later), len(later.remarks), later.counselled) == (["T-001"], 1, 0)


def test_a_panel_that_asks_is_answered_when_nothing_else_is_left_to_do() -> None:
    state = play(planned(task(1), task(2), also_cast=("panel",)), stuck(1), ASKS)
    assert (at_work(state), where(state)) == (["T-002"], WorkflowPhase.EXECUTE)
    state = play(state, makes(2), *train("tip"))
    assert where(state) == Station.CLARIFY
    state = play(state, says("answer", text="this one"), advises())
    assert at_work(state) == ["T-001"]


def test_others_go_on_while_the_panel_thinks() -> None:
    state = play(planned(task(1), task(2), also_cast=("panel",)), stuck(1))
    before = wanted(state, RunAgent)
    assert at_work(state) == ["T-002"]
    state = play(state, *does(2))
    assert wanted(state, RunAgent, "panel") == before


def test_a_loop_that_fell_over_is_begun_anew_with_what_has_landed() -> None:
    state = play(planned(task(1), task(2)), *does(2), fell_over(1))
    (run,) = runs(state)
    assert (run.name, run.said, json.loads(run.params)["base"]) == ("T-001//2", None, "tip-2")
    assert [each.rule for each in state.tasks[0].failures] == ["task-failed"]
    assert play(planned(), ended(1, Ending.FAILED)).tasks[0].failures[0].issue == "its loop gave no reason"


def test_a_task_whose_loop_a_person_cancelled_uses_up_nothing_and_is_not_begun_behind_their_back() -> None:
    state = play(planned(task(1), task(2)), ended(1, Ending.CANCELLED))
    assert (state.iterations, state.failures, state.tasks[0].stuck) == (0, 0, 0)
    assert wanted(state, Ask).why == "T-001 was cancelled by a person; to go on is to begin it once more"
    state = play(state, says("continue"))
    assert [run.name for run in runs(state)] == ["T-001//2", "T-002"]


def test_what_must_not_be_and_the_reviewer_of_a_task_says_is_so_stops_at_once() -> None:
    forbidden = replace(RED, severity=Severity.CRITICAL, requirement="mustNot-1", issue="it logs tokens")
    state = play(planned(task(1), task(2)), stuck(1, forbidden))
    assert (state.stopped, state.course.reasons) == (
        Stopped.MUST_NOT,
        ("mustNot-1 became true: it logs tokens",),
    )
    assert [run.name for run in runs(play(state, says("continue")))] == ["T-001", "T-002"]


# --- commands before the work ---------------------------------------------------------------------------------------


def test_the_command_of_a_task_is_run_where_it_starts_before_anybody_works_on_it() -> None:
    state = untried(task(1), task(2, 1))
    (run,) = WORKFLOW.decide(state)
    assert isinstance(run, RunChecks)
    assert (str(run.key), run.commit, run.base, run.demands_only) == ("start-1-1.0", BASE, BASE, True)
    assert run.also == (Demand("T-001", ("make", "part-1"), start=BASE),)
    second = play_each(state, tried(1), *does(1))
    (begins,) = (each for each in WORKFLOW.decide(second) if each.key.step == "start")
    assert isinstance(begins, RunChecks)
    assert (begins.commit, begins.also[0].start) == ("tip-1", BASE)


def test_a_task_without_a_command_begins_at_once() -> None:
    unseen = task(1, verify=False)
    assert at_work(play_each(workflow(), scores(TOOL), SAID, plans(unseen), plans(unseen))) == ["T-001"]


def test_a_command_that_was_green_from_the_start_has_its_task_worked_on_as_usual() -> None:
    state = play_each(untried(), tried(1, passed=True, red_before=False))
    (run,) = runs(state)
    assert (run.name, json.loads(run.params)["part"]["done_before"]) == ("T-001", False)
    assert standings(play(state, *does(1))) == [TaskStanding.DONE]


def test_what_an_earlier_task_has_done_is_looked_at_by_its_reviewer_and_nobody_makes_it() -> None:
    state = play_each(untried(task(1), task(2, 1)), tried(1), *does(1), tried(2, passed=True, red_before=True))
    (run,) = runs(state)
    given = decode(FeedbackParams, run.params)
    assert given.part is not None
    assert (run.name, given.part.done_before, given.base) == ("T-002", True, "tip-1")
    state = play(state, makes(2, "tip-1"))
    assert wanted(state, Combine).commits == ()
    state = play(state, combined("tip-1"), At("checks", GREEN))
    assert (standings(state), state.tip, state.failures) == ([TaskStanding.DONE] * 2, "tip-1", 0)
    assert state.remarks == (
        "T-002 was done by an earlier task: its command failed where the workflow started and passes now.",
    )
    assert [each.name for each in state.promised] == ["T-001", "T-002"]


@pytest.mark.parametrize("evidence", [Evidence(level=Level.GUARDED), None])
def test_what_an_earlier_task_has_done_is_shown_by_what_shows_that_task(evidence: Evidence | None) -> None:
    shown = Evidence(level=Level.SHOWN)
    first = (makes(1), combined("m-tip-1"), replace(GREEN, evidence=shown), landed("tip-1"))
    state = play_each(untried(task(1), task(2, 1)), tried(1), *first, tried(2, passed=True, red_before=True))
    state = play(state, makes(2, "tip-1"), combined("tip-1"), At("checks", replace(GREEN, evidence=evidence)))
    assert (standings(state), state.course.evidence) == ([TaskStanding.DONE] * 2, shown)


def test_what_an_earlier_task_seemed_to_have_done_is_made_if_the_merged_tree_says_otherwise() -> None:
    state = play_each(untried(task(1), task(2, 1)), tried(1), *does(1), tried(2, passed=True, red_before=True))
    state = play(state, makes(2, "tip-1"), combined("tip-1"), At("checks", checked(unmet=("T-002",))))
    (run,) = runs(state)
    assert (run.name, json.loads(run.params)["part"]["done_before"], state.failures) == ("T-002//2", False, 1)


def test_a_person_is_asked_where_the_maker_changed_nothing_and_the_command_was_green_before() -> None:
    state = play_each(untried(task(1), task(2)), tried(1, passed=True), tried(2), stuck(1, NO_CHANGE))
    assert (standings(state)[0], at_work(state)) == (TaskStanding.IDLE, ["T-002"])  # nobody else is held up
    assert explained(state)[0] == (
        "T-001 was left as it is by its maker, and nothing shows that it is done: you are asked when the others are"
    )
    state = play(state, *does(2))
    ask = wanted(state, Ask)
    assert (state.stopped, ask.why) == (
        Stopped.IDLE,
        "the maker of T-001 changed nothing, and its command passed before the task started",
    )
    assert [each.choice for each in ask.options] == ["done", "continue", "accept", "history", "revise", "cancel"]
    again = play(state, says("continue"))
    assert (at_work(again), again.idle) == (["T-001"], ())
    state = play(state, says("done"), combined("tip-2"), At("checks", GREEN))
    assert (standings(state), state.done) == ([TaskStanding.DONE] * 2, 2)
    assert state.remarks == ("T-001 counts as done by a person's word: nothing was changed for it.",)
    assert state.course.decisions == ("T-001 taken as done by a person",)


def test_a_person_is_asked_before_the_maker_is_paid_where_a_command_cannot_start() -> None:
    state = play_each(untried(task(1), task(2)), tried(2), tried(1, unable="`make` cannot be started"))
    ask = wanted(state, Ask)
    assert (state.stopped, "T-001" in ask.question, "`make` cannot be started" in ask.question) == (
        Stopped.COMMAND,
        True,
        True,
    )
    assert [each.choice for each in ask.options] == ["continue", "skip", "cancel"]
    (again,) = (each for each in WORKFLOW.decide(play_each(state, says("continue"))) if isinstance(each, RunChecks))
    assert (again.also[0].name, again.key.tries) == ("T-001", 1)
    without = play_each(state, says("skip"))
    assert (at_work(without), without.tasks[0].plan.verify) == (["T-001", "T-002"], ())


def test_a_task_that_a_person_calls_done_is_tried_again_where_the_checks_say_otherwise() -> None:
    state = play_each(untried(), tried(1, passed=True), stuck(1, NO_CHANGE), says("done"))
    state = play(state, combined(BASE), At("checks", checked(red=(RED,))))
    (run,) = runs(state)
    assert isinstance(run.said, Answered)
    assert (standings(state), state.failures) == ([TaskStanding.RUNNING], 1)


def test_a_task_whose_maker_changed_nothing_is_stuck_if_its_command_was_red() -> None:
    state = play(planned(), stuck(1, NO_CHANGE))
    (run,) = runs(state)
    assert isinstance(run.said, Answered)
    assert (standings(state), state.failures) == ([TaskStanding.RUNNING], 1)


def test_a_task_without_a_command_is_stuck_if_its_maker_changed_nothing() -> None:
    unseen = task(1, verify=False)
    state = play(workflow(), scores(TOOL), SAID, plans(unseen), plans(unseen), stuck(1, NO_CHANGE))
    assert (at_work(state), state.failures) == (["T-001"], 1)


def test_no_loop_of_a_task_is_left_open_at_the_end() -> None:
    state = play_each(untried(), tried(1, passed=True), stuck(1, NO_CHANGE), says("done"))
    state = play(state, combined(BASE), At("checks", GREEN), *thoroughly(), At("verify", GREEN), SAID)
    (run,) = runs(state)
    assert (str(run.key), run.name, run.said) == (
        "cancel-2-1.1",
        "T-001",
        CancelRequested(cleanup=Cleanup.KEEP_ARTIFACTS),
    )
    state = play(state, ended(1, Ending.CANCELLED))
    assert (wanted(state, Integrate).key.step, standings(state)) == ("land", [TaskStanding.DONE])


def test_a_task_about_text_gets_no_examiner() -> None:
    state = planned(task(1) | {"about": "text"}, task(2) | {"about": "tests"}, child='{"examiner": "named"}')
    assert [json.loads(run.params)["examiner"] for run in runs(state)] == ["", "named"]


def test_what_a_plan_says_that_a_task_is_about_is_handed_on() -> None:
    state = planned(task(1) | {"about": "text"}, task(2))
    assert [json.loads(run.params)["about"] for run in runs(state)] == ["text", ""]


def test_the_views_of_a_review_are_there() -> None:
    assert [each.key.part for each in _views(play(planned(), *does(1), *seen()))] == [f"{view}-t1" for view in VIEWS]


def _views(state: WorkflowState) -> list[RunAgent]:
    return [each for each in WORKFLOW.decide(state) if isinstance(each, RunAgent)]


def test_a_commit_of_a_task_is_brought_together_with_all_that_is_there() -> None:
    state = play(planned(task(1), task(2)), makes(1, "x"), makes(2, "y"))
    assert wanted(state, Combine) == Combine(
        key=Key("combine", 1),
        base=BASE,
        commits=(Commit("x"),),
        made_on=(BASE,),
        label="merge-1",
        why="T-001 is brought together with what has landed",
    )
    state = play(state, *train("one"))
    assert replace(wanted(state, Combine), why="") == Combine(
        key=Key("combine", 2), base=Commit("m-one"), commits=(Commit("y"),), made_on=(BASE,), label="merge-2"
    )
    assert play(state, combined("m"), GREEN, landed("two")).tip == "two"


def test_of_very_many_tasks_one_changes_and_the_others_stay() -> None:
    row = TaskRow.of(WorkTask(plan=PlannedTask(id=name_of(each), subject="Do it"), wave=1) for each in range(1, 201))
    changed = row.changed(130, replace(row[130], attempts=3))
    assert (len(row), len(changed), changed[130].attempts, changed[130].id) == (200, 200, 3, "T-131")
    assert [task.attempts for task in changed if task.attempts] == [3]
    assert changed.changed(130, row[130]) == row
