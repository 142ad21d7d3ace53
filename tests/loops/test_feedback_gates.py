"""Protected files: when the gate opens, what an approval and a rejection do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import AwaitGate, Integrate, RunAgent, RunChecks
from loopwright.kernel.events import Event
from loopwright.kernel.ledger import Standing
from loopwright.kernel.model import Change, Commit, Key, Severity, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from tests.loops.feedback import (
    ANOTHER,
    BLOCKED,
    DONE,
    FAILURE,
    GREEN,
    ISSUE,
    LATER,
    MINOR,
    REVIEW_FAILS,
    UNAVAILABLE,
    approves,
    developer,
    fails,
    keys,
    loop,
    passes,
    play,
    red,
    rejects,
    saved,
    says,
    wanted,
)
from tests.loops.harness import taken

GATE = Key.parse("gate-protected-e1")
NO = "A person rejected the change to tests/t.py: {}. Leave that as the base has it and do the work without it"
TOUCHED: tuple[Event, ...] = (DONE, saved("c1", evidence="e1"))


def at_the_gate() -> FeedbackState:
    """All that is missing is a person."""
    return play(loop(), *TOUCHED, passes(), GREEN)


def rules(state: FeedbackState) -> list[str]:
    return [finding.rule for finding in developer(state).brief.findings]


def test_a_changed_protected_file_opens_a_gate_beside_the_work() -> None:
    state = play(loop(), *TOUCHED)
    review, gate = FEEDBACK.decide(state)
    assert (type(review), str(review.key)) == (RunAgent, "review-1.1")
    assert gate == AwaitGate(
        key=GATE,
        gate="protected",
        commit=Commit("c1"),
        evidence="e1",
        because=(Change(path="tests/t.py", how="changed", blob="e1"),),
        why="protected files were changed; until a person approves, the base versions run",
    )
    assert keys(play(state, passes())) == ["checks-1.1", str(GATE)]


def test_only_the_gate_is_left_when_everything_else_passes() -> None:
    state = at_the_gate()
    assert (where(state), keys(state), state.past) == (Station.GATE, [str(GATE)], ())


def test_an_approval_makes_the_checks_run_again_with_it() -> None:
    state = play(at_the_gate(), approves("e1"))
    checks = wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.approved) == ("checks-1.2", "c1", saved(evidence="e1").protected)
    land = wanted(play(state, GREEN), Integrate)
    assert (land.commit, land.approved, land.verified) == ("c1", saved(evidence="e1").protected, True)


def test_an_approved_change_may_still_fail_its_tests() -> None:
    state = play(at_the_gate(), approves("e1"), red(FAILURE))
    assert (state.past[0].tests, state.past[0].failures) == (Verdict.FAIL, (FAILURE,))


def test_checks_in_flight_without_the_approval_are_run_anew() -> None:
    state = play(loop(), *TOUCHED, passes())
    old = replace(GREEN, key=wanted(state, RunChecks).key)
    state = play(state, approves("e1"))
    assert (keys(state), wanted(state, RunChecks).approved) == (["checks-1.2"], saved(evidence="e1").protected)
    with pytest.raises(InvalidTransition, match=r"checks-1\.1 is not asked for"):
        taken(FEEDBACK, state, old)


def test_an_approval_during_the_review_closes_the_gate_and_disturbs_nobody() -> None:
    state = play(loop(), *TOUCHED, approves("e1"))
    assert keys(state) == ["review-1.1"]
    state = play(state, passes())
    assert (str(wanted(state, RunChecks).key), wanted(state, RunChecks).approved) == (
        "checks-1.1",
        saved(evidence="e1").protected,
    )
    assert where(play(state, GREEN)) == Station.LAND


def test_a_rejection_is_a_failed_review_told_to_the_developer() -> None:
    state = play(at_the_gate(), rejects("e1", "tests stay"))
    (closed,) = state.past
    assert (closed.review, closed.tests, state.review_failures) == (Verdict.FAIL, None, 1)
    rejected, told = developer(state).brief.findings
    assert (rejected.rule, rejected.severity) == ("gate-rejected", Severity.HIGH)
    assert rejected.issue == NO.format("tests stay")
    assert (told.rule, told.file, told.severity) == ("protected", "tests/t.py", Severity.MEDIUM)


def test_a_rejection_without_a_reason_says_so() -> None:
    (rejected, _) = play(at_the_gate(), rejects("e1")).past[0].issues
    assert rejected.issue == NO.format("no reason given")


def test_a_rejection_resolves_nothing_the_reviewer_found() -> None:
    state = play(loop(), *TOUCHED, passes(MINOR), GREEN, rejects("e1"))
    assert {entry.finding.rule: entry.standing for entry in state.ledger} == {
        "R1": Standing.NEW,
        "gate-rejected": Standing.NEW,
    }


def test_a_rejection_during_the_review_reaches_the_next_developer_with_its_reason() -> None:
    state = play(loop(), *TOUCHED, rejects("e1", "tests stay"))
    assert keys(state) == ["review-1.1"]
    state = play(state, fails(ISSUE))
    assert developer(state).brief.answers == ("A person rejected the change to tests/t.py: tests stay",)
    assert rules(state) == ["R1", "protected"]


def test_a_rejected_change_that_passes_everything_still_does_not_land() -> None:
    state = play(loop(), *TOUCHED, rejects("e1", "tests stay"), passes(), GREEN)
    assert (keys(state), rules(state)) == (["implement-2.1"], ["gate-rejected", "protected"])
    assert developer(state).brief.findings[0].issue == NO.format("tests stay")


def test_tests_that_passed_start_their_count_anew_though_a_person_says_no() -> None:
    state = play(loop(), *TOUCHED, passes(), red(FAILURE), *TOUCHED, passes(), GREEN, rejects("e1"))
    assert (state.test_failures, state.review_failures) == (0, 1)


def test_the_same_change_is_not_asked_about_twice() -> None:
    state = play(at_the_gate(), rejects("e1"), *TOUCHED)
    assert keys(state) == ["review-2.1"]
    state = play(state, passes(), GREEN)
    assert [past.review for past in state.past] == [Verdict.FAIL, Verdict.FAIL]
    assert state.review_failures == 2


def test_three_rejections_in_a_row_ask_a_person() -> None:
    again = (*TOUCHED, passes(), GREEN)
    state = play(at_the_gate(), rejects("e1"), *again, *again)
    why = "3 attempts in a row had a change that a person rejected"
    assert (where(state), state.course.reasons) == (Station.ESCALATED, (why,))
    mixed = play(loop(), *TOUCHED, fails(ISSUE), *TOUCHED, fails(ANOTHER), *again, rejects("e1"))
    why = "3 attempts in a row failed: 2 failed in review, 1 had a change that a person rejected"
    assert mixed.course.reasons == (why,)


def test_the_next_developer_is_told_that_it_was_a_person_who_said_no() -> None:
    action = developer(play(at_the_gate(), rejects("e1")))
    assert action.why == "iteration 1 failed: it passed but a person rejected a change in it"


def test_another_change_reopens_the_gate() -> None:
    state = play(at_the_gate(), rejects("e1"), DONE, saved("c2", evidence="e2"))
    assert keys(state) == ["review-2.1", "gate-protected-e2"]
    state = play(at_the_gate(), approves("e1"), red(FAILURE), DONE, saved("c2", evidence="e2"))
    assert keys(state) == ["review-2.1", "gate-protected-e2"]


def test_an_approval_holds_as_long_as_the_change_is_the_same() -> None:
    state = play(at_the_gate(), approves("e1"), red(FAILURE), DONE, saved("c2", evidence="e1"), passes())
    assert (keys(state), wanted(state, RunChecks).approved) == (["checks-2.1"], saved(evidence="e1").protected)


def test_a_restored_file_closes_the_gate() -> None:
    state = play(loop(), *TOUCHED, fails(ISSUE), DONE, saved("c2"))
    assert keys(state) == ["review-2.1"]


def test_a_developer_at_work_is_started_anew_with_the_rejection() -> None:
    state = play(loop(), *TOUCHED, fails(ISSUE))
    assert keys(state) == ["implement-2.1", str(GATE)]
    state = play(state, rejects("e1", "tests stay"))
    action = developer(state)
    assert (str(action.key), state.past[-1].number) == ("implement-2.2", 1)
    assert action.brief.answers == ("A person rejected the change to tests/t.py: tests stay",)


def test_a_rejection_does_not_cut_a_wait_short() -> None:
    state = play(loop(), *TOUCHED, fails(ISSUE), UNAVAILABLE, rejects("e1"))
    assert keys(state) == ["wait-implement-2.2"]
    assert keys(play(state, LATER)) == ["implement-2.3"]


def test_a_gate_may_be_decided_while_a_person_is_asked() -> None:
    state = play(loop(), *TOUCHED, fails(ISSUE), BLOCKED)
    assert keys(state) == ["escalation-1", str(GATE)]
    assert keys(play(state, approves("e1"))) == ["escalation-1"]
    told = play(state, rejects("e1", "no"), says("continue"))
    assert developer(told).brief.answers == ("A person rejected the change to tests/t.py: no",)


def test_a_developer_is_not_told_to_restore_what_was_approved() -> None:
    assert rules(play(loop(), *TOUCHED, approves("e1"), fails(ISSUE))) == ["R1"]


def test_a_protected_change_of_the_tester_opens_the_gate_too() -> None:
    plan = replace(loop().plan, tester=True)
    state = play(FEEDBACK.start(plan), DONE, saved("c1"), passes(), DONE, saved("c2", evidence="e1"), GREEN)
    assert (where(state), wanted(state, AwaitGate).commit) == (Station.GATE, "c2")


@pytest.mark.parametrize(
    "decision",
    [replace(approves("e0"), key=GATE), replace(approves("e1"), key=GATE, gate="deploy")],
    ids=["other evidence", "other gate"],
)
def test_a_decision_for_something_else_is_refused(decision: Event) -> None:
    with pytest.raises(InvalidTransition, match="it was decided for other changes than the present ones"):
        taken(FEEDBACK, at_the_gate(), decision)


@pytest.mark.parametrize("choice", ["cancel", "accept", "continue", "answer"])
def test_a_gate_cannot_be_answered_as_if_it_were_a_question(choice: str) -> None:
    state = play(loop(), *TOUCHED)
    with pytest.raises(InvalidTransition, match="is not asked for"):
        taken(FEEDBACK, state, replace(says(choice), key=GATE))


def test_a_loop_without_protected_changes_has_no_gate_to_decide() -> None:
    with pytest.raises(InvalidTransition, match="gate-protected-e1 is not asked for"):
        taken(FEEDBACK, play(loop(), *REVIEW_FAILS), replace(approves("e1"), key=GATE))


def test_what_is_accepted_with_an_open_gate_is_checked_and_lands_without_that() -> None:
    state = play(loop(max_feedback_iterations=1), *TOUCHED, fails(ISSUE), says("accept"))
    assert keys(state) == ["checks-accepted-1.2", "gate-protected-e1"]
    land = wanted(play(state, GREEN), Integrate)
    assert (land.verified, land.approved) == (True, ())
    again = play(state, approves("e1"))
    assert keys(again) == ["checks-accepted-1.3"]
    assert wanted(play(again, GREEN), Integrate).approved == saved(evidence="e1").protected


def test_what_is_accepted_has_no_change_that_a_person_rejected_where_any_attempt_is_without_one() -> None:
    again: tuple[Event, ...] = (*TOUCHED, passes(), GREEN)
    state = play(loop(max_feedback_iterations=3), DONE, saved("clean"), fails(ISSUE), *again, rejects("e1"), *again)
    assert wanted(play(state, says("accept")), RunChecks).commit == "clean"
