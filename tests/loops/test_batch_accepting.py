"""What a person accepts of a batch runs the checks all together before it lands, or they saw what fails."""

from __future__ import annotations

from dataclasses import replace

from loopwright.app.debt import debt_entry, owes
from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunChecks
from loopwright.kernel.model import Commit, Ending, LoopId
from loopwright.loops.batch import closing
from loopwright.loops.batch.kind import KIND
from loopwright.loops.batch.result import result
from loopwright.loops.batch.state import BatchPhase, BatchState
from loopwright.loops.course import Station, where
from tests.loops import verified as v
from tests.loops.batch import (
    LANDED,
    RED_MERGE,
    REFUSED,
    WRONG,
    accepted,
    asks,
    batch,
    blocked,
    cancelled,
    combined,
    fell_over,
    outcome,
    passed,
    play,
    says,
    waits,
    wanted,
)

MAIN = "refs/heads/main"
TAKEN = (says("accept", merge=True), accepted(2, "c2"), combined("both"))


def half_landed(**given: object) -> BatchState:
    """The fix of one is on the branch but for a test that it bends; the other is stuck."""
    two = batch(2, **{"checked": True, "trust": v.NOW, "target": MAIN, "merge": True, **given})
    state = play(two, blocked(1), asks(2), v.LANDS, waits(1, 2), passed(1, "c1", attempts=2), combined("one"))
    return play(state, v.WITHOUT, replace(LANDED, landed=Commit("own"), held_on="loop/1-held"))


def gate_of(state: BatchState) -> AwaitGate:
    return wanted(state, AwaitGate)


def test_what_is_accepted_runs_the_checks_and_lands_as_they_saw_it() -> None:
    state = play(half_landed(), *TAKEN)
    assert (str(wanted(state, RunChecks).key), wanted(state, RunChecks).commit) == ("verify-2.1", "both")
    state = play(state, v.WITHOUT)
    land = wanted(state, Integrate)
    assert (land.tree, land.target, land.verified, land.unseen, land.holds_back) == ("lands", MAIN, True, False, True)
    ended = play(state, replace(LANDED, landed=Commit("own"), held_on="loop/1-held"))
    assert (outcome(ended).ending, outcome(ended).held, gate_of(ended).evidence) == (
        Ending.ACCEPTED,
        v.BENT,
        v.E1,
    )
    assert owes(KIND, outcome(ended)) is False  # the parts owe what they were accepted with


def test_red_it_is_not_landed_and_the_person_hears_what_fails() -> None:
    state = play(half_landed(), *TAKEN, v.RED)
    assert (where(state), state.course.accepted) == (Station.ESCALATED, False)
    asked = wanted(state, Ask)
    assert (str(asked.key), asked.findings) == ("escalation-2", (v.WRONG,))
    assert "What was accepted is not landed: with all fixes together these fail: test." in asked.question
    told = result(LoopId("b-1"), state, {})
    assert [each.id for each in told.unresolved] == [v.WRONG.fingerprint]
    assert KIND.told_when_stopped(state, told)[-1] == "  [high] t::old - assert 1 == 2"


def test_accepted_once_more_it_lands_with_what_fails_as_a_debt_of_its_own() -> None:
    state = play(half_landed(), *TAKEN, v.RED, says("accept", merge=True), combined("both again"))
    assert (wanted(state, Integrate).target, wanted(state, Integrate).verified) == (MAIN, False)
    ended = play(state, LANDED)
    assert (outcome(ended).ending, outcome(ended).findings) == (Ending.ACCEPTED, (v.WRONG,))
    assert owes(KIND, outcome(ended))
    told = debt_entry(KIND, LoopId("b-1"), ended, 0.0, "ann")
    assert "- **Failing checks**:\n  - [high] t::old - assert 1 == 2\n" in told
    lines = closing.lines(ended, outcome(ended))
    assert lines[lines.index("Accepted with failing checks:") + 1] == "  [high] t::old - assert 1 == 2"


def test_tried_again_instead_the_checks_run_again() -> None:
    state = play(half_landed(), *TAKEN, v.RED, says("continue"), combined("both again"))
    assert wanted(state, RunChecks).commit == "both again"
    assert where(play(state, v.RED)) == Station.ESCALATED
    assert wanted(play(state, v.LANDS), Integrate).verified is True


def test_what_was_approved_meanwhile_gets_both_runs_and_red_it_stays_held_back() -> None:
    state = play(half_landed(), v.approves(), *TAKEN)
    assert wanted(state, RunChecks).approved == v.BENT
    state = play(state, v.RED_LANDING)
    assert (where(state), wanted(state, RunChecks).approved) == (BatchPhase.VERIFY, ())
    state = play(state, v.WITHOUT)
    state = play(state, replace(LANDED, landed=Commit("own"), held_on="loop/1-held"))
    assert gate_of(state).why == "it was approved and could not land: these fail with it: test"
    assert (outcome(state).ending, outcome(state).held, outcome(state).findings) == (Ending.ACCEPTED, v.BENT, ())


def test_what_was_approved_meanwhile_and_passes_lands_with_the_rest() -> None:
    state = play(half_landed(), v.approves(), *TAKEN, v.LANDS)
    assert (wanted(state, Integrate).approved, wanted(state, Integrate).holds_back) == (v.BENT, False)


def test_red_together_with_the_target_it_is_asked_for_once_more() -> None:
    state = play(half_landed(), *TAKEN, v.LANDS, RED_MERGE)
    assert (where(state), wanted(state, Ask).findings) == (Station.ESCALATED, (WRONG,))
    taken = play(state, says("accept", merge=True), combined("on the tip"))
    land = wanted(taken, Integrate)
    assert (land.verified, land.known_on, land.base) == (False, RED_MERGE.onto, "tip")
    # Nothing that a person accepted is made anew because they try again.
    again = play(state, says("continue"), combined("on the tip"), v.LANDS, replace(RED_MERGE, onto=Commit("newer")))
    assert where(again) == Station.ESCALATED


def test_a_landing_that_is_refused_for_another_reason_shows_nothing_red() -> None:
    state = play(half_landed(), *TAKEN, v.LANDS, replace(REFUSED, onto=Commit("tip")))
    assert (where(state), state.red) == (Station.ESCALATED, None)


def test_where_nothing_is_left_to_land_nothing_failed_of_it() -> None:
    state = play(half_landed(), *TAKEN, v.RED, says("accept"), combined("base", files=0))
    assert (outcome(state).ending, outcome(state).findings, state.red) == (Ending.ACCEPTED, state.failures, None)


def test_one_that_began_before_takes_it_as_it_is() -> None:
    state = play(half_landed(accepts_checked=False), *TAKEN)
    assert (wanted(state, Integrate).verified, wanted(state, Integrate).tree) == (False, "")


def test_what_has_nothing_to_accept_changes_nothing_of_it() -> None:
    state = play(batch(2, checked=True, trust=v.NOW), fell_over(1), asks(2), says("accept"), accepted(2, "c2"))
    state = play(state, combined("c2"), v.LANDS, LANDED, cancelled(1))
    assert outcome(state).ending is Ending.ACCEPTED
