"""What people said and the engine has not taken yet, and the receipts of checks."""

from __future__ import annotations

from typing import Any

import apsw

from loopwright.adapters.sqlite import heads
from loopwright.errors import StoreConflict, StoreCorrupt
from loopwright.kernel.model import LoopId
from loopwright.ports import hashes
from loopwright.ports.store import InboxItem

_POST = "INSERT INTO inbox (loop, kind, data, at, seal) VALUES (?, ?, ?, ?, '')"
_SEAL_POST = "UPDATE inbox SET seal = ? WHERE id = ?"
_INBOX = "SELECT id, loop, kind, data, at, seal FROM inbox WHERE loop = ? ORDER BY id"
_TAKE = "DELETE FROM inbox WHERE id = ? AND loop = ?"
_RECEIPT = "SELECT key, loop, at, data, seal FROM receipts WHERE key = ?"
_RECEIPTS = "SELECT key, loop, at, data, seal FROM receipts WHERE loop = ? ORDER BY n"
_KEEP_RECEIPT = "INSERT OR REPLACE INTO receipts (key, loop, at, data, seal) VALUES (?, ?, ?, ?, ?)"


def post(connection: apsw.Connection, loop: LoopId, kind: str, data: str, now: float) -> int:
    heads.get(connection, loop)
    fields = (loop, kind, data, now)
    connection.execute(_POST, fields)
    item = connection.last_insert_rowid()
    connection.execute(_SEAL_POST, (hashes.digest(item, *fields), item))
    return item


def inbox(connection: apsw.Connection, loop: LoopId) -> tuple[InboxItem, ...]:
    heads.get(connection, loop)
    return tuple(_item(connection, found) for found in connection.execute(_INBOX, (loop,)))


def take(connection: apsw.Connection, loop: LoopId, taken: tuple[int, ...]) -> None:
    for item in taken:
        connection.execute(_TAKE, (item, loop))
        if connection.changes() != 1:
            raise StoreConflict(f"loop {loop}: inbox item {item} was taken before; load the loop again")


def receipt(connection: apsw.Connection, key: str) -> str | None:
    found = connection.execute(_RECEIPT, (key,)).fetchone()
    return None if found is None else _receipt(connection, found)


def receipts(connection: apsw.Connection, loop: LoopId) -> tuple[str, ...]:
    return tuple(_receipt(connection, found) for found in connection.execute(_RECEIPTS, (loop,)))


def keep_receipt(connection: apsw.Connection, key: str, loop: LoopId, data: str, now: float) -> None:
    fields = (key, loop, now, data)
    connection.execute(_KEEP_RECEIPT, (*fields, hashes.digest(*fields)))


def _item(connection: apsw.Connection, found: tuple[Any, ...]) -> InboxItem:
    *fields, seal = found
    if not hashes.is_intact(seal, *fields):
        raise StoreCorrupt(connection.filename, f"inbox item {fields[0]}", "it is not what was written")
    number, _, kind, data, at = fields
    return InboxItem(id=number, kind=kind, data=data, at=at)


def _receipt(connection: apsw.Connection, found: tuple[Any, ...]) -> str:
    *fields, seal = found
    if not hashes.is_intact(seal, *fields):
        raise StoreCorrupt(connection.filename, f"receipt {fields[0]}", "it is not what was written")
    return str(fields[3])
