"""What a log comes to: the machine's state, what is in flight, what was taken. First run and resume alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from loopwright.errors import EngineError, InvalidTransition, LoopUnreadable, SnapshotUnusable, StoreCorrupt
from loopwright.kernel.actions import Action, stop_of
from loopwright.kernel.changing import replace
from loopwright.kernel.codec import DecodeError, build, decode, encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Answered,
    Bookkeeping,
    ChecksReported,
    ConfigChanged,
    Created,
    Event,
    Interrupted,
    Logged,
    Started,
)
from loopwright.kernel.machine import Loop, Standpoint, answers_one_of
from loopwright.kernel.model import Key, LoopId, Outcome
from loopwright.kernel.record import Record, read_event
from loopwright.ports.store import Loaded, LoopRow, Written

AnyLoop = Loop[Any, Any]
Each = Callable[[Record, Any], None]  # hears of every event with the state after it
# Of snapshots: in one of another form, or of none, the state may have had another shape or other defaults, which are
# not written. It is raised with every change to either.
FORM = 5
_HEAD = f'{{"form":{FORM},"fold":'
_LOG = "the event log"
# What numbers and texts that nobody thought of make of code that is right for all others.
FROM_DATA = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
# A decision on a gate is bound to its evidence, and may be for one that is not wanted just now: the machine knows.
_MUST_BE_ASKED_FOR = (*get_args(Answer), Answered)


def known_loop(loops: Mapping[str, AnyLoop], kind: str) -> AnyLoop:
    """The machine of that kind, or the sentence that says this version has none."""
    if kind not in loops:
        raise EngineError(f"this version knows no {kind!r} loops, only {', '.join(loops)}; upgrade to go on with it")
    return loops[kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """An action that was started and has no answer yet. `step` names this very try over all time."""

    key: Key
    step: str
    reserved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """All that a snapshot holds."""

    state: Any = None
    flights: tuple[Flight, ...] = ()
    tokens: int = 0
    seconds: float = 0.0
    settings: str = ""  # the configuration this run is pinned to, as JSON
    rules: str = ""  # how files are converted, likewise
    pins: str = ""  # what else it is pinned to, by digest; empty: nobody has noted it

    def flight(self, key: Key | None) -> Flight | None:
        for flight in self.flights:
            if flight.key == key:
                return flight
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A loop as its log has it. Whoever has read it hands it on, so that nobody reads it twice."""

    row: LoopRow
    loop: AnyLoop
    now: Fold
    snapshot_seq: int = 0
    snapshot_size: int = 0  # in characters

    @property
    def id(self) -> LoopId:
        return self.row.id

    @property
    def wanted(self) -> tuple[Action, ...]:
        """Raises `LoopUnreadable` where the machine cannot tell."""
        try:
            return self.loop.decide(self.now.state)
        except FROM_DATA as error:
            raise LoopUnreadable(_LOG, f"loop {self.id}", str(error), self.id) from error

    @property
    def is_over(self) -> bool:
        """It has ended, and nothing that was approved since is still to be landed or to be put on record."""
        return bool(self.row.outcome) and self.row.status != "running" and stop_of(self.wanted) is not None

    @property
    def standpoint(self) -> Standpoint:
        return self.loop.stand(self.now.state)

    @property
    def outcome(self) -> Outcome | None:
        """Raises `StoreCorrupt` where the row has one that cannot be read."""
        try:
            return decode(Outcome, self.row.outcome) if self.row.outcome else None
        except DecodeError as error:
            raise StoreCorrupt(_LOG, f"outcome of loop {self.id}", str(error)) from error


def opened(loop: AnyLoop, loaded: Loaded, each: Each | None = None) -> Opened:
    """Raises `StoreCorrupt` naming the event, or the snapshot, that does not fit."""
    return Opened(
        row=loaded.row,
        loop=loop,
        now=fold(loop, loaded, each),
        snapshot_seq=loaded.snapshot_seq,
        snapshot_size=len(loaded.snapshot or ""),
    )


