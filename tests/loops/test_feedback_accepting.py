"""What a person accepts of an attempt has run the checks like everything that lands, or they saw what fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry
from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunChecks
from loopwright.kernel.model import CheckResult, Commit, Ending, LoopId, Outcome, Tree
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.closing import lines as closing_lines
from loopwright.loops.feedback.kind import KIND
from loopwright.loops.feedback.machine import FEEDBACK, stand
from loopwright.loops.feedback.state import FeedbackState
from tests.loops import verified as v
from tests.loops.feedback import (
    ANOTHER,
    BLOCKED,
    CONFLICT,
    DONE,
    ISSUE,
    LANDED,
    OTHER,
    RED_MERGE,
    REFUSED,
    developer,
    fails,
    keys,
    options,
    params,
    passes,
    play,
    saved,
    says,
    wanted,
)

MAIN = "refs/heads/main"


def begun(**limits: int) -> FeedbackState:
    """A loop of today, past its preflight."""
    plan = replace(params(**{"max_feedback_iterations": 2, **limits}), trust=v.NOW, target=MAIN, merge=True)
    return play(FEEDBACK.start(plan), v.LANDS)


def kept(commit: str) -> object:
    return replace(saved(commit), tree=Tree(f"tree of {commit}"))


def tried(state: FeedbackState, commit: str, *letters: object) -> FeedbackState:
    return play(state, DONE, kept(commit), *letters)  # type: ignore[arg-type]


def stuck() -> FeedbackState:
    """No review passed, so that nothing of it ever ran the checks; the first attempt was the best."""
    return tried(tried(begun(), "c1", fails(ISSUE)), "c2", fails(ISSUE, OTHER))


def at_last() -> FeedbackState:
    return tried(begun(max_feedback_iterations=1), "c1", fails(ISSUE))


def outcome(state: FeedbackState) -> Outcome:
    assert state.course.outcome is not None
    return state.course.outcome


def debt(state: FeedbackState) -> str:
    return debt_entry(KIND, LoopId("f-1"), state, 0.0, "ann")


def test_what_is_accepted_runs_the_checks_and_lands_as_they_saw_it() -> None:
    state = play(stuck(), says("accept", merge=True))
    checks = wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.base) == ("checks-accepted-1.2", "c1", "base")
    state = play(state, v.LANDS)
    land = wanted(state, Integrate)
    assert (str(land.key), land.commit, land.tree, land.target) == ("land-accepted-1", "c1", "lands", MAIN)
    assert (land.verified, land.holds_back, land.why) == (True, False, "accepted by a person")
    ended = play(state, LANDED)
    assert (outcome(ended).ending, outcome(ended).findings) == (Ending.ACCEPTED, (ISSUE,))
    assert "- **Failing tests**: none\n- **Checks**: passed\n" in debt(ended)


def test_red_it_is_not_landed_and_the_person_hears_what_fails() -> None:
    state = play(stuck(), says("accept", merge=True), v.RED)
    assert (where(state), keys(state), state.course.accepted) == (Station.ESCALATED, ["escalation-2"], False)
    assert options(state) == options(stuck())
    asked = wanted(state, Ask).question
    assert "2 of 2 iterations are used" in asked
    assert "what was accepted is not landed: these fail: test" in asked
    assert v.WRONG in stand(state).findings
    assert any("assert 1 == 2" in line for line in KIND.unresolved(state, None))


def test_accepted_once_more_it_lands_with_what_fails_as_debt() -> None:
    state = play(stuck(), says("accept", merge=True), v.RED, says("accept", merge=True))
    land = wanted(state, Integrate)
    assert (str(land.key), land.commit, land.target, land.verified) == ("land-accepted-2", "c1", MAIN, False)
    assert land.holds_back
    ended = play(state, LANDED)
    assert (outcome(ended).ending, outcome(ended).findings) == (Ending.ACCEPTED, (ISSUE, v.WRONG))
    assert "- **Failing tests**:\n  - [high] t::old - assert 1 == 2\n" in debt(ended)
    assert debt(ended).count("assert 1 == 2") == 1
    assert any("assert 1 == 2" in line for line in closing_lines(ended, outcome(ended)))


def test_what_a_person_saw_fail_is_not_asked_for_again() -> None:
    state = tried(tried(begun(), "c1", passes(), v.RED), "c2", fails(ISSUE))
    state = play(state, says("accept"))
    assert (wanted(state, Integrate).commit, wanted(state, Integrate).verified) == ("c1", False)
    assert outcome(play(state, LANDED)).findings == (v.WRONG,)


def test_what_fails_of_an_earlier_attempt_and_of_no_later_one_they_are_shown_first() -> None:
    others = replace(v.RED, results=(CheckResult(name="test", passed=False, failures=(OTHER, ANOTHER)),))
    state = play(tried(tried(begun(), "c1", passes(), v.RED), "c2", passes(), others), says("accept"))
    assert wanted(state, RunChecks).commit == "c1"
    state = play(state, v.RED)
    assert (where(state), v.WRONG in stand(state).findings) == (Station.ESCALATED, True)
    assert wanted(play(state, says("accept")), Integrate).verified is False


def test_an_approval_since_then_makes_another_tree_of_what_they_saw_fail() -> None:
    bent = replace(saved("c1", evidence="e1"), tree=Tree("bent"))
    state = play(begun(max_feedback_iterations=1), DONE, bent, passes(), v.RED)
    assert wanted(play(state, says("accept")), Integrate).verified is False
    assert wanted(play(state, v.approves("e1"), says("accept")), RunChecks).approved == saved(evidence="e1").protected


def test_what_began_on_a_new_tip_is_checked_against_that() -> None:
    state = tried(play(tried(begun(), "c1", passes(), v.LANDS), CONFLICT), "c2", fails(ISSUE))
    state = play(state, says("continue", count=1))
    worse = tried(state, "c3", fails(ISSUE, OTHER, ANOTHER))
    better = [each for each in worse.past if each.onto]
    checks = wanted(play(replace(worse, past=tuple(better)), says("accept")), RunChecks)
    assert (checks.commit, checks.base) == ("c2", "tip")


def test_nor_is_what_is_left_so_by_the_next_attempt() -> None:
    state = tried(tried(begun(), "c1", passes(), v.RED), "c1")
    assert wanted(play(state, says("accept")), Integrate).verified is False


def test_what_no_test_notices_has_not_failed_and_is_said() -> None:
    state = play(tried(begun(max_feedback_iterations=1), "c1", passes(), v.UNNOTICED), says("accept"))
    ended = play(state, v.UNNOTICED, LANDED)
    assert (outcome(ended).findings, outcome(ended).unnoticed) == ((), v.MISSED.sentence)
    assert "- **Checks**: passed, but " in debt(ended)


def test_who_switched_the_question_off_does_not_hear_of_it() -> None:
    warned = replace(v.UNNOTICED, canary=replace(v.MISSED, rule="warn"))
    silent = replace(v.UNNOTICED, canary=replace(v.MISSED, rule="off"))
    for said, told in ((warned, v.MISSED.sentence), (silent, "")):
        state = tried(begun(), "c1", passes(), said)
        state = tried(state, "c2", passes(), said) if told else state
        assert (outcome(play(state, LANDED)).ending, outcome(play(state, LANDED)).unnoticed) == (Ending.VERIFIED, told)
    assert outcome(play(stuck(), says("accept"), silent, LANDED)).unnoticed == ""


def test_what_was_taken_untested_at_its_gate_has_run_the_checks() -> None:
    state = tried(tried(begun(), "c1", passes(), v.UNNOTICED), "c2", passes(), v.UNNOTICED)
    (gate,) = state.course.open_gates
    ended = play(state, v.approves(gate.evidence, "untested"), v.UNNOTICED, LANDED)
    assert (outcome(ended).ending, "- **Checks**: passed" in debt(ended)) == (Ending.ACCEPTED, True)


def test_what_was_told_of_a_protected_file_is_no_debt() -> None:
    """It landed approved, or not at all."""
    bent = replace(saved("c1", evidence="e1"), tree=Tree("bent"))
    state = play(begun(max_feedback_iterations=1), DONE, bent, fails(ISSUE), says("accept"), v.LANDS, LANDED)
    assert (outcome(state).findings, "is protected and was" in debt(state)) == ((ISSUE,), False)


def test_checks_that_do_not_look_at_it_are_none() -> None:
    state = play(stuck(), says("accept"), v.UNREAD)
    assert [each.rule for each in stand(state).findings if each.category == "engine"] == ["unread"]


def test_what_was_approved_since_is_tried_before_anything_is_taken_as_red() -> None:
    claimed = tried(begun(max_feedback_iterations=1), "c1", passes(), v.CLAIMED)
    rejected = play(claimed, v.rejects())
    assert wanted(play(rejected, says("accept"), v.CLAIMED, says("accept")), Integrate).verified is False
    state = play(stuck(), says("accept"), v.CLAIMED)
    assert (where(state), wanted(state, AwaitGate).failing) == (Station.ESCALATED, v.CLAIM.failing)
    again = play(state, v.approves(), says("accept"))
    assert wanted(again, RunChecks).approved == v.BENT
    assert wanted(play(again, v.LANDS), Integrate).verified is True
    assert wanted(play(state, says("accept")), Integrate).verified is False


def test_what_nobody_approved_is_held_back_and_not_waited_for() -> None:
    for report in (v.WITHOUT, v.NOTHING_ELSE):
        state = play(stuck(), says("accept"), report)
        assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("lands", True)
        ended = play(state, replace(LANDED, held_on="loop/1-held", landed=Commit("own")))
        assert (outcome(ended).held, wanted(ended, AwaitGate).evidence) == (v.BENT, v.E1)


def test_red_with_what_was_approved_meanwhile_that_stays_held_back() -> None:
    state = play(stuck(), says("accept"), v.WITHOUT, replace(REFUSED, reason="moved"), v.approves(), says("accept"))
    assert wanted(state, RunChecks).approved == v.BENT
    state = play(state, v.RED)
    assert wanted(state, RunChecks).approved == ()
    ended = play(state, v.WITHOUT, replace(LANDED, held_on="loop/1-held", landed=Commit("own")))
    assert (outcome(ended).ending, outcome(ended).held) == (Ending.ACCEPTED, v.BENT)


def test_red_together_with_the_target_it_is_asked_for_once_more() -> None:
    state = play(stuck(), says("accept", merge=True), v.LANDS, RED_MERGE)
    assert (where(state), ANOTHER in stand(state).findings) == (Station.ESCALATED, True)
    taken = play(state, says("accept", merge=True))
    assert (wanted(taken, Integrate).verified, wanted(taken, Integrate).known_on) == (False, "tip")
    assert outcome(play(taken, LANDED)).findings == (ISSUE, ANOTHER)


def test_what_could_not_be_landed_for_another_reason_is_checked_again() -> None:
    refused = play(stuck(), says("accept"), v.LANDS, replace(REFUSED, reason="moved"))
    assert (refused.verified, keys(play(refused, says("accept")))[0]) == (False, "checks-accepted-2.3")


def test_what_was_refused_with_failing_checks_is_taken_with_them() -> None:
    state = play(tried(begun(), "c1", passes(), v.LANDS), REFUSED, says("accept"))
    assert wanted(state, Integrate).verified is False
    assert outcome(play(state, LANDED)).findings == (ANOTHER,)


def test_going_on_the_developer_hears_what_fails_of_what_it_goes_on_from() -> None:
    state = play(at_last(), says("accept"), v.RED, says("continue", count=1))
    assert (developer(state).start, developer(state).brief.failures) == ("c1", (v.WRONG,))
    earlier = play(stuck(), says("accept"), v.RED, says("continue", count=1))
    assert (developer(earlier).start, developer(earlier).brief.failures) == ("c2", ())


def test_a_rejection_meanwhile_does_not_change_what_was_accepted() -> None:
    bent = replace(saved("c1", evidence="e1"), tree=Tree("bent"))
    state = tried(play(begun(), DONE, bent, fails(ISSUE)), "c2", fails(ISSUE, OTHER, ANOTHER))
    state = play(state, says("accept"), replace(v.LANDS, held=bent.protected))
    (gate,) = state.course.open_gates
    decided = FEEDBACK.apply(state, replace(v.rejects(gate.evidence), key=wanted(state, Integrate).key))
    assert wanted(decided, Integrate).commit == wanted(state, Integrate).commit == "c1"


def test_no_step_of_a_blocked_developer_is_asked_for_twice() -> None:
    blocked = play(tried(begun(), "c1", fails(ISSUE)), BLOCKED)
    state = play(blocked, says("accept"), v.RED, says("continue", count=1))
    assert (keys(blocked), keys(state)) == (["escalation-1"], ["implement-2.3"])


def test_where_nothing_was_changed_there_is_nothing_to_check() -> None:
    state = play(begun(), DONE, saved("base", files=0), says("accept"))
    assert wanted(state, Integrate).verified is False
    assert "- **Checks**: none has run on it\n" in debt(play(state, LANDED))


@pytest.mark.parametrize("refusal", [REFUSED, replace(REFUSED, findings=())])
def test_one_that_began_before_takes_it_as_it_is(refusal: object) -> None:
    plan = replace(params(max_feedback_iterations=1), accepts_checked=False)
    state = play(FEEDBACK.start(plan), DONE, saved("c1"), fails(ISSUE), says("accept"))
    assert (wanted(state, Integrate).verified, wanted(state, Integrate).known_on) == (False, None)
    again = play(state, refusal, says("accept"))  # type: ignore[arg-type]
    assert (keys(again), again.red) == (["land-accepted-2"], None)
    assert outcome(play(again, LANDED)).findings == (ISSUE,)
