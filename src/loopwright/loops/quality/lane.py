"""A review as a row of the live view of a batch."""

from __future__ import annotations

from loopwright.kernel.model import Verdict
from loopwright.kernel.visible import visible
from loopwright.loops.course import Station, where
from loopwright.loops.kind import Lane
from loopwright.loops.quality.state import QualityPhase, QualityState, open_findings
from loopwright.loops.quality.verdict import tally

_ASKS = (Station.ESCALATED, Station.CLARIFY)
_WAITS: dict[str, str] = {
    QualityPhase.FIX: "to be fixed",
    QualityPhase.LOAD_ARTIFACTS: "to be reviewed again",
    Station.ESCALATED: "needs you",
    Station.CLARIFY: "has a question for you",
}


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
