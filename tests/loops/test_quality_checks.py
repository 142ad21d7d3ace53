"""What a review lands has run the checks: verified is said of nothing that no check has seen."""

from __future__ import annotations

import pytest

from loopwright.kernel.actions import Integrate, RunAgent, RunChecks
from loopwright.kernel.model import Ending, Verdict
from loopwright.loops.course import Station, where
from loopwright.loops.quality.closing import lines as closing_lines
from tests.loops.quality import (
    BASE,
    BROKEN_TEST,
    CANCEL,
    CLEANED,
    GREEN,
    LANDED,
    LOADED,
    RED,
    SAID,
    blocked,
    creator,
    fixed,
    looked,
    outcome,
    passes,
    play,
    question,
    reviewer,
    says,
    told,
    wanted,
)

FIXED_IT = (*blocked(), *fixed("c1"), *looked(passes(), "o2"))


def test_what_was_fixed_runs_the_checks_before_it_lands_merged_or_not() -> None:
    state = told(*FIXED_IT, checked=True)
    checks = wanted(state, RunChecks)
    assert (str(checks.key), checks.commit, checks.base) == ("verify-2.4", "c1", BASE)
    land = wanted(play(state, GREEN), Integrate)
    assert (land.commit, land.target, land.verified, land.unseen) == ("c1", "", True, False)
    assert outcome(play(state, GREEN, LANDED)).ending is Ending.VERIFIED


def test_red_is_a_failed_attempt_with_its_findings_for_the_creator() -> None:
    state = play(told(*FIXED_IT, checked=True), RED)
    assert (state.rounds[-1].verdict, state.rounds[-1].refused) == (
        Verdict.FAIL,
        "the result could not be landed: these fail: test",
    )
    fix = creator(state)
    assert (fix.start, fix.brief.base, fix.brief.findings) == ("c1", BASE, (BROKEN_TEST,))
    again = play(state, *fixed("c2"), LOADED)
    assert (reviewer(again).brief.attempt, reviewer(again).brief.candidate) == (3, "c2")
    assert wanted(play(again, passes(), SAID), RunChecks).commit == "c2"


def test_at_the_last_attempt_red_escalates() -> None:
    state = play(told(*FIXED_IT, checked=True, max_attempts=2), RED)
    assert (where(state), question(state).findings) == (Station.ESCALATED, (BROKEN_TEST,))


def test_what_a_person_accepts_is_landed_as_it_is_known() -> None:
    state = play(told(*FIXED_IT, checked=True, max_attempts=2), RED, says("accept"))
    assert wanted(state, Integrate).verified is False
    assert outcome(play(state, LANDED)).ending is Ending.ACCEPTED


@pytest.mark.parametrize(
    ("letters", "given"),
    [
        ((*FIXED_IT, LANDED), {}),
        (looked(passes()), {"checked": True}),
        (FIXED_IT, {"checked": True, "lands": False}),
    ],
    ids=["no check is configured", "nothing was fixed", "a part of a batch"],
)
def test_where_no_check_has_run_it_is_reviewed(letters: tuple[object, ...], given: dict[str, bool]) -> None:
    assert outcome(told(*letters, **given)).ending is Ending.REVIEWED  # type: ignore[arg-type]


def test_it_is_said_that_nothing_has_run() -> None:
    state = told(*FIXED_IT, LANDED)
    assert "Passed after 2 reviews and 1 fix; no check has run on it." in closing_lines(state, outcome(state))


def test_a_review_that_began_before_the_rule_lands_as_it_did() -> None:
    state = told(*FIXED_IT, checked=True, firm=False)
    assert wanted(state, Integrate).unseen is True
    assert outcome(play(state, LANDED)).ending is Ending.VERIFIED


def test_a_cancel_is_heard_while_the_checks_run() -> None:
    state = told(*FIXED_IT, CANCEL, CLEANED, checked=True)
    assert outcome(state).ending is Ending.CANCELLED
    assert wanted(told(*blocked()), RunAgent).role == "creator"
