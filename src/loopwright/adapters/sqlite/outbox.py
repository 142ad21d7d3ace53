"""What people are sent. A row comes with the event that calls for it, and stays when it was delivered."""

from __future__ import annotations

from typing import Any

import apsw

from loopwright.errors import StoreCorrupt
from loopwright.ports import hashes
from loopwright.ports.store import NewNotice, PendingNotice

_PUT = """
    INSERT OR IGNORE INTO outbox (id, loop, topic, title, body, at, attempts, tried, why, delivered, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_PENDING = """
    SELECT id, loop, topic, title, body, at, attempts, tried, why, delivered, seal
    FROM outbox WHERE delivered = 0 ORDER BY n
"""
_ONE = """
    SELECT id, loop, topic, title, body, at, attempts, tried, why, delivered, seal
    FROM outbox WHERE delivered = 0 AND id = ?
"""
_TRIED = "UPDATE outbox SET attempts = ?, tried = ?, why = ?, delivered = ?, seal = ? WHERE id = ?"


def put(connection: apsw.Connection, notices: tuple[NewNotice, ...], now: float) -> None:
    for each in notices:
        fields = (each.id, each.loop, each.topic, each.title, each.body, now, 0, 0.0, "", 0)
        connection.execute(_PUT, (*fields, hashes.digest(*fields)))


def pending(connection: apsw.Connection) -> tuple[PendingNotice, ...]:
    return tuple(_pending(connection, found) for found in connection.execute(_PENDING).fetchall())


def tried(connection: apsw.Connection, notice: str, now: float, why: str | None) -> None:
    """Once more; without a `why` it was delivered."""
    found = connection.execute(_ONE, (notice,)).fetchone()
    if found is None:
        return
    known = _pending(connection, found)
    outcome = (known.attempts + 1, now, why or "", int(why is None))
    connection.execute(_TRIED, (*outcome, hashes.digest(*found[:6], *outcome), notice))


def _pending(connection: apsw.Connection, found: tuple[Any, ...]) -> PendingNotice:
    *fields, seal = found
    if not hashes.is_intact(seal, *fields):
        raise StoreCorrupt(connection.filename, f"notice {fields[0]}", "it is not what was written")
    name, loop, topic, title, body, at, attempts, last, why, _ = fields
    notice = NewNotice(id=name, loop=loop, topic=topic, title=title, body=body)
    return PendingNotice(notice=notice, at=at, attempts=attempts, tried=last, why=why)
