"""Whoever writes the files of loops, with what it has to know of their logs before it begins."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from loopwright.app.loops import Past, View, listed, whole_view
from loopwright.app.project import Project
from loopwright.app.publisher import Publisher
from loopwright.app.task_lists import TaskLists, list_places
from loopwright.engine.fold import Opened
from loopwright.engine.journal import open_whole
from loopwright.errors import ConfigError
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Scene
from loopwright.ports.store import LoopRow

_IDLE = ("waiting", "paused")


async def publisher_of(
    project: Project, failed: Callable[[str], None], seen: View, rows: tuple[LoopRow, ...] = ()
) -> Publisher:
    """For one loop and what of `rows`, or of all there are, is below it."""
    known = family(seen.row.id, rows or await project.store.rows())
    pasts = {row.id: await _past(project, row) for row in known if row.id != seen.row.id and _remembers(project, row)}
    own = {seen.row.id: await _past_of(project, seen)} if _remembers(project, seen.row) else {}
    lists = TaskLists(list_places(project.root, project.environ, project.clock.now), failed)
    return Publisher(project.root, project.kinds, failed, {**pasts, **own}, lists)


async def write_at_once(project: Project, seen: View, stay: Collection[Path] = ()) -> None:
    """The files of a loop that nobody drives yet, but for those that lie at `stay`. No list of others is touched."""
    publisher = Publisher(project.root, project.kinds, lambda _sentence: None)
    with suppress(OSError, ConfigError):  # it is said at the first event, and by `loop render`
        publisher.files(await scene_of(project, seen), seen.kind, stay)


async def catch_up(project: Project, publisher: Publisher, seen: View, rows: tuple[LoopRow, ...]) -> tuple[Opened, ...]:
    """A controller that died may have recorded what it never rendered, and a loop that waits records nothing more.

    Gives the parts that were read for it.
    """
    waiting = [seen] if seen.row.status in _IDLE else []
    below = [row for row in rows if row.parent == seen.row.id and row.kind in project.kinds]
    found = [row for row in below if row.status in _IDLE]
    parts = [await whole_view(project, await listed(project, row, rows)) for row in found]
    for each in (*waiting, *parts):
        with suppress(OSError, ConfigError):  # it is said at the next event, and by `loop render`
            publisher.files(await scene_of(project, each), each.kind)
    return tuple(each.opened for each in parts)


def _remembers(project: Project, row: LoopRow) -> bool:
    return row.kind in project.kinds and project.kinds[row.kind].past is not None


async def _past(project: Project, row: LoopRow) -> object:
    past = Past(project.kinds[row.kind])
    await open_whole(project.store, project.loops, row.id, past.hear)
    return past.known


def family(root: LoopId, rows: tuple[LoopRow, ...]) -> tuple[LoopRow, ...]:
    """The loop itself and all below it."""
    below, found = {root}, True
    while found:
        fresh = {row.id for row in rows if row.parent in below} - below
        below, found = below | fresh, bool(fresh)
    return tuple(row for row in rows if row.id in below)


async def scene_of(project: Project, seen: View) -> Scene[Any]:
    past = await _past_of(project, seen) if seen.kind.past is not None else None
    row = seen.row
    return Scene(
        loop=row.id,
        state=seen.now.state,
        status=row.status,
        past=past,
        spent=row.spent,
        estimated=row.estimated,
        budget=row.budget,
        seq=row.seq,
    )


async def _past_of(project: Project, seen: View) -> object:
    return await _past(project, seen.row) if seen.past is None else seen.past
