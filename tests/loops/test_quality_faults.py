"""What goes wrong with agents: a crash, garbage, a rate limit, a creator that cannot go on."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Announce, Ask, Option, WaitUntil
from loopwright.kernel.events import AgentFailed, AgentReported, Event
from loopwright.kernel.model import NO_KEY, AgentReport, AgentStatus, Ending, Key, Question, Verdict
from loopwright.loops.course import Station
from tests.loops.quality import (
    ALPHA,
    ARTIFACT,
    BLOCKED,
    CANCEL,
    CLEANED,
    CRASHED,
    FILE,
    FIXED,
    GARBLED,
    IDLE,
    LATER,
    LOADED,
    NEEDS_PERSON,
    NO_VERDICT,
    SAID,
    THREE,
    TIMED_OUT,
    UNAVAILABLE,
    UNCLEAR,
    UNSHOWN,
    blocked,
    creator,
    fails,
    fixed,
    keys,
    lines,
    loaded,
    looked,
    of,
    options,
    outcome,
    passes,
    play,
    question,
    reviewer,
    saved,
    says,
    told,
    wanted,
)

# --- the reviewer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [CRASHED, TIMED_OUT, IDLE, NEEDS_PERSON])
def test_the_first_crash_of_a_reviewer_is_free_and_the_second_counts(fault: Event) -> None:
    state = told(LOADED, fault)
    assert (keys(state), state.rounds, reviewer(state).brief.repair) == (["review-1.3"], (), "")
    state = play(state, fault)
    (this,) = state.rounds
    assert (this.verdict, this.judged, [finding.rule for finding in this.findings]) == (
        Verdict.FAIL,
        False,
        ["no-verdict"],
    )
    assert wanted(state, Announce).text == f"CHECK_BLOCKED: {ARTIFACT}"
    assert keys(play(state, SAID)) == ["load-2"]


def test_the_reason_of_a_missing_verdict_is_told() -> None:
    assert told(LOADED, CRASHED, CRASHED).rounds[0].why == "The reviewer gave no verdict (crashed: exit 1)"
    assert told(LOADED, IDLE, IDLE).rounds[0].why == "The reviewer gave no verdict (idle)"


def test_the_first_garbage_of_a_reviewer_is_to_be_repaired_and_the_second_counts() -> None:
    state = told(LOADED, GARBLED)
    assert (keys(state), reviewer(state).brief.repair) == (["review-1.3"], "no JSON")
    assert play(state, GARBLED).rounds[0].why == "The reviewer gave no verdict (garbled: no JSON)"


def test_a_crash_while_repairing_is_free_too_and_the_repair_is_asked_for_again() -> None:
    state = told(LOADED, GARBLED, CRASHED)
    assert (keys(state), reviewer(state).brief.repair) == (["review-1.4"], "no JSON")
    assert len(play(state, CRASHED).rounds) == 1


def test_what_was_dropped_from_a_report_that_was_to_be_repaired_is_not_told_of_a_crash() -> None:
    state = told(LOADED, fails(UNSHOWN), CRASHED, CRASHED)
    assert (state.rounds[0].why, state.dropped) == ("The reviewer gave no verdict (crashed: exit 1)", ())


def test_each_review_has_its_own_free_tries() -> None:
    state = told(LOADED, CRASHED, GARBLED, *looked(fails(ALPHA))[1:], FIXED, saved(), LOADED, CRASHED, GARBLED)
    assert (keys(state), len(state.rounds)) == (["review-2.4"], 1)


def test_a_review_without_a_verdict_is_not_fixed_and_leaves_what_was_found_before_open() -> None:
    state = told(*blocked(), *fixed(), *NO_VERDICT)
    assert (keys(state), state.fixes) == (["load-3"], 1)
    assert [finding.rule for finding in state.rounds[1].findings] == ["alpha", "beta", "gamma", "no-verdict"]


def test_three_reviews_without_a_verdict_ask_a_person_to_look_at_the_reviewer() -> None:
    state = told(*NO_VERDICT, *NO_VERDICT, *NO_VERDICT)
    assert state.course.reasons == (
        "MAX_LOOPS_REACHED: 3 reviews and 0 fixes",
        "failing: The reviewer gave no verdict (crashed: exit 1)",
    )
    assert "Recommended: look at the reviewer, which gave no verdict." in question(state).question
    assert options(state) == ["continue", "history", "revise", "cancel"]
    assert keys(play(state, says("continue", count=1))) == ["load-4"]


def test_an_agent_that_is_not_available_is_waited_for_and_nothing_is_counted() -> None:
    state = told(LOADED, UNAVAILABLE)
    assert (str(wanted(state, WaitUntil).key), wanted(state, WaitUntil).when) == ("wait-review-1.2", 60.0)
    state = play(state, LATER)
    assert (keys(state), state.rounds, state.course.trial.respawned) == (["review-1.3"], (), False)
    state = play(state, CRASHED, GARBLED, UNAVAILABLE, LATER)
    assert (keys(state), reviewer(state).brief.repair) == (["review-1.6"], "no JSON")


def test_a_creator_that_is_not_available_is_waited_for() -> None:
    state = told(*blocked(), UNAVAILABLE)
    assert str(wanted(state, WaitUntil).key) == "wait-fix-1.4"
    assert str(creator(play(state, LATER)).key) == "fix-1.5"


# --- the creator ---------------------------------------------------------------------------------------------


def test_a_creator_that_crashes_twice_has_used_its_fix_and_the_artifact_is_reviewed_as_it_is() -> None:
    state = told(*blocked(), CRASHED)
    assert str(creator(state).key) == "fix-1.5"
    state = play(state, CRASHED)
    assert (keys(state), state.commit, state.fixes) == (["load-2"], "base", 1)
    assert state.rounds[0].fix == "(the creator gave no result: crashed: exit 1)"
    state = play(state, loaded("o1"))
    assert state.untouched


def test_a_creator_that_gives_garbage_is_asked_to_repair_it_once() -> None:
    state = told(*blocked(), GARBLED)
    assert creator(state).brief.repair == "no JSON"
    assert keys(play(state, GARBLED)) == ["load-2"]
    assert keys(play(state, FIXED)) == ["checkpoint-1"]


def test_what_an_earlier_fix_left_behind_is_not_told_of_one_that_crashed() -> None:
    state = told(*blocked(), FIXED, saved(dropped=("x.py",)), *blocked(), CRASHED, CRASHED)
    assert not [line for line in lines(state) if "x.py" in line]


def test_three_reviews_with_a_crashed_creator_between_them_end_like_any_other() -> None:
    state = told(*blocked(), CRASHED, CRASHED, *blocked(), CRASHED, CRASHED, *blocked())
    assert state.course.reasons == ("MAX_LOOPS_REACHED: 3 reviews and 2 fixes",)
    assert "the last fix did not change the artifact" in question(state).question


def test_a_blocked_creator_asks_a_person_at_once() -> None:
    state = told(*blocked(), BLOCKED)
    assert (state.course.reasons, question(state).findings) == (("the creator is blocked: no network",), THREE)
    assert creator(play(state, says("continue", text="try offline"))).brief.answers == ("try offline",)
    silent = AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.BLOCKED))
    assert told(*blocked(), silent).course.reasons == ("the creator is blocked: no reason given",)


# --- clarification -------------------------------------------------------------------------------------------


def test_a_creator_may_ask_a_person_and_goes_on_with_the_answer() -> None:
    state = told(*blocked(), UNCLEAR)
    assert wanted(state, Ask) == Ask(
        key=Key.parse("clarify-1"),
        question="Which currency?",
        options=(
            Option(choice="answer", label="Answer the question"),
            Option(choice="accept", label="Accept with what is known"),
            Option(choice="history", label="Show the reviews so far"),
            Option(choice="cancel", label="Cancel"),
        ),
        questions=(Question(question="Which currency?"),),
        free_text=True,
        findings=THREE,
        why="the creator cannot go on without a person: Which currency?",
    )
    state = play(state, says("answer", text="Euro"))
    assert (str(creator(state).key), creator(state).brief.answers) == ("fix-1.5", ("Which currency?\n→ Euro",))
    assert len(state.rounds) == 1


def test_findings_that_are_in_a_file_are_not_in_the_question() -> None:
    assert wanted(told(*blocked(), UNCLEAR, file=FILE), Ask).findings == ()


@pytest.mark.parametrize(
    ("event", "asked"),
    [
        (NEEDS_PERSON, "log in first"),
        (
            AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, summary="why?")),
            "why?",
        ),
        (
            AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION)),
            "The creator asks for clarification without a question.",
        ),
    ],
)
def test_whatever_the_creator_needs_a_person_for_is_asked(event: Event, asked: str) -> None:
    assert wanted(told(*blocked(), event), Ask).question == asked


def test_a_choice_is_an_answer_too_but_an_empty_one_is_none() -> None:
    state = told(*blocked(), UNCLEAR)
    assert creator(play(state, says("Euro"))).brief.answers == ("Which currency?\n→ Euro",)
    with pytest.raises(InvalidTransition, match="the answer is empty"):
        play(state, says("answer", text=" "))


def test_instead_of_an_answer_a_person_may_accept_what_there_is() -> None:
    state = told(*blocked(), *fixed("c1"), *blocked(ALPHA), UNCLEAR, says("accept"), lands=False)
    assert (outcome(state).ending, outcome(state).commit, outcome(state).findings) == (
        Ending.ACCEPTED,
        "c1",
        (ALPHA,),
    )


def test_a_question_may_be_asked_again_after_a_look_at_the_history() -> None:
    state = told(*blocked(), UNCLEAR, says("history"))
    assert (keys(state), wanted(state, Ask).question) == (["clarify-2"], "Which currency?")


def test_a_question_may_be_answered_with_cancel() -> None:
    state = told(*blocked(), UNCLEAR, says("cancel"), CLEANED)
    assert outcome(state).ending is Ending.CANCELLED


def test_a_cancel_stops_a_wait() -> None:
    state = told(LOADED, UNAVAILABLE, CANCEL)
    assert (keys(state), state.course.station) == (["clean-up"], Station.CLEAN_UP)


@pytest.mark.parametrize("asks", [UNCLEAR, NEEDS_PERSON], ids=["question", "needs_person"])
def test_a_reviewer_may_ask_a_person_too_and_no_review_is_used(asks: AgentReported | AgentFailed) -> None:
    state = told(LOADED, of("reviewer", asks))
    asked = wanted(state, Ask)
    assert asked.why == f"the reviewer cannot go on without a person: {asked.question}"
    assert [option.choice for option in asked.options] == ["answer", "history", "cancel"]
    state = play(state, says("answer", text="Euro"))
    assert (str(reviewer(state).key), reviewer(state).brief.answers) == ("review-1.3", (f"{asked.question}\n→ Euro",))
    assert state.rounds == ()


def test_a_fix_that_is_clarified_many_times_never_uses_a_review() -> None:
    state = told(*blocked(), *(UNCLEAR, says("answer", text="x")) * 5, *fixed(), *looked(passes()))
    assert len(state.rounds) == 2
