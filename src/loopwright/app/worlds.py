"""The world a loop is driven in, made from the settings it is pinned to."""

from __future__ import annotations

from pathlib import Path

from loopwright.adapters.agents.cast import cast
from loopwright.adapters.from_settings import command_checks, git_workspace
from loopwright.adapters.git.rules import began_with
from loopwright.adapters.outside import errands_of, forge_of
from loopwright.adapters.skill_library import SkillLibrary
from loopwright.adapters.sqlite.locks import describe_process
from loopwright.app.notices import Announcer
from loopwright.app.project import Project
from loopwright.app.readiness import Ready
from loopwright.config.settings import Settings
from loopwright.engine.dispatch import InProcess, Spending
from loopwright.engine.world import Observer, World
from loopwright.kernel.model import LoopId
from loopwright.ports.agent import Agent
from loopwright.ports.people import People


def build_world(
    project: Project, ready: Ready, *, people: People, observer: Observer, agent: Agent | None = None
) -> World:
    """The world a loop is driven in, as its pinned settings say. `agent` stands in for the configured ones."""
    settings, environ, root = ready.settings, project.environ, project.root
    pinned = began_with(ready.seen.base, ready.seen.now.rules)  # of the root, for all loops below it too
    return World(
        store=project.store,
        clock=project.clock,
        agent=agent or cast(settings, project.stage),
        checks=command_checks(settings, project.store, project.clock, root=root, environ=environ, pinned=pinned),
        workspace=git_workspace(settings, root=root, environ=environ, pinned=pinned),
        people=people,
        observer=observer,
        loops=project.loops,
        who=describe_process(project.clock.now()),
        forge=forge_of(settings, root=root, environ=environ, pinned=pinned),
        notices=Announcer(project=project, title=ready.seen.title) if settings.notify.urls else None,
        errands=errands_of(settings, project.store, root=root, environ=environ, pinned=pinned),
        protected=settings.workspace.protected,
        scratchpad=lambda loop, kind: _scratchpad(project, kind, loop),
        skill_text=SkillLibrary(root=root).guide,
        dispatcher=InProcess(
            slots=settings.limits.parallel,
            spending=Spending(tokens=settings.budget.tokens, seconds=_time(ready)),
        ),
        known={part.id: part for part in ready.parts},
    )


def _time(ready: Ready) -> float | None:
    """For all its work: what the budget has, or the loop's own limit where that is shorter."""
    own: float | None = getattr(ready.seen.now.state.plan.limits, "wall", None)
    known = [seconds for seconds in (ready.settings.budget.wall, own) if seconds is not None]
    return min(known, default=None)


def _scratchpad(project: Project, kind: str, loop: LoopId) -> Path | None:
    """What the loop's agents may read of what it has written so far."""
    place = project.kinds[kind].scratchpad
    return project.root / place(loop) if place else None


def ready_agents(project: Project, settings: Settings) -> tuple[str, ...]:
    """Whom a person may give a role to: the configured agents that can run here."""
    return tuple(sorted(cast(settings, project.stage).known))
