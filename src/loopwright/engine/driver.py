"""The driver: the only place where a loop meets the world. A short loop around a session, which does the thinking.

Ask the session what to do, make the intent durable, perform it through a port, tell the session what happened, make
that durable, ask again. First run and resume are the same code: an agent run that was in flight is looked up or run
anew, and everything else in flight can simply be repeated.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from loopwright.engine.asking import Asking, stopped
from loopwright.engine.fold import FROM_DATA, Flight, Fold, Opened
from loopwright.engine.journal import Journal, holding, open_loop, post
from loopwright.engine.nesting import below, cancel_below, run_child
from loopwright.engine.performing import looked_up, perform, unusable
from loopwright.engine.session import Effect, Recording, Session, Terms, cancelled, interrupted
from loopwright.engine.world import Halt, Seen, World
from loopwright.errors import OverBudget, Suspended, TimeIsUp
from loopwright.kernel.actions import RunAgent, RunChecks, RunLoop
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    CancelRequested,
    Ended,
    LoopEnded,
    Paused,
)
from loopwright.kernel.model import Cleanup, Ending, Key, LoopId, Outcome, Point
from loopwright.ports.dispatcher import Errand, Short, Shortage, Tell
from loopwright.ports.people import Reply, Waiting
from loopwright.ports.store import LoopRow

_LANDED = (Ending.VERIFIED, Ending.REVIEWED, Ending.ACCEPTED)
_SHORT: dict[str, Short] = {"time": "time", "tokens": "tokens"}
_PATIENCE = 40  # whoever records an answer holds a child for a moment


async def drive(
    world: World, loop: LoopId | Opened, upto: tuple[Point, ...] = (), rows: tuple[LoopRow, ...] = ()
) -> Halt:
    """Take the loop as far as it goes: to its end, to a person, to a limit of the budget, or to a point of `upto`.

    Whoever has read the loop already, or listed the loops, hands in what they read.
    """
    opened = loop if isinstance(loop, Opened) else await open_loop(world.store, world.loops, loop)
    if world.dispatcher.counts and opened.row.seq > 1:  # a new loop has nothing below it
        for each in await below(world, opened.id, rows or await world.store.rows()):
            world.dispatcher.took(each.id, each.now.tokens, each.now.seconds)
            world.known[each.id] = each
    return await _drive(world, opened, Errand(path=(opened.id,), upto=upto))


async def _drive(world: World, opened: Opened, errand: Errand, tell: Tell | None = None) -> Halt:
    """As a child, where there is somebody above to tell what it waits for."""
    patience = _PATIENCE if tell else 0
    async with holding(world.store, opened, world.who, patience=patience, pause=world.poll) as held:
        if held.opened.is_over:
            return Halt(why="ended", outcome=held.opened.outcome, now=held.opened.now)
        session = Session.of(held.opened, errand, terms_of(world, opened.id))
        journal = Journal(world.store, session, held, world.notices)
        halt = await _Driver(world, journal, tell).run()
        if tell is not None and halt.why != "ended":
            world.known[opened.id] = journal.opened  # its parent may go on with it
        return halt


def terms_of(world: World, loop: LoopId) -> Terms:
    """On which a loop may start agents: limits of tokens and time, and what a run may cost. Checks take only time."""

    def terms(action: RunAgent | RunChecks, now: Fold) -> float | Shortage:
        shortage = world.dispatcher.shortage(loop, now.tokens, now.seconds)
        if isinstance(action, RunChecks):
            return shortage if shortage and shortage.reason == "time" else 0.0
        return shortage or world.agent.reservation(action.role, action.agent)

    return terms


class _Driver:
    def __init__(self, world: World, journal: Journal, tell: Tell | None) -> None:
        self._world, self._journal, self._is_child = world, journal, tell is not None
        self._tasks: dict[Key, asyncio.Task[Answer]] = {}
        self._asking = Asking(world.people, tell)
        self._news: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def _session(self) -> Session:
        return self._journal.session

    async def run(self) -> Halt:
        try:
            await self._recover()
            while (halt := await self._turn()) is None:
                pass
            return replace(halt, now=self._session.now)
        finally:
            await stopped(self._asking.tasks)
            await stopped(self._tasks.values())

    async def _recover(self) -> None:
        """An agent's run is paid for: record it if it finished, else run it anew as the same attempt."""
        self._count()
        posted = await self._world.store.inbox(self._session.id)
        if any(item.kind == CancelRequested.__name__ for item in posted):
            return  # what nobody wants any more need not be read: it is settled as what it had reserved
        for action, flight in self._session.left_behind():
            answer = await looked_up(self._world, self._session.id, self._session.loop.name, action, flight.step)
            await (self._record(interrupted(flight)) if answer is None else self._settle(answer))

    async def _turn(self) -> Halt | None:
        """One round: hear people, drop what is no longer wanted, start what is, wait for what happens next."""
        for posted in await self._journal.inbox():
            self._asking.tell_at_work()
            await self._record(*self._session.heard(posted.said), taken=(posted.item,))
        todo = self._session.todo()
        if todo.cancel:
            await self._drop(todo.cancel)
            return None
        if todo.stop is not None:
            return await self._finish(todo.stop)
        if todo.held:
            return Halt(why="held", stand=self._session.stand)
        shortage = todo.shortage
        if todo.intents:
            shortage = await self._intend(todo.intents) or shortage
            todo = self._session.todo()
        for effect in todo.start:
            self._begin(effect)
        if not todo.idle:
            await self._asking.withdraw()
            await self._wait()
            return None
        return await (self._pause(shortage) if shortage else self._wait_for_people())

    async def _drop(self, flights: tuple[Flight, ...]) -> None:
        """All are ended side by side, which takes what the slowest takes; the log has them in the order they began."""
        tasks = [task for flight in flights if (task := self._tasks.pop(flight.key, None))]
        answers = {answer.key: answer for answer in await stopped(tasks)}
        for flight in flights:
            answer = answers.get(flight.key)
            await (self._settle(answer) if answer else self._record(cancelled(flight)))

    async def _intend(self, intents: tuple[Recording, ...]) -> Shortage | None:
        try:
            for line in intents:
                await self._record(line)
        except OverBudget as over:
            return Shortage(reason="budget", detail=str(over))
        return None

    def _begin(self, effect: Effect) -> None:
        key = effect.action.key
        self._tasks[key] = asyncio.create_task(self._perform(effect), name=str(key))
        self._journal.session = self._session.begun(key)

    async def _perform(self, effect: Effect) -> Answer:
        action, session = effect.action, self._session
        if not isinstance(action, RunLoop):
            return await perform(self._world, session.id, session.loop.name, action, effect.step, self._journal.stand)

        def tell(waiting: tuple[Waiting, ...]) -> None:
            self._journal.session = self._session.told(action.key, waiting)
            self._asking.tell_at_work()
            if not self._news.done():
                self._news.set_result(None)

        return LoopEnded(key=action.key, outcome=await run_child(self._world, session.errand, action, tell, _drive))

    async def _wait(self) -> None:
        """Until a task is over, a child has news, a person has answered, or it is time to look into the inbox."""
        awaited: set[asyncio.Future[Any]] = {*self._tasks.values(), *self._asking.tasks, self._news}
        await asyncio.wait(awaited, timeout=self._world.poll, return_when=asyncio.FIRST_COMPLETED)
        if self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        for key in [key for key, task in self._tasks.items() if task.done()]:
            try:
                answer = self._tasks.pop(key).result()
            except TimeIsUp as end:
                await self._ran_out(key, end)
            except Suspended as pause:
                shortage = Shortage(reason=_SHORT.get(pause.reason, "budget"), detail=pause.detail)
                self._journal.session = self._session.suspended(key, shortage)
            else:
                await self._settle(answer)

    async def _ran_out(self, key: Key, end: TimeIsUp) -> None:
        if flight := self._session.now.flight(key):
            await self._record(interrupted(flight, end.detail, end.seconds))

    async def _settle(self, answer: Answer) -> None:
        """A next step that does not fit the budget does not keep the answer out of the log.

        Nor does a result that nobody can make anything of stop the loop, now and at every resume: it is no result.
        """
        try:
            seen = await self._written(answer)
        except FROM_DATA as fault:
            if not isinstance(answer, AgentReported | AgentFailed | AgentUnavailable):
                raise
            seen = await self._written(unusable(answer.key, getattr(answer, "role", ""), fault))
        self._show(seen)

    async def _written(self, answer: Answer) -> tuple[Seen, ...]:
        lines = self._session.heard(answer)
        try:
            return await self._journal.record(*lines)
        except OverBudget:
            return await self._journal.record(lines[0])

    async def _wait_for_people(self) -> Halt | None:
        waiting, stand = self._session.waiting, self._session.stand
        if self._is_child and self._session.is_its_parents:
            return Halt(why="waiting", waiting=waiting, stand=stand)
        if not await self._journal.is_current():
            return None  # the question itself was just recorded: look into the inbox once more, then ask only once
        await self._asking.ask(waiting)
        await self._wait()
        for reply in self._asking.replies():
            if reply is None:
                return Halt(why="waiting", waiting=waiting, stand=stand)
            await self._pass_on(reply)
        return None

    async def _pass_on(self, reply: Reply) -> None:
        """To this loop, or through its inbox to the one below that waits; the way there is at work until it answers."""
        if reply.loop == self._session.id:
            await self._record(*self._session.heard(reply.said))
            return
        for child in self._session.under_way:
            if any(each.loop == reply.loop for each in child.waiting):
                self._journal.session = self._session.told(child.key, ())
        await post(self._world.store, reply.loop, reply.said)

    async def _record(self, *lines: Recording, taken: tuple[int, ...] = ()) -> None:
        self._show(await self._journal.record(*lines, taken=taken))

    def _show(self, seen: tuple[Seen, ...]) -> None:
        self._count()
        for each in seen:
            self._world.observer.recorded(each)

    def _count(self) -> None:
        now = self._session.now
        self._world.dispatcher.took(self._session.id, now.tokens, now.seconds)

    async def _pause(self, shortage: Shortage) -> Halt:
        await self._record(Recording(event=Paused(reason=shortage.reason, detail=shortage.detail)))
        return Halt(why="paused", reason=shortage.reason, detail=shortage.detail, waiting=self._session.waiting)

    async def _finish(self, outcome: Outcome) -> Halt:
        if outcome.ending is Ending.CANCELLED:
            await cancel_below(self._world, self._session.errand, outcome.cleanup, _drive)
        if outcome.ending in _LANDED or (self._is_child and outcome.ending is not Ending.CANCELLED):
            # Its commits are kept, and whoever goes on does so from them: hundreds of children need no hundreds of
            # folders, and a person's own test runner would find the tests of each.
            stay = await self._world.workspace.clean_up(self._session.id, Cleanup.KEEP_ARTIFACTS)
            outcome = replace(outcome, stay=stay)
        await self._record(Recording(event=Ended(outcome=outcome)))
        return Halt(why="ended", outcome=outcome)
