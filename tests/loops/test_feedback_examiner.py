"""Two keys in the feedback loop: acceptance tests come first, the maker never sees them, and only people drop one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, Checkpoint, Combine, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import Event
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.closing import lane
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackPhase, FeedbackState
from loopwright.loops.parts import TaskFacts
from tests.loops import feedback as f

MADE: tuple[Event, ...] = (f.DONE, f.saved("c"), f.passes(), f.LAID)
UNCLEAR = f.of("developer", f.UNCLEAR)


def examined(
    examiner: Literal["named", "missing"] = "named", *, lands: bool = True, in_force: bool = False
) -> FeedbackState:
    return FEEDBACK.start(replace(f.params(), examiner=examiner, lands=lands, trust=Trust(in_force=in_force)))


def at_work(**limits: int) -> FeedbackState:
    state = FEEDBACK.start(replace(f.params(**limits), examiner="named"))
    return f.play(state, *f.ACCEPTED_TESTS)


def rules(state: FeedbackState) -> list[str]:
    return [each.rule for each in state.examination.faults]


# --- before the maker -------------------------------------------------------------------------------------


def test_the_examiner_starts_at_the_base_in_a_workspace_of_its_own() -> None:
    run = f.wanted(examined(), RunAgent)
    assert (run.role, run.start, run.beside, run.writes) == ("examiner", Commit("base"), "examiner", True)


def test_the_checks_are_tried_on_the_base_before_the_examiner_is_paid() -> None:
    state = examined(in_force=True)
    assert f.wanted(state, RunChecks).preflight
    assert f.wanted(f.play(state, f.GREEN), RunAgent).role == "examiner"


def test_of_the_examiner_only_new_tests_are_kept_and_tried_on_the_base() -> None:
    state = f.play(examined(), f.EXAMINED)
    kept = f.wanted(state, Checkpoint)
    assert (kept.new_tests_only, kept.beside, kept.parent) == (True, "examiner", Commit("base"))
    tried = f.wanted(f.play(state, f.TESTS_KEPT), RunChecks)
    assert (tried.commit, tried.hidden.files, tried.hidden.must_fail) == (Commit("hidden"), (f.HIDDEN,), True)


def test_the_maker_gets_the_page_and_not_the_tests() -> None:
    run = f.developer(at_work())
    assert run.start == Commit("base")
    assert run.brief.own == TaskFacts(interface="`mul(a, b)`")
    assert f.HIDDEN not in str(run.brief)


def test_the_judge_hears_which_tests_are_the_examiners() -> None:
    review = f.wanted(f.play(at_work(), f.DONE, f.saved("c")), RunAgent)
    assert (review.role, review.start) == ("reviewer", Commit("c"))
    assert review.brief.own.hidden_tests == (f.HIDDEN,)


def test_a_part_keeps_what_it_is_told_of_the_whole() -> None:
    part = TaskFacts(task_id="T-001", request="all of it")
    state = f.play(FEEDBACK.start(replace(f.params(), examiner="named", part=part)), *f.ACCEPTED_TESTS)
    assert f.developer(state).brief.own == replace(part, interface="`mul(a, b)`")


@pytest.mark.parametrize(
    ("letters", "rule"),
    [
        ((f.DONE,), "no-interface"),
        ((f.EXAMINED, f.saved(files=0)), "no-test"),
        ((f.EXAMINED, replace(f.saved(files=0), dropped=("calc.py",))), "no-test"),
        ((f.EXAMINED, replace(f.TESTS_KEPT, files=2)), "too-many-files"),
        ((f.EXAMINED, f.TESTS_KEPT, replace(f.RED_ON_BASE, hidden=())), "no-test"),
        ((f.EXAMINED, f.TESTS_KEPT, f.GREEN_ON_BASE), f.ISSUE.rule),
    ],
)
def test_tests_that_cannot_be_used_are_repaired_once_and_then_asked_about(
    letters: tuple[Event, ...], rule: str
) -> None:
    again = f.play(examined(), *letters)
    run = f.wanted(again, RunAgent)
    assert (run.role, [each.rule for each in run.brief.findings]) == ("examiner", [rule])
    asked = f.play(again, *letters)
    assert (where(asked), rules(asked)) == (Station.ESCALATED, [rule])
    assert (f.wanted(asked, Ask).kind, f.options(asked)) == ("question", ["retry", "maker", "cancel"])


def test_a_repair_starts_from_the_examiners_own_tests() -> None:
    again = f.play(examined(), f.EXAMINED, f.TESTS_KEPT, f.GREEN_ON_BASE)
    assert f.wanted(again, RunAgent).start == Commit("hidden")
    assert where(f.play(again, *f.ACCEPTED_TESTS)) == FeedbackPhase.IMPLEMENT


@pytest.mark.parametrize(("letters", "rule"), [((f.BLOCKED,), "blocked"), ((f.CRASHED, f.TIMED_OUT), "no-examiner")])
def test_an_examiner_without_a_result_is_a_question(letters: tuple[Event, ...], rule: str) -> None:
    asked = f.play(examined(), *letters)
    assert (where(asked), rules(asked)) == (Station.ESCALATED, [rule])


def test_many_faults_are_counted_in_the_question() -> None:
    many = tuple(replace(f.ISSUE, issue=f"fault {number}", fingerprint=str(number)) for number in range(7))
    green = replace(f.GREEN_ON_BASE, findings=many)
    asked = f.play(examined(), f.EXAMINED, f.TESTS_KEPT, green, f.EXAMINED, f.TESTS_KEPT, green)
    assert "and 2 others" in f.wanted(asked, Ask).question


def test_retry_runs_the_examiner_with_another_repair() -> None:
    tried = (f.EXAMINED, f.TESTS_KEPT, f.GREEN_ON_BASE)
    again = f.play(examined(), *tried, *tried, f.says("retry"))
    assert str(f.wanted(again, RunAgent).key) == "examine-3.1"
    assert where(f.play(again, *tried)) == FeedbackPhase.EXAMINE


def test_a_persons_word_goes_on_without_an_examiner_and_is_recorded() -> None:
    state = f.play(examined(), f.BLOCKED, replace(f.says("maker"), by="ann"))
    assert f.developer(state).brief.own is None
    shown = replace(f.GREEN, evidence=Evidence(level=Level.SHOWN))
    state = f.play(state, f.DONE, f.saved("c"), f.passes(), shown)
    assert state.course.evidence is not None
    assert state.course.evidence.decisions == ("no acceptance tests: ann let the maker go on without an examiner",)


def test_where_no_agent_plays_the_examiner_a_person_is_asked_before_anything_runs() -> None:
    state = examined("missing", in_force=True)
    assert (f.wanted(state, Ask).kind, f.options(state)) == ("question", ["maker", "cancel"])
    assert f.wanted(f.play(state, f.says("maker")), RunChecks).preflight


def test_a_task_that_an_earlier_part_did_is_judged_first_and_examined_before_it_is_made() -> None:
    part = TaskFacts(done_before=True)
    state = FEEDBACK.start(replace(f.params(), examiner="named", part=part))
    assert where(state) == FeedbackPhase.REVIEW
    assert where(f.play(state, f.fails(f.ISSUE))) == FeedbackPhase.EXAMINE
    assert where(f.play(state, f.passes())) == FeedbackPhase.TEST


# --- with the change --------------------------------------------------------------------------------------


def test_acceptance_tests_are_laid_over_the_candidate_and_land_with_it() -> None:
    state = f.play(at_work(), f.DONE, f.saved("c"), f.passes())
    laid = f.wanted(state, Combine)
    assert (laid.base, laid.keep) == (Commit("c"), ((Commit("hidden"), f.HIDDEN),))
    state = f.play(state, f.LAID)
    checks = f.wanted(state, RunChecks)
    assert (checks.commit, checks.hidden.files, checks.hidden.must_fail) == (f.LAID.commit, (f.HIDDEN,), False)
    land = f.wanted(f.play(state, f.GREEN), Integrate)
    assert (land.commit, land.hidden.files) == (f.LAID.commit, (f.HIDDEN,))


def test_a_rejected_change_is_not_landed_by_way_of_the_tests() -> None:
    state = f.play(at_work(), f.DONE, f.saved("c", evidence="e1"), f.rejects("e1", "no"), f.passes(), f.LAID, f.GREEN)
    assert f.developer(state).brief.attempt == 2


def test_a_part_leaves_the_commit_with_the_tests_to_its_parent() -> None:
    state = f.play(examined(lands=False), *f.ACCEPTED_TESTS, *MADE, f.GREEN)
    assert f.wanted(state, Stop).outcome.commit == f.LAID.commit


@pytest.mark.parametrize("letters", [(f.DONE, f.saved("t"), f.LAID), (f.CRASHED, f.CRASHED, f.LAID)])
def test_a_testers_tests_and_acceptance_tests_both_run(letters: tuple[Event, ...]) -> None:
    state = FEEDBACK.start(replace(f.params(), examiner="named", tester=True))
    state = f.play(state, *f.ACCEPTED_TESTS, f.DONE, f.saved("c"), f.passes(), *letters)
    assert f.wanted(state, RunChecks).commit == f.LAID.commit


def test_a_failed_acceptance_test_is_a_failed_attempt_and_the_next_starts_without_it() -> None:
    state = f.play(at_work(), *MADE, f.HIDDEN_FAILS)
    run = f.developer(state)
    assert (run.start, run.brief.failures) == (Commit("c"), (f.BROKEN,))


def test_of_the_tests_that_failed_only_the_makers_own_are_put_back_later() -> None:
    failed = f.red(f.BROKEN, f.FAILURE).results
    state = f.play(at_work(), *MADE, replace(f.HIDDEN_FAILS, results=f.GREEN.results, landing=failed))
    assert [each.tests for each in state.course.red_tests] == [(f.FAILURE.rule,)]


def test_a_makers_file_at_the_path_of_an_acceptance_test_is_refused() -> None:
    state = f.play(at_work(), f.DONE, replace(f.saved("c"), paths=("calc.py", f.HIDDEN)))
    assert [each.rule for each in f.developer(state).brief.findings] == ["path-taken"]


def test_an_attempt_on_a_merged_commit_starts_without_the_tests() -> None:
    state = f.play(at_work(), *MADE, f.GREEN, f.RED_MERGE)
    away = f.wanted(state, Combine)
    assert (away.base, away.keep) == (f.RED_MERGE.merged, ((Commit("base"), f.HIDDEN),))
    assert f.developer(f.play(state, f.TAKEN_AWAY)).start == f.TAKEN_AWAY.commit


def test_what_a_person_saw_fail_of_an_accepted_attempt_is_told_to_the_next_maker() -> None:
    state = f.play(at_work(max_feedback_iterations=1), *MADE, f.HIDDEN_FAILS)
    also_red = replace(f.HIDDEN_FAILS, results=f.red(f.BROKEN, f.ANOTHER).results)
    state = replace(state, past=(replace(state.past[-1], failed_with=("an approval",)),))
    state = f.play(state, f.says("accept"), also_red, f.says("continue", count=1))
    assert f.developer(state).brief.failures == (f.BROKEN, f.ANOTHER)


# --- the test is wrong ------------------------------------------------------------------------------------


def test_a_maker_that_disputes_a_failed_test_leads_to_a_person_with_test_and_change() -> None:
    state = f.play(at_work(), *MADE, f.HIDDEN_FAILS, UNCLEAR)
    ask = f.wanted(state, Ask)
    assert (where(state), f.options(state)) == (Station.CLARIFY, ["answer", "cancel", "keep", "drop"])
    assert ask.exhibit is not None
    assert (ask.exhibit.paths, ask.exhibit.commit) == ((f.HIDDEN,), Commit("hidden"))
    assert (ask.exhibit.base, ask.exhibit.candidate) == (Commit("base"), Commit("c"))


def test_a_question_before_any_test_failed_offers_nothing_more() -> None:
    state = f.play(at_work(), UNCLEAR)
    assert (f.options(state), f.wanted(state, Ask).exhibit) == (["answer", "cancel"], None)


def test_dropped_tests_are_neither_run_nor_landed_and_the_step_goes_on() -> None:
    state = f.play(at_work(), *MADE, f.HIDDEN_FAILS, UNCLEAR, replace(f.says("drop", text="15 it is"), by="ann"))
    run = f.developer(state)
    assert (state.current.number, run.brief.answers) == (
        2,
        (f"The acceptance tests in {f.HIDDEN} are dropped. 15 it is",),
    )
    state = f.play(state, f.DONE, f.saved("c"), f.passes(), replace(f.GREEN, evidence=Evidence(level=Level.SHOWN)))
    assert f.wanted(state, Integrate).commit == Commit("c")
    assert state.examination.decisions == (f"acceptance tests dropped by ann: {f.HIDDEN}",)


def test_kept_tests_run_again() -> None:
    state = f.play(at_work(), *MADE, f.HIDDEN_FAILS, UNCLEAR, f.says("keep"))
    assert f.developer(state).brief.answers == ("The acceptance tests stand.",)
    assert where(f.play(state, f.DONE, f.saved("d"), f.passes())) == FeedbackPhase.LAY_TESTS


@pytest.mark.parametrize(("choice", "files"), [("keep", (f.HIDDEN,)), ("drop", ())])
def test_the_same_acceptance_test_failing_again_is_asked_about(choice: str, files: tuple[str, ...]) -> None:
    state = f.play(at_work(max_consecutive_test_failures=2), *MADE, f.HIDDEN_FAILS, *MADE, f.HIDDEN_FAILS)
    ask = f.wanted(state, Ask)
    assert (ask.kind, f.options(state)) == ("question", ["keep", "drop", "cancel"])
    assert ask.exhibit is not None
    on = f.play(state, f.says(choice))
    assert (on.examination.files, on.examination.asks, f.developer(on).brief.attempt) == (files, "", 3)


def test_another_limit_that_is_reached_offers_the_same_decisions() -> None:
    state = f.play(at_work(max_feedback_iterations=1), *MADE, f.HIDDEN_FAILS)
    assert f.wanted(state, Ask).kind == "escalation"
    assert f.options(state)[-2:] == ["keep", "drop"]
    assert f.developer(f.play(state, f.says("drop"))).brief.attempt == 2


def test_a_blocked_maker_whose_acceptance_test_failed_leads_to_the_same_question() -> None:
    state = f.play(at_work(), *MADE, f.HIDDEN_FAILS, f.BLOCKED)
    assert f.options(state) == ["keep", "drop", "cancel"]


def test_tests_of_other_files_stay_when_some_are_dropped() -> None:
    kept = replace(f.TESTS_KEPT, files=2, paths=(f.HIDDEN, "tests/test_other.py"))
    state = f.play(examined(), f.EXAMINED, kept, f.RED_ON_BASE, *MADE, f.HIDDEN_FAILS, UNCLEAR, f.says("drop"))
    assert state.examination.files == ("tests/test_other.py",)


def test_what_is_not_offered_is_refused() -> None:
    state = f.play(examined(), f.BLOCKED)
    with pytest.raises(InvalidTransition):
        f.play(state, f.says("drop"))


def test_people_see_which_acceptance_tests_there_are() -> None:
    dropped = f.play(at_work(), *MADE, f.HIDDEN_FAILS, UNCLEAR, f.says("drop"))
    assert [FEEDBACK.stand(each).lines[-1] for each in (examined(), at_work(), dropped)] == [
        "acceptance tests: the examiner has still to write them",
        f"acceptance tests of the examiner: {f.HIDDEN}",
        f"acceptance tests dropped by a person: {f.HIDDEN}",
    ]


def test_a_question_of_a_part_stands_in_the_live_view() -> None:
    shown = lane(f.play(examined(lands=False), f.BLOCKED), True)  # noqa: FBT003 - as the port has it
    assert shown is not None
    assert shown.needs_person
