"""What came of a review, as programs and people are told it before it has ended."""

from __future__ import annotations

import pytest

from loopwright.kernel.model import LoopId, Severity
from loopwright.loops.quality.kind import KIND
from loopwright.loops.quality.state import QualityState
from loopwright.loops.reviewed import BlockedArtifact, ReviewResult, show, unresolved_lines
from tests.loops.quality import (
    ALPHA,
    ARTIFACT,
    CONFLICT,
    FILE,
    LOADED,
    NEEDS_PERSON,
    UNCLEAR,
    blocked,
    fixed,
    flaw,
    looked,
    of,
    passes,
    told,
)

LOOP = LoopId("review-1")


def result(state: QualityState) -> ReviewResult:
    found = KIND.result(LOOP, state, {})
    assert isinstance(found, ReviewResult)
    return found


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (told(*blocked(ALPHA), UNCLEAR), "the creator asks: Which currency?"),
        (told(LOADED, of("reviewer", NEEDS_PERSON)), "the reviewer asks: log in first"),
    ],
    ids=["creator", "reviewer"],
)
def test_a_review_that_waits_for_an_answer_is_blocked_by_the_question(state: QualityState, reason: str) -> None:
    (found,) = result(state).blocked
    assert (found.artifact, found.reason, found.loop) == (ARTIFACT, reason, LOOP)


def test_a_landing_that_was_refused_leaves_the_artifact_to_be_decided() -> None:
    state = told(*blocked(), *fixed(), *looked(passes()), CONFLICT, file=FILE)
    assert (result(state).passed, result(state).blocked, result(state).pending) == ((), (), (ARTIFACT,))
    assert [found.rule for found in result(state).unresolved] == ["merge-conflict", "not-merged"]


def test_a_screen_of_findings_is_enough_and_the_rest_is_counted() -> None:
    many = tuple(show(flaw(f"wrong-{number}", Severity.HIGH)) for number in range(21))
    parts = tuple(
        BlockedArtifact(artifact=name, reason="R", attempts=1, unresolved=many, file=None) for name in ("a", "b", "c")
    )
    lines = unresolved_lines(ReviewResult(blocked=parts))
    assert (lines[0], lines[-2:]) == (
        "a: R (1 review, 0 fixes, 21 unresolved)",
        ("  and 1 more", "and 2 more artifacts; --json tells all"),
    )
