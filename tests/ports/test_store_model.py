"""Random histories on both stores at once: they must answer alike, to the last hash."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.errors import EngineError, OverBudget
from loopwright.kernel.model import LoopId
from loopwright.ports.store import Append, NewEvent, NewLoop, Store, Written
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore

LOOPS = [LoopId(name) for name in ("a", "b", "c", "d")]
HANDLES = (0, 1)

loops = st.sampled_from(LOOPS)
handles = st.sampled_from(HANDLES)
money = st.sampled_from([0.0, 0.0, 0.1, 0.3, 1.0, 2.0])
entry = st.builds(
    NewEvent,
    kind=st.sampled_from(["A", "B"]),
    data=st.text(max_size=5),
    reserve=money,
    release=money,
    spend=money,
    estimated=st.booleans(),
)
batch = st.builds(
    Append,
    entries=st.lists(entry, max_size=3).map(tuple),
    status=st.none() | st.sampled_from(["paused", "complete"]),
    outcome=st.none() | st.just("{}"),
    snapshot=st.none() | st.text(max_size=5),
    taken=st.lists(st.integers(1, 4), max_size=2).map(tuple),
    budget=st.none() | st.sampled_from([0.5, 5.0]),
    unlimited=st.booleans(),
)


class BothStores(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.runner = asyncio.Runner()
        memory = Memory()
        path = self.folder / ".loop" / "loop.db"
        self.pairs = [(SqliteStore.open(path, self.clock), MemoryStore(memory, self.clock)) for _ in HANDLES]
        self.fences: dict[LoopId, int] = {}
        self.lengths: dict[LoopId, int] = {}

    def both(self, handle: int, ask: Callable[[Store], Coroutine[Any, Any, object]]) -> object:
        real, model = (self.answer(ask(store)) for store in self.pairs[handle])
        assert real == model
        return real

    def answer(self, asking: Coroutine[Any, Any, object]) -> object:
        try:
            return self.runner.run(asking)
        except OverBudget as error:
            return str(error)
        except EngineError as error:
            return type(error)

    @rule(handle=handles, loop=loops, parent=st.none() | loops, budget=st.none() | money, first=entry)
    def create(self, handle: int, loop: LoopId, parent: LoopId | None, budget: float | None, first: NewEvent) -> None:
        new = NewLoop(id=loop, kind="feedback", params="{}", parent=parent, budget=budget)
        if isinstance(self.both(handle, lambda store: store.create(new, first)), Written):
            self.lengths[loop] = 1

    @rule(handle=handles, loop=loops)
    def claim(self, handle: int, loop: LoopId) -> None:
        fence = self.both(handle, lambda store: store.claim(loop, f"handle {handle}"))
        if isinstance(fence, int):
            self.fences[loop] = fence

    @rule(handle=handles, loop=loops)
    def release(self, handle: int, loop: LoopId) -> None:
        self.both(handle, lambda store: store.release(loop, self.fences.get(loop, 0)))

    @precondition(lambda self: self.fences)
    @rule(handle=handles, what=batch, loop=loops, off=st.sampled_from([0, 0, 0, 0, 1]))
    def append(self, handle: int, what: Append, loop: LoopId, off: int) -> None:
        fence, expected = self.fences.get(loop, 1), self.lengths.get(loop, 0) + off
        written = self.both(handle, lambda store: store.append(loop, fence=fence, expected=expected, batch=what))
        if isinstance(written, Written):
            self.lengths[loop] = expected + len(written.records)

    @rule(handle=handles, loop=loops, data=st.text(max_size=5))
    def post(self, handle: int, loop: LoopId, data: str) -> None:
        self.both(handle, lambda store: store.post(loop, "Answered", data))

    @rule(handle=handles, loop=loops, key=st.sampled_from("xyz"), data=st.text(max_size=5))
    def keep_receipt(self, handle: int, loop: LoopId, key: str, data: str) -> None:
        self.both(handle, lambda store: store.keep_receipt(key, loop, data))

    @rule(handle=handles, loop=loops, after=st.integers(0, 5), limit=st.none() | st.integers(0, 3))
    def read(self, handle: int, loop: LoopId, after: int, limit: int | None) -> None:
        self.both(handle, lambda store: store.read(loop, after=after, limit=limit))

    @rule(seconds=st.sampled_from([0.1, 1.0, -5.0]))
    def clock_moves(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def they_look_alike(self) -> None:
        self.both(0, lambda store: store.rows())
        for loop in self.lengths:
            self.look_at(loop)

    def look_at(self, loop: LoopId) -> None:
        self.both(0, lambda store: store.load(loop))
        self.both(0, lambda store: store.load(loop, snapshot=False))
        self.both(1, lambda store: store.verify(loop))
        self.both(0, lambda store: store.inbox(loop))
        self.both(1, lambda store: store.holder(loop))
        self.both(0, lambda store: store.receipts(loop))

    def teardown(self) -> None:
        for pair in self.pairs:
            for store in pair:
                self.runner.run(store.close())
        self.runner.close()
        shutil.rmtree(self.folder)


TestBothStores = BothStores.TestCase
TestBothStores.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
