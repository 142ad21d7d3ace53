"""Whoever writes the files of a loop, with what it has to know of the log before it begins."""

from __future__ import annotations

from collections.abc import Callable

from loopwright.app.project import Project
from loopwright.app.publisher import Publisher
from loopwright.kernel.model import LoopId
from loopwright.loops.tickets.machine import TICKETS
from loopwright.ports.store import LoopRow


async def publisher_of(project: Project, failed: Callable[[str], None], loop: LoopId | None = None) -> Publisher:
    """For one loop with everything below it, or for all there are."""
    rows = await project.store.rows()
    family = {row.id for row in rows} if loop is None else _family(loop, rows)
    sessions = [row.id for row in rows if row.kind == TICKETS.name and row.id in family]
    logs = {each: await project.store.read(each) for each in sessions}
    return Publisher(project.root, failed, project.clock.now, logs)


def _family(root: LoopId, rows: tuple[LoopRow, ...]) -> set[LoopId]:
    below, found = {root}, True
    while found:
        fresh = {row.id for row in rows if row.parent in below} - below
        below, found = below | fresh, bool(fresh)
    return below
