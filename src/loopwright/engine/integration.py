"""The merge train: merge in objects, check the merged tree, move the branch by compare-and-swap.

The result always stands on the loop's own branch first, so that whatever happens to the target nothing is lost; only
what is landed on top of an earlier result waits for the merged tree, so that a refusal leaves both as they were. Where
the two do not go together, the loop hears what is wrong and at which commit of the target; where the target cannot be
moved, the result stays on its branch, with the reason and the one command that takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.engine.world import World
from loopwright.kernel.actions import Integrate
from loopwright.kernel.events import ChecksReported, Integrated, IntegrationRefused
from loopwright.kernel.faults import conflict_finding, faults_of, names_of_faults
from loopwright.kernel.model import Commit, LoopId, Tree
from loopwright.ports.checks import ChecksRun, Examined
from loopwright.ports.workspace import Landing, Merge, Snapshot

_TRIES = 5
_NAMED = 5  # paths in a sentence; the findings name them all


@dataclass(frozen=True, slots=True)
class _Left:
    """The target was not moved, for this reason; `take` is the command by which a person does it."""

    reason: str
    how: str  # in words, what the command does
    take: str

    @property
    def advice(self) -> str:
        return f"{self.reason}; {self.how} with `{self.take}`"


async def integrate(world: World, loop: LoopId, action: Integrate, step: str) -> Integrated | IntegrationRefused:
    branch = action.branch or await world.workspace.branch(loop)
    tree, seen = action.tree, Examined()
    if action.holds_back and not tree:
        trust = action.trust.on(action.base)
        seen = await world.checks.examine(action.commit, trust, action.approved, untried=True)
        tree = seen.lands
    wanted = Landing(
        loop=loop,
        branch=branch,
        commit=action.commit,
        base=action.base,
        message=action.message,
        step=step,
        tree=tree,
        merges=action.merges,
    )
    together = action.on_top and bool(action.target)
    landed = await world.workspace.land(replace(wanted, moves=not together))
    held_on = await _hold(world, wanted, landed) if action.holds_back and tree else ""
    done = Integrated(
        key=action.key,
        branch=branch,
        commit=landed.commit,
        landed=landed.commit,
        held_on=held_on,
        held=seen.held if held_on else (),
    )
    if not action.target:
        return done
    result = await _merge(world, loop, action, done, step)
    match result:
        case IntegrationRefused():
            return result
        case _Left():
            told = f"not merged into {_short(action)}: "
            if together:  # it has passed: only the person's tree is in its way
                await world.workspace.land(wanted)
            return replace(done, not_merged=result.advice, note=told + result.advice, take=result.take)
        case _:
            if together:  # killed in between, it finds the target moved and ends here again
                await world.workspace.land(wanted)
            return replace(done, commit=result, merged_into=_short(action))


async def _hold(world: World, wanted: Landing, landed: Snapshot) -> str:
    """The branch that keeps what of the candidate did not land, as one commit on top of what did."""
    if await world.workspace.tree(wanted.commit) == landed.tree:
        return ""
    held = replace(
        wanted,
        branch=f"{wanted.branch}-held",
        base=landed.commit,
        message=f"Held back: {wanted.message}",
        step=f"{wanted.step}/held",
        tree=Tree(""),
    )
    await world.workspace.land(held)
    return held.branch


async def _merge(
    world: World, loop: LoopId, action: Integrate, landed: Integrated, step: str
) -> Commit | _Left | IntegrationRefused:
    """The commit the target now stands at, or why it does not. A target that moves is tried again."""
    for _ in range(_TRIES):
        merge = await world.workspace.merge(landed.commit, action.target, message=action.message, step=step)
        if merge.gone:
            anew = f"git branch {_short(action)} {landed.branch}"
            return _Left("it does not exist any more", "make it anew", anew)
        if merge.conflicts:
            return _conflict(action, merge)
        if _is_to_be_checked(action, merge):
            refused = _judged(action, merge, await _checked(world, loop, action, merge, step))
            if refused is not None:
                return refused
        moved = await world.workspace.advance(action.target, merge.onto, merge.commit, landed.branch)
        if moved.how == "done":
            return merge.commit
        if moved.how == "dirty":
            return _Left(moved.detail, "take the result", moved.take)
    take = f"git merge {landed.branch}"
    return _Left(f"it moved {_TRIES} times while the result was being verified", "take it", take)


def _is_to_be_checked(action: Integrate, merge: Merge) -> bool:
    """What a person accepted with its faults may have others together with what the target has by now."""
    if action.verified:
        return action.unseen or not merge.fast_forward
    return action.known_on is not None and not merge.fast_forward and merge.onto != action.known_on


def _conflict(action: Integrate, merge: Merge) -> IntegrationRefused:
    return IntegrationRefused(
        key=action.key,
        reason="conflict",
        detail=f"{_short(action)} has moved on, and both sides changed {', '.join(merge.conflicts[:_NAMED])}",
        findings=tuple(conflict_finding(path, f"what {_short(action)} has by now") for path in merge.conflicts),
        onto=merge.onto,
    )


async def _checked(world: World, loop: LoopId, action: Integrate, merge: Merge, step: str) -> ChecksReported:
    """What the checks say of the merged tree. The target's own state is the base here, and a root's judges, too."""
    run = ChecksRun(
        loop=loop,
        key=action.key,
        step=f"{step}/merged",
        commit=merge.commit,
        base=merge.onto,
        approved=action.approved,
        may_drop=action.may_drop,
        trust=action.trust.on(merge.onto),
        also=action.also,
        hidden=action.hidden,
    )
    async with world.dispatcher.slot():
        return await world.checks.run(run, world.observer.progressed)


def _judged(action: Integrate, merge: Merge, report: ChecksReported) -> IntegrationRefused | None:
    """Why the merged tree is not good enough, or nothing."""
    faults = faults_of(report, " on the merged tree")
    if not faults:
        return None
    moved = (
        f"on top of {_short(action)}" if merge.fast_forward else f"{_short(action)} has moved on, and merged with it"
    )
    return IntegrationRefused(
        key=action.key,
        reason="checks",
        detail=f"{moved} these fail: {names_of_faults(report)}",
        findings=faults,
        onto=merge.onto,
        merged=merge.commit,
    )


def _short(action: Integrate) -> str:
    return action.target.removeprefix("refs/heads/")
