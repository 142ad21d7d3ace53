"""What came of the review of one artifact, as it stands now; and its row in the live view of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.kernel.model import Ending, Finding, LoopId, Verdict
from loopwright.kernel.visible import visible
from loopwright.loops.course import Station, where
from loopwright.loops.kind import Lane
from loopwright.loops.quality.decide import MAX_LOOPS_REACHED, recommendation
from loopwright.loops.quality.state import (
    QualityPhase,
    QualityState,
    best_round,
    left_in_taken,
    open_findings,
    reviews_made,
    waiting,
)
from loopwright.loops.quality.verdict import tally
from loopwright.loops.reviewed import BlockedArtifact, ReviewResult, show

_ACCEPTED = "a person accepted it with what is known"
_CANCELLED = "the review was cancelled"
_ASKS = (Station.ESCALATED, Station.CLARIFY)
_WAITS: dict[str, str] = {
    QualityPhase.FIX: "to be fixed",
    QualityPhase.LOAD_ARTIFACTS: "to be reviewed again",
    Station.ESCALATED: "needs you",
    Station.CLARIFY: "has a question for you",
}


def result(loop: LoopId, state: QualityState, _parts: Mapping[LoopId, object]) -> ReviewResult:
    artifact, reason = (state.plan.artifact,), _reason(state)
    passed = not reason and bool(state.rounds) and state.rounds[-1].verdict is Verdict.PASS
    return ReviewResult(
        passed=artifact if passed else (),
        blocked=(_blocked(loop, state, reason),) if reason else (),
        pending=() if passed or reason else artifact,
        rounds=reviews_made(state),
        fixes=state.fixes,
        unresolved=tuple(show(finding) for finding in _left(state)),
    )


def _reason(state: QualityState) -> str:
    """Why it is blocked for good, unless a person helps; nothing for what passed or goes on by itself."""
    course = state.course
    if course.outcome is not None:
        ending = course.outcome.ending
        cancelled = _CANCELLED if ending is Ending.CANCELLED and state.rounds else ""
        return _ACCEPTED if ending is Ending.ACCEPTED else cancelled
    if course.station is Station.CLARIFY:
        asked = ((each.role, "\n".join(one.question for one in each.questions)) for each in course.inquiries)
        return "; ".join(f"the {role} asks: {questions}" for role, questions in asked)
    if course.station is not Station.ESCALATED:
        return ""
    reached = any(reason.startswith(MAX_LOOPS_REACHED) for reason in course.reasons)
    return MAX_LOOPS_REACHED if reached else "; ".join(course.reasons)


def _blocked(loop: LoopId, state: QualityState, reason: str) -> BlockedArtifact:
    return BlockedArtifact(
        artifact=state.plan.artifact,
        reason=reason,
        attempts=reviews_made(state),
        fixes=state.fixes,
        unresolved=tuple(show(finding) for finding in _left(state)),
        file=None
        if state.course.outcome
        else state.plan.shown_file or None,  # it is there only while the artifact is blocked
        loop=loop,
        recommendation=recommendation(state) if state.course.station is Station.ESCALATED else "",
    )


def _left(state: QualityState) -> tuple[Finding, ...]:
    """What is wrong with what stands: of an accepted review, with the attempt that was kept."""
    left = left_in_taken(state) if state.course.accepted and best_round(state.rounds) else open_findings(state)
    return left + waiting(state)


def lane(state: QualityState, working: bool) -> Lane | None:  # noqa: FBT001 - a port's signature
    """Nothing for what passed, and for what has not been looked at. `working`: an agent is at it."""
    passed = bool(state.rounds) and state.rounds[-1].verdict is Verdict.PASS
    if passed or (not working and not state.rounds):
        return None
    word = _WAITS.get(where(state), "blocked")
    if working:
        word = "in review" if where(state) == QualityPhase.RUN_CHECKS else "being fixed"
    held = open_findings(state)
    return Lane(
        name=visible(state.plan.artifact),
        count=f"review {state.number}/{state.allowance}",
        word=word,
        detail=tally(held) if held else "",
        needs_person=not working and state.course.station in _ASKS,
        failed=not working and where(state) == QualityPhase.FIX,
    )
