"""A root that is about to be driven: read once, with whoever writes its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopwright.app.loops import View, view
from loopwright.app.project import Project
from loopwright.app.publication import catch_up, publisher_of
from loopwright.app.publisher import Publisher
from loopwright.config.settings import Settings
from loopwright.engine.fold import Opened
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
    return Ready(seen=seen, settings=settings, publisher=publisher, rows=rows, parts=parts)
