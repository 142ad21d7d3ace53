"""A batch as the rest of the house knows it."""

from __future__ import annotations

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.gates import PROTECTED, UNTESTED
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import counted
from loopwright.loops.batch import closing
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.result import result, told_parts
from loopwright.loops.batch.state import (
    ArtifactStanding,
    BatchParams,
    BatchState,
    ended,
    landed_parts,
    of_standing,
    stuck,
)
from loopwright.loops.kind import Kind, Needs, Words
from loopwright.loops.reviewed import REVIEWING, ReviewResult, unresolved_lines

_ROUNDS = (
    "A round reviews all that are pending, then fixes all that are blocked. Those that passed leave it; those that only"
    " a person can help wait until nothing else goes on."
)


def _title(params: BatchParams) -> str:
    """How many, then their names as far as there is room."""
    return f"{counted(len(params.artifacts), 'artifact')}: {', '.join(each.path for each in params.artifacts)}"


def _no_brief(assignment: Assignment) -> str:
    raise AssertionError(f"a batch asks no agent for anything, and yet {assignment.role} is to be told")


def _unresolved(state: BatchState, told: object) -> tuple[str, ...]:
    of_each = unresolved_lines(told) if isinstance(told, ReviewResult) else ()
    return (*of_each, *closing.together(state, "What was accepted fails with all fixes together:"))


def _landed_so_far(state: BatchState) -> tuple[str, ...]:
    result = state.result
    if not result.branch:
        return ()
    into = f", merged into {result.merged_into.removeprefix('refs/heads/')}" if result.merged_into else ""
    return (f"The fixes of what passed are on branch {result.branch} ({result.commit[:12]}){into}.",)


def _summary(state: BatchState) -> str:
    passed = len(of_standing(state, ArtifactStanding.PASSED, ArtifactStanding.ACCEPTED))
    to_go = len(of_standing(state, ArtifactStanding.PENDING))
    blocked = len(state.items) - passed - to_go
    return f"{passed} passed, {blocked} blocked, {to_go} to go · round {state.round}"


def _blocked(state: BatchState) -> tuple[LoopId, ...]:
    return tuple(loop for index in stuck(state) if (loop := state.items[index].loop))


KIND: Kind[BatchParams, BatchState] = Kind(
    loop=BATCH,
    limits="quality",
    words=Words(counter="round"),
    needs=Needs(roles=("reviewer", "creator"), checks=False, gates=(PROTECTED, UNTESTED)),
    title=_title,
    brief=_no_brief,
    closing=closing.lines,
    so_far=closing.so_far,
    owed=closing.owed,
    result=result,
    so_far_outcome=ended,
    parts=told_parts,
    blocked=_blocked,
    landed_parts=landed_parts,
    superseded=lambda state: tuple(loop for item in state.items for loop in item.before),
    unresolved=_unresolved,
    landed_so_far=_landed_so_far,
    told_when_stopped=_unresolved,
    rules=(_ROUNDS, REVIEWING),
    findings_elsewhere="each artifact's are in its own loop, and while it is blocked in a file of its own",
    summary=_summary,
    has_lanes=True,
)
