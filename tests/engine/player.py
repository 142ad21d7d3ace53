"""The driver's part around a session, without tasks: one thing after another, children within their parents.

It takes a world and a loop and gives a halt, as the driver does, and must write the same logs. A child that waits for
people hands up what for and stands still until it is gone on with: an iterator says that without a scheduler. It knows
no two children at once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from loopwright.engine.driver import terms_of
from loopwright.engine.fold import Opened
from loopwright.engine.journal import open_loop
from loopwright.engine.nesting import cancel_below, child_id, child_outcome, ready_child
from loopwright.engine.performing import looked_up, perform
from loopwright.engine.session import Effect, Recording, Session, cancelled, interrupted
from loopwright.engine.world import Halt, Seen, World
from loopwright.errors import OverBudget
from loopwright.kernel.actions import RunLoop
from loopwright.kernel.codec import decode, encode
from loopwright.kernel.events import Answer, CancelRequested, Ended, LoopEnded, Paused, Refused, Said
from loopwright.kernel.model import Ending, Key, LoopId, Outcome
from loopwright.ports.dispatcher import Errand, Shortage, Tell
from loopwright.ports.people import Waiting

SAID: dict[str, type] = {kind.__name__: kind for kind in (*get_args(Said), Refused)}
Playing = AsyncGenerator[tuple[Waiting, ...] | Halt, None]  # waits, any number of them, and then the halt


class Child(NamedTuple):
    loop: LoopId
    playing: Playing


async def play(world: World, root: LoopId) -> Halt:
    opened = await open_loop(world.store, world.loops, root)
    return await _halted(_play(world, opened, Errand(path=(root,)), is_child=False))


async def _halted(playing: Playing) -> Halt:
    try:
        halt = await anext(playing)
    finally:
        await playing.aclose()
    assert isinstance(halt, Halt), "it hands up what it waits for, and nobody is there to hear it"
    return halt


async def _ends(world: World, opened: Opened, errand: Errand, _tell: Tell) -> Halt:
    """One that was told to."""
    return await _halted(_play(world, opened, errand, is_child=True))


async def _play(world: World, opened: Opened, errand: Errand, *, is_child: bool) -> Playing:
    fence = await world.store.claim(opened.id, "tests")
    one = _One(world, Session.of(opened, errand, terms_of(world, opened.id)), fence)
    try:
        if opened.outcome is not None:
            yield Halt(why="ended", outcome=opened.outcome)
            return
        await one.recover()
        while True:
            halt = await one.turn(is_child=is_child)
            if halt is None and one.rests:
                if is_child:
                    yield one.session.waiting
                    one.wake()
                else:
                    halt = await one.ask()
            if halt is not None:
                yield halt
                return
    finally:
        for child in one.children.values():
            await child.playing.aclose()
        await world.store.release(opened.id, fence)


@dataclass(slots=True)
class _One:
    """One loop and the child it has under way."""

    world: World
    session: Session
    fence: int
    children: dict[Key, Child] = field(default_factory=dict)
    rests: bool = False  # nothing goes on without people

    async def recover(self) -> None:
        if any(item.kind == CancelRequested.__name__ for item in await self.world.store.inbox(self.session.id)):
            return  # what nobody wants any more is not looked up
        for action, flight in self.session.left_behind():
            answer = await looked_up(self.world, self.session.id, self.session.loop.name, action, flight.step)
            await (self._settle(answer) if answer else self._record(interrupted(flight)))

    async def ask(self) -> Halt | None:
        reply = await self.world.people.ask(self.session.waiting)
        if reply is None:
            return Halt(why="waiting", waiting=self.session.waiting)
        if reply.loop == self.session.id:
            self.rests = False
            await self._record(*self.session.heard(reply.said))
        else:
            self.wake()
            await self.world.store.post(reply.loop, type(reply.said).__name__, encode(reply.said))
        return None

    def wake(self) -> None:
        self.rests = False
        for key in self.children:
            self.session = self.session.told(key, ())

    async def turn(self, *, is_child: bool) -> Halt | None:
        for item in await self.world.store.inbox(self.session.id):
            said: Said | Refused = decode(SAID[item.kind], item.data)
            await self._record(*self.session.heard(said), taken=(item.id,))
        todo = self.session.todo()
        for flight in todo.cancel:
            if child := self.children.pop(flight.key, None):
                await child.playing.aclose()
            await self._record(cancelled(flight))
        if todo.cancel:
            return None
        if todo.stop is not None:
            if todo.stop.ending is Ending.CANCELLED:
                await cancel_below(self.world, self.session.errand, todo.stop.cleanup, _ends)
            await self._record(Recording(event=Ended(outcome=todo.stop)))
            return Halt(why="ended", outcome=todo.stop)
        if todo.held:
            return Halt(why="held", stand=self.session.stand)
        shortage = await self._intend(todo.intents) or todo.shortage
        todo = self.session.todo()
        await self._begin(todo.start)
        if not todo.idle:
            await self._go_on()
            return None
        return await (self._pause(shortage) if shortage else self._rest(is_child=is_child))

    async def _begin(self, effects: tuple[Effect, ...]) -> None:
        """What is no loop is done at once; all of it before any of it is heard."""
        answers = []
        for effect in effects:
            self.session = self.session.begun(effect.action.key)
            if isinstance(effect.action, RunLoop):
                loop = child_id(self.session.id, effect.action)
                self.children[effect.action.key] = Child(loop, self._child(effect.action))
            else:
                name = self.session.loop.name
                answers.append(await perform(self.world, self.session.id, name, effect.action, effect.step))
        for answer in answers:
            await self._settle(answer)

    async def _child(self, action: RunLoop) -> Playing:
        opened = await ready_child(self.world, self.session.id, action)
        if opened is None:
            yield Halt(why="ended", outcome=Outcome(ending=Ending.CANCELLED))
            return
        path = (*self.session.errand.path, opened.id)
        errand = Errand(path=path, upto=action.upto, takes=action.takes)
        playing = _play(self.world, opened, errand, is_child=True)
        try:
            async for step in playing:
                yield step
        finally:
            await playing.aclose()

    async def _go_on(self) -> None:
        for key, child in tuple(self.children.items()):
            step = await anext(child.playing)
            if not isinstance(step, Halt):
                self.session = self.session.told(key, step)
                continue
            await self.children.pop(key).playing.aclose()
            if step.why == "paused":
                shortage = Shortage(reason="time" if step.reason == "time" else "budget", detail=step.detail)
                self.session = self.session.suspended(key, shortage)
            else:
                await self._settle(LoopEnded(key=key, outcome=child_outcome(child.loop, step)))

    async def _pause(self, shortage: Shortage) -> Halt:
        await self._record(Recording(event=Paused(reason=shortage.reason, detail=shortage.detail)))
        return Halt(why="paused", reason=shortage.reason, detail=shortage.detail, waiting=self.session.waiting)

    async def _rest(self, *, is_child: bool) -> Halt | None:
        if is_child and self.session.is_its_parents:
            return Halt(why="waiting", waiting=self.session.waiting, stand=self.session.stand)
        self.rests = not await self.world.store.inbox(self.session.id)
        return None

    async def _intend(self, intents: tuple[Recording, ...]) -> Shortage | None:
        try:
            for line in intents:
                await self._record(line)
        except OverBudget as over:
            return Shortage(reason="budget", detail=str(over))
        return None

    async def _settle(self, answer: Answer) -> None:
        lines = self.session.heard(answer)
        try:
            await self._record(*lines)
        except OverBudget:
            await self._record(lines[0])

    async def _record(self, *lines: Recording, taken: tuple[int, ...] = ()) -> None:
        session, draft = self.session, self.session.draft(*lines, taken=taken)
        store = self.world.store
        written = await store.append(session.id, fence=self.fence, expected=session.length, batch=draft.append)
        self.session = session.written(draft)
        for stage, record in zip(draft.stages, written.records, strict=True):
            self.world.observer.recorded(
                Seen(
                    loop=session.id,
                    kind=session.loop.name,
                    state=stage.state,
                    event=stage.event,
                    seq=record.seq,
                    status=stage.status,
                )
            )