def just_made(loop: AnyLoop, written: Written, each: Each | None = None) -> Opened:
    """A loop that was created a moment ago: nothing has to be read."""
    return opened(loop, Loaded(row=written.row, snapshot=None, snapshot_seq=0, tail=written.records), each)


def fold(loop: AnyLoop, loaded: Loaded, each: Each | None = None) -> Fold:
    """The state after the newest event. `each` hears of those that came after the snapshot."""
    now = Fold() if loaded.snapshot is None else _unpacked(loop, loaded.snapshot, loaded.snapshot_seq)
    for record in loaded.tail:
        try:
            now = after(loop, now, read_event(record), at=f"{record.loop}/{record.seq}", reserve=record.reserve)
        except (InvalidTransition, *FROM_DATA) as error:
            raise LoopUnreadable(_LOG, f"event {record.seq} of loop {record.loop}", str(error), record.loop) from error
        if each is not None:
            each(record, now.state)
    return now


def after(
    loop: AnyLoop,
    now: Fold,
    event: Logged,
    *,
    at: str,
    reserve: float = 0.0,
    wanted: tuple[Action, ...] | None = None,
) -> Fold:
    """The fold, one event further. Raises `InvalidTransition` if it is refused.

    `at` is the event's place in the log, `wanted` what the machine wants before it, for those who know that already.
    """
    if isinstance(event, Created):
        state = loop.start(decode(loop.params, event.params))
        return Fold(state=state, settings=event.settings, rules=event.rules, pins=event.pins)
    if isinstance(event, Started):
        flight = Flight(key=event.key, step=f"{at}/{event.key}", reserved=reserve)
        return replace(now, flights=(*now.flights, flight))
    key = getattr(event, "key", None)
    tokens, seconds = _taken(event)
    return Fold(
        state=now.state if isinstance(event, Bookkeeping) else _applied(loop, now.state, event, wanted),
        flights=tuple(flight for flight in now.flights if flight.key != key),
        tokens=now.tokens + tokens,
        seconds=now.seconds + seconds,
        settings=event.settings if isinstance(event, ConfigChanged) else now.settings,
        rules=now.rules,
        pins=event.pins if isinstance(event, ConfigChanged) and event.pins else now.pins,
    )


def _applied(loop: AnyLoop, state: Any, event: Event, wanted: tuple[Action, ...] | None) -> Any:  # noqa: ANN401 - as the machine has it
    """The machine only sees what it asked for, and what people say of their own accord."""
    if isinstance(event, _MUST_BE_ASKED_FOR):
        asked = loop.decide(state) if wanted is None else wanted
        if not answers_one_of(asked, event):
            raise InvalidTransition(loop.stand(state).state, type(event).__name__, f"{event.key} is not asked for")
    return loop.apply(state, event)


def _taken(event: Logged) -> tuple[int, float]:
    match event:
        case AgentReported() | AgentFailed() | AgentUnavailable():
            used = event.usage
            return used.input_tokens + used.output_tokens + used.guessed_tokens, used.seconds
        case Interrupted():
            return 0, event.seconds
        case ChecksReported():
            return 0, event.seconds
        case _:
            return 0, 0.0


def packed(now: Fold) -> str:
    """The snapshot of a fold."""
    return f"{_HEAD}{encode(now, sparse=True)}}}"


def is_of_this_form(snapshot: str) -> bool:
    """Whether this version may go on from the snapshot; with any other the log is folded anew, from its first event."""
    return snapshot.startswith(_HEAD)


def _unpacked(loop: AnyLoop, text: str, seq: int) -> Fold:
    try:
        data = json.loads(text)["fold"]
        state = build(loop.state, data.pop("state"), "$.state")
        return replace(build(Fold, data), state=state)
    except (DecodeError, AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise SnapshotUnusable(_LOG, f"snapshot at event {seq}", str(error)) from error
