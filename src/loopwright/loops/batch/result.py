"""What came of the artifacts of a batch, each as its own loop tells it."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.kernel.model import LoopId
from loopwright.loops.batch.state import ArtifactStanding, BatchItem, BatchState, failing, waiting
from loopwright.loops.reviewed import BlockedArtifact, ReviewResult, ShownFinding, show

CONFLICT = "CONFLICT"


def told_parts(state: BatchState) -> tuple[LoopId, ...]:
    """The loops of which there is more to tell than that the artifact passed at once."""
    told = (item for item in state.items if item.standing is not ArtifactStanding.PASSED or item.attempts > 1)
    return tuple(loop for item in told for loop in (*item.before, item.loop) if loop)


def result(_loop: LoopId, state: BatchState, parts: Mapping[LoopId, object]) -> ReviewResult:
    own = {loop: part for loop, part in parts.items() if isinstance(part, ReviewResult)}
    blocked = {item.path: found for item in state.items if (found := _blocked(item, own.get(item.loop)))}
    passed = tuple(i.path for i in state.items if i.path not in blocked and i.standing is ArtifactStanding.PASSED)
    return ReviewResult(
        passed=passed,
        blocked=tuple(blocked.values()),
        pending=tuple(item.path for item in state.items if item.path not in (*blocked, *passed)),
        rounds=state.round,
        fixes=sum(part.fixes for part in own.values()),
        unresolved=tuple(show(finding) for finding in (*failing(state), *waiting(state))),
    )


def _blocked(item: BatchItem, own: ReviewResult | None) -> BlockedArtifact | None:
    if item.standing is ArtifactStanding.CONFLICT:
        return _told(item, CONFLICT, own, ())
    if own is not None and own.blocked:
        return own.blocked[0]
    if item.standing is not ArtifactStanding.STUCK:
        return None
    return _told(item, item.line or "its review could not be made", own, own.unresolved if own else ())


def _told(
    item: BatchItem, reason: str, own: ReviewResult | None, unresolved: tuple[ShownFinding, ...]
) -> BlockedArtifact:
    return BlockedArtifact(
        artifact=item.path,
        reason=reason,
        attempts=item.attempts,
        fixes=own.fixes if own else 0,
        unresolved=unresolved,
        file=None,
        loop=item.loop,
    )
