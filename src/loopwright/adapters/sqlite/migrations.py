"""The schema, as numbered functions in a list. A store's version is how many of them it has been through.

A function never changes once it has shipped; a new version is a new function at the end, and a file
of the version before it joins `tests/golden/stores/`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import apsw

from loopwright.adapters.files import PRIVATE_FILE, sync
from loopwright.errors import StoreTooNew
from loopwright.ports import hashes

APPLICATION_ID = 0x4C6F6F70  # "Loop"

Migration = Callable[[apsw.Connection], None]


def m001_initial(connection: apsw.Connection) -> None:
    """Amounts of `loops` are whole millionths of a dollar; a `seal` is a digest of the other columns."""
    connection.execute("""
        CREATE TABLE loops (
            n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, params TEXT NOT NULL, parent TEXT,
            status TEXT NOT NULL, seq INTEGER NOT NULL, fence INTEGER NOT NULL,
            created REAL NOT NULL, updated REAL NOT NULL,
            budget INTEGER, spent INTEGER NOT NULL, reserved INTEGER NOT NULL,
            outcome TEXT NOT NULL, hash TEXT NOT NULL, holder TEXT NOT NULL, seal TEXT NOT NULL
        ) STRICT;
        CREATE TABLE events (
            loop TEXT NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
            reserve REAL NOT NULL, release REAL NOT NULL, spend REAL NOT NULL, hash TEXT NOT NULL,
            PRIMARY KEY (loop, seq)
        ) STRICT;
        CREATE TABLE snapshots (
            loop TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL,
            state TEXT NOT NULL, seal TEXT NOT NULL
        ) STRICT;
        CREATE TABLE receipts (
            n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, loop TEXT NOT NULL,
            at REAL NOT NULL, data TEXT NOT NULL, seal TEXT NOT NULL
        ) STRICT;
        CREATE INDEX receipts_of_loop ON receipts (loop);
        CREATE TABLE blobs (sha256 TEXT NOT NULL PRIMARY KEY, size INTEGER NOT NULL, at REAL NOT NULL) STRICT;
        CREATE TABLE inbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL, kind TEXT NOT NULL,
            data TEXT NOT NULL, at REAL NOT NULL, seal TEXT NOT NULL
        ) STRICT;
        CREATE INDEX inbox_of_loop ON inbox (loop);
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL, kind TEXT NOT NULL,
            data TEXT NOT NULL, at REAL NOT NULL, seal TEXT NOT NULL
        ) STRICT;
    """)


def m002_estimated(connection: apsw.Connection) -> None:
    """Whether some of what a loop and all below it spent is a guess: what was charged and no agent's own word."""
    connection.execute("ALTER TABLE loops ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0")
    charged = connection.execute("SELECT loop, kind, data FROM events WHERE spend > 0")
    parents = dict(connection.execute("SELECT id, parent FROM loops"))
    guessed: set[str | None] = set()
    for loop in {loop for loop, kind, data in charged if not _m002_was_said(kind, data)}:
        above = loop
        while above is not None and above not in guessed:
            guessed.add(above)
            above = parents.get(above)
    rows = connection.execute("""
        SELECT id, kind, params, parent, status, seq, fence, created, updated, budget, spent, reserved,
               outcome, hash, holder, seal
        FROM loops
    """).fetchall()
    for *fields, seal in rows:
        if not hashes.is_intact(seal, *fields):
            continue  # a row that was damaged before stays damaged
        estimated = int(fields[0] in guessed)
        sealed = hashes.digest(*fields[:12], estimated, *fields[12:])
        connection.execute("UPDATE loops SET estimated = ?, seal = ? WHERE id = ?", (estimated, sealed, fields[0]))


def _m002_was_said(kind: str, data: str) -> bool:
    try:
        told = json.loads(data)
        return (json.loads(told["data"]) if kind == "ReportedLate" else told)["usage"]["usd"] is not None
    except (ValueError, TypeError, LookupError, RecursionError):
        return False


def m003_outbox(connection: apsw.Connection) -> None:
    """What people are sent, with what became of it. Nothing was ever put into the table that was there before."""
    connection.execute("""
        DROP TABLE outbox;
        CREATE TABLE outbox (
            n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, loop TEXT NOT NULL, topic TEXT NOT NULL,
            title TEXT NOT NULL, body TEXT NOT NULL, at REAL NOT NULL,
            attempts INTEGER NOT NULL, tried REAL NOT NULL, why TEXT NOT NULL, delivered INTEGER NOT NULL,
            seal TEXT NOT NULL
        ) STRICT;
    """)


MIGRATIONS: tuple[Migration, ...] = (m001_initial, m002_estimated, m003_outbox)


def version_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def build(connection: apsw.Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Bring an empty database to the newest version."""
    connection.execute("BEGIN IMMEDIATE")
    connection.pragma("application_id", APPLICATION_ID)
    _run(connection, 0, migrations)
    connection.execute("COMMIT")


def upgrade(connection: apsw.Connection, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """All missing migrations in one transaction, after a copy was kept as `<name>.backup-v<old>`."""
    if version_of(connection) >= len(migrations):
        return
    # The lock comes first: what is copied is exactly what is migrated.
    connection.execute("BEGIN IMMEDIATE")
    try:
        old = version_of(connection)
        if old > len(migrations):
            raise StoreTooNew(str(path), old, len(migrations))
        if old < len(migrations):
            _keep_copy(path, old)
            _run(connection, old, migrations)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    # An older program looks at the file without its write-ahead log to learn the version.
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _run(connection: apsw.Connection, old: int, migrations: tuple[Migration, ...]) -> None:
    for migration in migrations[old:]:
        migration(connection)
    connection.pragma("user_version", len(migrations))


def _keep_copy(path: Path, old: int) -> None:
    kept = path.with_name(f"{path.name}.backup-v{old}")
    fresh = path.with_name(f"{kept.name}.new")
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
    source = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    target = apsw.Connection(str(fresh), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step()
    finally:
        target.close()
        source.close()
    fresh.rename(kept)
    sync(path.parent)
