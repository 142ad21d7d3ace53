"""How `loop.db` is made, looked at and opened.

A file that is too new, damaged or not ours is left as it is. A new file gets its name only when it
is whole, so an empty or missing one beside its blobs is a loss to report, never a fresh start.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

import apsw

from loopwright.adapters.files import PRIVATE_FILE, make_private, sync
from loopwright.adapters.sqlite.failures import from_sqlite, from_system
from loopwright.adapters.sqlite.migrations import APPLICATION_ID, MIGRATIONS, build, upgrade, version_of
from loopwright.errors import StoreCorrupt, StoreFailed, StoreTooNew

WAL_IS_SOUND_SINCE = 3_051_003  # before it, two connections that checkpoint at once can corrupt the file


@dataclass(frozen=True, slots=True)
class Pragma:
    """A setting that durability rests on: how it is made, how it is read back, what must come back."""

    change: str
    read: str
    expected: str | int


Durability = tuple[Pragma, ...]

_ALWAYS = (
    Pragma("PRAGMA fullfsync=ON", "PRAGMA fullfsync", 1),
    Pragma("PRAGMA checkpoint_fullfsync=ON", "PRAGMA checkpoint_fullfsync", 1),
    Pragma("PRAGMA cell_size_check=ON", "PRAGMA cell_size_check", 1),
    Pragma("PRAGMA trusted_schema=OFF", "PRAGMA trusted_schema", 0),
)
WRITE_AHEAD: Durability = (
    Pragma("PRAGMA journal_mode=WAL", "PRAGMA journal_mode", "wal"),
    Pragma("PRAGMA synchronous=FULL", "PRAGMA synchronous", 2),
    *_ALWAYS,
)
ROLLBACK: Durability = (
    Pragma("PRAGMA journal_mode=DELETE", "PRAGMA journal_mode", "delete"),
    Pragma("PRAGMA synchronous=EXTRA", "PRAGMA synchronous", 3),
    *_ALWAYS,
)


def durability_of(library: int) -> Durability:
    """What is safe with this version of SQLite (`3051003` is 3.51.3)."""
    return WRITE_AHEAD if library >= WAL_IS_SOUND_SINCE else ROLLBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    durability: Durability = durability_of(apsw.SQLITE_VERSION_NUMBER)
    patience: float = 10.0  # seconds to wait for another process's write
    vfs: str | None = None  # a registered SQLite file layer, for fault injection


def connect(path: Path, options: Options) -> apsw.Connection:
    """An open, current, durable database, made first if there is none.

    Raises `StoreCorrupt`, `StoreTooNew` or `StoreFailed`.
    """
    try:
        if not path.exists():
            _refuse_if_lost(path)
            _create(path, options)
        _look(path)
        return _open(path, options)
    except apsw.Error as error:
        raise from_sqlite(str(path), error) from error
    except OSError as error:
        raise from_system(error, str(path)) from error


def _refuse_if_lost(path: Path) -> None:
    traces = [path.parent / "blobs", *(path.with_name(path.name + end) for end in ("-wal", "-journal"))]
    for trace in [*traces, *path.parent.glob(f"{path.name}.backup-v*")]:
        if trace.exists():
            raise StoreCorrupt(str(path), "file", f"it is gone, but {trace.name} is still beside it")


def _create(path: Path, options: Options) -> None:
    make_private(path.parent)
    fresh = path.with_name(f"{path.name}.new-{secrets.token_hex(8)}")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
    try:
        connection = apsw.Connection(str(fresh), flags=apsw.SQLITE_OPEN_READWRITE, vfs=options.vfs)
        try:
            _make_durable(connection, path, options)
            build(connection)
        finally:
            connection.close()
        try:
            os.link(fresh, path)
        except FileExistsError:
            return  # another process was quicker: its file is as good
        sync(path.parent)
    finally:
        fresh.unlink(missing_ok=True)


def _look(path: Path) -> None:
    """Refuse what must not be touched, without touching it: `immutable` makes no lock and no side file.

    The file is never opened other than by SQLite: closing it would drop the locks this process has on it.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise StoreCorrupt(str(path), "file", "it is not a regular file")
    if not found.st_size:
        raise StoreCorrupt(str(path), "file", "it is empty")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    try:
        _refuse_if_foreign(connection, path)
    except apsw.CorruptError:
        # With a write-ahead log or a journal beside it, the file alone may rightly be half of the truth.
        if not _has_side_file(path):
            raise
    finally:
        connection.close()


def _refuse_if_foreign(connection: apsw.Connection, path: Path) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(str(path), "header", "it is not a store of Loopwright")
    if (version := version_of(connection)) > len(MIGRATIONS):
        raise StoreTooNew(str(path), version, len(MIGRATIONS))
    if version < 1:
        raise StoreCorrupt(str(path), "header", f"format {version} never existed")


def _has_side_file(path: Path) -> bool:
    sides = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    return any(side.exists() and side.stat().st_size for side in sides)


def _open(path: Path, options: Options) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=options.vfs)
    opened = False
    try:
        connection.set_busy_timeout(round(options.patience * 1000))
        _refuse_if_foreign(connection, path)
        _make_durable(connection, path, options)
        upgrade(connection, path)
        path.chmod(PRIVATE_FILE)
        opened = True
        return connection
    finally:
        if not opened:
            connection.close()


def _make_durable(connection: apsw.Connection, path: Path, options: Options) -> None:
    """Set, then read back: a PRAGMA that did not take effect does not always say so."""
    for pragma in options.durability:
        connection.execute(pragma.change).fetchall()
        found = connection.execute(pragma.read).get
        if found != pragma.expected:
            raise StoreFailed(
                f"{path}: `{pragma.change}` had no effect (it is {found!r}), so nothing would be durable;"
                " keep .loop/ on a local disk"
            )
