"""An artifact under review as one row among many."""

from __future__ import annotations

from loopwright.kernel.model import Verdict
from loopwright.kernel.visible import visible
from loopwright.loops.kind import Lane
from loopwright.loops.quality.judging import tally
from loopwright.loops.quality.state import Phase, Quality, open_findings

_WAITS = {
    Phase.FIX: "to be fixed",
    Phase.LOAD_ARTIFACTS: "to be reviewed again",
    Phase.ESCALATED: "needs you",
    Phase.CLARIFY: "has a question for you",
}


def lane(state: Quality, working: bool) -> Lane | None:  # noqa: FBT001 - a port's signature
    """Nothing for what passed, and for what has not been looked at. `working`: an agent is at it."""
    passed = bool(state.rounds) and state.rounds[-1].verdict is Verdict.PASS
    if passed or (not working and not state.rounds):
        return None
    word = _WAITS.get(state.phase, "blocked")
    if working:
        word = "in review" if state.phase is Phase.RUN_CHECKS else "being fixed"
    held = open_findings(state)
    return Lane(
        name=visible(state.plan.artifact),
        count=f"review {state.number}/{state.allowance}",
        word=word,
        detail=tally(held) if held else "",
        needs_person=not working and state.phase in (Phase.ESCALATED, Phase.CLARIFY),
        failed=not working and state.phase is Phase.FIX,
    )
