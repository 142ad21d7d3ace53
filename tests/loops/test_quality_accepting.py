"""What a person accepts of a review has run the checks like everything that lands, or they saw what fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.app.debt import debt_entry
from loopwright.kernel.actions import AwaitGate, Integrate, RunChecks
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Commit, Ending, LoopId
from loopwright.loops.course import Station, where
from loopwright.loops.quality.closing import lines as closing_lines
from loopwright.loops.quality.kind import KIND
from loopwright.loops.quality.result import result
from loopwright.loops.quality.state import QualityState
from tests.loops import verified as v
from tests.loops.quality import (
    ALPHA,
    BASE,
    BETA,
    GAMMA,
    LANDED,
    LOADED,
    RED_MERGE,
    UNCLEAR,
    blocked,
    creator,
    fixed,
    keys,
    looked,
    of,
    options,
    outcome,
    passes,
    play,
    question,
    says,
    told,
    wanted,
)

MAIN = "refs/heads/main"


def stuck(**given: object) -> QualityState:
    """Its reviews are used up, and nothing of it ever ran the checks; the first fix was the best."""
    begun = play(told(*blocked(), checked=True, trust=v.NOW, target=MAIN, merge=True, **given), v.LANDS)
    return play(begun, *fixed("c1"), *blocked(ALPHA), *fixed("c2"), *blocked(ALPHA, BETA, GAMMA))


def at_last(**given: object) -> QualityState:
    """The last fix is the best."""
    begun = play(told(*blocked(), checked=True, trust=v.NOW, max_attempts=2, **given), v.LANDS)
    return play(begun, *fixed("c1"), *blocked(ALPHA))


def debt(state: QualityState) -> str:
    return debt_entry(KIND, LoopId("q-1"), state, 0.0, "ann")


def test_what_is_accepted_runs_the_checks_and_lands_as_they_saw_it() -> None:
    state = play(stuck(), says("accept", merge=True))
    checks = wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.base) == ("verify-3.4", "c1", BASE)
    state = play(state, v.LANDS)
    land = wanted(state, Integrate)
    assert (str(land.key), land.commit, land.tree, land.target) == ("land-3-1", "c1", "lands", MAIN)
    assert (land.verified, land.unseen, land.why) == (True, False, "accepted by a person")
    ended = play(state, LANDED)
    assert (outcome(ended).ending, outcome(ended).findings) == (Ending.ACCEPTED, (ALPHA,))
    assert "- **Checks**: passed\n" in debt(ended)


def test_red_it_is_not_landed_and_the_person_hears_what_fails() -> None:
    state = play(stuck(), says("accept", merge=True), v.RED)
    assert (where(state), keys(state), state.course.accepted) == (Station.ESCALATED, ["escalation-2"], False)
    assert options(state) == options(stuck())
    assert v.WRONG in question(state).findings
    assert "what was accepted is not landed: these fail: test" in question(state).question
    (block,) = result(LoopId("q-1"), state, {}).blocked
    assert v.WRONG.fingerprint in {each.id for each in block.unresolved}


def test_accepted_once_more_it_lands_with_what_fails_as_debt() -> None:
    state = play(stuck(), says("accept", merge=True), v.RED, says("accept", merge=True))
    land = wanted(state, Integrate)
    assert (str(land.key), land.commit, land.target, land.verified) == ("land-3-2", "c1", MAIN, False)
    ended = play(state, LANDED)
    assert (outcome(ended).ending, outcome(ended).findings) == (Ending.ACCEPTED, (ALPHA, v.WRONG))
    assert "- **Failing checks**:\n  - [high] t::old - assert 1 == 2\n" in debt(ended)
    assert any("assert 1 == 2" in line for line in closing_lines(ended, outcome(ended)))
    (block,) = result(LoopId("q-1"), ended, {}).blocked
    assert [each.id for each in block.unresolved] == [ALPHA.fingerprint, v.WRONG.fingerprint]


def test_what_a_person_saw_fail_is_not_asked_for_again() -> None:
    begun = play(told(*blocked(), checked=True, trust=v.NOW, max_attempts=2), v.LANDS)
    state = play(begun, *fixed("c1"), *looked(passes(), "o2"), v.RED, says("accept"))
    assert wanted(state, Integrate).verified is False
    ended = play(state, LANDED)
    assert outcome(ended).findings == (v.WRONG,)
    assert debt(ended).count("assert 1 == 2") == 1


def test_what_failed_of_another_review_than_the_last_is_looked_at_again() -> None:
    begun = play(told(*blocked(), checked=True, trust=v.NOW), v.LANDS)
    red = play(begun, *fixed("c1"), *looked(passes(), "o2"), v.RED)
    state = play(red, *fixed("c2"), *blocked(ALPHA, BETA), says("accept"))
    assert wanted(state, RunChecks).commit == "c1"


def test_going_on_the_creator_hears_what_fails_of_what_it_goes_on_from() -> None:
    state = play(at_last(), says("accept"), v.RED, says("continue", count=1))
    assert (creator(state).start, creator(state).brief.findings) == ("c1", (ALPHA, v.WRONG))
    earlier = play(stuck(), says("accept"), v.RED, says("continue", count=1))
    assert (creator(earlier).start, v.WRONG in creator(earlier).brief.findings) == ("c2", False)
    # The next review has the say again.
    assert v.WRONG not in play(state, *fixed("c3"), *blocked(ALPHA)).rounds[-1].findings


def test_a_review_asked_for_meanwhile_does_not_count_what_failed_then() -> None:
    given = {"checked": True, "trust": v.NOW, "max_attempts": 4}
    state = play(told(*blocked(), **given), v.LANDS, *fixed("c1"), *blocked(ALPHA), *fixed("c2"), LOADED)
    asked = play(state, of("reviewer", UNCLEAR), says("accept"), v.RED, says("continue", count=1), LOADED)
    assert asked.red is None


def test_what_was_approved_since_is_tried_before_anything_is_taken_as_red() -> None:
    state = play(stuck(), says("accept"), v.CLAIMED)
    assert (where(state), wanted(state, AwaitGate).failing) == (Station.ESCALATED, v.CLAIM.failing)
    again = play(state, v.approves(), says("accept"))
    assert wanted(again, RunChecks).approved == v.BENT
    assert wanted(play(again, v.LANDS), Integrate).verified is True
    assert wanted(play(state, says("accept")), Integrate).verified is False


def test_what_nobody_approved_is_held_back_and_not_waited_for() -> None:
    for report in (v.WITHOUT, v.NOTHING_ELSE):
        state = play(stuck(task="Loosen tests/t.py"), says("accept"), report)
        assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("lands", True)
        ended = play(state, replace(LANDED, held_on="loop/1-held", landed=Commit("own")))
        assert (outcome(ended).held, wanted(ended, AwaitGate).evidence) == (v.BENT, v.E1)


def test_red_with_what_was_approved_meanwhile_that_stays_held_back() -> None:
    begun = play(told(*blocked(), checked=True, trust=v.NOW, max_attempts=2), v.LANDS)
    refused = play(begun, *fixed("c1"), *looked(passes(), "o2"), v.WITHOUT, replace(RED_MERGE, reason="moved"))
    state = play(refused, v.approves(), says("accept"))
    assert wanted(state, RunChecks).approved == v.BENT
    state = play(state, v.RED)
    assert wanted(state, RunChecks).approved == ()
    state = play(state, v.WITHOUT)
    ended = play(state, replace(LANDED, held_on="loop/1-held", landed=Commit("own")))
    assert wanted(ended, AwaitGate).why == "it was approved and could not land: these fail with it: test"
    assert (outcome(ended).ending, outcome(ended).held) == (Ending.ACCEPTED, v.BENT)


def test_red_together_with_the_target_it_is_asked_for_once_more() -> None:
    state = play(stuck(), says("accept", merge=True), v.LANDS, RED_MERGE)
    assert (where(state), RED_MERGE.findings[0] in question(state).findings) == (Station.ESCALATED, True)
    land = wanted(play(state, says("accept", merge=True)), Integrate)
    assert (land.verified, land.known_on) == (False, RED_MERGE.onto)


@pytest.mark.parametrize(("report", "lands"), [(v.UNNOTICED, True), (v.UNREAD, False)])
def test_that_no_test_notices_it_is_said_and_checks_that_do_not_look_are_none(
    report: ChecksReported,
    lands: bool,  # noqa: FBT001 - a row
) -> None:
    state = play(stuck(), says("accept"), report)
    if not lands:
        assert [each.rule for each in question(state).findings if each.category == "engine"] == ["unread"]
        return
    ended = play(state, LANDED)
    assert outcome(ended).unnoticed == v.MISSED.sentence
    assert f"- **Checks**: passed, but {v.MISSED.sentence}".replace("_", "\\_") in debt(ended)


def test_what_was_approved_as_untested_is_taken_so() -> None:
    begun = play(told(*blocked(), checked=True, trust=v.NOW, max_attempts=2), v.LANDS)
    gate = play(begun, *fixed("c1"), *looked(passes(), "o2"), v.UNREAD)
    approved = play(gate, v.approves(wanted(gate, AwaitGate).evidence, "untested"), v.UNREAD)
    state = play(approved, replace(RED_MERGE, reason="moved"), says("accept"), v.UNREAD, LANDED)
    assert [each.rule for each in outcome(state).findings] == ["untested-change"]


@pytest.mark.parametrize("given", [{"accepts_checked": False}, {"checked": False}, {"lands": False}])
def test_one_that_began_before_and_one_without_checks_take_it_as_it_is(given: dict[str, bool]) -> None:
    state = told(*blocked(), *fixed("c1"), *blocked(ALPHA), max_attempts=2, **{"checked": True, **given})
    state = play(state, says("accept"))
    if given.get("lands") is False:
        assert outcome(state).ending is Ending.ACCEPTED
        return
    assert wanted(state, Integrate).verified is False
    assert "- **Checks**: none has run on it\n" in debt(play(state, LANDED))
