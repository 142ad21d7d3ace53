"""The quality loop as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.gates import PROTECTED, UNTESTED
from loopwright.kernel.model import Verdict
from loopwright.kernel.visible import visible
from loopwright.loops.course import Station, where
from loopwright.loops.kind import Kind, Lane, Needs, Words
from loopwright.loops.quality import brief, closing, files, quality_file, verdict
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.request import Quality
from loopwright.loops.quality.result import result
from loopwright.loops.quality.state import QualityParams, QualityPhase, QualityState, open_findings
from loopwright.loops.reviewed import REVIEWING, ReviewResult, unresolved_lines

_ASKS = (Station.ESCALATED, Station.CLARIFY)
_WAITS: dict[str, str] = {
    QualityPhase.FIX: "to be fixed",
    QualityPhase.LOAD_ARTIFACTS: "to be reviewed again",
    Station.ESCALATED: "needs you",
    Station.CLARIFY: "has a question for you",
}


def _unresolved(_state: QualityState, told: object) -> tuple[str, ...]:
    return unresolved_lines(told) if isinstance(told, ReviewResult) else ()


def _lane(state: QualityState, working: bool) -> Lane | None:  # noqa: FBT001 - a port's signature
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
        detail=verdict.tally(held) if held else "",
        needs_person=not working and state.course.station in _ASKS,
        failed=not working and where(state) == QualityPhase.FIX,
    )


KIND: Kind[QualityParams, QualityState] = Kind(
    loop=QUALITY,
    limits="quality",
    request=Quality,
    porch=("loopwright.app.starts.review_from_python", "loopwright.app.starts.handoff_adoption"),
    words=Words(counter="review", roles={"review": "reviewer", "fix": "creator"}),
    needs=Needs(roles=("reviewer", "creator"), checks=False, gates=(PROTECTED, UNTESTED)),
    title=lambda params: params.artifact,
    brief=brief.render,
    handed=files.handed,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=result,
    unresolved=_unresolved,
    told_when_stopped=_unresolved,
    rules=(*verdict.RULES, REVIEWING),
    files=files.render,
    mark=quality_file.MARK,
    doors=files.doors,
    tells_more=files.tells_more,
    lane=_lane,
    starts="loop review PATH",
)
