"""The quality loop as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.gates import PROTECTED, UNTESTED
from loopwright.loops.kind import Kind, Needs, Words
from loopwright.loops.quality import brief, closing, files, verdict
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.request import Quality
from loopwright.loops.quality.result import lane, result
from loopwright.loops.quality.state import QualityParams, QualityState
from loopwright.loops.reviewed import REVIEWING, ReviewResult, unresolved_lines


def _unresolved(_state: QualityState, told: object) -> tuple[str, ...]:
    return unresolved_lines(told) if isinstance(told, ReviewResult) else ()


KIND: Kind[QualityParams, QualityState] = Kind(
    loop=QUALITY,
    limits="quality",
    request=Quality,
    porch=("loopwright.app.starts.review_from_python", "loopwright.app.starts.handoff_adoption"),
    words=Words(
        counter="review",
        roles={"review": "reviewer", "fix": "creator"},
        yes=("CHECK_PASSED", "QUALITY_PASS"),
        no=("CHECK_BLOCKED", "QUALITY_BLOCKED"),
    ),
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
    mark=files.MARK,
    doors=files.doors,
    doors_of_part=files.doors_of_part,
    tells_more=files.tells_more,
    lane=lane,
    starts="loop review PATH",
)
