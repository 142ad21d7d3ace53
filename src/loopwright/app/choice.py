"""Which loop is meant: the one named, or the only one that fits."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from loopwright.app.loops import Listed, View, listed, listing, view, whole_view
from loopwright.app.project import Project
from loopwright.errors import LoopUnreadable, StoreCorrupt, UsageError
from loopwright.kernel.model import LoopId

_SHOWN = 10


async def roots(project: Project) -> tuple[View, ...]:
    """The loops that people start and answer, as they stand, newest first; without those that cannot be read."""
    found: list[View] = []
    for each in await listing(project):
        with suppress(LoopUnreadable):
            found.append(await view(project, each))
    return tuple(found)


Look = Callable[[Project, Listed], Awaitable[View]]


async def named(project: Project, loop_id: str, look: Look = view) -> View:
    """The loop with this id, a part of another or not, as it stands."""
    return await look(project, await listed_as(project, loop_id))


async def listed_as(project: Project, loop_id: str) -> Listed:
    """The loop with this id; its log is not read. Raises `UsageError` with the nearest id there is."""
    rows = await project.store.rows()
    for row in rows:
        if row.id == loop_id:
            return await listed(project, row, rows)
    near = difflib.get_close_matches(loop_id, [row.id for row in rows], n=1)
    hint = f"did you mean {near[0]}" if near else "`loop status` lists them"
    raise UsageError(f"there is no loop {loop_id!r} here; {hint}")


async def named_root(project: Project, loop_id: str) -> View:
    """As `named`, for what only a whole loop can be told. Raises `UsageError` that says whose part it is."""
    found = await listed_as(project, loop_id)
    refuse_record(found)
    refuse_part(found)
    return await whole_view(project, found)


def refuse_record(found: Listed) -> None:
    if not found.kind.driven:
        loop = found.row.id
        raise UsageError(
            f"{loop} is a record that nobody drives; `loop log --loop {loop}` shows what was written there"
        )


def refuse_part(found: Listed | View) -> None:
    if found.row.parent is not None:
        root = root_of(found)
        raise UsageError(f"loop {found.row.id} is a part of loop {root}, which decides for it; use --loop {root}")


def root_of(seen: Listed | View) -> LoopId:
    """Of a loop that was found in the list of all. Raises `StoreCorrupt` where nothing above it is a root."""
    among = seen.among if isinstance(seen, Listed) else seen.listed.among
    parents = {row.id: row.parent for row in among}
    root, way = seen.row.id, {seen.row.id}
    while (parent := parents[root]) is not None:
        if parent in way or parent not in parents:
            why = "it is below itself" if parent in way else f"its parent, loop {parent}, is not there"
            raise StoreCorrupt("the event log", f"loop {root}", why)
        root = parent
        way.add(root)
    return root


async def pick(project: Project, loop_id: str, fits: Callable[[Listed], bool]) -> Listed | None:
    """The root that is named, whatever its state; else the only one that fits; None when none does. No log is read."""
    if not loop_id:
        return only(await listing(project), fits)
    found = await listed_as(project, loop_id)
    refuse_record(found)
    refuse_part(found)
    return found


def only(loops: Sequence[Listed], fits: Callable[[Listed], bool]) -> Listed | None:
    fitting = [loop for loop in loops if fits(loop)]
    if len(fitting) > 1:
        raise UsageError(f"several loops fit, name one with --loop ID: {_named(fitting)}")
    return fitting[0] if fitting else None


def _named(loops: Sequence[Listed]) -> str:
    shown = [f"{loop.row.id} ({loop.status}, {loop.title[:60]})" for loop in loops[:_SHOWN]]
    more = [f"and {len(loops) - _SHOWN} more"] if len(loops) > _SHOWN else []
    return "; ".join(shown + more)
