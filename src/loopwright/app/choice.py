"""Which loop is meant: the one named, or the only one that fits."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from loopwright.app.loops import Listed, View, listing, view
from loopwright.app.project import Project
from loopwright.errors import UsageError
from loopwright.kernel.model import LoopId

_SHOWN = 10


async def roots(project: Project) -> tuple[View, ...]:
    """The loops that people start and answer, as they stand, newest first."""
    return tuple([await view(project, each) for each in await listing(project)])


async def named(project: Project, loop_id: str) -> View:
    """The loop with this id, a part of another or not. Raises `UsageError` with the nearest id there is."""
    ids = [row.id for row in await project.store.rows()]
    if loop_id in ids:
        return await view(project, LoopId(loop_id))
    near = difflib.get_close_matches(loop_id, ids, n=1)
    hint = f"did you mean {near[0]}" if near else "`loop status` lists them"
    raise UsageError(f"there is no loop {loop_id!r} here; {hint}")


async def named_root(project: Project, loop_id: str) -> View:
    """As `named`, for what only a whole loop can be told. Raises `UsageError` that says whose part it is."""
    found = await named(project, loop_id)
    if found.row.parent is None:
        return found
    root = await root_of(project, found)
    raise UsageError(f"loop {loop_id} is a part of loop {root}, which decides for it; use --loop {root}")


async def root_of(project: Project, seen: View) -> LoopId:
    row = seen.row
    while row.parent is not None:
        row = (await project.store.load(row.parent)).row
    return row.id


async def pick(project: Project, loop_id: str, fits: Callable[[Listed], bool]) -> View | None:
    """The root that is named, whatever its state; else the only one that fits; None when none does."""
    if loop_id:
        return await named_root(project, loop_id)
    found = only(await listing(project), fits)
    return None if found is None else await view(project, found)


def only(loops: Sequence[Listed], fits: Callable[[Listed], bool]) -> Listed | None:
    fitting = [loop for loop in loops if fits(loop)]
    if len(fitting) > 1:
        raise UsageError(f"several loops fit, name one with --loop ID: {_named(fitting)}")
    return fitting[0] if fitting else None


def _named(loops: Sequence[Listed]) -> str:
    shown = [f"{loop.row.id} ({loop.status}, {loop.title[:60]})" for loop in loops[:_SHOWN]]
    more = [f"and {len(loops) - _SHOWN} more"] if len(loops) > _SHOWN else []
    return "; ".join(shown + more)
