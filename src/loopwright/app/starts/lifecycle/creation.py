"""Claiming a system and beginning its lifecycle: its branch, its workspace, its loop."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from loopwright.adapters.from_settings import git_workspace
from loopwright.adapters.git.repository import tree_of
from loopwright.app.creation import create_loop
from loopwright.app.loops import View
from loopwright.app.preconditions import check_cast, check_ground
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.parameters import roles_needed, system_params
from loopwright.app.starts.lifecycle.telling import claim, claim_next, left_behind
from loopwright.config.settings import Settings
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import slug
from loopwright.loops.lifecycle.state import LifecycleParams
from loopwright.loops.queue.state import System
from loopwright.ports.workspace import Landing

Failed = Callable[[str], None]
_LONGEST = 40  # characters of a branch's own part


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
    refuse_here(project, settings, asked.allow)
    if (known := await left_behind(project, asked.domain, asked.system)) is not None:
        return await _begun(project, settings, asked, known)
    loop = LoopId(f"system-{secrets.token_hex(4)}")
    if asked.system:
        system: System | None = await claim(project, asked.domain, asked.system, loop, failed)
    else:
        system = await claim_next(project, asked.domain, loop, failed)
    return None if system is None else await _begun(project, settings, asked, system)


def refuse_here(project: Project, settings: Settings, allow: tuple[str, ...] = ()) -> None:
    """Raises the sentence that says why no system could be built here."""
    check_ground(project, settings, merge=False, allow=allow)
    check_cast(project, settings, roles_needed(settings))


async def _begun(project: Project, settings: Settings, asked: SystemRequest, system: System) -> View:
    """Two who take up the same claim: one of them makes the loop."""
    branch = _free_branch(project, f"system-{slug(system.name, _LONGEST) or system.id}", system.id)
    params = system_params(project, settings, system, asked, branch)
    return await made_system(project, settings, params, asked.budget)


async def made_system(project: Project, settings: Settings, params: LifecycleParams, budget: float | None) -> View:
    """The loop of the system, with its branch and its workspace."""
    loop, base = params.loop, params.base
    seen = await create_loop(project, settings, loop, params, budget=budget)
    workspace = git_workspace(settings, root=project.root, environ=project.environ)
    step = f"{loop}/init"
    await workspace.land(Landing(loop=loop, branch=params.branch, commit=base, base=base, message="", step=step))
    await workspace.prepare(loop, params.workspace, base, step)
    return seen


def _free_branch(project: Project, name: str, system: str) -> str:
    for each in (f"feature/{name}", f"feature/{name}-{system}"):
        if not tree_of(project.root, project.environ, f"refs/heads/{each}"):
            return each
    raise Forbidden(
        f"the branches feature/{name} and feature/{name}-{system} are there already; remove one, then try again"
    )


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
