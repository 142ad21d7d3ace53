"""One connection and its transactions: errors in our words, and no write after a write that failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from loopwright.adapters.sqlite.database_file import Options, connect
from loopwright.adapters.sqlite.failures import from_sqlite, is_only_busy
from loopwright.errors import PortError, StoreCorrupt, StoreFailed


class Database:
    def __init__(self, path: Path, options: Options) -> None:
        self.path = str(path)
        self._file = path
        self._connection = connect(path, options)
        self._identity = _identity(path)
        self._ahead = path.with_name(f"{path.name}-wal")  # what was written last is only there
        self._ahead_identity = _identity(self._ahead)
        self._broken = ""
        self._written = 0
        self._sound_at: int | None = None

    def _refuse_if_replaced(self) -> None:
        ahead = _identity(self._ahead)
        if _identity(self._file) != self._identity or self._ahead_identity not in (None, ahead):
            raise StoreFailed(
                f"{self.path}: the state file was replaced or removed while it was open;"
                " put it back, then run `loop resume`"
            )
        self._ahead_identity = ahead

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One transaction, durable at the end of the block; an exception in the block undoes all of it."""
        self._refuse_if_replaced()
        if self._broken:
            raise StoreFailed(f"{self._broken}; nothing more is written until the store is opened anew")
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except apsw.Error as error:
            raise self._after_failed_write(error) from error
        except UnicodeDecodeError as error:
            raise StoreCorrupt(self.path, "database", "a text is not UTF-8") from error
        finally:
            self._undo_what_is_open()
        self._written += 1

    def _after_failed_write(self, error: apsw.Error) -> PortError:
        failure = from_sqlite(self.path, error)
        if not is_only_busy(error):
            self._broken = str(failure)
        return failure

    def _undo_what_is_open(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._broken = self._broken or str(from_sqlite(self.path, error))

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """All reads in the block see the same moment. Waits for no writer, and no writer waits for it."""
        self._refuse_if_replaced()
        connection = self._connection
        try:
            connection.execute("BEGIN")
            yield connection
        except apsw.Error as error:
            raise from_sqlite(self.path, error) from error
        except UnicodeDecodeError as error:
            raise StoreCorrupt(self.path, "database", "a text is not UTF-8") from error
        finally:
            self._undo_what_is_open()

    def version(self) -> int:
        self._refuse_if_replaced()
        try:
            return int(self._connection.execute("PRAGMA data_version").get) + self._written
        except apsw.Error as error:
            raise from_sqlite(self.path, error) from error

    def verify(self) -> None:
        """Walk every page and index, once per version: each loop's `verify` asks for it."""
        version = self.version()
        if version == self._sound_at:
            return
        with self.reading() as connection:
            found = connection.execute("PRAGMA integrity_check(1)").get
        if found != "ok":
            raise StoreCorrupt(self.path, "database", str(found))
        self._sound_at = version

    def close(self) -> None:
        self._connection.close()
        self._ahead_identity = None  # it goes with the last connection


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
