"""A review that goes on where the landing of what an earlier loop had passed was refused."""

from __future__ import annotations

from dataclasses import replace

from loopwright.kernel.actions import Ask, RunAgent
from loopwright.kernel.events import IntegrationRefused
from loopwright.kernel.faults import conflict_finding
from loopwright.kernel.model import NO_KEY, Commit, Ending, Finding, Severity
from loopwright.loops.course import where
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityState
from loopwright.loops.reviewed import EarlierPass
from tests.loops.quality import (
    ARTIFACT,
    FIXED,
    LOADED,
    SAID,
    outcome,
    params,
    passes,
    play,
    saved,
    says,
    wanted,
)

CONFLICT = IntegrationRefused(
    key=NO_KEY,
    reason="conflict",
    detail="its fix conflicts with that of another artifact",
    findings=(conflict_finding(ARTIFACT, "that of another artifact"),),
    onto=Commit("others"),
)
RED = IntegrationRefused(
    key=NO_KEY,
    reason="checks",
    detail="with its fix these fail: test",
    findings=(Finding(severity=Severity.HIGH, issue="a test fails"),),
    onto=Commit("tip"),
    merged=Commit("merged"),
)


def goes_on(landing: IntegrationRefused, attempts: int = 2) -> QualityState:
    earlier = EarlierPass(attempts=attempts, commit=Commit("passed"), made_on=Commit("base"), landing=landing)
    return QUALITY.start(replace(params(), lands=False, earlier=earlier))


def test_after_a_conflict_the_fix_is_made_again_on_top_of_the_others() -> None:
    state = goes_on(CONFLICT)
    fix = wanted(state, RunAgent)
    assert (str(fix.key), fix.start, fix.brief.base, fix.brief.attempt) == ("fix-2.2", "others", "others", 2)
    assert [finding.rule for finding in fix.brief.findings] == ["merge-conflict", "not-merged"]
    assert "the fixes so far are commit passed" in fix.brief.findings[1].issue
    state = play(state, FIXED, saved(), LOADED)
    review = wanted(state, RunAgent)
    assert (review.role, review.brief.attempt, review.brief.limit, review.brief.base) == ("reviewer", 3, 3, "others")
    ended = outcome(play(state, passes(), SAID))
    assert (ended.ending, ended.attempts) == (Ending.REVIEWED, 3)


def test_after_red_checks_the_fix_starts_from_the_merged_tree_with_what_they_found() -> None:
    fix = wanted(goes_on(RED), RunAgent)
    assert (fix.start, fix.brief.base, [each.issue for each in fix.brief.findings]) == (
        "merged",
        "tip",
        ["a test fails"],
    )


def test_reviews_made_before_count_and_where_none_is_left_a_person_is_asked() -> None:
    state = goes_on(CONFLICT, attempts=3)
    ask = wanted(state, Ask)
    assert where(state) == "ESCALATED"
    assert "MAX_LOOPS_REACHED: 3 reviews and 0 fixes since a landing was refused; the result could" in ask.question
    assert QUALITY.stand(state).lines[0] == "reviews used: 3 of 3; fixes: 0"
    again = play(state, says("continue", count=1))
    assert (str(wanted(again, RunAgent).key), wanted(again, RunAgent).brief.limit) == ("fix-3.2", 4)
