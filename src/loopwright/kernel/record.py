"""One event as it stands in the log, and reading it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable, Logged, ReportedLate
from loopwright.kernel.model import LoopId, Usage

KINDS: dict[str, type[Logged]] = {kind.__name__: kind for kind in get_args(Logged)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One event as it stands in the log. `hash` covers the record and the hash before it."""

    loop: LoopId
    seq: int
    at: float
    kind: str
    data: str
    reserve: float = 0.0
    release: float = 0.0
    spend: float = 0.0
    hash: str = ""


def read_event(record: Record | ReportedLate) -> Logged:
    """The event a record holds. Raises `DecodeError` for what this version does not know."""
    kind = KINDS.get(record.kind)
    if kind is None:
        raise DecodeError(f"unknown kind of event {record.kind!r}")
    event: Logged = decode(kind, record.data)
    return event


def event_of(record: Record | ReportedLate) -> Logged | None:
    """None when this version cannot read it: whoever only looks shows what it can."""
    try:
        return read_event(record)
    except DecodeError:
        return None


def is_estimated(spend: float, event: Logged | None) -> bool:
    """Whether what is charged with the event is not what an agent said of itself: a reservation, a price list."""
    if not spend:
        return False
    if isinstance(event, ReportedLate):
        event = event_of(event)
    said = event.usage if isinstance(event, AgentReported | AgentFailed | AgentUnavailable) else Usage()
    return said.usd is None or said.estimated
