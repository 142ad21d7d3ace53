"""Driving a loop from the command line: who is asked, what is shown meanwhile, what is said at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loopwright.adapters.people.nobody import Nobody
from loopwright.adapters.publishing import Publisher, rebuild_debt
from loopwright.assembly import LOOPS, Project, View, build_world, view
from loopwright.cli.attending import Heard, person
from loopwright.cli.here import Here
from loopwright.cli.output import note, put, put_json
from loopwright.cli.plain import PlainLines, Several
from loopwright.cli.running import Interrupted, complete
from loopwright.cli.showing import Data, closing_lines, current, result_of
from loopwright.engine.driver import drive
from loopwright.engine.world import Halt, Observer, Seen
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Ending, LoopId

if TYPE_CHECKING:
    from loopwright.cli.live import LiveView

_COST_EVERY = 0.5  # seconds
WAITING, PAUSED, CANCELLED_ELSEWHERE = 4, 5, 3
_CODES = {Ending.VERIFIED: 0, Ending.ACCEPTED: 0, Ending.CANCELLED: 0, Ending.ESCALATED: WAITING, Ending.FAILED: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the command was told to behave."""

    unattended: bool = False
    as_json: bool = False
    cancels: bool = False  # this command is the one that cancels


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """How a drive ended, and how the loop looks now."""

    halt: Halt
    view: View
    shown: Data  # its status object
    cancelled_here: bool = False

    @property
    def exit_code(self) -> int:
        if self.halt.outcome is not None:
            ending = self.halt.outcome.ending
            elsewhere = ending is Ending.CANCELLED and not self.cancelled_here
            return CANCELLED_ELSEWHERE if elsewhere else _CODES[ending]
        return WAITING if self.halt.why == "waiting" else PAUSED


def drive_and_tell(project: Project, here: Here, loop: LoopId, manner: Manner) -> int:
    """Drive the loop as far as it goes, say how it ended, and give the exit code."""
    result = complete(driven(project, here, loop, manner))
    if isinstance(result, Interrupted):
        return interrupted(project, loop, result, manner)
    if manner.as_json:
        put_json(result_of(result.view, result.halt, result.shown))
    else:
        for line in closing_lines(project.root, result.view, result.halt, result.shown):
            put(line)
    return result.exit_code


def interrupted(project: Project, loop: LoopId, how: Interrupted, manner: Manner) -> int:
    command = f"loop resume --loop {loop}"
    note(f"Interrupted; nothing is lost. Go on with: {command}")
    if manner.as_json:
        now = asyncio.run(view(project, loop))
        shown = asyncio.run(current(project, now))
        put_json({**result_of(now, Halt(why="paused"), shown), "interrupted": True, "command": command})
    return how.exit_code


async def driven(project: Project, here: Here, loop: LoopId, manner: Manner) -> Driven:
    """Drive the loop, showing what happens, and asking whoever is there."""
    start = await view(project, loop)
    publisher = Publisher(project.root, note, project.clock.now)
    async with _watching(project, here, start) as watching:
        world = await build_world(project, loop, people=Nobody(), observer=Several(publisher, watching.observer))
        asks = here.asks and not manner.unattended
        heard = Heard(person(project, world, here.who, watching.aside) if asks else Nobody())
        halt = await drive(replace(world, people=heard), loop)
    if halt.outcome is not None and halt.outcome.ending is Ending.ACCEPTED:
        await rebuild_debt(project.root, project.store, LOOPS)
    now = await view(project, loop)
    cancelled = manner.cancels or heard.cancelled
    return Driven(halt=halt, view=now, shown=await current(project, now), cancelled_here=cancelled)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watching:
    observer: Observer
    aside: Callable[[], AbstractContextManager[None]] = nullcontext


@asynccontextmanager
async def _watching(project: Project, here: Here, start: View) -> AsyncIterator[_Watching]:
    """The live view where it can be drawn, else plain lines."""
    if not here.draws:
        yield _Watching(observer=PlainLines(note, project.clock.now))
        return
    # Only this branch needs rich, which takes longer to load than all the rest.
    from loopwright.cli.live import LiveView  # noqa: PLC0415

    def stand(seen: Seen) -> Standpoint:
        return start.loop.stand(seen.state)

    with LiveView(stand, project.clock.now) as live:
        cost = asyncio.create_task(_follow_cost(project, start.row.id, live))
        try:
            yield _Watching(observer=live, aside=live.aside)
        finally:
            cost.cancel()
            await asyncio.gather(cost, return_exceptions=True)


async def _follow_cost(project: Project, loop: LoopId, live: LiveView) -> None:
    while True:
        live.money((await project.store.load(loop)).row)
        await asyncio.sleep(_COST_EVERY)
