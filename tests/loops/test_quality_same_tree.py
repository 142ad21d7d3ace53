"""Same tree, same verdict: nobody is asked again about what was judged before."""

from __future__ import annotations

import pytest

from loopwright.kernel.actions import Announce
from loopwright.kernel.events import Event
from loopwright.kernel.ledger import Standing
from loopwright.kernel.model import Verdict
from loopwright.loops.course import Station
from loopwright.loops.quality.state import QualityPhase
from tests.loops.quality import (
    ALPHA,
    BETA,
    FIXED,
    LOADED,
    NO_VERDICT,
    SAID,
    THREE,
    THREE_REVIEWS,
    blocked,
    creator,
    critical,
    fixed,
    keys,
    looked,
    passes,
    play,
    question,
    reviewer,
    saved,
    says,
    told,
    wanted,
)

IDLE: tuple[Event, ...] = (FIXED, saved("c2", same=True))


def test_a_fix_that_changed_nothing_is_a_failed_attempt_and_no_reviewer_is_asked() -> None:
    state = told(*blocked(), *IDLE)
    announce = wanted(state, Announce)
    assert (announce.text, announce.why) == (
        "CHECK_BLOCKED: src/pay.py",
        "3 high; nothing changed: what review 1 said of this tree stands",
    )
    assert (state.rounds[-1].number, state.rounds[-1].findings, state.rounds[-1].reviewed) == (2, THREE, False)
    fix = creator(play(state, SAID))
    assert (str(fix.key), fix.brief.findings, fix.brief.history[-1]) == (
        "fix-2.3",
        THREE,
        "Review 2: CHECK_BLOCKED: src/pay.py (3 high; nothing changed: what review 1 said of this tree stands)",
    )


def test_at_the_last_attempt_it_escalates_with_everything_open() -> None:
    state = told(*blocked(), *IDLE, SAID, FIXED, saved("c3", same=True), SAID)
    assert state.course.station is Station.ESCALATED
    assert question(state).findings == THREE
    assert "the last fix did not change the artifact" in question(state).question


def test_a_tree_that_comes_back_has_the_verdict_it_had() -> None:
    story = (*blocked(ALPHA, BETA, critical("C")), *fixed("c1"), *blocked(ALPHA), *fixed("c2"), *blocked(BETA))
    state = told(*story, FIXED, saved("c1"), max_attempts=5)
    assert (state.phase, state.rounds[-1].unchanged) == (QualityPhase.EMIT_VERDICT, True)
    assert [each.rule for each in state.rounds[-1].findings] == ["alpha"]
    assert {e.finding.rule: e.standing for e in state.ledger}["alpha"] is Standing.REOPENED


def test_new_guidance_is_a_reason_to_look_at_the_same_tree_again() -> None:
    state = told(*THREE_REVIEWS, says("revise", text="leave alpha as it is"), FIXED, saved("c4", same=True), LOADED)
    assert reviewer(state).brief.answers == ("leave alpha as it is",)
    assert play(state, passes(), SAID).rounds[-1].verdict is Verdict.PASS


def test_more_reviews_without_a_word_are_no_reason() -> None:
    state = told(*THREE_REVIEWS, says("continue", count=2), FIXED, saved("c4", same=True))
    assert (state.rounds[-1].unchanged, keys(state)) == (True, ["verdict-4.2"])


def test_where_nobody_gave_a_verdict_there_is_none_that_could_stand() -> None:
    assert reviewer(told(*NO_VERDICT, LOADED)).brief.attempt == 2


def test_the_floor_does_not_rise_by_what_nobody_looked_at() -> None:
    state = told(*blocked(), *IDLE, SAID, *fixed("c3"), *looked(passes(ALPHA)), max_attempts=4)
    assert (state.deferred, state.rounds[-1].verdict) == ((), Verdict.PASS)


@pytest.mark.parametrize("firm", [True, False])
def test_a_review_that_began_before_the_rule_looks_again(firm: bool) -> None:  # noqa: FBT001 - a row
    state = told(*blocked(), *IDLE, firm=firm)
    assert (state.phase is QualityPhase.EMIT_VERDICT) is firm
