"""The driver: the only place where a loop meets the world.

Fold the log, ask the machine what it wants, make the intent durable, perform it through a port,
make the result durable, ask again. First run and resume are the same code: an agent run that was
in flight is looked up or run anew, and everything else in flight can simply be repeated.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import get_args

from loopwright.engine.intents import intent
from loopwright.engine.journal import Folded, Journal, Line
from loopwright.engine.nesting import child_id, child_outcome, ready_child, taken_below
from loopwright.engine.performing import looked_up, perform
from loopwright.engine.world import Halt, World, known_loop
from loopwright.errors import CheckNotRunnable, InvalidTransition, OverBudget, SetupFailed, Suspended, VcsFailed
from loopwright.kernel.actions import Action, Ask, AwaitGate, ForPeople, RunAgent, RunLoop, Stop
from loopwright.kernel.codec import DecodeError, decode, encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Cancelled,
    Ended,
    Interrupted,
    LoopEnded,
    Paused,
    Refused,
    ReportedLate,
    Said,
)
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Cleanup, Ending, Key, LoopId, Outcome, Point

# What goes wrong in one child's files is that child's end, not its siblings'; a broken store is everybody's.
_OWN_TROUBLE = (VcsFailed, SetupFailed, CheckNotRunnable)
_HEARD: dict[str, type] = {kind.__name__: kind for kind in (*get_args(Said), Refused)}


async def drive(world: World, loop_id: LoopId, upto: tuple[Point, ...] = ()) -> Halt:
    """Take the loop as far as it goes: to its end, to a person, to a limit of the budget, or to a point of `upto`."""
    fence = await world.store.claim(loop_id, world.who)
    try:
        return await _Driver(world, await _opened(world, loop_id, fence), upto).run()
    finally:
        await world.store.release(loop_id, fence)


async def _opened(world: World, loop_id: LoopId, fence: int) -> Journal:
    """What was loaded ends here: a loop that is driven for hours keeps its state in memory and not its log."""
    loaded = await world.store.load(loop_id)
    return Journal(world.store, known_loop(world.loops, loaded.row.kind), loaded, fence)


class _Driver:
    def __init__(self, world: World, journal: Journal, upto: tuple[Point, ...]) -> None:
        self._world, self._journal, self._upto = world, journal, upto
        self._tasks: dict[Key, asyncio.Task[Answer]] = {}
        self._suspended: dict[Key, Suspended] = {}  # children that ran into a limit of the budget
        self._version: int | None = None

    async def run(self) -> Halt:
        if self._journal.outcome is not None:
            return Halt(why="ended", outcome=self._journal.outcome)
        try:
            await self._count_what_was_taken()
            await self._recover()
            while True:
                if (halt := await self._turn()) is not None:
                    return halt
        finally:
            await self._stop_tasks()

    async def _turn(self) -> Halt | None:
        """One round: hear people, drop what is no longer wanted, start what is, wait for one answer."""
        await self._take_inbox()
        wanted = self._journal.wanted
        if isinstance(wanted[0], Stop):
            return await self._finish(wanted[0])
        await self._drop_unwanted(wanted)
        if self._is_held(self._journal.now):
            return Halt(why="held", stand=self._stand())
        if (pause := await self._launch_all(wanted)) is not None and not self._tasks:
            return await self._pause(pause)
        return await (self._next_answer() if self._tasks else self._ask_people(wanted))

    def _is_held(self, now: Folded) -> bool:
        return bool(self._upto) and self._journal.loop.stand(now.state).point in self._upto

    def _stand(self) -> Standpoint:
        return self._journal.loop.stand(self._journal.now.state)

    async def _count_what_was_taken(self) -> None:
        """Only a root has children from earlier drives, and only a limit makes it worth asking for them."""
        self._note_taken()
        limits = self._world.spending
        if self._journal.parent is None and (limits.tokens is not None or limits.seconds is not None):
            self._world.tally.taken |= await taken_below(self._world, self._journal.id)

    def _note_taken(self) -> None:
        now = self._journal.now
        self._world.tally.taken[self._journal.id] = (now.tokens, now.seconds)

    # --- what was in flight when the last controller went away -----------------------------------

    async def _recover(self) -> None:
        """An agent's run is paid for: record it if it finished, else run it anew as the same attempt."""
        for action in self._journal.wanted:
            flight = self._journal.flight(action.key)
            if flight is None or not isinstance(action, RunAgent):
                continue
            answer = await looked_up(self._world, self._journal.id, self._journal.loop.name, action, flight.step)
            if answer is None:
                await self._record(Line(event=Interrupted(key=action.key), spend=flight.reserved))
            else:
                await self._settle(answer)

    # --- starting and stopping -----------------------------------------------------------------------

    async def _launch_all(self, wanted: tuple[Action, ...]) -> Suspended | None:
        """Start what is not under way. Why not all of it: what runs already is always waited for."""
        try:
            for action in wanted:
                await self._launch(action)
        except Suspended as pause:
            return pause
        return next(iter(self._suspended.values()), None)

    async def _launch(self, action: Action) -> None:
        if action.key in self._tasks or action.key in self._suspended:
            return
        if self._journal.flight(action.key) is None:
            await self._intend(action)
        if isinstance(action, Ask | AwaitGate):
            return
        flight = self._journal.flight(action.key)
        assert flight is not None  # noqa: S101  # it was just made durable
        self._tasks[action.key] = asyncio.create_task(self._perform(action, flight.step), name=str(action.key))

    async def _intend(self, action: Action) -> None:
        try:
            await self._record(intent(self._world, self._journal.id, self._journal.now, action))
        except OverBudget as over:
            raise Suspended("budget", str(over)) from over

    async def _perform(self, action: Action, step: str) -> Answer:
        if not isinstance(action, RunLoop):
            return await perform(self._world, self._journal.id, self._journal.loop.name, action, step)
        try:
            return LoopEnded(key=action.key, outcome=await self._run_child(action))
        except _OWN_TROUBLE as error:
            lost = Outcome(ending=Ending.FAILED, note=str(error), loop=child_id(self._journal.id, action))
            return LoopEnded(key=action.key, outcome=lost)

    async def _run_child(self, action: RunLoop) -> Outcome:
        child = await ready_child(self._world, self._journal.id, action)
        if child is None:
            return Outcome(ending=Ending.CANCELLED)
        halt = await drive(self._world, child, action.upto)
        if halt.why == "paused":
            raise Suspended(halt.reason, halt.detail)
        return child_outcome(child, halt)

    async def _drop_unwanted(self, wanted: tuple[Action, ...]) -> None:
        keys = {action.key for action in wanted}
        for flight in self._journal.now.flights:
            if flight.key in keys:
                continue
            task = self._tasks.pop(flight.key, None)
            answer = await _stopped(task) if task else None
            if answer is not None:
                await self._settle(answer)
            else:
                await self._record(Line(event=Cancelled(key=flight.key), spend=flight.reserved))

    async def _stop_tasks(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # --- hearing ---------------------------------------------------------------------------------------

    async def _next_answer(self) -> Halt | None:
        done, _ = await asyncio.wait(
            self._tasks.values(), timeout=self._world.poll, return_when=asyncio.FIRST_COMPLETED
        )
        for key in [key for key, task in self._tasks.items() if task in done]:
            try:
                answer = self._tasks.pop(key).result()
            except Suspended as pause:
                self._suspended[key] = pause
            else:
                await self._settle(answer)
        return None

    async def _settle(self, answer: Answer) -> None:
        """Record what happened with what it cost, and in the same breath what is to be done next.

        One commit for both is one sync less per transition. A machine that has moved on does not make
        it unhappen; a next step that does not fit the budget does not keep the answer out of the log.
        """
        line = Line(event=answer, spend=self._cost(answer))
        try:
            then = self._journal.after(line)
        except InvalidTransition:
            late = ReportedLate(key=answer.key, kind=type(answer).__name__, data=encode(answer))
            await self._record(replace(line, event=late))
            return
        try:
            await self._record(line, *self._next_intents(then))
        except (OverBudget, Suspended):
            await self._record(line)

    def _next_intents(self, then: Folded) -> tuple[Line, ...]:
        if self._is_held(then):
            return ()
        flying = {flight.key for flight in then.flights}
        wanted = self._journal.loop.decide(then.state)
        new = (action for action in wanted if action.key not in flying and not isinstance(action, Stop))
        return tuple(intent(self._world, self._journal.id, then, action) for action in new)

    def _cost(self, answer: Answer) -> float:
        if not isinstance(answer, AgentReported | AgentFailed | AgentUnavailable):
            return 0.0
        flight = self._journal.flight(answer.key)
        reserved = flight.reserved if flight else 0.0
        return reserved if answer.usage.usd is None else answer.usage.usd

    async def _take_inbox(self) -> None:
        version = await self._world.store.version()
        if version == self._version:
            return
        self._version = version
        for item in await self._world.store.inbox(self._journal.id):
            try:
                said: Said | Refused = decode(_HEARD[item.kind], item.data)
            except (DecodeError, KeyError) as error:
                refused = Refused(what=item.kind, why=f"it cannot be read: {error}")
                await self._record(Line(event=refused), taken=(item.id,))
            else:
                await self._hear(said, taken=(item.id,))

    async def _hear(self, said: Said | Refused, *, taken: tuple[int, ...] = ()) -> None:
        try:
            await self._record(Line(event=said), taken=taken)
        except InvalidTransition as error:
            refused = Refused(what=type(said).__name__, why=str(error), by=said.by)
            await self._record(Line(event=refused), taken=taken)

    async def _ask_people(self, wanted: tuple[Action, ...]) -> Halt | None:
        waiting: tuple[ForPeople, ...] = tuple(a for a in wanted if isinstance(a, Ask | AwaitGate))
        if self._journal.parent is not None:
            return Halt(why="waiting", waiting=waiting, stand=self._stand())
        if await self._world.store.version() != self._version:
            return None  # the question itself was just recorded: look into the inbox once more, then ask only once
        asking = asyncio.ensure_future(self._world.people.ask(self._journal.id, waiting))
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=self._world.poll)
                if not asking.done() and await self._world.store.version() != self._version:
                    return None
            said = asking.result()
        finally:
            await _stopped(asking)
        if said is None:
            return Halt(why="waiting", waiting=waiting, stand=self._stand())
        await self._hear(said)
        return None

    # --- recording --------------------------------------------------------------------------------------

    async def _record(self, *lines: Line, taken: tuple[int, ...] = ()) -> None:
        seen = await self._journal.append(*lines, taken=taken)
        self._note_taken()
        for each in seen:
            self._world.observer.recorded(each)

    async def _pause(self, pause: Suspended) -> Halt:
        paused = Paused(reason="time" if pause.reason == "time" else "budget", detail=pause.detail)
        await self._record(Line(event=paused))
        return Halt(why="paused", reason=pause.reason, detail=pause.detail)

    async def _finish(self, stop: Stop) -> Halt:
        outcome = replace(stop.outcome, loop=self._journal.id)
        if self._journal.parent is not None and outcome.ending is not Ending.CANCELLED:
            # Its commits are kept and its parent goes on from them: hundreds of children need no hundreds of folders.
            await self._world.workspace.clean_up(self._journal.id, Cleanup.KEEP_ARTIFACTS)
        await self._record(Line(event=Ended(outcome=outcome)))
        return Halt(why="ended", outcome=outcome)


async def _stopped(task: asyncio.Future[Answer] | asyncio.Future[Said | None]) -> Answer | None:
    """Cancel, wait until it is over, and give the answer it had already produced, if any."""
    task.cancel()
    (result,) = await asyncio.gather(task, return_exceptions=True)
    return result if isinstance(result, get_args(Answer)) else None
