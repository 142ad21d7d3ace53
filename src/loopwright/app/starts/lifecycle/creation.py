"""Claiming a system and beginning its lifecycle: its branch, its workspace, its loop."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, count

from loopwright.adapters.from_settings import git_workspace
from loopwright.adapters.git.repository import find_repository, tree_of
from loopwright.app.creation import create_loop
from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.parameters import BRANCHES, refuse_here, system_params
from loopwright.app.starts.lifecycle.queue import state_of
from loopwright.app.starts.lifecycle.telling import claim, claim_next, left_behind
from loopwright.config.settings import Settings
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import slug
from loopwright.loops.lifecycle.state import LifecycleParams
from loopwright.loops.queue.state import System
from loopwright.ports.workspace import Landing

Failed = Callable[[str], None]
_LONGEST = 40  # characters of a workspace's name


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRequest:
    domain: str
    system: str = ""  # empty: the next that is ready
    allow: tuple[str, ...] = ()
    budget: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitAnswer:
    """What `loop init --json` answers."""

    system: str
    branch: str
    worktree: str
    state: str
    loop: LoopId


async def init_system(project: Project, settings: Settings, asked: SystemRequest, failed: Failed) -> View | None:
    """The lifecycle of a system that is from now on this loop's alone, not yet driven; None: no system is ready.

    A system that was claimed by a loop which was killed before it was made is taken up under that loop's name.
    """
    project = _as_it_stands(project)
    refuse_here(project, settings, asked.allow)
    while (system := await _claimed(project, asked, failed)) is not None:
        seen = await _begun(project, settings, asked, system)
        if seen is None and asked.system:
            return await view(project, system.loop)
        if seen is not None:
            return seen
    return None


def _as_it_stands(project: Project) -> Project:
    """A controller that has merged a system since it was started begins the next one with what is there now."""
    found = find_repository(project.root, project.environ)
    return replace(project, head=found.head, branch=found.branch_ref)


async def _claimed(project: Project, asked: SystemRequest, failed: Failed) -> System | None:
    if (known := await left_behind(project, asked.domain, asked.system)) is not None:
        return known
    loop = LoopId(f"system-{secrets.token_hex(4)}")
    if asked.system:
        return await claim(project, asked.domain, asked.system, loop, failed)
    return await claim_next(project, asked.domain, loop, failed)


async def _begun(project: Project, settings: Settings, asked: SystemRequest, system: System) -> View | None:
    """Two who take up the same claim, one of them perhaps whose own it is: one makes the loop, None for the other."""
    others = [each for each in (await state_of(project, asked.domain)).systems if each.id != system.id]
    branch = free_branch(system, others, lambda name: tree_of(project.root, project.environ, f"refs/heads/{name}"))
    params = system_params(project, settings, system, asked, branch)
    try:
        return await made_system(project, settings, params, asked.budget)
    except Forbidden:
        if any(row.id == system.loop for row in await project.store.rows()):
            return None
        raise


async def made_system(project: Project, settings: Settings, params: LifecycleParams, budget: float | None) -> View:
    """The loop of the system, with its branch and its workspace."""
    loop, base = params.loop, params.base
    seen = await create_loop(project, settings, loop, params, budget=budget)
    workspace = git_workspace(settings, root=project.root, environ=project.environ)
    step = f"{loop}/init"
    await workspace.land(Landing(loop=loop, branch=params.branch, commit=base, base=base, message="", step=step))
    await workspace.prepare(loop, params.workspace, base, step)
    return seen


def free_branch(system: System, others: Iterable[System], is_taken: Callable[[str], object]) -> str:
    """Systems of one name, which may be begun at the same moment, are told apart by their ids."""
    name = _branch(system)
    own = () if name in map(_branch, others) else (name,)
    numbered = (_branch(system, f"-{system.id}-{number}") for number in count(2))
    names = chain(own, (_branch(system, f"-{system.id}"),), numbered)
    return next(each for each in names if not is_taken(each))


def _branch(system: System, told_apart_by: str = "") -> str:
    return branch_named(f"system {slug(system.name, _LONGEST) or system.id}", told_apart_by)


def branch_named(name: str, told_apart_by: str) -> str:
    """A branch after which a workspace can be named, whatever the name; its end stays, whatever the length."""
    end = slug(told_apart_by, _LONGEST // 2)
    own = slug(name.removeprefix(BRANCHES), _LONGEST - len(end) - bool(end))
    return f"{BRANCHES}{'-'.join(filter(None, (own, end)))}"


def answer_of(seen: View) -> InitAnswer:
    plan = seen.now.state.plan
    return InitAnswer(
        system=plan.system.id,
        branch=plan.branch,
        worktree=f".worktrees/{plan.workspace}",
        state=seen.standpoint.state,
        loop=seen.row.id,
    )


def refuse_unnamed(system: str, *, following: bool) -> None:
    if bool(system) == following:
        raise UsageError("name a system, or say --next")
