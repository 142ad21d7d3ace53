"""What a verification leads to in a review: held back, waited for, told once; and what is asked afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from loopwright.kernel.actions import AwaitGate, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, Commit, Ending, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityState
from tests.loops import afterwards
from tests.loops import verified as v
from tests.loops.quality import (
    FIXED,
    LANDED,
    RED_MERGE,
    SAID,
    blocked,
    creator,
    fixed,
    keys,
    looked,
    outcome,
    passes,
    play,
    saved,
    says,
    told,
    wanted,
)


def verifying(task: str = "", **given: object) -> QualityState:
    """A review of today whose first fix was passed: its checks run."""
    begun = play(told(*blocked(), checked=True, trust=v.NOW, task=task, **given), v.LANDS)
    return play(begun, *fixed("c1"), *looked(passes(), "o2"))


def once_more(state: QualityState, commit: str, report: ChecksReported) -> QualityState:
    return play(state, *fixed(commit), *looked(passes(), commit), report)


def gate(state: QualityState) -> AwaitGate:
    return wanted(state, AwaitGate)


def test_the_checks_are_tried_before_the_first_fix_of_a_root() -> None:
    begun = told(*blocked(), checked=True, trust=v.NOW)
    assert keys(begun) == ["preflight"]
    assert keys(play(begun, v.RED)) == ["fix-1.4"]
    ended = outcome(play(begun, v.UNABLE))
    assert (ended.ending, ended.note) == (Ending.FAILED, "check 'test' cannot run: no pytest")
    assert told(checked=True, trust=v.NOW).course.station is None
    for given in ({"lands": False}, {"checked": False}, {"trust": v.PART}):
        assert wanted(told(*blocked(), **{"checked": True, "trust": v.NOW, **given}), RunAgent).role == "creator"


def test_a_change_the_verdict_does_not_need_is_held_back_and_may_be_decided_afterwards() -> None:
    state = play(verifying(), v.WITHOUT)
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("lands", True)
    state = play(state, replace(LANDED, held_on="loop/1-held"))
    assert (outcome(state).ending, outcome(state).held, gate(state).evidence) == (Ending.VERIFIED, v.BENT, v.E1)


@pytest.mark.parametrize(
    ("artifact", "named", "task", "waits"),
    [
        ("src/calc", "src/calc/", "Review src/calc at the code gate", False),
        ("src/calc", "src/calc/", "Make src/calc faster", True),  # a person's own words
        ("src/calc/tests/t.py", "src/calc/tests/t.py", "", True),
        ("src/calc", "src/calc", "Review src/calc at the code gate", True),  # a log of before
    ],
)
def test_a_folder_asks_for_what_is_product_in_it_and_for_none_of_its_tests(
    artifact: str, named: str, task: str, *, waits: bool
) -> None:
    trust, held = replace(v.NOW, artifacts=(named,)), (Change(path="src/calc/tests/t.py", how="changed", blob="1"),)
    params = replace(verifying(task).plan, artifact=artifact, trust=trust)
    state = play(replace(verifying(task), plan=params), replace(v.WITHOUT, held=held))
    assert (where(state) == Station.GATE) is waits


@pytest.mark.parametrize(("task", "report"), [("Loosen tests/t.py", v.WITHOUT), ("", v.NOTHING_ELSE)])
def test_what_was_asked_for_or_is_all_there_is_is_waited_for(task: str, report: ChecksReported) -> None:
    state = play(verifying(task), report)
    assert where(state) == Station.GATE
    again = play(state, v.approves())
    assert (keys(again), wanted(again, RunChecks).approved) == (["verify-2.5"], v.BENT)
    assert keys(play(again, v.LANDS)) == ["land-2-0"]
    refused = play(state, v.rejects())
    assert [each.rule for each in creator(refused).brief.findings] == ["gate-rejected"]
    # Another change of the same file is another question.
    asked = once_more(refused, "c2", replace(report, held=v.OTHERWISE_BENT))
    assert (where(asked), gate(asked).evidence) == (Station.GATE, v.E2)
    # The same one is not: a person has said no to it, and that was the last attempt.
    assert where(once_more(refused, "c3", report)) == Station.ESCALATED


def test_a_claim_is_told_once_and_then_waited_for() -> None:
    state = play(verifying(), v.CLAIMED)
    assert [each.rule for each in creator(state).brief.findings] == ["t::old", "needs-approval"]
    state = once_more(state, "c2", v.CLAIMED)
    assert (where(state), gate(state).failing) == (Station.GATE, v.CLAIM.failing)
    assert wanted(play(state, v.approves()), RunChecks).approved == v.BENT


@pytest.mark.parametrize("report", [v.CLAIMED, v.UNNOTICED])
def test_a_creator_that_leaves_it_so_is_taken_at_its_word(report: ChecksReported) -> None:
    state = play(verifying(), report, FIXED, saved("c1", same=True), SAID)
    assert (state.rounds[-1].verdict, wanted(state, RunChecks).commit) == (Verdict.PASS, "c1")
    assert where(play(state, report)) == Station.GATE


def test_a_fix_that_changes_nothing_else_stays_a_failed_attempt() -> None:
    state = play(verifying(max_attempts=4), v.RED, FIXED, saved("c1", same=True))
    assert state.rounds[-1].verdict is Verdict.FAIL


def test_a_manifest_waits_at_once_and_is_red_all_the_same() -> None:
    state = play(verifying(), v.AT_ONCE)
    assert where(state) == Station.GATE
    assert [each.rule for each in creator(play(state, v.approves(v.E3), v.AT_ONCE)).brief.findings] == ["t::old"]


def test_an_untested_change_is_told_and_then_a_persons_business() -> None:
    state = play(verifying(), v.UNNOTICED)
    assert [each.rule for each in creator(state).brief.findings] == ["untested-change"]
    state = once_more(state, "c2", v.UNNOTICED)
    asked = gate(state)
    assert (where(state), asked.gate) == (Station.GATE, "untested")
    taken = outcome(play(state, v.approves(asked.evidence, "untested"), v.UNNOTICED, LANDED))
    assert (taken.ending, [each.rule for each in taken.findings]) == (Ending.ACCEPTED, ["untested-change"])
    refused = play(state, v.rejects(asked.evidence, "untested"))
    assert (where(refused), keys(refused)) == (Station.ESCALATED, ["escalation-1"])


def test_what_is_held_back_may_be_decided_while_another_gate_is_waited_for() -> None:
    state = play(verifying(), replace(v.UNREAD, held=v.BENT))
    assert where(play(state, v.rejects())) == Station.GATE
    assert wanted(play(state, v.approves()), RunChecks).approved == v.BENT


def test_an_approval_while_the_checks_run_has_them_run_anew() -> None:
    # A landing was refused, so that the gate of what was held back stands beside the work.
    state = play(verifying(max_attempts=5), v.WITHOUT, RED_MERGE, *fixed("c2"), *looked(passes(), "o3"))
    assert keys(state) == ["verify-3.4", f"gate-protected-{v.E1}"]
    again = play(state, v.approves())
    assert (keys(again), wanted(again, RunChecks).approved) == (["verify-3.5"], v.BENT)
    # What the next candidate no longer changes is no longer asked for.
    assert keys(play(state, v.LANDS)) == ["land-3-0"]


def test_an_approval_during_the_fix_is_kept() -> None:
    state = play(verifying(max_attempts=5), v.WITHOUT, RED_MERGE)
    assert keys(play(state, v.approves())) == ["fix-2.6"]
    assert keys(play(state, v.rejects())) == ["fix-2.6"]


def landed() -> afterwards.Stand:
    begun = told(*blocked(afterwards.IN_TESTS), checked=True, trust=v.NOW)
    state = play(begun, v.LANDS, *fixed("c1"), *looked(passes(), "o2"), v.WITHOUT, afterwards.LANDED)
    return afterwards.Stand(loop=QUALITY, state=state, candidate="c1")


@pytest.mark.parametrize("story", afterwards.STORIES, ids=lambda story: story.__name__)
def test_a_change_that_was_held_back_after_the_end(story: Callable[[afterwards.Stand], None]) -> None:
    story(landed())


def test_what_a_person_accepts_lands_without_what_nobody_approved() -> None:
    state = play(verifying(max_attempts=2), replace(v.RED, held=v.BENT), says("accept"))
    assert (wanted(state, Integrate).tree, wanted(state, Integrate).holds_back) == ("", True)
    state = play(state, replace(LANDED, held=v.BENT, held_on="loop/1-held", landed=Commit("own")))
    assert (outcome(state).ending, outcome(state).held, gate(state).evidence) == (Ending.ACCEPTED, v.BENT, v.E1)
    assert isinstance(QUALITY.decide(play(state, v.rejects()))[0], Stop)
