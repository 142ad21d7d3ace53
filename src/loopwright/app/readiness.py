"""A root that is about to be driven: read once, with whoever writes its files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module

from loopwright.app.loops import View, view
from loopwright.app.notices import take_up
from loopwright.app.project import Confirm, Project
from loopwright.app.publication import catch_up, publisher_of
from loopwright.app.publisher import Publisher
from loopwright.config.settings import Settings
from loopwright.engine.fold import Opened
from loopwright.engine.journal import open_loop
from loopwright.engine.session import intent
from loopwright.engine.world import Seen
from loopwright.errors import EngineError
from loopwright.kernel.model import LoopId
from loopwright.ports.store import LoopRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Its log was read once, and whoever writes its files knows what it has to."""

    seen: View
    settings: Settings  # the configuration it is pinned to
    publisher: Publisher
    rows: tuple[LoopRow, ...]  # all loops, or only itself, if there is nothing behind it
    parts: tuple[Opened, ...] = ()  # loops below it that were read already


async def make_ready(project: Project, loop: LoopId | View, failed: Callable[[str], None]) -> Ready:
    """A new loop has nothing behind it that would have to be listed or written."""
    seen = loop if isinstance(loop, View) else await view(project, loop)
    rows = (seen.listed.among or await project.store.rows()) if seen.row.seq > 1 else (seen.row,)
    publisher = await publisher_of(project, failed, seen, rows)
    parts = await catch_up(project, publisher, seen, rows)
    settings = Settings.from_json(seen.now.settings)
    if settings.notify.urls:
        await take_up(project, failed)
    return Ready(seen=seen, settings=settings, publisher=publisher, rows=rows, parts=parts)


@asynccontextmanager
async def about_to_drive(
    project: Project, loop: View, who: str, failed: Callable[[str], None], confirm: Confirm | None = None
) -> AsyncIterator[Ready]:
    """The loop as `make_ready` gives it, with what its kind does before and after every drive, however that ends.

    `confirm` asks the person at the terminal; None: nobody is there."""
    if not loop.kind.sessions:
        yield await make_ready(project, loop, failed)
        return
    session = import_module(loop.kind.sessions)
    seen: View = await session.began(project, loop, who, failed, confirm)
    try:
        yield await make_ready(project, seen, failed)
    except asyncio.CancelledError:
        await session.ended(project, seen.row.id, who, "interrupted", failed)
        raise
    await session.ended(project, seen.row.id, who, "", failed)


async def with_handwork(
    project: Project, loop: View, who: str, failed: Callable[[str], None], confirm: Confirm | None
) -> View:
    """The loop with what people wrote into its files and branches: before anything else is recorded, which may not fit
    it. Raises `NeedsPerson` where nobody at a terminal says that it is theirs."""
    if not loop.kind.sessions:
        return loop
    seen: View = await import_module(loop.kind.sessions).by_hand(project, loop, who, failed, confirm)
    return seen


async def under_way(project: Project, start: View) -> list[Seen]:
    """What the logs of a loop and its parts say is in flight.

    It is done again without being recorded again, so that whoever goes on would see nothing of it until it is over.
    """
    found = [start.opened]
    if start.now.flights and start.kind.has_lanes:
        rows = start.listed.among or await project.store.rows()
        for part in [row.id for row in rows if row.parent == start.row.id and row.status == "running"]:
            with suppress(EngineError):  # whoever drives it says what is wrong with it
                found.append(await open_loop(project.store, project.loops, part))
    return [
        Seen(
            loop=each.id,
            kind=each.row.kind,
            state=each.now.state,
            event=intent(action),
            seq=each.row.seq,
            status=each.row.status,
        )
        for each in found
        for action in each.wanted
        if each.now.flight(action.key)
    ]
