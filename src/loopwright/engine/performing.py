"""How each action meets the world: one function per action, each returning the event that answers it.

Everything here may be repeated with the same `step` after a crash; the ports find again what was done.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import assert_never

from loopwright.engine.integration import integrate
from loopwright.engine.world import World
from loopwright.kernel.actions import (
    Action,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Integrate,
    RunAgent,
    RunChecks,
    RunLoop,
    Stop,
    WaitUntil,
)
from loopwright.kernel.events import Answer, Checkpointed, ChecksReported, CleanedUp, TimeReached
from loopwright.kernel.gates import evidence, protected_changes
from loopwright.kernel.model import LoopId
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.checks import ChecksRun

_DIFF_LIMIT = 200_000  # characters; the brief shows less and says so
_NOWHERE = Path("/nonexistent")  # a run that is only looked up needs no folder


async def perform(world: World, loop: LoopId, kind: str, action: Action, step: str) -> Answer:
    match action:
        case RunAgent():
            async with world.slots:
                return await _run_agent(world, loop, kind, action, step)
        case RunChecks():
            async with world.slots:
                return await _run_checks(world, loop, action, step)
        case Checkpoint():
            return await _checkpoint(world, loop, action, step)
        case Integrate():
            return await integrate(world, loop, action, step)
        case CleanUp():
            await world.workspace.clean_up(loop, action.choice)
            return CleanedUp(key=action.key)
        case WaitUntil():
            await world.clock.sleep_until(action.when)
            return TimeReached(key=action.key)
        case RunLoop() | Ask() | AwaitGate() | Stop():
            raise AssertionError(f"{type(action).__name__} is not performed here")
        case _:
            assert_never(action)


def workspace_name(loop: LoopId, action: RunAgent | Checkpoint) -> str:
    return action.workspace or loop


def agent_run(world: World, loop: LoopId, kind: str, action: RunAgent, step: str) -> AgentRun:
    """The run as the port knows it, not yet in a folder."""
    return AgentRun(
        loop=loop,
        kind=kind,
        key=action.key,
        step=step,
        role=action.role,
        brief=action.brief,
        folder=_NOWHERE,
        scratchpad=world.scratchpad(loop),
        skill=action.skill,
        needs_verdict=action.needs_verdict,
    )


async def _run_agent(world: World, loop: LoopId, kind: str, action: RunAgent, step: str) -> AgentAnswer:
    run = agent_run(world, loop, kind, action, step)
    if action.writes:
        folder = await world.workspace.prepare(loop, workspace_name(loop, action), action.start, step)
        return await world.agent.run(replace(run, folder=folder), world.observer.progressed)
    diff = await world.workspace.diff(action.brief.base, action.start, limit=_DIFF_LIMIT)
    folder = await world.workspace.checkout(loop, action.start, step)
    try:
        return await world.agent.run(replace(run, folder=folder, diff=diff), world.observer.progressed)
    finally:
        await world.workspace.discard(folder)


async def _run_checks(world: World, loop: LoopId, action: RunChecks, step: str) -> ChecksReported:
    run = ChecksRun(
        loop=loop,
        key=action.key,
        step=step,
        commit=action.commit,
        base=action.base,
        names=action.names,
        approved=action.approved,
    )
    return await world.checks.run(run, world.observer.progressed)


async def _checkpoint(world: World, loop: LoopId, action: Checkpoint, step: str) -> Checkpointed:
    name = workspace_name(loop, action)
    shot = await world.workspace.snapshot(loop, name, action.label, parent=action.parent, base=action.base, step=step)
    touched = protected_changes(shot.changes, world.protected)
    return Checkpointed(
        key=action.key,
        commit=shot.commit,
        tree=shot.tree,
        files=len(shot.changes),
        protected=touched,
        evidence=evidence(touched),
    )
