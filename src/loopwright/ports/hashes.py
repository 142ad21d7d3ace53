"""The hash chain of the log: what every store computes alike, so that one log has one set of hashes.

A digest is SHA-256, in hexadecimal, over the JSON list of its fields (UTF-8, no spaces). The hash
of an event covers the hash before it and the whole record; the hash before the first event covers
the loop's id, kind and params.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from loopwright.errors import StoreCorrupt
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.ports.store import NewEvent

RESTING = "ChecksReported"  # the events that name receipts
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def digest(*fields: object) -> str:
    """Raises `ValueError` or `TypeError` for what cannot be stored: NaN, a lone surrogate, bytes."""
    return hashlib.sha256(_encode(fields).encode()).hexdigest()


def is_intact(seal: object, *fields: object) -> bool:
    """Whether the fields, as they were read, are the ones the seal was made from."""
    try:
        return digest(*fields) == seal
    except (TypeError, ValueError):
        return False


def receipt_name(key: str, data: str) -> str:
    """By which an event names a receipt: exactly this one, since another content has another name."""
    return digest("receipt", key, data)


def named_in(record: Record) -> frozenset[str]:
    """What the event rests on, where it is one that says so."""
    if record.kind != RESTING:
        return frozenset()
    try:
        names = json.loads(record.data).get("rests_on", ())
    except (AttributeError, ValueError, RecursionError):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def anchor(loop: LoopId, kind: str, params: str) -> str:
    """What stands before the first event."""
    return digest("loop", loop, kind, params)


def link(previous: str, loop: LoopId, seq: int, at: float, entry: NewEvent | Record) -> str:
    """The hash of one event."""
    # `+ 0.0`: a whole number and a negative zero come back from a database as plain floats.
    money = (entry.reserve + 0.0, entry.release + 0.0, entry.spend + 0.0)
    return digest(previous, loop, seq, at + 0.0, entry.kind, entry.data, *money)


def linked(loop: LoopId, events: Iterable[NewEvent], *, previous: str, after: int, at: float) -> tuple[Record, ...]:
    """The records these events become behind the one with the hash `previous`."""
    records: list[Record] = []
    for seq, event in enumerate(events, start=after + 1):
        previous = link(previous, loop, seq, at, event)
        records.append(
            Record(
                loop=loop,
                seq=seq,
                at=at,
                kind=event.kind,
                data=event.data,
                reserve=event.reserve + 0.0,
                release=event.release + 0.0,
                spend=event.spend + 0.0,
                hash=previous,
            )
        )
    return tuple(records)


def checked(place: str, loop: LoopId, records: Iterable[Record], *, previous: str, after: int = 0) -> Iterator[Record]:
    """The same records, each one proved to follow the one before. Raises `StoreCorrupt` naming the first that does not.

    `place` is the path of the store; `previous` is the hash at `after`.
    """
    for seq, record in enumerate(records, start=after + 1):
        where = f"loop {loop}, event {seq}"
        if record.seq != seq:
            raise StoreCorrupt(place, where, f"it is missing, event {record.seq} stands in its place")
        if not _fits(previous, record):
            raise StoreCorrupt(place, where, "it is not what was written: its hash does not fit")
        previous = record.hash
        yield record


def _fits(previous: str, record: Record) -> bool:
    try:
        return link(previous, record.loop, record.seq, record.at, record) == record.hash
    except (TypeError, ValueError):
        return False
