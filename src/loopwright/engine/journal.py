"""One loop's log, folded: its state, what is in flight, and the only way to add to it.

Everything the engine knows about a loop passes through here, on the first run and on resume alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, get_args

from loopwright.engine.world import AnyLoop, Seen
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
    key_of,
)
from loopwright.kernel.machine import asked_for
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
    key = key_of(event)
    flights = tuple(flight for flight in now.flights if flight.key != key)
    state = now.state
    if not isinstance(event, Bookkeeping):
        asked_for(loop, state, event)
        state = loop.apply(state, event)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One event to be appended, with the money it moves."""

    event: Logged
    reserve: float = 0.0
    spend: float = 0.0


def _entry(line: Line, now: Folded) -> Entry:
    """What an answer to a flight releases is what that flight had reserved."""
    key = key_of(line.event)
    held = 0.0 if isinstance(line.event, Started) else sum(f.reserved for f in now.flights if f.key == key)
    return Entry(
        kind=type(line.event).__name__, data=encode(line.event), reserve=line.reserve, release=held, spend=line.spend
    )


def _as_record(loop: LoopId, seq: int, entry: Entry) -> Record:
    return Record(loop=loop, seq=seq, at=0.0, kind=entry.kind, data=entry.data, reserve=entry.reserve)


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

    async def append(self, *lines: Line, taken: tuple[int, ...] = ()) -> tuple[Seen, ...]:
        """Make the events durable, all or none. The machine sees them first; if it refuses, nothing happened."""
        now, seen, entries = self.now, [], []
        for seq, line in enumerate(lines, start=self.length + 1):
            entry = _entry(line, now)
            now = after(self.loop, now, line.event, _as_record(self.id, seq, entry))
            entries.append(entry)
            seen.append(self._seen(now, line.event, seq))
        due = seen[-1].seq - self._snapshot_at >= SNAPSHOT_EVERY
        last = seen[-1]
        batch = Batch(
            entries=tuple(entries),
            status=last.status,
            outcome=encode(last.event.outcome) if isinstance(last.event, Ended) else None,
            snapshot=_packed(now) if due else None,
            taken=taken,
            notices=(f"{self.id} needs a person",)
            if last.status == "waiting" and isinstance(last.event, Started)
            else (),
            budget=next((line.event.usd for line in lines if isinstance(line.event, BudgetChanged)), None),
        )
        self.length = await self._store.append(self.id, fence=self._fence, expected=self.length, batch=batch)
        self.now = now
        if due:
            self._snapshot_at = self.length
        return await self._dated(seen)

    async def _dated(self, seen: list[Seen]) -> tuple[Seen, ...]:
        """With the moment the store gave all of them: whoever renders them now and later must say the same."""
        (last,) = await self._store.read(self.id, after=seen[-1].seq - 1, limit=1)
        return tuple(replace(each, at=last.at) for each in seen)

    def after(self, line: Line) -> Folded:
        """What the fold would be after this event. Raises `InvalidTransition` if the machine refuses it."""
        return after(self.loop, self.now, line.event, _as_record(self.id, self.length + 1, _entry(line, self.now)))

    def _seen(self, now: Folded, event: Logged, seq: int) -> Seen:
        status = self._status(now, event)
        return Seen(loop=self.id, kind=self.loop.name, state=now.state, event=event, seq=seq, status=status)

    def _status(self, now: Folded, event: Logged) -> Status:
        if isinstance(event, Ended):
            return "cancelled" if event.outcome.ending is Ending.CANCELLED else "complete"
        if isinstance(event, Paused):
            return "paused"
        wanted = self.loop.decide(now.state)
        if any(isinstance(action, Stop) for action in wanted):
            return "running"
        return "waiting" if all(isinstance(action, Ask | AwaitGate) for action in wanted) else "running"
