"""What SQLite and the disk say, in the words of `errors`: one sentence with the path and what to do."""

from __future__ import annotations

import apsw

from loopwright.errors import PortError, StoreCorrupt, StoreFailed

_ADVICE: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "gave up waiting for lock: another process keeps the file busy; try again when it is done"),
    (apsw.LockedError, "gave up waiting for lock: another connection keeps the file busy; try again when it is done"),
    (apsw.FullError, "the disk is full, nothing was recorded; free some space, then run `loop resume`"),
    (apsw.ReadOnlyError, "it cannot be written; make the file and its folder writable, then run `loop resume`"),
    (apsw.PermissionsError, "access is denied; make the file and its folder writable, then run `loop resume`"),
    (apsw.CantOpenError, "it cannot be opened; check that the folder exists and may be written"),
    (apsw.ConnectionClosedError, "the store is closed; open it again"),
    (apsw.IOError, "the disk failed; look at the system's log before you trust it again, then run `loop resume`"),
)
_OTHERWISE = "the database refused; run `loop doctor`"


def from_sqlite(path: str, error: apsw.Error) -> PortError:
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreCorrupt(path, "database", str(error))
    if isinstance(error, apsw.SQLError):
        # Our statements are constants, so the tables are not the ones they were written for.
        return StoreCorrupt(path, "schema", str(error))
    advice = next((text for kind, text in _ADVICE if isinstance(error, kind)), _OTHERWISE)
    detail = f" ({error})" if str(error) else ""
    return StoreFailed(f"{path}: {advice}{detail}")


def from_system(error: OSError, path: str) -> StoreFailed:
    return StoreFailed(f"{error.filename or path}: {error.strerror or error}; free some space or make it writable")


def is_only_busy(error: apsw.Error) -> bool:
    """Nothing was tried, so nothing is in doubt."""
    return isinstance(error, apsw.BusyError | apsw.LockedError)
