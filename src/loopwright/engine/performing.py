"""How each action meets the world: one function per action, each returning the event that answers it.

Everything here may be repeated with the same `step` after a crash; the ports find again what was done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from loopwright.engine.fold import FROM_DATA
from loopwright.engine.integration import integrate
from loopwright.engine.looking import look
from loopwright.engine.world import World
from loopwright.errors import TimeIsUp
from loopwright.kernel.actions import (
    Action,
    Announce,
    Ask,
    AwaitGate,
    Checkpoint,
    CleanUp,
    Combine,
    ExamineChange,
    ExamineFiles,
    Integrate,
    LoadArtifacts,
    MergePullRequest,
    OpenPullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    RunOnce,
    Stop,
    Tell,
    WaitUntil,
)
from loopwright.kernel.events import (
    AgentFailed,
    AgentUnavailable,
    Announced,
    Answer,
    ArtifactsLoaded,
    Checkpointed,
    ChecksReported,
    CleanedUp,
    Combined,
    TimeReached,
)
from loopwright.kernel.gates import is_protected
from loopwright.kernel.model import Brief, Key, LoopId
from loopwright.kernel.quoting import one_line
from loopwright.kernel.touched import Touched, touched_lines
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.checks import ChecksRun
from loopwright.ports.workspace import Combining, Snapshot, Taking

InFiles = Checkpoint | LoadArtifacts | Combine | Integrate | CleanUp
_DIFF_LIMIT = 200_000  # characters; the brief shows less and says so
_PATHS = 200  # changed paths an event names
_LONGEST_NAME = 40  # characters of a workspace's name
_NOWHERE = Path("/nonexistent")  # a run that is only looked up needs no folder


async def perform(world: World, loop: LoopId, kind: str, action: Action, step: str, log: str = "") -> Answer:
    """Agents and checks take a slot each: so many work at once, in all loops together. `log`: where that stands."""
    match action:
        case RunAgent():
            return _told_by(world, action, await _run_agent(world, loop, kind, action, step))
        case RunChecks():
            async with world.dispatcher.slot():
                return await _run_checks(world, loop, action, step)
        case Checkpoint() | LoadArtifacts() | Combine() | Integrate() | CleanUp():
            return await _in_files(world, loop, action, step, log)
        case Announce():
            return Announced(key=action.key)
        case (
            Tell()
            | ExamineFiles()
            | ExamineChange()
            | RunOnce()
            | OpenPullRequest()
            | ReadPullRequest()
            | MergePullRequest()
        ):
            return await look(world, action, step)
        case WaitUntil():
            await world.clock.sleep_until(action.when or world.clock.now() + action.delay)
            return TimeReached(key=action.key)
        case RunLoop() | Ask() | AwaitGate() | Stop():
            raise AssertionError(f"{type(action).__name__} is not performed here")
        case _:
            assert_never(action)


def unusable(key: Key, role: str, fault: Exception) -> AgentFailed:
    """What an agent handed back broke whoever read it. It is asked for it once more, as for any that cannot be read."""
    why = one_line(f"its result could not be taken in ({type(fault).__name__}: {fault})")
    return AgentFailed(key=key, reason="garbled", detail=why, role=role)


def _told_by(world: World, action: RunAgent, answer: AgentAnswer) -> AgentAnswer:
    """The answer with the role it comes from: a question is heard from every one."""
    told = replace(answer, role=action.role)
    return replace(told, at=world.clock.now()) if isinstance(told, AgentUnavailable) else told


async def _in_files(world: World, loop: LoopId, action: InFiles, step: str, log: str) -> Answer:
    match action:
        case Checkpoint():
            return await _checkpoint(world, loop, action, step, log)
        case LoadArtifacts():
            contents = await world.workspace.contents(action.commit, action.paths)
            return ArtifactsLoaded(key=action.key, contents=contents)
        case Combine():
            return await _combine(world, loop, action, step)
        case Integrate():
            return await integrate(world, loop, action, step)
        case CleanUp():
            return CleanedUp(key=action.key, stay=await world.workspace.clean_up(loop, action.choice, action.branch))
        case _:
            assert_never(action)


def workspace_name(loop: LoopId, action: RunAgent | Checkpoint) -> str:
    name = action.workspace or loop
    if not action.beside:
        return name
    # What tells two loops apart stands at the end of their names.
    return f"{action.beside}-{name[len(action.beside) + 1 - _LONGEST_NAME :].lstrip('-')}"


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
        # It has what the maker claims: nothing for a judge, nor for whoever works beside.
        scratchpad=None if action.needs_verdict or action.beside else world.scratchpad(loop, kind),
        skill=action.skill,
        guide=world.skill_text(action.skill) if action.skill else "",
        agent=action.agent,
        needs_verdict=action.needs_verdict,
    )


async def _run_agent(world: World, loop: LoopId, kind: str, action: RunAgent, step: str) -> AgentAnswer:
    """A judge's folder needs no slot, so that a free slot finds it ready; a writer's may need commands, which do."""
    run = agent_run(world, loop, kind, action, step)
    if action.writes:
        async with world.dispatcher.slot():
            name = workspace_name(loop, action)
            if action.alone:
                await world.workspace.remove_others(loop, name)
            folder = await world.workspace.prepare(loop, name, action.start, step)
            return await _done(world, replace(run, folder=folder))
    diff = await world.workspace.diff(action.brief.base, action.start, limit=_DIFF_LIMIT, only=_looked_at(action.brief))
    folder = await world.workspace.checkout(loop, action.start, step)
    try:
        async with world.dispatcher.slot():
            return await _done(world, replace(run, folder=folder, diff=diff))
    finally:
        await world.workspace.discard(folder)


async def _done(world: World, run: AgentRun) -> AgentAnswer:
    try:
        async with _within_time(world):
            return await world.agent.run(run, world.observer.progressed)
    except FROM_DATA as fault:
        return unusable(run.key, run.role, fault)


@asynccontextmanager
async def _within_time(world: World) -> AsyncIterator[None]:
    """A step ends when the time of the budget does, whatever limit of its own it has. Raises `TimeIsUp`."""
    began, left = asyncio.get_running_loop().time(), world.dispatcher.seconds_left()
    try:
        async with asyncio.timeout(left):
            yield
    except TimeoutError:
        raise TimeIsUp(asyncio.get_running_loop().time() - began) from None


async def looked_up(world: World, loop: LoopId, kind: str, action: RunAgent, step: str) -> AgentAnswer | None:
    """What a run came to whose controller went away, if it had finished.

    Findings are known by the code they point at, so that a judge's folder is laid out once more; then it goes for good.
    """
    run = agent_run(world, loop, kind, action, step)
    if action.writes:
        return await _reconciled(world, action, run)
    folder = await world.workspace.checkout(loop, action.start, step)
    try:
        return await _reconciled(world, action, replace(run, folder=folder))
    finally:
        await world.workspace.discard(folder)


async def _reconciled(world: World, action: RunAgent, run: AgentRun) -> AgentAnswer | None:
    try:
        found = await world.agent.reconcile(run)
    except FROM_DATA as fault:
        return unusable(action.key, action.role, fault)
    return None if found is None else _told_by(world, action, found)


def _looked_at(brief: Brief) -> tuple[str, ...]:
    """Where a brief names artifacts, a change elsewhere is no business of its judge."""
    if not brief.artifacts:
        return ()
    return tuple(sorted({*brief.artifacts, *(finding.file for finding in brief.findings if finding.file)}))


async def _run_checks(world: World, loop: LoopId, action: RunChecks, step: str) -> ChecksReported:
    run = ChecksRun(
        loop=loop,
        key=action.key,
        step=step,
        commit=action.commit,
        base=action.base,
        names=action.names,
        approved=action.approved,
        may_drop=action.may_drop,
        trust=action.trust.on(action.base),
        preflight=action.preflight,
        also=action.also,
        demands_only=action.demands_only,
        after=action.after,
        red=action.red,
        tries_new_tests=action.tries_new_tests,
        hidden=action.hidden,
    )
    async with _within_time(world):
        return await world.checks.run(run, world.observer.progressed)


async def _checkpoint(world: World, loop: LoopId, action: Checkpoint, step: str, log: str) -> Checkpointed:
    """`log` goes into the commit: it bears witness, should the log be an older one some day."""
    also = tuple(path for path in action.also if not is_protected(path, world.protected))
    trust = action.trust.on(action.base)
    takes_tests = action.new_tests or action.new_tests_only
    welcome = await world.checks.new_tests(action.base, trust) if takes_tests else lambda _path: False
    shot = await world.workspace.snapshot(
        Taking(
            loop=loop,
            name=workspace_name(loop, action),
            label=action.label,
            parent=action.parent,
            base=action.base,
            step=step,
            only=action.only,
            also=also,
            welcome=welcome,
            welcome_only=action.new_tests_only,
            new_files=action.new_files,
            log=log,
        )
    )
    shot = await _put_back(world, loop, action, shot, step)
    examined = await world.checks.examine(shot.commit, trust)
    return Checkpointed(
        key=action.key,
        commit=shot.commit,
        tree=shot.tree,
        files=len(shot.changes),
        paths=tuple(change.path for change in shot.changes[:_PATHS]),
        protected=examined.gated,
        evidence=examined.evidence,
        put_back=examined.put_back,
        altered_tests=tuple(each.path for each in shot.changes if each.how != "added" and each.path in examined.tests),
        dropped=shot.dropped,
        unchanged=shot.tree == await world.workspace.tree(action.parent),
        touched=await _touched(world, action, shot) if action.only else (),
    )


async def _put_back(world: World, loop: LoopId, action: Checkpoint, shot: Snapshot, step: str) -> Snapshot:
    """Return the snapshot without the changes that this step may not make."""
    if not action.puts_back:
        return shot
    found = await world.checks.compare(action.parent, shot.commit, action.trust.on(action.base))
    paths = found.product if action.puts_back == "product" else tuple(dict.fromkeys((*found.code, *found.rest)))
    if not paths:
        return shot
    made = await world.workspace.combine(
        Combining(
            loop=loop,
            label=f"{action.label}-put-back",
            base=shot.commit,
            commits=(),
            keep=tuple((action.parent, path) for path in paths),
            step=step,
        )
    )
    return Snapshot(
        commit=made.commit,
        tree=await world.workspace.tree(made.commit),
        changes=await world.workspace.changed(action.base, made.commit),
        dropped=tuple(sorted({*shot.dropped, *paths})),
    )


async def _touched(world: World, action: Checkpoint, shot: Snapshot) -> tuple[Touched, ...]:
    paths = tuple(change.path for change in shot.changes if change.how != "removed")
    diff = await world.workspace.diff(action.base, shot.commit, limit=_DIFF_LIMIT)
    return touched_lines(paths, diff, whole=len(diff) < _DIFF_LIMIT)


async def _combine(world: World, loop: LoopId, action: Combine, step: str) -> Combined:
    made = await world.workspace.combine(
        Combining(
            loop=loop,
            label=action.label,
            base=action.base,
            commits=action.commits,
            made_on=action.made_on,
            keep=action.keep,
            marks=action.marks,
            step=step,
        )
    )
    return Combined(
        key=action.key,
        commit=made.commit,
        files=len(made.changes),
        left_out=tuple(each.commit for each in made.left_out),
        conflicts=made.left_out,
        kept=made.kept,
    )
