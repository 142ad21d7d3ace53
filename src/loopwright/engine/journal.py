"""One loop's log, folded: its state, what is in flight, and the only way to add to it.

Everything the engine knows about a loop passes through here, on the first run and on resume alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, get_args

from loopwright.engine.world import AnyLoop
from loopwright.errors import InvalidTransition, StoreCorrupt
from loopwright.kernel.actions import Action, Ask, AwaitGate, Stop
from loopwright.kernel.codec import DecodeError, build, decode, encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Bookkeeping,
    BudgetChanged,
    ChecksReported,
    ConfigChanged,
    Created,
    Ended,
    Logged,
    Paused,
    Started,
)
from loopwright.kernel.model import Ending, Key, LoopId, Outcome
from loopwright.ports.store import Batch, Entry, Loaded, Record, Status, Store

SNAPSHOT_EVERY = 64
KINDS: dict[str, type] = {kind.__name__: kind for kind in get_args(Logged)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """An action that was started and has no answer yet. `step` names this very try over all time."""

    key: Key
    step: str
    reserved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What a log comes to: all that a snapshot holds."""

    state: Any = None
    flights: tuple[Flight, ...] = ()
    tokens: int = 0
    seconds: float = 0.0
    settings: str = ""  # the configuration this run is pinned to, as JSON


def folded(loop: AnyLoop, loaded: Loaded, path: str = "the event log") -> Folded:
    """The state after the newest event. Raises `StoreCorrupt` naming the event that does not fit."""
    now = Folded() if loaded.snapshot is None else _unpacked(loop, loaded.snapshot, loaded.snapshot_seq)
    for record in loaded.tail:
        try:
            now = after(loop, now, read_event(record), record)
        except (DecodeError, InvalidTransition, KeyError) as error:
            raise StoreCorrupt(path, f"event {record.seq} of loop {record.loop}", str(error)) from error
    return now


def read_event(record: Record) -> Logged:
    """The event a record holds."""
    kind = KINDS.get(record.kind)
    if kind is None:
        raise DecodeError(f"unknown kind of event {record.kind!r}")
    event: Logged = decode(kind, record.data)
    return event


def after(loop: AnyLoop, now: Folded, event: Logged, record: Record) -> Folded:
    """The fold, one event further."""
    if isinstance(event, Created):
        return Folded(state=loop.start(decode(loop.params, event.params)), settings=event.settings)
    if isinstance(event, Started):
        step = f"{record.loop}/{record.seq}/{event.key}"
        return replace(now, flights=(*now.flights, Flight(key=event.key, step=step, reserved=record.reserve)))
    key = getattr(event, "key", None)
    flights = tuple(flight for flight in now.flights if flight.key != key)
    state = now.state if isinstance(event, Bookkeeping) else loop.apply(now.state, event)
    tokens, seconds = _taken(event)
    settings = event.settings if isinstance(event, ConfigChanged) else now.settings
    return Folded(
        state=state,
        flights=flights,
        tokens=now.tokens + tokens,
        seconds=now.seconds + seconds,
        settings=settings,
    )


def _taken(event: Logged) -> tuple[int, float]:
    match event:
        case AgentReported() | AgentFailed() | AgentUnavailable():
            return event.usage.input_tokens + event.usage.output_tokens, event.usage.seconds
        case ChecksReported():
            return 0, event.seconds
        case _:
            return 0, 0.0


def _packed(now: Folded) -> str:
    return encode(now)


def _unpacked(loop: AnyLoop, text: str, seq: int) -> Folded:
    data = json.loads(text)
    try:
        state = build(loop.state, data.pop("state"), "$.state")
        return replace(build(Folded, data), state=state)
    except (DecodeError, AttributeError, KeyError) as error:
        raise StoreCorrupt("the event log", f"snapshot at event {seq}", str(error)) from error


class Journal:
    """The writing side, held by the one controller that has the loop's fence."""

    def __init__(self, store: Store, loop: AnyLoop, loaded: Loaded, fence: int) -> None:
        self._store, self.loop, self._fence = store, loop, fence
        self.id: LoopId = loaded.row.id
        self.parent = loaded.row.parent
        self.length = loaded.row.seq
        self._snapshot_at = loaded.snapshot_seq
        self.now = folded(loop, loaded)
        self.outcome = decode(Outcome, loaded.row.outcome) if loaded.row.outcome else None

    @property
    def wanted(self) -> tuple[Action, ...]:
        return self.loop.decide(self.now.state)

    def flight(self, key: Key) -> Flight | None:
        return next((flight for flight in self.now.flights if flight.key == key), None)

    async def append(
        self, event: Logged, *, reserve: float = 0.0, spend: float = 0.0, taken: tuple[int, ...] = ()
    ) -> Status:
        """Make the event durable; the machine sees it first and may refuse it, and then nothing happened."""
        flight = self.flight(getattr(event, "key", Key("")))
        release = flight.reserved if flight and not isinstance(event, Started) else 0.0
        entry = Entry(kind=type(event).__name__, data=encode(event), reserve=reserve, release=release, spend=spend)
        probe = Record(loop=self.id, seq=self.length + 1, at=0.0, kind=entry.kind, data=entry.data, reserve=reserve)
        then = after(self.loop, self.now, event, probe)
        status = self._status(then, event)
        due = self.length + 1 - self._snapshot_at >= SNAPSHOT_EVERY
        batch = Batch(
            entries=(entry,),
            status=status,
            outcome=encode(event.outcome) if isinstance(event, Ended) else None,
            snapshot=_packed(then) if due else None,
            taken=taken,
            notices=(f"{self.id} needs a person",) if status == "waiting" and isinstance(event, Started) else (),
            budget=event.usd if isinstance(event, BudgetChanged) else None,
        )
        self.length = await self._store.append(self.id, fence=self._fence, expected=self.length, batch=batch)
        self.now = then
        if due:
            self._snapshot_at = self.length
        return status

    def _status(self, now: Folded, event: Logged) -> Status:
        if isinstance(event, Ended):
            return "cancelled" if event.outcome.ending is Ending.CANCELLED else "complete"
        if isinstance(event, Paused):
            return "paused"
        wanted = self.loop.decide(now.state)
        if any(isinstance(action, Stop) for action in wanted):
            return "running"
        return "waiting" if all(isinstance(action, Ask | AwaitGate) for action in wanted) else "running"
