"""The rows of `loops`: where each loop stands. Every row carries a seal, so a flipped bit is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from loopwright.errors import StoreCorrupt, UsageError
from loopwright.kernel.model import LoopId
from loopwright.kernel.money import Move, Purse, moved, usd
from loopwright.ports import hashes
from loopwright.ports.store import LoopRow, Status


class Head(NamedTuple):
    """The columns, in the order of the statements below. Amounts are micros."""

    id: LoopId
    kind: str
    params: str
    parent: LoopId | None
    status: Status
    seq: int
    fence: int
    created: float
    updated: float
    budget: int | None
    spent: int
    reserved: int
    estimated: int  # 0 or 1
    outcome: str
    hash: str
    holder: str

    def row(self) -> LoopRow:
        return LoopRow(
            id=self.id,
            kind=self.kind,
            params=self.params,
            parent=self.parent,
            status=self.status,
            seq=self.seq,
            fence=self.fence,
            created=self.created,
            updated=self.updated,
            budget=None if self.budget is None else usd(self.budget),
            spent=usd(self.spent),
            reserved=usd(self.reserved),
            estimated=bool(self.estimated),
            outcome=self.outcome,
            hash=self.hash,
        )

    def after(self, move: Move) -> Head:
        """Raises `OverBudget`."""
        purse = moved(self.purse(), move)
        return self._replace(spent=purse.spent, reserved=purse.reserved, estimated=int(purse.estimated))

    def purse(self) -> Purse:
        return Purse(
            loop=self.id,
            budget=self.budget,
            spent=self.spent,
            reserved=self.reserved,
            estimated=bool(self.estimated),
        )


_ONE = """
    SELECT id, kind, params, parent, status, seq, fence, created, updated, budget, spent, reserved,
           estimated, outcome, hash, holder, seal
    FROM loops WHERE id = ?
"""
_ALL = """
    SELECT id, kind, params, parent, status, seq, fence, created, updated, budget, spent, reserved,
           estimated, outcome, hash, holder, seal
    FROM loops ORDER BY n DESC
"""
_HAS_EVENTS = "SELECT 1 FROM events WHERE loop = ? LIMIT 1"
_INSERT = """
    INSERT INTO loops (id, kind, params, parent, status, seq, fence, created, updated, budget, spent, reserved,
                       estimated, outcome, hash, holder, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE = """
    UPDATE loops SET status = ?, seq = ?, fence = ?, updated = ?, budget = ?, spent = ?, reserved = ?,
                     estimated = ?, outcome = ?, hash = ?, holder = ?, seal = ?
    WHERE id = ?
"""


def find(connection: apsw.Connection, loop: LoopId) -> Head | None:
    found = connection.execute(_ONE, (loop,)).fetchone()
    if found is not None:
        return _head(connection, found)
    if connection.execute(_HAS_EVENTS, (loop,)).fetchone():
        raise StoreCorrupt(connection.filename, f"loop {loop}", "its row is gone, but its events are not")
    return None


def get(connection: apsw.Connection, loop: LoopId) -> Head:
    head = find(connection, loop)
    if head is None:
        raise UsageError(f"there is no loop {loop!r}; `loop status` lists them")
    return head


def every(connection: apsw.Connection) -> Iterator[Head]:
    """Newest first."""
    return (_head(connection, found) for found in connection.execute(_ALL))


def insert(connection: apsw.Connection, head: Head) -> None:
    connection.execute(_INSERT, (*head, hashes.digest(*head)))


def update(connection: apsw.Connection, head: Head) -> None:
    changing = (head.status, head.seq, head.fence, head.updated, head.budget, head.spent, head.reserved)
    rest = (head.estimated, head.outcome, head.hash, head.holder, hashes.digest(*head), head.id)
    connection.execute(_UPDATE, (*changing, *rest))


def charge_ancestors(connection: apsw.Connection, parent: LoopId | None, move: Move) -> None:
    """Move the money of everything above. Raises `OverBudget` for the nearest that cannot take it."""
    while parent is not None:
        head = get(connection, parent)
        after = head.after(move)
        if not move.is_nothing:
            update(connection, after)
        parent = head.parent


def _head(connection: apsw.Connection, found: tuple[Any, ...]) -> Head:
    return Head(*unsealed(connection, f"loop {found[0]}", found, "its row is not what was written"))


def unsealed(
    connection: apsw.Connection, where: str, found: tuple[Any, ...], why: str = "it is not what was written"
) -> list[Any]:
    """The fields of a row, whose last one is its seal. Raises `StoreCorrupt` where they are not what was sealed."""
    *fields, seal = found
    if not hashes.is_intact(seal, *fields):
        raise StoreCorrupt(connection.filename, where, why)
    return fields
