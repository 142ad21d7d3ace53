"""The merge train: merge in objects, check the merged tree, move the branch by compare-and-swap.

The result always stands on the loop's own branch first, so that whatever happens to the target
nothing is lost and the person can take it with one command.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.engine.world import World
from loopwright.kernel.actions import Integrate
from loopwright.kernel.events import Integrated
from loopwright.kernel.model import Commit, LoopId, Severity
from loopwright.ports.checks import ChecksRun
from loopwright.ports.workspace import Merge

_TRIES = 5
_BLOCKING = (Severity.CRITICAL, Severity.HIGH)


@dataclass(frozen=True, slots=True)
class _Left:
    """The target was not moved, for this reason."""

    reason: str


async def integrate(world: World, loop: LoopId, action: Integrate, step: str) -> Integrated:
    branch = action.branch or await world.workspace.branch(loop)
    landed = await world.workspace.land(
        loop, branch, action.commit, base=action.base, message=action.message, step=step
    )
    done = Integrated(key=action.key, branch=branch, commit=landed.commit)
    if not action.target:
        return done
    result = await _merge(world, loop, action, landed.commit, step)
    short = action.target.removeprefix("refs/heads/")
    if isinstance(result, _Left):
        note = f"not merged into {short}: {result.reason}"
        return Integrated(key=action.key, branch=branch, commit=landed.commit, note=note)
    return Integrated(key=action.key, branch=branch, commit=result, merged_into=short)


async def _merge(world: World, loop: LoopId, action: Integrate, commit: Commit, step: str) -> Commit | _Left:
    """The commit the target now stands at, or why it was left alone. A target that moves is tried again."""
    for _ in range(_TRIES):
        merge = await world.workspace.merge(commit, action.target, message=action.message, step=step)
        if merge.gone:
            return _Left("it does not exist any more")
        if merge.conflicts:
            return _Left(f"both sides changed {', '.join(merge.conflicts[:5])}")
        if not merge.fast_forward and action.verified and (why := await _fails(world, loop, action, merge, step)):
            return _Left(why)
        moved = await world.workspace.advance(action.target, merge.onto, merge.commit)
        if moved.how == "done":
            return merge.commit
        if moved.how == "dirty":
            return _Left(moved.detail)
    return _Left(f"it moved {_TRIES} times while the result was being verified")


async def _fails(world: World, loop: LoopId, action: Integrate, merge: Merge, step: str) -> str:
    """Why the merged tree is not good enough, or nothing. The target's own state is the base here."""
    run = ChecksRun(
        loop=loop,
        key=action.key,
        step=f"{step}/merged",
        commit=merge.commit,
        base=merge.onto,
        approved=action.approved,
    )
    report = await world.checks.run(run, world.observer.progressed)
    failed = [result.name for result in report.results if not result.passed]
    failed += [finding.rule for finding in report.findings if finding.severity in _BLOCKING]
    if failed or not report.results:
        return f"it has moved on, and merged with it these fail: {', '.join(failed) or 'no check ran'}"
    return ""
