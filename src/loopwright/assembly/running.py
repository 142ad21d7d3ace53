"""The world a loop is driven in, made from the settings it is pinned to."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import fields, replace
from typing import TypeVar

from loopwright.adapters.agents.cast import cast
from loopwright.adapters.from_settings import command_checks, git_workspace
from loopwright.adapters.publishing import scratchpad_file
from loopwright.adapters.sqlite.locks import describe_process
from loopwright.assembly.project import LOOPS, Project, View, settings_of, view
from loopwright.assembly.publishing import publisher_of
from loopwright.config.settings import Settings
from loopwright.engine.world import Observer, Spending, World
from loopwright.errors import ConfigError
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ConfigChanged
from loopwright.kernel.limits import FeedbackLimits, QualityLimits, TicketLimits
from loopwright.kernel.model import LoopId
from loopwright.ports.agent import Agent
from loopwright.ports.people import People

Limits = TypeVar("Limits", FeedbackLimits, QualityLimits, TicketLimits)
_LEAST = {"p1_threshold": 0}
# Which table a kind of loop obeys.
_LIMITS_OF = {"feedback": "feedback", "quality": "quality", "batch": "quality", "tickets": "tickets"}


async def pinned_settings(project: Project, loop: LoopId) -> Settings:
    """The configuration the loop's root is pinned to."""
    row = (await project.store.load(loop)).row
    while row.parent is not None:
        row = (await project.store.load(row.parent)).row
    return Settings.from_json((await view(project, row.id)).now.settings)


def changed_settings(project: Project, seen: View, by: str) -> ConfigChanged | None:
    """The person's `loop.toml` as an event, if it is not what the loop is pinned to."""
    now = settings_of(project)
    if now.to_json() == seen.now.settings:
        return None
    name = _LIMITS_OF[seen.row.kind]
    before = getattr(Settings.from_json(seen.now.settings).limits, name)
    limits = _moved(seen.now.state.plan.limits, before, getattr(now.limits, name))
    return ConfigChanged(digest=now.digest, settings=now.to_json(), limits=encode(limits), by=by)


def _moved(own: Limits, before: Limits, now: Limits) -> Limits:
    """The loop's own limits moved as the file's have: what an option said is not undone by another edit."""
    difference = {f.name: getattr(now, f.name) - getattr(before, f.name) for f in fields(now)}
    moved = {name: getattr(own, name) + more for name, more in difference.items() if more}
    return replace(own, **{name: max(_LEAST.get(name, 1), value) for name, value in moved.items()})


async def build_world(
    project: Project,
    loop: LoopId,
    *,
    people: People,
    observer: Observer,
    agent: Agent | None = None,
) -> World:
    """The world a loop is driven in, as its pinned settings say. `agent` stands in for the configured ones."""
    settings = await pinned_settings(project, loop)
    await _catch_up(project, loop)
    environ, root = project.environ, project.root
    return World(
        store=project.store,
        clock=project.clock,
        agent=agent or cast(settings, project.stage),
        checks=command_checks(settings, project.store, project.clock, root=root, environ=environ),
        workspace=git_workspace(settings, root=root, environ=environ),
        people=people,
        observer=observer,
        loops=LOOPS,
        who=describe_process(project.clock.now()),
        protected=settings.workspace.protected,
        spending=Spending(tokens=settings.budget.tokens, seconds=settings.budget.wall),
        scratchpad=lambda each: scratchpad_file(root, each),
        slots=asyncio.Semaphore(settings.limits.parallel),
    )


async def _catch_up(project: Project, loop: LoopId) -> None:
    """A controller that died may have recorded what it never rendered, and a loop that waits records nothing more."""
    publisher = await publisher_of(project, lambda _sentence: None, loop)
    for row in await project.store.rows():
        if loop in (row.id, row.parent) and row.status == "waiting":
            with suppress(OSError, ConfigError):  # it is said at the next event, and by `loop render`
                publisher.files(row.id, (await view(project, row.id)).now.state, row.status)
