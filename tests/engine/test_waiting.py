"""People through nesting: what a loop waits for, however deep, is asked and answered at its root."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.engine.dispatch import InProcess
from loopwright.engine.driver import drive
from loopwright.engine.hearing import hear
from loopwright.engine.journal import open_loop
from loopwright.engine.nesting import child_id, waiting_below
from loopwright.engine.world import Halt
from loopwright.errors import AlreadyRunning, Forbidden
from loopwright.kernel.actions import AwaitGate, ForPeople, RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Answered, CancelRequested, GateDecided, Said
from loopwright.kernel.model import Ending, Key, LoopId
from loopwright.kernel.record import read_event
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.people import Reply, Waiting
from loopwright.ports.store import Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.nested import ASK, ASKER, FORK, GATE, Branch, asks, fork
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed

WORK = Branch(name="work", kind="feedback", params=encode(FeedbackParams(task="add a", base=BASE)))


def below(*names: str) -> tuple[LoopId, ...]:
    path = [LOOP]
    for name in names:
        path.append(child_id(path[-1], RunLoop(key=Key.parse("k"), kind="", params="", name=name)))
    return tuple(path)


THREE_DEEP = fork(Branch(name="middle", kind="fork", params=fork(asks("deep"))))
DEEP = below("middle", "deep")
BOTH = [(DEEP, ASK), (DEEP, GATE)]


def answer_to(what: ForPeople, text: str = "blue") -> Said:
    if isinstance(what, AwaitGate):
        return GateDecided(key=what.key, gate=what.gate, approved=True, evidence=what.evidence, by="ann")
    return Answered(key=what.key, choice="answer", text=text, by="ann")


def seen(waiting: tuple[Waiting, ...]) -> list[tuple[tuple[LoopId, ...], Key]]:
    return [(each.path, each.what.key) for each in waiting]


@dataclass(slots=True)
class Tower:
    """A root over whatever stands in it, and a store that other processes have handles on."""

    params: str
    handle: Callable[[], Store] = field(default_factory=lambda: partial(MemoryStore, Memory(), ManualClock()))
    fakes: Fakes = field(init=False)

    async def build(self) -> Tower:
        self.fakes = Fakes(store=self.handle())
        self.fakes.loops = {"fork": FORK, "asker": ASKER, "feedback": FEEDBACK}
        await self.fakes.create_loop("fork", self.params)
        return self

    async def drive(self, **world: object) -> Halt:
        return await drive(replace(self.fakes.world(), **world), LOOP)  # type: ignore[arg-type]

    async def waiting(self) -> tuple[Waiting, ...]:
        store = self.handle()
        root = await open_loop(store, self.fakes.loops, LOOP)
        return await waiting_below(store, self.fakes.loops, root)

    async def say(self, waiting: Waiting, said: Said | None = None) -> bool:
        return await self.tell(waiting.loop, said or answer_to(waiting.what))

    async def tell(self, loop: LoopId, said: Said) -> bool:
        """From another process."""
        return await hear(self.handle(), self.fakes.loops, loop, said, self.fakes.recorder) is not None

    async def log(self, loop: LoopId) -> list[str]:
        return [record.kind for record in await self.fakes.store.read(loop)]


async def three_deep(tower: Tower | None = None) -> Tower:
    return await (tower or Tower(THREE_DEEP)).build()


def test_what_the_innermost_waits_for_is_shown_at_the_root_with_the_way_to_it() -> None:
    async def story() -> None:
        tower = await three_deep()
        halt = await tower.drive()
        assert (halt.why, seen(halt.waiting)) == ("waiting", BOTH)
        assert seen(tuple(tower.fakes.people.asked)) == BOTH
        assert await tower.waiting() == halt.waiting
        assert [await tower.log(loop) for loop in DEEP[:2]] == [["Created", "Started"]] * 2

    asyncio.run(story())


@pytest.mark.parametrize("first", [0, 1])
def test_a_gate_and_a_question_three_deep_are_answered_one_after_the_other_while_nobody_drives(first: int) -> None:
    async def story() -> None:
        tower = await three_deep()
        halt = await tower.drive()
        assert await tower.say(halt.waiting[first]) is True
        halt = await tower.drive()
        assert seen(halt.waiting) == [BOTH[1 - first]]
        assert await tower.waiting() == halt.waiting
        assert await tower.say(halt.waiting[0]) is True
        assert await tower.waiting() == ()
        halt = await tower.drive()
        assert halt.outcome is not None
        assert (halt.outcome.ending, [row.status for row in await tower.fakes.store.rows()]) == (
            Ending.VERIFIED,
            ["complete"] * 3,
        )
        assert "Refused" not in await tower.log(DEEP[-1])

    asyncio.run(story())


def test_killed_at_any_append_the_three_deep_resume_and_wait_for_the_same() -> None:
    async def story() -> None:
        for point in range(1, 12):
            tower = await three_deep()
            with suppress(Killed):
                await tower.drive(store=DyingStore(tower.fakes.store, point))
            halt = await tower.drive()
            assert seen(halt.waiting) == BOTH, point
            for waiting in halt.waiting:
                await tower.say(waiting)
            with suppress(Killed):
                await tower.drive(store=DyingStore(tower.fakes.store, point % 4 + 1))
            halt = await tower.drive()
            assert halt.outcome is not None, point
            kinds = await tower.log(DEEP[-1])
            assert (kinds.count("Answered"), kinds.count("GateDecided"), kinds.count("Ended")) == (1, 1, 1)

    asyncio.run(story())


@dataclass(slots=True)
class AtThePrompt:
    """A person who reads what is asked and does not answer here."""

    asked: asyncio.Queue[tuple[Waiting, ...]] = field(default_factory=asyncio.Queue)

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        self.asked.put_nowait(waiting)
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("on_disk", [False, True])
def test_with_a_live_controller_the_waiting_loop_hears_it_through_its_own_inbox(
    tmp_path: Path, *, on_disk: bool
) -> None:
    async def story() -> None:
        disk = Tower(THREE_DEEP, partial(SqliteStore.open, tmp_path / ".loop" / "loop.db", ManualClock()))
        tower, person = await three_deep(disk if on_disk else None), AtThePrompt()
        driving = asyncio.create_task(tower.drive(people=person))
        asked = await person.asked.get()
        assert (seen(asked), await tower.waiting()) == (BOTH, asked)
        assert await tower.say(asked[0], Answered(key=ASK, choice="answer", by="bob")) is False  # no text: refused
        assert await tower.say(asked[1]) is False
        assert seen(await person.asked.get()) == BOTH[:1]  # the prompt stood until something else was to be asked
        assert await tower.say(asked[0]) is False
        halt = await driving
        assert halt.outcome is not None
        assert (await tower.log(DEEP[-1])).count("Refused") == 1

    asyncio.run(story())


def test_what_is_said_at_the_prompt_of_the_root_goes_to_the_loop_that_waits() -> None:
    def nonsense(what: ForPeople) -> Said:
        return Answered(key=what.key, choice="answer", by="ann")

    async def story() -> None:
        tower = await three_deep()
        tower.fakes.people.says = [nonsense, answer_to, answer_to]
        halt = await tower.drive()
        assert halt.outcome is not None
        assert seen(tuple(tower.fakes.people.asked)) == [*BOTH, *BOTH, BOTH[1]]
        events = [read_event(record) for record in await tower.fakes.store.read(DEEP[-1])]
        assert [type(event).__name__ for event in events if getattr(event, "by", "") == "ann"] == [
            "Refused",
            "Answered",
            "GateDecided",
        ]
        assert [await tower.log(loop) for loop in DEEP[:2]] == [["Created", "Started", "LoopEnded", "Ended"]] * 2

    asyncio.run(story())


def test_siblings_go_on_while_one_waits_and_it_holds_no_slot() -> None:
    async def story() -> None:
        tower = await Tower(fork(asks("left"), WORK, asks("right", gate=False))).build()
        halt = await tower.drive(dispatcher=InProcess(slots=1))
        work = below("work")[-1]
        assert (await tower.log(work))[-1] == "Ended"
        assert (await tower.log(LOOP)).count("LoopEnded") == 1
        assert {each.loop for each in halt.waiting} == {below("left")[-1], below("right")[-1]}
        assert len(tower.fakes.people.asked) == len(halt.waiting) == 3  # asked once, when nothing else went on
        for waiting in halt.waiting:
            await tower.say(waiting)
        halt = await tower.drive()
        assert halt.outcome is not None
        assert {part.name for part in halt.outcome.parts} == {"left", "work", "right"}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("takes", "is_taken"),
    [((), False), (("question",), False), (("escalation", "gate"), False), (("question", "gate"), True)],
)
def test_a_parent_hears_itself_what_a_child_waits_for_if_it_takes_all_of_it(
    takes: tuple[Literal["escalation", "question", "gate"], ...], *, is_taken: bool
) -> None:
    async def story() -> None:
        tower = await Tower(fork(asks("only"), takes=takes)).build()
        halt = await tower.drive()
        assert (halt.why == "ended") is is_taken
        if halt.outcome is not None:
            (part,) = halt.outcome.parts
            assert (part.ending, part.note) == (Ending.ESCALATED, "Which colour?; protected")
            assert await tower.waiting() == ()

    asyncio.run(story())


def test_a_wait_of_a_grandchild_is_not_taken_by_the_parent_of_its_parent() -> None:
    async def story() -> None:
        middle = Branch(name="middle", kind="fork", params=fork(asks("deep")))
        tower = await Tower(fork(middle, takes=("question", "gate"))).build()
        halt = await tower.drive()
        assert seen(halt.waiting) == BOTH

    asyncio.run(story())


def test_a_cancelled_root_takes_its_waiting_children_with_it() -> None:
    async def story() -> None:
        tower, person = await three_deep(), AtThePrompt()
        driving = asyncio.create_task(tower.drive(people=person))
        await person.asked.get()
        assert await tower.tell(LOOP, CancelRequested(by="ann")) is False
        halt = await driving
        assert halt.outcome is not None
        assert {row.status for row in await tower.fakes.store.rows()} == {"cancelled"}
        assert [await tower.fakes.store.holder(loop) for loop in DEEP] == [None] * 3

    asyncio.run(story())


def test_an_answer_that_is_being_recorded_holds_up_its_controller_only_for_a_moment() -> None:
    async def story() -> None:
        tower = await three_deep()
        await tower.drive()
        other = tower.handle()
        fence = await other.claim(DEEP[1], "somebody who answers")
        driving = asyncio.create_task(tower.drive())
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(20)))  # it tries, and tries again
        await other.release(DEEP[1], fence)
        assert seen((await driving).waiting) == BOTH
        await other.claim(DEEP[1], "somebody who stays")
        with pytest.raises(AlreadyRunning, match="somebody who stays"):
            await tower.drive()

    asyncio.run(story())


def test_what_a_loop_below_does_not_allow_is_refused_and_said() -> None:
    async def story() -> None:
        tower = await three_deep()
        halt = await tower.drive()
        with pytest.raises(Forbidden, match="it has no place for that"):
            await tower.say(halt.waiting[0], Answered(key=ASK, choice="answer", by="ann"))
        with pytest.raises(Forbidden, match="clarify-7 is not asked for"):
            await tower.say(halt.waiting[0], Answered(key=Key.parse("clarify-7"), choice="answer", text="x", by="ann"))
        assert (await tower.log(DEEP[-1]))[-2:] == ["Refused", "Refused"]

    asyncio.run(story())
