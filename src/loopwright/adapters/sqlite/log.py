"""Loops and their events. Nothing here reads history to append or to go on: the row says where the loop stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from loopwright.adapters.sqlite import heads, mail, outbox
from loopwright.adapters.sqlite.heads import Head
from loopwright.errors import SnapshotUnusable, StoreConflict, StoreCorrupt, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.money import bounded, micros, summed
from loopwright.kernel.record import Record
from loopwright.ports import hashes
from loopwright.ports.store import Append, Loaded, NewEvent, NewLoop, Written

_INSERT = """
    INSERT INTO events (loop, seq, at, kind, data, reserve, release, spend, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_READ = """
    SELECT seq, at, kind, data, reserve, release, spend, hash
    FROM events WHERE loop = ? AND seq > ? ORDER BY seq LIMIT ?
"""
_HASH = "SELECT hash FROM events WHERE loop = ? AND seq = ?"
_SNAPSHOT = "SELECT seq, hash, state, seal FROM snapshots WHERE loop = ?"
_KEEP_SNAPSHOT = "INSERT OR REPLACE INTO snapshots (loop, seq, hash, state, seal) VALUES (?, ?, ?, ?, ?)"
_MENTION = "SELECT DISTINCT loop FROM events WHERE kind = ? AND instr(data, ?) > 0"
_BELOW = """
    WITH RECURSIVE below (id) AS (
        SELECT ? UNION SELECT loops.id FROM loops JOIN below ON loops.parent = below.id
    )
    SELECT spend FROM events WHERE loop IN (SELECT id FROM below) AND spend > 0
"""


def create(connection: apsw.Connection, new: NewLoop, first: NewEvent, now: float) -> Written | None:
    if heads.find(connection, new.id) is not None:
        return None
    if not new.id:
        raise UsageError("a loop needs an id")
    head = Head(
        id=new.id,
        kind=new.kind,
        params=new.params,
        parent=new.parent,
        status="running",
        seq=0,
        fence=0,
        created=now,
        updated=now,
        budget=None if new.budget is None else micros(new.budget),
        spent=0,
        reserved=0,
        estimated=0,
        outcome="",
        hash=hashes.anchor(new.id, new.kind, new.params),
        holder="",
    )
    if new.parent is not None:
        heads.get(connection, new.parent)
    made, written = _extended(connection, head, Append(entries=(first,)), now)
    heads.insert(connection, made)
    return Written(row=made.row(), records=written)


def claim(connection: apsw.Connection, loop: LoopId, who: str) -> int:
    head = heads.get(connection, loop)
    heads.update(connection, head._replace(fence=head.fence + 1, holder=who))
    return head.fence + 1


def append(connection: apsw.Connection, head: Head, batch: Append, now: float) -> Written:
    """`head` was read in this transaction and is what the writer expected. A conflict comes before a lack of money."""
    mail.take(connection, head.id, batch.taken)
    after, written = _extended(connection, head, batch, now)
    heads.update(connection, after)
    outbox.put(connection, batch.notices, now)
    if batch.snapshot is not None:
        fields = (after.id, after.seq, after.hash, batch.snapshot)
        connection.execute(_KEEP_SNAPSHOT, (*fields, hashes.digest(*fields)))
    return Written(row=after.row(), records=written)


def expect(head: Head, *, fence: int, expected: int) -> None:
    if head.fence != fence:
        raise StoreConflict(f"loop {head.id}: another controller has taken over (fence {head.fence}, not {fence})")
    if head.seq != expected:
        raise StoreConflict(f"loop {head.id}: it has {head.seq} events, not {expected}; load it again")


def _extended(connection: apsw.Connection, head: Head, batch: Append, now: float) -> tuple[Head, tuple[Record, ...]]:
    """Write the events, move the money, and say where the loop stands then."""
    written = hashes.linked(head.id, batch.entries, previous=head.hash, after=head.seq, at=now)
    for record in written:
        money = (record.reserve, record.release, record.spend)
        connection.execute(_INSERT, (head.id, record.seq, now, record.kind, record.data, *money, record.hash))
    after = head._replace(
        seq=head.seq + len(written),
        hash=written[-1].hash if written else head.hash,
        updated=now,
        status=head.status if batch.status is None else batch.status,
        outcome=head.outcome if batch.outcome is None else batch.outcome,
        budget=None if batch.unlimited else head.budget if batch.budget is None else micros(batch.budget),
    )
    amounts = ((entry.reserve, entry.release, entry.spend, entry.estimated) for entry in batch.entries)
    move = summed(amounts, paid=any(entry.paid for entry in batch.entries))
    if move.is_nothing and not move.paid:
        return after, written
    move = bounded(after.purse(), move)
    paid = after.after(move)
    heads.charge_ancestors(connection, head.parent, move)
    return paid, written


def load(connection: apsw.Connection, loop: LoopId, *, snapshot: bool = True) -> Loaded:
    head = heads.get(connection, loop)
    seq, previous, state = _snapshot(connection, head) if snapshot else (0, _anchor(head), None)
    tail = tuple(_checked(connection, loop, previous=previous, after=seq))
    _refuse_other_end(connection, head, tail[-1].seq if tail else seq, tail[-1].hash if tail else previous)
    return Loaded(row=head.row(), snapshot=state, snapshot_seq=seq, tail=tail)


def read(connection: apsw.Connection, loop: LoopId, after: int, limit: int | None) -> tuple[Record, ...]:
    head = heads.get(connection, loop)
    if after >= head.seq:
        return ()
    after = max(after, 0)
    previous = _hash_at(connection, head, after)
    return tuple(_checked(connection, loop, previous=previous, after=after, limit=limit))


def verify(connection: apsw.Connection, loop: LoopId) -> None:
    head = heads.get(connection, loop)
    seq, last = 0, _anchor(head)
    for record in _checked(connection, loop, previous=last):
        seq, last = record.seq, record.hash
    _refuse_other_end(connection, head, seq, last)
    if _spent_below(connection, loop) != head.spent:
        raise StoreCorrupt(connection.filename, f"loop {loop}", "its events do not add up to what it spent")
    seq, previous, _ = _snapshot(connection, head)
    if _hash_at(connection, head, seq) != previous:
        raise SnapshotUnusable(connection.filename, f"loop {loop}, snapshot at event {seq}", "it is of another history")


class NamedSoFar(NamedTuple):
    """What the events of a loop rest on, up to the one with this number and hash."""

    seq: int
    hash: str
    names: frozenset[str]


def named(connection: apsw.Connection, loop: LoopId, known: NamedSoFar | None) -> NamedSoFar | None:
    """What the whole chain names, going on from what is known. None: there is no such loop."""
    head = heads.find(connection, loop)
    if head is None:
        return None
    seq, last, names = known or NamedSoFar(0, _anchor(head), frozenset())
    for record in _checked(connection, loop, previous=last, after=seq):
        seq, last, names = record.seq, record.hash, names | hashes.named_in(record)
    _refuse_other_end(connection, head, seq, last)
    return NamedSoFar(seq, last, names)


def loops_with(connection: apsw.Connection, name: str) -> tuple[LoopId, ...]:
    """Loops with an event that may name it."""
    return tuple(LoopId(found) for (found,) in connection.execute(_MENTION, (hashes.RESTING, name)))


def _spent_below(connection: apsw.Connection, loop: LoopId) -> int | None:
    try:
        return sum(micros(spend) for (spend,) in connection.execute(_BELOW, (loop,)))
    except (TypeError, ValueError):
        return None


def _anchor(head: Head) -> str:
    return hashes.anchor(head.id, head.kind, head.params)


def _snapshot(connection: apsw.Connection, head: Head) -> tuple[int, str, str | None]:
    found = connection.execute(_SNAPSHOT, (head.id,)).fetchone()
    if found is None:
        return 0, _anchor(head), None
    seq, previous, state, seal = found
    if not hashes.is_intact(seal, head.id, seq, previous, state):
        where = f"loop {head.id}, snapshot at event {seq}"
        raise SnapshotUnusable(connection.filename, where, "it is not what was written")
    return seq, previous, state


def _hash_at(connection: apsw.Connection, head: Head, seq: int) -> str:
    if seq == 0:
        return _anchor(head)
    found = connection.execute(_HASH, (head.id, seq)).fetchone()
    if found is None:
        raise StoreCorrupt(connection.filename, f"loop {head.id}, event {seq}", "it is missing")
    return str(found[0])


def _refuse_other_end(connection: apsw.Connection, head: Head, seq: int, last: str) -> None:
    if seq < head.seq:
        raise StoreCorrupt(connection.filename, f"loop {head.id}, event {seq + 1}", "it is missing")
    if (seq, last) != (head.seq, head.hash):
        raise StoreCorrupt(connection.filename, f"loop {head.id}, event {seq}", "the loop ended otherwise")


def _checked(
    connection: apsw.Connection, loop: LoopId, *, previous: str, after: int = 0, limit: int | None = None
) -> Iterator[Record]:
    records = _records(connection, loop, after, limit)
    return hashes.checked(connection.filename, loop, records, previous=previous, after=after)


def _records(connection: apsw.Connection, loop: LoopId, after: int, limit: int | None) -> Iterator[Record]:
    seq = after
    try:
        for found in connection.execute(_READ, (loop, after, -1 if limit is None else limit)):
            seq, at, kind, data, reserve, release, spend, own = found
            yield Record(
                loop=loop,
                seq=seq,
                at=at,
                kind=kind,
                data=data,
                reserve=reserve,
                release=release,
                spend=spend,
                hash=own,
            )
    except (apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreCorrupt(connection.filename, f"loop {loop}, event {seq + 1}", str(error)) from error
