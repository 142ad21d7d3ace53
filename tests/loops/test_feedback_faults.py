"""What the feedback loop does when an agent crashes, mumbles, waits, asks or gives up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, Checkpoint, Option, RunAgent, RunChecks, WaitUntil
from loopwright.kernel.events import AgentFailed, AgentReported, Event
from loopwright.kernel.model import NO_KEY, AgentReport, AgentStatus, Commit, Key, Question, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from tests.loops.feedback import (
    BLOCKED,
    CRASHED,
    DONE,
    GARBLED,
    IDLE,
    LATER,
    NEEDS_PERSON,
    REVIEW_FAILS,
    TIMED_OUT,
    UNAVAILABLE,
    UNCLEAR,
    developer,
    fails,
    keys,
    loop,
    of,
    options,
    params,
    passes,
    play,
    saved,
    says,
    wanted,
)

REVIEW: tuple[Event, ...] = (DONE, saved("c1"))


def with_tester() -> FeedbackState:
    return FEEDBACK.start(replace(params(), tester=True))


@pytest.mark.parametrize("fault", [CRASHED, TIMED_OUT, IDLE], ids=lambda fault: fault.reason)
def test_a_developer_that_dies_gets_one_free_respawn_and_then_it_counts(fault: AgentFailed) -> None:
    state = play(loop(), fault)
    assert (keys(state), state.past) == (["implement-1.2"], ())
    state = play(state, fault)
    assert keys(state) == ["implement-2.1"]
    assert state.past[0].implementation.startswith(f"(the developer gave no result: {fault.reason}")
    assert state.past[0].review is None


def test_each_iteration_has_a_respawn_of_its_own() -> None:
    assert keys(play(loop(), CRASHED, CRASHED, CRASHED)) == ["implement-2.2"]


def test_a_garbled_result_gets_one_request_to_repair_and_then_it_counts() -> None:
    state = play(loop(), GARBLED)
    assert (str(developer(state).key), developer(state).brief.repair) == ("implement-1.2", "no JSON")
    state = play(state, GARBLED)
    assert (str(developer(state).key), developer(state).brief.repair) == ("implement-2.1", "")
    assert state.past[0].implementation == "(the developer gave no result: garbled: no JSON)"


def test_a_garbled_result_without_a_detail_still_asks_for_repair() -> None:
    state = play(loop(), replace(GARBLED, detail=""))
    assert developer(state).brief.repair == "the result could not be read"


def test_a_repair_and_a_respawn_are_two_chances_and_the_request_is_kept() -> None:
    state = play(loop(), GARBLED, CRASHED)
    assert (str(developer(state).key), developer(state).brief.repair) == ("implement-1.3", "no JSON")


@pytest.mark.parametrize("fault", [CRASHED, GARBLED, NEEDS_PERSON], ids=lambda fault: fault.reason)
def test_a_reviewer_without_a_verdict_is_a_failed_review(fault: AgentFailed) -> None:
    state = play(loop(), *REVIEW, fault)
    assert (keys(state), state.review_failures) == (["review-1.2"], 0)
    state = play(state, fault)
    assert (state.past[0].review, state.past[0].tests, state.review_failures) == (Verdict.FAIL, None, 1)
    (issue,) = state.past[0].issues
    assert (issue.rule, issue.issue) == (
        "no-verdict",
        f"The reviewer gave no verdict ({fault.reason}: {fault.detail})",
    )


def test_an_unavailable_agent_is_waited_for_and_does_not_count() -> None:
    state = play(loop(), UNAVAILABLE)
    assert FEEDBACK.decide(state) == (
        WaitUntil(key=Key.parse("wait-implement-1.1"), when=60.0, why="the agent is not available before then"),
    )
    state = play(state, LATER, UNAVAILABLE, LATER, UNAVAILABLE, LATER)
    assert (keys(state), state.past, state.course.trial.respawned) == (["implement-1.4"], (), False)


def test_waiting_keeps_the_request_to_repair() -> None:
    state = play(loop(), GARBLED, UNAVAILABLE, LATER)
    assert (str(developer(state).key), developer(state).brief.repair) == ("implement-1.3", "no JSON")


def test_waits_for_different_steps_have_different_keys() -> None:
    assert keys(play(loop(), UNAVAILABLE, LATER, *REVIEW, UNAVAILABLE)) == ["wait-review-1.1"]


# --- questions --------------------------------------------------------------------------------------------------


def test_a_developers_question_is_asked_and_the_answer_is_in_the_next_brief_of_the_iteration() -> None:
    state = play(loop(), UNCLEAR)
    assert FEEDBACK.decide(state) == (
        Ask(
            key=Key.parse("clarify-1"),
            question="Which database?",
            questions=(Question(question="Which database?"),),
            free_text=True,
            options=(
                Option(choice="answer", label="Answer the question"),
                Option(choice="cancel", label="Cancel feature"),
            ),
            why="the developer cannot go on without a person",
        ),
    )
    state = play(state, says("answer", text="SQLite"))
    assert (str(developer(state).key), developer(state).brief.attempt) == ("implement-1.2", 1)
    assert developer(state).brief.answers == ("Which database?\n→ SQLite",)
    assert state.past == ()


def test_an_answer_is_told_in_every_later_iteration_too() -> None:
    state = play(loop(), UNCLEAR, says("answer", text="SQLite"), *REVIEW_FAILS)
    assert developer(state).brief.answers == ("Which database?\n→ SQLite",)


def test_a_word_that_is_no_option_is_the_answer_itself() -> None:
    assert play(loop(), UNCLEAR, says("SQLite")).course.answers == ("Which database?\n→ SQLite",)


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_answer_is_refused(text: str) -> None:
    with pytest.raises(InvalidTransition, match="the answer is empty"):
        play(loop(), UNCLEAR, says("answer", text=text))


@pytest.mark.parametrize(
    ("letter", "question"),
    [
        (NEEDS_PERSON, "log in first"),
        (replace(NEEDS_PERSON, detail=""), "The developer needs a person."),
        (
            AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, summary="Which?")),
            "Which?",
        ),
        (
            AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.NEEDS_CLARIFICATION)),
            "The developer asks for clarification without a question.",
        ),
    ],
)
def test_there_is_always_something_to_ask(letter: Event, question: str) -> None:
    assert wanted(play(loop(), letter), Ask).question == question


@pytest.mark.parametrize("asks", [UNCLEAR, NEEDS_PERSON], ids=["question", "needs_person"])
@pytest.mark.parametrize("role", ["reviewer", "tester"])
def test_a_question_of_any_role_is_heard_and_uses_up_nothing(role: str, asks: AgentFailed | AgentReported) -> None:
    state = play(with_tester(), *REVIEW, *((passes(),) if role == "tester" else ()))
    before = wanted(state, RunAgent)
    state = play(state, of(role, asks))
    assert (where(state), wanted(state, Ask).why) == (Station.CLARIFY, f"the {role} cannot go on without a person")
    state = play(state, says("answer", text="SQLite"))
    after = wanted(state, RunAgent)
    assert (after.role, after.key) == (role, replace(before.key, tries=2))
    assert after.brief.answers == (f"{wanted(play(with_tester(), asks), Ask).question}\n→ SQLite",)
    assert (state.past, state.review_failures) == ((), 0)


def test_what_a_question_offers_and_why_it_matters_reach_the_person() -> None:
    asked = (Question(question="Which?", options=("SQLite", "files"), impact="speed"), Question(question="Where?"))
    report = AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=asked)
    ask = wanted(play(loop(), AgentReported(key=NO_KEY, report=report)), Ask)
    assert (ask.kind, ask.question, ask.questions) == ("question", "Which?\nWhere?", asked)


def test_in_older_logs_only_the_developer_asks() -> None:
    assert keys(play(loop(), *REVIEW, NEEDS_PERSON)) == ["review-1.2"]
    assert keys(play(loop(), *REVIEW, UNCLEAR)) == ["review-1.2"]


def test_a_second_question_has_a_key_of_its_own() -> None:
    assert keys(play(loop(), UNCLEAR, says("answer", text="SQLite"), UNCLEAR)) == ["clarify-2"]


def test_a_blocked_developer_asks_a_person_and_counts_nothing() -> None:
    state = play(loop(), BLOCKED)
    assert (where(state), state.course.reasons, state.past) == (
        Station.ESCALATED,
        ("the developer is blocked: no network",),
        (),
    )
    assert options(state) == ["continue", "history", "cancel", "revise"]
    assert keys(play(state, says("continue"))) == ["implement-1.2"]


def test_a_blocked_developer_without_a_reason() -> None:
    silent = AgentReported(key=NO_KEY, report=AgentReport(status=AgentStatus.BLOCKED))
    assert play(loop(), silent).course.reasons == ("the developer is blocked: no reason given",)


# --- the tester -------------------------------------------------------------------------------------------------


def test_a_tester_adds_tests_in_a_checkpoint_of_their_own() -> None:
    state = play(with_tester(), *REVIEW, passes())
    action = wanted(state, RunAgent)
    assert (str(action.key), action.role, action.writes, action.start) == ("test-1.1", "tester", True, "c1")
    state = play(state, DONE)
    assert FEEDBACK.decide(state) == (
        Checkpoint(
            key=Key.parse("checkpoint-1-tests"),
            label="1-tests",
            parent=Commit("c1"),
            base=Commit("base"),
            why="every attempt is kept",
        ),
    )
    state = play(state, saved("c2", files=0))
    assert (wanted(state, RunChecks).commit, state.current.commit) == ("c2", "c2")


def test_a_tester_that_fails_twice_leaves_the_decision_to_the_checks() -> None:
    state = play(with_tester(), *REVIEW, passes(), CRASHED)
    assert keys(state) == ["test-1.2"]
    assert wanted(play(state, CRASHED), RunChecks).commit == "c1"


def test_a_failed_review_needs_no_tester() -> None:
    assert keys(play(with_tester(), *REVIEW, fails(), fails())) == ["implement-2.1"]
