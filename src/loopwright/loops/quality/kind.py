"""The quality loop as the rest of the house knows it."""

from __future__ import annotations

from loopwright.loops.kind import Kind, Needs, Words
from loopwright.loops.quality import brief, closing, files, judging
from loopwright.loops.quality.lane import lane
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.result import result
from loopwright.loops.quality.state import Quality, QualityParams
from loopwright.loops.reviewed import REVIEWING, ReviewResult, unresolved_lines


def _unresolved(_state: Quality, told: object) -> tuple[str, ...]:
    return unresolved_lines(told) if isinstance(told, ReviewResult) else ()


KIND: Kind[QualityParams, Quality] = Kind(
    loop=QUALITY,
    limits="quality",
    words=Words(counter="review", roles={"review": "reviewer", "fix": "creator"}),
    needs=Needs(roles=("reviewer", "creator"), checks=False),
    title=lambda params: params.artifact,
    brief=brief.render,
    handed=files.handed,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=result,
    unresolved=_unresolved,
    told_when_stopped=_unresolved,
    rules=(*judging.RULES, REVIEWING),
    files=files.render,
    doors=files.doors,
    tells_more=files.tells_more,
    lane=lane,
)
