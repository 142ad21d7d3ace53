"""Systems that nobody drives: interrupted, or waiting for people who decide on a pull request or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.app.loops import View, listed, listing, whole_view
from loopwright.app.project import Project
from loopwright.app.starts.lifecycle.pull_requests import read_first
from loopwright.app.starts.lifecycle.sessions import Failed, gates_in_time
from loopwright.engine.nesting import can_go_on
from loopwright.kernel.actions import ForPeople
from loopwright.loops.course import Station
from loopwright.loops.lifecycle.kind import KIND
from loopwright.ports.store import LoopRow

_LOOK = 1.0  # seconds between two looks at whether the log has grown


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """Who waits in whose name, and how they are told what is wrong."""

    project: Project
    loops: tuple[str, ...]  # by their ids
    by: str
    failed: Failed


async def interrupted(project: Project) -> View | None:
    """The first begun of the systems that nobody drives and that wait for no person, themselves or a part of them."""
    own = [each for each in await listing(project) if each.row.kind == KIND.loop.name and each.status == "interrupted"]
    for each in reversed(own):
        seen = await whole_view(project, each)
        if await can_go_on(project.store, project.loops, seen.opened):
            return seen
    return None


async def taken_up(own: Parked) -> View | None:
    """The first that can go on by now; None: none can."""
    return next((each for each in await _looked_at(own) if _goes_on(each)), None)


async def awaited(own: Parked, poll: float) -> View | None:
    """As `taken_up`, once one can: decided, or closed because nobody decided in time. None: none is at a gate."""
    while True:
        found = [await gates_in_time(own.project, each, own.by, own.failed) for each in await _looked_at(own)]
        if ready := [each for each in found if _goes_on(each)]:
            return ready[0]
        if not any(each.now.state.course.station is Station.GATE for each in found):
            return None
        await _news(own, poll)


async def _looked_at(own: Parked) -> list[View]:
    rows: dict[str, LoopRow] = {row.id: row for row in await own.project.store.rows()}
    found = [await whole_view(own.project, await listed(own.project, rows[loop])) for loop in own.loops]
    return [await read_first(own.project, each, own.failed) for each in found if not each.is_over]


def _goes_on(seen: View) -> bool:
    return seen.alive is None and any(not isinstance(each, ForPeople) for each in seen.wanted)


async def _news(own: Parked, seconds: float) -> None:
    """Until somebody has said something to one of them, or it is time to look at its pull request again."""
    clock, store = own.project.clock, own.project.store
    until, version, before = clock.now() + seconds, await store.version(), await _lengths(own)
    while clock.now() < until:
        await clock.sleep_until(min(until, clock.now() + _LOOK))
        if (latest := await store.version()) != version:
            version = latest
            if await _lengths(own) != before:
                return


async def _lengths(own: Parked) -> dict[str, int]:
    return {row.id: row.seq for row in await own.project.store.rows() if row.id in own.loops}
