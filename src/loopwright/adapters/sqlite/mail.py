"""What people said and the engine has not taken yet, what they are yet to be told, and the receipts of checks."""

from __future__ import annotations

from typing import Any

import apsw

from loopwright.adapters.sqlite import heads
from loopwright.errors import StoreConflict
from loopwright.kernel.model import LoopId
from loopwright.ports import hashes
from loopwright.ports.store import InboxItem

_POST = "INSERT INTO inbox (loop, kind, data, at, seal) VALUES (?, ?, ?, ?, '')"
_SEAL_POST = "UPDATE inbox SET seal = ? WHERE id = ?"
_INBOX = "SELECT id, loop, kind, data, at, seal FROM inbox WHERE loop = ? ORDER BY id"
_TAKE = "DELETE FROM inbox WHERE id = ? AND loop = ?"
_NOTIFY = "INSERT INTO outbox (loop, kind, data, at, seal) VALUES (?, ?, ?, ?, '')"
_SEAL_NOTICE = "UPDATE outbox SET seal = ? WHERE id = ?"
_OUTBOX = "SELECT id, loop, kind, data, at, seal FROM outbox ORDER BY id"
_DELIVERED = "DELETE FROM outbox WHERE id = ?"
_RECEIPT = "SELECT key, loop, at, data, seal FROM receipts WHERE key = ?"
_RECEIPTS = "SELECT key, loop, at, data, seal FROM receipts WHERE loop = ? ORDER BY n"
_KEEP_RECEIPT = "INSERT OR REPLACE INTO receipts (key, loop, at, data, seal) VALUES (?, ?, ?, ?, ?)"


def post(connection: apsw.Connection, loop: LoopId, kind: str, data: str, now: float) -> int:
    heads.get(connection, loop)
    return _put(connection, (_POST, _SEAL_POST), (loop, kind, data, now))


def inbox(connection: apsw.Connection, loop: LoopId) -> tuple[InboxItem, ...]:
    heads.get(connection, loop)
    return tuple(_item(connection, "inbox", found) for found in connection.execute(_INBOX, (loop,)))


def take(connection: apsw.Connection, loop: LoopId, taken: tuple[int, ...]) -> None:
    for item in taken:
        connection.execute(_TAKE, (item, loop))
        if connection.changes() != 1:
            raise StoreConflict(f"loop {loop}: inbox item {item} was taken before; load the loop again")


def notify(connection: apsw.Connection, loop: LoopId, notices: tuple[str, ...], now: float) -> None:
    for notice in notices:
        _put(connection, (_NOTIFY, _SEAL_NOTICE), (loop, "notice", notice, now))


def _put(connection: apsw.Connection, statements: tuple[str, str], fields: tuple[LoopId, str, str, float]) -> int:
    """The seal covers the number too, which is known once the row is there."""
    insert, seal = statements
    connection.execute(insert, fields)
    item = connection.last_insert_rowid()
    connection.execute(seal, (hashes.digest(item, *fields), item))
    return item


def outbox(connection: apsw.Connection) -> tuple[InboxItem, ...]:
    return tuple(_item(connection, "outbox", found) for found in connection.execute(_OUTBOX))


def delivered(connection: apsw.Connection, notice: int) -> None:
    connection.execute(_DELIVERED, (notice,))


def receipt(connection: apsw.Connection, key: str) -> str | None:
    found = connection.execute(_RECEIPT, (key,)).fetchone()
    return None if found is None else _receipt(connection, found)


def receipts(connection: apsw.Connection, loop: LoopId) -> tuple[str, ...]:
    return tuple(_receipt(connection, found) for found in connection.execute(_RECEIPTS, (loop,)))


def keep_receipt(connection: apsw.Connection, key: str, loop: LoopId, data: str, now: float) -> None:
    fields = (key, loop, now, data)
    connection.execute(_KEEP_RECEIPT, (*fields, hashes.digest(*fields)))


def _item(connection: apsw.Connection, box: str, found: tuple[Any, ...]) -> InboxItem:
    number, _, kind, data, at = heads.unsealed(connection, f"{box} item {found[0]}", found)
    return InboxItem(id=number, kind=kind, data=data, at=at)


def _receipt(connection: apsw.Connection, found: tuple[Any, ...]) -> str:
    return str(heads.unsealed(connection, f"receipt {found[0]}", found)[3])
