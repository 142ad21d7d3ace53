"""Whoever writes the files of loops, with what it has to know of their logs before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from loopwright.adapters.files import write_whole
from loopwright.adapters.shared_lines import rebuild_lines
from loopwright.app.debt import DEBT_HEAD, debt_entry, deferred_entry, owes
from loopwright.app.layout import DEBT, STATE_FOLDER
from loopwright.app.loops import Past, View, listed, view, views, whole_view
from loopwright.app.project import Project
from loopwright.app.publisher import Publisher
from loopwright.app.task_lists import TaskLists, list_places
from loopwright.engine.fold import Opened
from loopwright.engine.journal import open_whole
from loopwright.errors import ConfigError
from loopwright.kernel.events import Answered
from loopwright.kernel.model import Ending, LoopId
from loopwright.kernel.record import read_event
from loopwright.loops.kind import Noted, Scene
from loopwright.ports.store import LoopRow

_IDLE = ("waiting", "paused")


async def publisher_of(
    project: Project, failed: Callable[[str], None], seen: View, rows: tuple[LoopRow, ...] = ()
) -> Publisher:
    """For one loop and what of `rows`, or of all there are, is below it."""
    known = _family(seen.row.id, rows or await project.store.rows())
    pasts = {row.id: await _past(project, row) for row in known if row.id != seen.row.id and _remembers(project, row)}
    own = {seen.row.id: await _past_of(project, seen)} if _remembers(project, seen.row) else {}
    lists = TaskLists(list_places(project.root, project.environ, project.clock.now), failed)
    return Publisher(project.root, project.kinds, failed, {**pasts, **own}, lists)


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


def _family(root: LoopId, rows: tuple[LoopRow, ...]) -> tuple[LoopRow, ...]:
    below, found = {root}, True
    while found:
        fresh = {row.id for row in rows if row.parent in below} - below
        below, found = below | fresh, bool(fresh)
    return tuple(row for row in rows if row.id in below)


# --- everything anew ----------------------------------------------------------------------------------------------


async def rebuild(project: Project, failed: Callable[[str], None]) -> tuple[Path, ...]:
    """Every file made from the log. Raises `OSError` and `ConfigError`.

    Oldest first: later reviews of a story add to what earlier ones put on file. What a loop has landed of its parts
    it says after them.
    """
    publisher = Publisher(project.root, project.kinds, failed)
    written: list[Path] = []
    lines: dict[str, list[Noted]] = {}
    for seen in _parts_first(tuple(reversed(await views(project)))):
        scene = await scene_of(project, seen)
        written += publisher.files(scene, seen.kind)
        for name, noted in seen.kind.notes(scene).items():
            lines.setdefault(name, []).extend(noted)
    written += [rebuild_lines(project.root, name, noted) for name, noted in lines.items()]
    debt = await rebuild_debt(project)
    return tuple(dict.fromkeys([*written, *([debt] if debt else [])]))


def _parts_first(found: tuple[View, ...]) -> Iterator[View]:
    """In the order they have, but each after its parts."""
    known = {seen.row.id for seen in found}
    below: dict[LoopId | None, list[View]] = {}
    for seen in found:
        below.setdefault(seen.row.parent if seen.row.parent in known else None, []).append(seen)

    def told(parent: LoopId | None) -> Iterator[View]:
        for seen in below.get(parent, ()):
            yield from told(seen.row.id)
            yield seen

    return told(None)


async def scene_of(project: Project, seen: View) -> Scene[Any]:
    past = await _past_of(project, seen) if seen.kind.past is not None else None
    row = seen.row
    return Scene(loop=row.id, state=seen.now.state, status=row.status, past=past, spent=row.spent, budget=row.budget)


async def _past_of(project: Project, seen: View) -> object:
    return await _past(project, seen.row) if seen.past is None else seen.past


async def rebuild_debt(project: Project) -> Path | None:
    """`debt.md` from the log alone, oldest acceptance first; None when nothing was ever accepted."""
    entries = [await _debt_of(project, row) for row in await project.store.rows()]
    found = sorted(entry for entry in entries if entry is not None)
    if not found:
        return None
    path = project.root / STATE_FOLDER / DEBT
    write_whole(path, "\n".join([DEBT_HEAD, *(text for _, text in found)]))
    return path


async def _debt_of(project: Project, row: LoopRow) -> tuple[float, str] | None:
    """When the loop was accepted, or passed with something put off, and what is owed since."""
    if not any(said in row.outcome for said in ('"accepted"', '"findings":[{', '"waiting":[{')):
        return None
    seen = await view(project, row.id)
    if seen.outcome is None or not owes(seen.kind, seen.outcome):
        return None
    at = (await project.store.read(row.id))[-1].at
    if seen.outcome.ending is not Ending.ACCEPTED:
        return at, deferred_entry(row.id, seen.outcome, at)
    return at, debt_entry(seen.kind, row.id, seen.now.state, at, await _who_accepted(project, row))


async def _who_accepted(project: Project, row: LoopRow) -> str:
    """The person who answered the root: a child hears it from its parent."""
    while row.parent is not None:
        row = (await project.store.load(row.parent)).row
    said = [read_event(record) for record in await project.store.read(row.id) if record.kind == "Answered"]
    return next((event.by for event in reversed(said) if isinstance(event, Answered)), "")
