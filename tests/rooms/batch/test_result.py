"""What came of the artifacts of a batch, each as its own loop tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.kernel.model import Brief, Key, LoopId
from loopwright.loops.batch.kind import KIND
from loopwright.loops.reviewed import BlockedArtifact, ReviewResult
from loopwright.ports.agent import AgentRun
from tests.loops.batch import asks, batch, blocked, combined, fell_over, passed, path, play, waits

BATCH = LoopId("batch-1")
ASKS = BlockedArtifact(
    artifact=path(2), reason="MAX_LOOPS_REACHED", attempts=3, unresolved=(), file=None, loop=LoopId("child-2")
)


def test_what_is_blocked_is_told_by_its_own_loop_and_what_fell_over_by_its_line() -> None:
    state = play(batch(3), fell_over(1), asks(2), passed(3))
    assert KIND.parts(state) == ("child-1", "child-2")
    parts = {LoopId("child-1"): ReviewResult(fixes=1), LoopId("child-2"): ReviewResult(blocked=(ASKS,), fixes=2)}
    assert KIND.result(BATCH, state, parts) == ReviewResult(
        passed=(path(3),),
        blocked=(
            BlockedArtifact(
                artifact=path(1),
                reason=f"FAILED: {path(1)}: `git add` failed: disk full",
                attempts=0,
                fixes=1,
                unresolved=(),
                file=None,
                loop=LoopId("child-1"),
            ),
            ASKS,
        ),
        rounds=1,
        fixes=3,
    )


def test_a_fix_that_does_not_go_together_with_another_is_blocked_by_that() -> None:
    state = play(batch(2), blocked(1), blocked(2), waits(1, 2), waits(2, 2), passed(1, "c1"), passed(2, "c2"))
    found = KIND.result(BATCH, play(state, combined(left_out=("c2",))), {})
    assert isinstance(found, ReviewResult)
    assert (found.passed, [(each.artifact, each.reason) for each in found.blocked]) == (
        (path(1),),
        [(path(2), "CONFLICT")],
    )


def test_a_batch_gives_nobody_a_brief() -> None:
    run = AgentRun(
        loop=BATCH,
        kind="batch",
        key=Key.parse("review-1"),
        step="s",
        role="reviewer",
        brief=Brief(task="t", attempt=1, limit=1),
        folder=Path("work"),
    )
    with pytest.raises(AssertionError, match="a batch asks no agent for anything, and yet reviewer is to be told"):
        KIND.brief(run)
