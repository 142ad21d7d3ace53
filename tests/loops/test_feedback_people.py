"""What a person may say to a feedback loop: continue, accept, history, revise, cancel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, CleanUp, Integrate, Option, RunAgent, RunChecks, Stop
from loopwright.kernel.events import CancelRequested, Event, IntegrationRefused
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.model import NO_COMMIT, NO_KEY, Cleanup, Commit, Ending, Key, Outcome, Severity, Verdict
from loopwright.loops.course import Station, steered, where
from loopwright.loops.feedback.limits import Allowance
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackPhase, FeedbackState
from tests.loops.feedback import (
    ALL_PASSES,
    ANOTHER,
    BLOCKED,
    CANCEL,
    CLEANED,
    CONFLICT,
    DONE,
    FAILURE,
    ISSUE,
    LANDED,
    LEFT,
    MINOR,
    NO_DEVELOPER,
    OTHER_FAILS,
    RED_MERGE,
    REFUSED,
    REVIEW_FAILS,
    TESTS_FAIL,
    UNAVAILABLE,
    UNCLEAR,
    developer,
    fails,
    keys,
    loop,
    options,
    params,
    passes,
    play,
    red,
    saved,
    says,
    wanted,
)
from tests.loops.harness import taken

THREE_REVIEWS: tuple[Event, ...] = (*REVIEW_FAILS, *REVIEW_FAILS, *REVIEW_FAILS)


def out_of_reviews() -> FeedbackState:
    return play(loop(), *THREE_REVIEWS)


def outcome(state: FeedbackState) -> Outcome:
    return wanted(state, Stop).outcome


# --- continue ---------------------------------------------------------------------------------------------------


def test_the_options_are_the_seeds_and_revise() -> None:
    assert wanted(out_of_reviews(), Ask).options == (
        Option(choice="continue", label="Continue"),
        Option(choice="accept", label="Accept current state"),
        Option(choice="history", label="Review iteration history"),
        Option(choice="cancel", label="Cancel feature"),
        Option(choice="revise", label="Revise the approach"),
    )


def test_continue_grants_on_every_counter_at_its_limit_and_the_counts_go_on() -> None:
    state = play(out_of_reviews(), says("continue", count=1))
    assert state.allowance == Allowance(iterations=5, review_failures=4, test_failures=3, same_review=4, same_test=3)
    assert (state.review_failures, state.course.reasons, keys(state)) == (3, (), ["implement-4.1"])
    assert play(state, *OTHER_FAILS).course.reasons == ("4 reviews in a row failed",)


def test_continue_grants_iterations_if_those_are_nearer() -> None:
    state = play(loop(max_feedback_iterations=4), *THREE_REVIEWS, says("continue", count=2))
    assert state.allowance.iterations == 5


def test_continue_without_a_number_is_three() -> None:
    state = play(out_of_reviews(), says("continue"))
    assert (state.allowance.iterations, state.allowance.review_failures) == (6, 6)


def test_continue_needs_a_positive_number() -> None:
    with pytest.raises(InvalidTransition, match="continue needs a positive number"):
        play(out_of_reviews(), says("continue", count=-1))


def test_what_is_said_with_continue_is_told_to_the_developer() -> None:
    assert developer(play(out_of_reviews(), says("continue", text="look at b.py"))).brief.answers == ("look at b.py",)
    assert developer(play(out_of_reviews(), says("continue", text=" "))).brief.answers == ()


def test_history_asks_again_with_a_new_key() -> None:
    state = out_of_reviews()
    assert (keys(state), keys(play(state, says("history")))) == (["escalation-1"], ["escalation-2"])
    assert steered(play(state, says("history")), asked=1) == state


def test_a_word_that_is_no_option_is_refused() -> None:
    with pytest.raises(InvalidTransition, match="'split' is not one of the options"):
        play(out_of_reviews(), says("split"))


def test_an_answer_to_an_earlier_question_is_refused() -> None:
    state = out_of_reviews()
    late = replace(says("cancel"), key=Key.parse("escalation-1"))
    with pytest.raises(InvalidTransition, match="escalation-1 is not asked for"):
        taken(FEEDBACK, play(state, says("history")), late)


# --- revise -----------------------------------------------------------------------------------------------------


def test_revise_resets_the_counters_and_is_told_in_every_later_brief() -> None:
    state = play(out_of_reviews(), says("revise", text="use a queue"))
    assert state.allowance == Allowance(iterations=8, review_failures=3, test_failures=3, same_review=3, same_test=3)
    assert (state.review_failures, state.test_failures, keys(state)) == (0, 0, ["implement-4.1"])
    state = play(state, *REVIEW_FAILS, *REVIEW_FAILS)
    assert developer(state).brief.answers == ("use a queue",)
    assert play(state, *REVIEW_FAILS).course.reasons == (
        "the same review issue came back 3 times in a row",
        "3 reviews in a row failed",
    )


def test_revise_takes_back_what_was_granted() -> None:
    state = play(out_of_reviews(), says("continue", count=9), BLOCKED, says("revise", text="smaller"))
    assert state.allowance.review_failures == 3


def test_revise_needs_the_new_guidance() -> None:
    with pytest.raises(InvalidTransition, match="revise needs the new guidance as text"):
        play(out_of_reviews(), says("revise", text=" "))


# --- accept -----------------------------------------------------------------------------------------------------


def two_tries() -> FeedbackState:
    """The first try passed its review, the second did not even do that."""
    first = (DONE, saved("c1"), passes(MINOR), red(FAILURE))
    return play(loop(max_feedback_iterations=2), *first, DONE, saved("c2"), fails(ISSUE))


def test_accept_lands_the_best_attempt_not_the_last_with_what_is_wrong_with_it() -> None:
    state = play(two_tries(), says("accept"))
    assert FEEDBACK.decide(state) == (
        Integrate(
            key=Key.parse("land-accepted-1"),
            commit=Commit("c1"),
            base=Commit("base"),
            message="add retry\n\nRests on a person's word: accepted as it is by a person",
            verified=False,
            known_on=NO_COMMIT,
            why="accepted by a person",
        ),
    )
    assert outcome(play(state, LANDED)) == Outcome(
        ending=Ending.ACCEPTED,
        attempts=2,
        commit=Commit("landed"),
        branch="loop/1",
        findings=(FAILURE, MINOR),
        evidence=Evidence(level=Level.NOT_SHOWN, decisions=("accepted as it is by a person",)),
    )


def test_of_two_attempts_as_good_the_later_one_is_accepted() -> None:
    state = play(loop(max_feedback_iterations=2), DONE, saved("c1"), fails(ISSUE), DONE, saved("c2"), fails(ISSUE))
    assert wanted(play(state, says("accept")), RunChecks).commit == "c2"


def test_of_two_failed_test_runs_the_one_with_fewer_failures_is_accepted() -> None:
    first = (DONE, saved("c1"), passes(), red(FAILURE))
    state = play(loop(max_feedback_iterations=2), *first, DONE, saved("c2"), passes(), red(FAILURE, ANOTHER))
    assert wanted(play(state, says("accept")), Integrate).commit == "c1"


def test_an_attempt_that_changed_nothing_is_not_what_is_accepted() -> None:
    grave = (ISSUE, replace(ANOTHER, severity=Severity.CRITICAL))
    state = play(loop(max_feedback_iterations=2), DONE, saved("c1"), fails(*grave), DONE, saved("c2", files=0))
    assert wanted(play(state, says("accept")), RunChecks).commit == "c1"


def test_accept_without_an_attempt_is_refused_and_not_offered() -> None:
    state = play(loop(max_feedback_iterations=1), *NO_DEVELOPER)
    assert "accept" not in options(state)
    with pytest.raises(InvalidTransition, match="'accept' is not one of the options"):
        play(state, says("accept"))


@pytest.mark.parametrize(("merge", "target"), [(True, "refs/heads/main"), (False, "")])
def test_what_is_accepted_is_merged_only_by_a_persons_word(merge: bool, target: str) -> None:  # noqa: FBT001
    state = FEEDBACK.start(replace(params(max_feedback_iterations=1), target="refs/heads/main", merge=not merge))
    state = play(state, *TESTS_FAIL, says("accept", merge=merge))
    assert wanted(state, Integrate).target == target


# --- landing -----------------------------------------------------------------------------------------------------


def test_what_is_verified_is_merged_if_the_plan_says_so() -> None:
    plan = replace(params(), target="refs/heads/main", merge=True, branch="feature")
    land = wanted(play(FEEDBACK.start(plan), *ALL_PASSES), Integrate)
    assert (land.target, land.branch, land.verified) == ("refs/heads/main", "feature", True)
    left = FEEDBACK.start(replace(params(), target="refs/heads/main"))
    assert wanted(play(left, *ALL_PASSES), Integrate).target == ""


def test_what_is_verified_has_nothing_left_to_tell() -> None:
    assert outcome(play(loop(), DONE, saved(), passes(MINOR), *ALL_PASSES[-1:], LANDED)).findings == ()


def test_what_was_verified_last_lands_though_an_earlier_attempt_had_fewer_remarks() -> None:
    state = play(loop(), DONE, saved("c1"), *ALL_PASSES[2:], replace(REFUSED, findings=()), says("continue"))
    state = play(state, DONE, saved("c2"), passes(MINOR), ALL_PASSES[-1])
    assert wanted(state, Integrate).commit == "c2"


def test_an_attempt_that_passed_but_could_not_be_landed_is_the_best_to_accept() -> None:
    refused = replace(REFUSED, findings=(FAILURE, ANOTHER))
    state = play(loop(max_feedback_iterations=1), DONE, saved("c1"), *ALL_PASSES[2:], refused)
    state = play(state, says("continue", count=1), DONE, saved("c2"), passes(), red(FAILURE), says("accept"))
    assert wanted(state, Integrate).commit == "c1"


def test_a_refused_landing_asks_a_person_and_continue_opens_the_next_iteration() -> None:
    state = play(loop(), *ALL_PASSES, REFUSED)
    assert state.course.reasons == ("the result could not be landed: main moved on", "failing: t::two - assert 3 < 2")
    state = play(state, says("continue"))
    action = developer(state)
    assert (str(action.key), action.brief.failures) == ("implement-2.1", (ANOTHER,))
    assert action.why == "iteration 1 failed: it passed but could not be landed: main moved on"
    assert str(wanted(play(state, *ALL_PASSES), Integrate).key) == "land-2.1"


def test_a_conflict_is_a_failed_attempt_and_the_next_starts_from_the_new_tip() -> None:
    state = play(loop(), DONE, saved("c1"), *ALL_PASSES[2:], CONFLICT)
    action = developer(state)
    (finding,) = action.brief.failures
    assert (str(action.key), action.start, action.brief.base) == ("implement-2.1", "tip", "tip")
    assert finding.category == "landing"
    assert finding.issue == (
        "It does not go together with what was landed meanwhile: both changed a.py;"
        " the change so far is commit c1; it has to be made again on top of tip"
    )
    assert (state.past[0].tests, state.past[0].refused) == (Verdict.FAIL, "both changed a.py")
    state = play(state, DONE, saved("c2"))
    assert wanted(state, RunAgent).brief.base == "tip"
    state = play(state, passes())
    assert (wanted(state, RunChecks).base, wanted(play(state, ALL_PASSES[-1]), Integrate).base) == ("tip", "tip")


def test_a_merged_tree_that_fails_is_where_the_next_attempt_starts() -> None:
    action = developer(play(loop(), *ALL_PASSES, RED_MERGE))
    assert (action.start, action.brief.base, action.brief.failures) == ("merged", "tip", (ANOTHER,))


def test_a_merged_tree_that_fails_without_a_finding_is_told_all_the_same() -> None:
    action = developer(play(loop(), *ALL_PASSES, replace(RED_MERGE, findings=())))
    assert [finding.issue for finding in action.brief.failures] == [
        "It does not go together with what was landed meanwhile: main moved on"
    ]


def test_refused_landings_count_as_failed_test_runs_in_a_row() -> None:
    state = play(loop(), *ALL_PASSES, RED_MERGE, *TESTS_FAIL, *ALL_PASSES, CONFLICT)
    assert state.course.reasons == ("3 test runs in a row failed, 2 of them when it was to be landed",)
    state = play(loop(), *ALL_PASSES, CONFLICT, *ALL_PASSES, CONFLICT, *ALL_PASSES, CONFLICT)
    assert state.course.reasons == (
        "the landing was refused 3 times in a row for the same reason",
        "3 landings in a row were refused",
    )


def test_after_the_tip_moved_an_earlier_attempt_is_accepted_against_its_own_base() -> None:
    limits = {"max_feedback_iterations": 2}
    state = play(loop(**limits), DONE, saved("c1"), *ALL_PASSES[2:], CONFLICT, *REVIEW_FAILS, says("accept"))
    assert (wanted(state, RunChecks).commit, wanted(state, RunChecks).base) == ("c1", "base")
    state = play(state, ALL_PASSES[-1])
    assert (wanted(state, Integrate).commit, wanted(state, Integrate).base) == ("c1", "base")
    state = play(loop(**limits), *REVIEW_FAILS, DONE, saved("c2"), *ALL_PASSES[2:], CONFLICT)
    state = play(state, says("continue", count=1), DONE, saved("c3"), passes(), red(), says("accept"))
    assert (wanted(state, Integrate).commit, wanted(state, Integrate).base) == ("c3", "tip")


def test_an_accepted_attempt_that_conflicts_asks_again() -> None:
    state = play(two_tries(), says("accept", merge=True), CONFLICT)
    assert state.course.reasons == ("the result could not be landed: both changed a.py",)


def test_a_target_that_could_not_be_moved_leaves_it_verified_and_says_so() -> None:
    ended = outcome(play(loop(), *ALL_PASSES, LEFT))
    assert (ended.ending, ended.merged_into, ended.not_merged) == (
        Ending.VERIFIED,
        "",
        "main has changes that are not committed",
    )


def test_a_landing_refused_without_a_detail_names_the_reason() -> None:
    bare = IntegrationRefused(key=NO_KEY, reason="conflict")
    assert play(loop(), *ALL_PASSES, bare).course.reasons == ("the result could not be landed: conflict",)


def test_after_a_refused_acceptance_the_work_goes_on_as_if_nothing_was_accepted() -> None:
    plan = replace(params(max_feedback_iterations=1), target="refs/heads/main", merge=True)
    state = play(FEEDBACK.start(plan), *TESTS_FAIL, says("accept"), REFUSED)
    assert state.past[0].failures == (FAILURE,)
    state = play(state, says("continue"), DONE, saved("c2"), *ALL_PASSES[2:])
    land = wanted(state, Integrate)
    assert (str(land.key), land.commit, land.verified, land.target) == ("land-2.1", "c2", True, "refs/heads/main")


def test_each_acceptance_is_a_try_of_its_own() -> None:
    state = play(two_tries(), says("accept"), REFUSED, says("accept"))
    assert keys(state) == ["land-accepted-2"]


# --- cancel ------------------------------------------------------------------------------------------------------

TO_PHASE: dict[FeedbackPhase | Station, tuple[Event, ...]] = {
    FeedbackPhase.IMPLEMENT: (),
    FeedbackPhase.CHECKPOINT: (DONE,),
    FeedbackPhase.REVIEW: (DONE, saved()),
    FeedbackPhase.ADD_TESTS: (DONE, saved(), passes()),
    FeedbackPhase.CHECKPOINT_TESTS: (DONE, saved(), passes(), DONE),
    FeedbackPhase.TEST: (DONE, saved(), passes(), DONE, saved()),
    Station.GATE: (DONE, saved(), passes(), DONE, saved(evidence="e1"), ALL_PASSES[-1]),
    Station.CLARIFY: (UNCLEAR,),
    Station.ESCALATED: (BLOCKED,),
}


@pytest.mark.parametrize("cleanup", list(Cleanup))
@pytest.mark.parametrize("phase", list(TO_PHASE))
def test_cancel_cleans_up_from_every_phase(phase: FeedbackPhase | Station, cleanup: Cleanup) -> None:
    state = play(FEEDBACK.start(replace(params(), tester=True)), *TO_PHASE[phase])
    assert where(state) == phase
    state = play(state, CancelRequested(cleanup=cleanup))
    assert FEEDBACK.decide(state) == (
        CleanUp(key=Key.parse("clean-up"), choice=cleanup, base=Commit("base"), why="the loop was cancelled"),
    )
    assert outcome(play(state, CLEANED)) == Outcome(ending=Ending.CANCELLED, cleanup=cleanup)


def test_cancel_ends_a_wait() -> None:
    assert keys(play(loop(), UNAVAILABLE, CANCEL)) == ["clean-up"]


@pytest.mark.parametrize("asking", [BLOCKED, UNCLEAR], ids=["escalated", "clarify"])
def test_cancel_as_an_answer_keeps_everything(asking: Event) -> None:
    state = play(loop(), asking, says("cancel"))
    assert wanted(state, CleanUp).choice is Cleanup.KEEP_EVERYTHING


def test_a_cancelled_loop_tells_what_is_unresolved() -> None:
    ended = outcome(play(loop(), *REVIEW_FAILS, CANCEL, CLEANED))
    assert ended == Outcome(ending=Ending.CANCELLED, attempts=1, findings=(ISSUE,), cleanup=Cleanup.ROLLBACK)


def test_a_landing_that_has_begun_lands_though_it_is_cancelled() -> None:
    landing = play(loop(), *ALL_PASSES)
    state = play(landing, CANCEL)
    assert FEEDBACK.decide(state) == FEEDBACK.decide(landing)
    assert outcome(play(state, LANDED)) == Outcome(
        ending=Ending.VERIFIED, attempts=1, commit=Commit("landed"), branch="loop/1"
    )


def test_a_cancelled_landing_that_is_refused_is_cleaned_up() -> None:
    state = play(loop(), *ALL_PASSES, CANCEL, REFUSED)
    assert wanted(state, CleanUp).choice is Cleanup.ROLLBACK


@pytest.mark.parametrize("letters", [(CANCEL,), (CANCEL, CLEANED)], ids=["CLEAN_UP", "DONE"])
def test_there_is_nothing_left_to_cancel(letters: tuple[Event, ...]) -> None:
    with pytest.raises(InvalidTransition, match="the loop has ended"):
        play(play(loop(), *letters), CANCEL)


def test_a_done_state_without_an_outcome_has_failed() -> None:
    assert outcome(steered(loop(), station=Station.DONE)) == Outcome(ending=Ending.FAILED)
