"""How many work at once, what all of them may take, and that a child may be driven elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from loopwright.engine.dispatch import InProcess, Spending
from loopwright.engine.driver import drive
from loopwright.kernel.model import Ending, LoopId, Outcome
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.ports.dispatcher import Dispatcher, Errand, Shortage, Tell
from loopwright.ports.people import Reply, Waiting
from tests.engine.nested import ASKER, FORK, asks, fork
from tests.engine.test_waiting import answer_to
from tests.engine.worlds import LOOP, Fakes

A, B = LoopId("a"), LoopId("b")


def test_a_limit_is_one_for_all_loops_together_and_a_loop_counts_itself_once() -> None:
    dispatcher: Dispatcher = InProcess(spending=Spending(tokens=100, seconds=60.0))
    dispatcher.took(A, 60, 10.0)
    dispatcher.took(B, 30, 10.0)
    dispatcher.took(B, 39, 20.0)
    assert dispatcher.counts
    assert dispatcher.shortage(A, 60, 10.0) is None
    assert dispatcher.shortage(A, 61, 10.0) == Shortage(
        reason="tokens", detail="100 of 100 tokens are used (where a run did not say, estimated)"
    )
    assert dispatcher.shortage(B, 39, 50.0) == Shortage(reason="time", detail="60 of 60 seconds of work are used")


def test_without_limits_nothing_is_short() -> None:
    dispatcher = InProcess()
    dispatcher.took(A, 10**9, 10.0**9)
    assert (dispatcher.counts, dispatcher.shortage(B, 10**9, 0.0)) == (False, None)


class Elsewhere(InProcess):
    """Has other machines: nothing is driven here."""

    def __init__(self) -> None:
        super().__init__()
        self.errands: list[Errand] = []
        self.answered = asyncio.Event()

    async def run(self, errand: Errand, tell: Tell, here: Callable[[], Awaitable[Outcome]]) -> Outcome:
        self.errands.append(errand)
        tell((Waiting(path=errand.path, what=ASKER.decide(ASKER.start(ASKER.params()))[0]),))  # type: ignore[arg-type]
        await self.answered.wait()
        return Outcome(ending=Ending.VERIFIED, loop=errand.child)


def test_a_child_that_is_driven_elsewhere_is_asked_for_and_heard_at_the_root_all_the_same() -> None:
    async def story() -> None:
        fakes = Fakes(loops={"fork": FORK, "asker": ASKER, "feedback": FEEDBACK})
        await fakes.create_loop("fork", fork(asks("far"), takes=("escalation",)))
        dispatcher = Elsewhere()

        class There:
            async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
                dispatcher.answered.set()
                return await fakes.people.ask(waiting)

        fakes.people.says = [answer_to]
        halt = await drive(replace(fakes.world(), dispatcher=dispatcher, people=There()), LOOP)
        assert halt.outcome is not None
        (errand,) = dispatcher.errands
        assert (errand.path[0], errand.takes, len(errand.path)) == (LOOP, ("escalation",), 2)
        items = await fakes.store.inbox(errand.child)
        assert [item.kind for item in items] == ["Answered"]

    asyncio.run(story())


def test_what_is_left_of_the_time_is_one_for_all_loops() -> None:
    dispatcher = InProcess(spending=Spending(seconds=60.0))
    dispatcher.took(A, 0, 10.0)
    dispatcher.took(B, 0, 20.0)
    assert dispatcher.seconds_left() == 30.0
    dispatcher.took(B, 0, 90.0)
    assert dispatcher.seconds_left() == 0.0
    assert InProcess(spending=Spending(tokens=1)).seconds_left() is None
