"""A loop that nobody drives: several write to it, each for a moment, and nothing said to it lies in an inbox."""

from __future__ import annotations

import asyncio

import pytest

from loopwright.engine import hearing, looking
from loopwright.engine.hearing import hear
from loopwright.engine.journal import open_loop
from loopwright.engine.looking import look
from loopwright.engine.session import SNAPSHOT_EVERY, Session, Todo
from loopwright.errors import AlreadyRunning
from loopwright.kernel.actions import Stop, Tell, stop_of
from loopwright.kernel.codec import encode
from loopwright.kernel.events import StateEdited
from loopwright.kernel.model import Ending, Key, Outcome
from loopwright.kernel.sightings import Heard
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams
from loopwright.ports.dispatcher import Errand
from loopwright.ports.store import Append, NewEvent
from tests.engine.worlds import LOOP, Fakes

ADD = StateEdited(subject="queue", value='{"add":{"name":"A"}}', by="ann")
CLAIM = Tell(
    key=Key.parse("claim-1"),
    loop=LOOP,
    said=StateEdited(subject="next", value='{"status":"in-progress","loop":"l"}', by="l"),
)


async def recorded() -> Fakes:
    fakes = Fakes(loops={"queue": QUEUE})
    await fakes.create_loop("queue", encode(QueueParams(domain="shop")))
    return fakes


def test_the_end_is_wanted_only_where_it_is() -> None:
    stop = Stop(outcome=Outcome(ending=Ending.FAILED))
    assert (stop_of(()), stop_of((stop,)), stop_of((CLAIM,))) == (None, stop, None)


def test_there_is_nothing_to_do_about_a_loop_that_wants_nothing() -> None:
    async def story() -> None:
        fakes = await recorded()
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        session = Session.of(opened, Errand(path=(LOOP,)), lambda _action, _now: 0.0)
        assert session.todo() == Todo(idle=True)
        assert not opened.is_over

    asyncio.run(story())


def test_what_is_said_to_a_record_is_heard_and_folded_also_from_a_snapshot() -> None:
    async def story() -> None:
        fakes = await recorded()
        for _ in range(SNAPSHOT_EVERY + 1):
            await hear(fakes.store, fakes.loops, LOOP, ADD, fakes.recorder, patience=1)
        opened = await open_loop(fakes.store, fakes.loops, LOOP)
        assert (len(opened.now.state.systems), opened.row.status) == (SNAPSHOT_EVERY + 1, "waiting")
        assert opened.snapshot_seq

    asyncio.run(story())


def test_another_loop_hears_back_or_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_PATIENCE", 1)
    monkeypatch.setattr(hearing, "_PAUSE", 0.0)

    async def story() -> None:
        fakes = await recorded()
        refused = await look(fakes.world(), CLAIM, "step")
        assert refused == Heard(key=CLAIM.key, loop=LOOP, refused=f"{LOOP}: no system is ready")
        await hear(fakes.store, fakes.loops, LOOP, ADD, fakes.recorder)
        for _ in range(2):
            assert await look(fakes.world(), CLAIM, "step") == Heard(
                key=CLAIM.key, loop=LOOP, reply=("claimed sys-001",)
            )
        await fakes.store.claim(LOOP, "bob")
        with pytest.raises(AlreadyRunning, match="bob"):
            await look(fakes.world(), CLAIM, "step")
        with pytest.raises(AlreadyRunning):
            await hear(fakes.store, fakes.loops, LOOP, ADD, fakes.recorder, patience=1)
        assert await fakes.store.inbox(LOOP) == ()

    asyncio.run(story())


def test_what_was_read_while_another_was_at_it_is_read_again_where_they_wrote_since() -> None:
    async def story() -> None:
        fakes = await recorded()
        row = (await fakes.store.load(LOOP)).row
        fence = await fakes.store.claim(LOOP, "bob")
        known = await open_loop(fakes.store, fakes.loops, LOOP)  # and now bob writes
        batch = Append(entries=(NewEvent(kind="StateEdited", data=encode(ADD)),))
        await fakes.store.append(LOOP, fence=fence, expected=row.seq, batch=batch)
        await fakes.store.release(LOOP, fence)
        opened = await hear(fakes.store, fakes.loops, known, ADD, fakes.recorder)
        assert opened is not None
        assert len(opened.now.state.systems) == 2

    asyncio.run(story())
