"""The smallest machine there is: it waits for a moment that has passed, again and again. For P2 and P3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.adapters.terminal.prompt import Nobody
from loopwright.engine.dispatch import InProcess
from loopwright.engine.world import Seen, World
from loopwright.kernel.actions import Action, Stop, WaitUntil
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created, Event, TimeReached
from loopwright.kernel.machine import Loop, Standpoint
from loopwright.kernel.model import Ending, Key, LoopId, Outcome
from loopwright.ports.agent import Update
from loopwright.ports.store import NewEvent, NewLoop
from loopwright.testing.fakes import MemoryWorkspace, ScriptedAgent, ScriptedVerdicts

LOOP = LoopId("count")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountParams:
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    last: int
    now: int = 0


def decide(state: Count) -> tuple[Action, ...]:
    if state.now >= state.last:
        return (Stop(outcome=Outcome(ending=Ending.VERIFIED)),)
    return (WaitUntil(key=Key.parse(f"wait-{state.now}"), when=0.0),)


def apply(state: Count, event: Event) -> Count:
    if not isinstance(event, TimeReached):
        raise TypeError(event)
    return replace(state, now=state.now + 1)


COUNT: Loop[CountParams, Count] = Loop(
    name="count",
    params=CountParams,
    state=Count,
    start=lambda params: Count(last=params.last),
    decide=decide,
    apply=apply,
    stand=lambda state: Standpoint(state="COUNT", attempt=state.now, limit=state.last),
)


class Ticks:
    """An observer that calls back on every event."""

    def __init__(self, heard: Callable[[int], None]) -> None:
        self._heard = heard

    def recorded(self, seen: Seen) -> None:
        self._heard(seen.seq)

    def progressed(self, update: Update) -> None:
        """Nothing runs here."""


def _nothing(_: object) -> tuple[()]:
    return ()


def counting_world(store: SqliteStore, heard: Callable[[int], None]) -> World:
    return World(
        store=store,
        clock=SystemClock(),
        agent=ScriptedAgent(lambda run: (_ for _ in ()).throw(AssertionError(run))),
        checks=ScriptedVerdicts(_nothing),
        workspace=MemoryWorkspace(),
        people=Nobody(),
        observer=Ticks(heard),
        loops={"count": COUNT},
        who="bench",
        dispatcher=InProcess(slots=1),
    )


async def counting_store(folder: Path, transitions: int) -> SqliteStore:
    store = SqliteStore.open(folder / "loop.db", SystemClock())
    params = encode(CountParams(last=transitions))
    created = NewEvent(kind="Created", data=encode(Created(kind="count", params=params)))
    await store.create(NewLoop(id=LOOP, kind="count", params=params), created)
    return store
