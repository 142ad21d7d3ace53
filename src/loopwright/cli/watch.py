"""What is shown while a loop is driven: the live view where it can be drawn, else plain lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loopwright.app.beforehand import forewarnings
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.readiness import under_way
from loopwright.cli.here import Here
from loopwright.cli.output import note
from loopwright.cli.plain import PlainLines, Several
from loopwright.config.settings import Settings
from loopwright.engine.world import Observer
from loopwright.kernel.model import LoopId
from loopwright.kernel.wording import NO_SANDBOX, NOT_PROMISED

if TYPE_CHECKING:
    from loopwright.cli.screen import Screen

_COST_EVERY = 0.5  # seconds
_DRAWN_EVERY = 0.125


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    observer: Observer
    aside: Callable[[], AbstractContextManager[None]] = nullcontext


def forewarn(project: Project, loop: View) -> None:
    """Once, before anybody works."""
    for line in forewarnings(project, loop):
        note(line)
    if Settings.from_json(loop.now.settings).runs_strangers:
        note(f"{NO_SANDBOX} {NOT_PROMISED}")


@asynccontextmanager
async def watched(project: Project, here: Here, start: View, *first: Observer) -> AsyncIterator[Watching]:
    """The live view where it can be drawn, else plain lines. Before them hear others, such as whoever writes files."""
    many = start.kind.has_lanes
    if not here.draws:
        plain = PlainLines(note, project.clock.now, project.kinds, only_news=many)
        yield Watching(observer=Several(*first, plain))
        return
    # Only this branch needs rich, which takes longer to load than all the rest.
    from loopwright.cli.live import LiveView  # noqa: PLC0415
    from loopwright.cli.live_lanes import LanesView  # noqa: PLC0415

    live = (LanesView if many else LiveView)(project.clock.now, project.kinds)
    for each in await under_way(project, start):
        live.found(each)
    with live.screen as screen:
        tasks = [asyncio.create_task(work) for work in (_follow_cost(project, start.row.id, screen), _redraw(screen))]
        try:
            yield Watching(observer=Several(*first, live), aside=screen.aside)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _follow_cost(project: Project, loop: LoopId, screen: Screen) -> None:
    while True:
        screen.money((await project.store.load(loop)).row)
        await asyncio.sleep(_COST_EVERY)


async def _redraw(screen: Screen) -> None:
    while True:
        screen.refresh()
        await asyncio.sleep(_DRAWN_EVERY)
