"""The log in one SQLite file, with blobs and locks in folders beside it.

Each method is one short transaction on the caller's thread: a hop to another thread would cost
more than the work. Reads never wait for a writer, nor a writer for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from loopwright.adapters.sqlite import heads, log, mail, outbox
from loopwright.adapters.sqlite.blobs import Blobs, KeptBlob
from loopwright.adapters.sqlite.database import Database
from loopwright.adapters.sqlite.database_file import Options
from loopwright.adapters.sqlite.failures import from_system
from loopwright.adapters.sqlite.locks import Locks
from loopwright.errors import AlreadyRunning, StoreConflict
from loopwright.kernel.model import Blob, LoopId
from loopwright.kernel.record import Record
from loopwright.ports.clock import Clock
from loopwright.ports.store import Append, InboxItem, Loaded, LoopRow, NewEvent, NewLoop, PendingNotice, Written

_INDEX = "INSERT OR REPLACE INTO blobs (sha256, size, at) VALUES (?, ?, ?)"
_INDEXED = "SELECT 1 FROM blobs WHERE sha256 = ? AND size = ?"


class SqliteStore:
    """Made by `open`. Not for more than one thread; any number of stores may share one file."""

    def __init__(self, path: Path, clock: Clock, options: Options) -> None:
        self._database = Database(path, options)
        self._clock = clock
        self._locks = Locks(path.parent / "locks")
        self._blobs = Blobs(path.parent / "blobs")
        self._named: dict[LoopId, log.NamedSoFar] = {}  # what was proved once need not be read again

    @classmethod
    def open(cls, path: Path, clock: Clock, options: Options | None = None) -> SqliteStore:
        """Open the file, or make it if there was none. Raises `StoreCorrupt`, `StoreTooNew`, `StoreFailed`."""
        return cls(path, clock, options or Options())

    async def create(self, new: NewLoop, first: NewEvent) -> Written | None:
        with self._database.writing() as connection:
            return log.create(connection, new, first, self._now())

    async def claim(self, loop: LoopId, who: str) -> int:
        with self._database.reading() as connection:
            holder = heads.get(connection, loop).holder
        with self._files():
            descriptor = self._locks.take(loop)
        if descriptor is None:
            raise AlreadyRunning(loop, holder or "holder unknown")
        recorded = False
        try:
            with self._database.writing() as connection:
                fence = log.claim(connection, loop, who)
            recorded = True
        finally:
            if not recorded:
                os.close(descriptor)
        self._locks.keep(loop, descriptor, fence)
        return fence

    async def release(self, loop: LoopId, fence: int) -> None:
        self._locks.release(loop, fence)

    async def holder(self, loop: LoopId) -> str | None:
        with self._files():
            if not self._locks.is_held(loop):
                return None
        with self._database.reading() as connection:
            return heads.get(connection, loop).holder

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        with self._database.writing() as connection:
            head = heads.get(connection, loop)
            log.expect(head, fence=fence, expected=expected)
            if self._locks.fence(loop) != fence:
                raise StoreConflict(f"loop {loop}: this controller has let go of it; claim it again")
            return log.append(connection, head, batch, self._now())

    async def load(self, loop: LoopId, *, snapshot: bool = True) -> Loaded:
        with self._database.reading() as connection:
            return log.load(connection, loop, snapshot=snapshot)

    async def read(self, loop: LoopId, *, after: int = 0, limit: int | None = None) -> tuple[Record, ...]:
        with self._database.reading() as connection:
            return log.read(connection, loop, after, limit)

    async def verify(self, loop: LoopId) -> None:
        with self._database.reading() as connection:
            log.verify(connection, loop)
        self._database.verify()

    async def rows(self) -> tuple[LoopRow, ...]:
        with self._database.reading() as connection:
            return tuple(head.row() for head in heads.every(connection))

    async def post(self, loop: LoopId, kind: str, data: str) -> int:
        with self._database.writing() as connection:
            return mail.post(connection, loop, kind, data, self._now())

    async def inbox(self, loop: LoopId) -> tuple[InboxItem, ...]:
        with self._database.reading() as connection:
            return mail.inbox(connection, loop)

    async def notices(self) -> tuple[PendingNotice, ...]:
        with self._database.reading() as connection:
            return outbox.pending(connection)

    async def notice_delivered(self, notice: str) -> None:
        with self._database.writing() as connection:
            outbox.tried(connection, notice, self._now(), None)

    async def notice_failed(self, notice: str, why: str) -> None:
        with self._database.writing() as connection:
            outbox.tried(connection, notice, self._now(), why)

    async def version(self) -> int:
        return self._database.version()

    async def receipt(self, key: str) -> str | None:
        with self._database.reading() as connection:
            return mail.receipt(connection, key)

    async def keep_receipt(self, key: str, loop: LoopId, data: str) -> None:
        with self._database.writing() as connection:
            mail.keep_receipt(connection, key, loop, data, self._now())

    async def receipts(self, loop: LoopId) -> tuple[str, ...]:
        with self._database.reading() as connection:
            return mail.receipts(connection, loop)

    async def is_named(self, name: str, loop: LoopId | None = None) -> bool:
        with self._database.reading() as connection:
            asked = log.loops_with(connection, name) if loop is None else (loop,)
            return any(name in self._names(connection, each) for each in asked)

    async def keep(self, content: bytes) -> Blob:
        with self._files():
            return self._indexed(self._blobs.write(content))

    async def keep_file(self, path: Path) -> Blob:
        with self._files():
            return self._indexed(self._blobs.move_in(path))

    async def fetch(self, blob: Blob, *, limit: int | None = None) -> bytes:
        with self._files():
            return self._blobs.read(blob, limit)

    async def close(self) -> None:
        self._locks.close()
        self._database.close()

    def _names(self, connection: apsw.Connection, loop: LoopId) -> frozenset[str]:
        found = log.named(connection, loop, self._named.get(loop))
        if found is None:
            return frozenset()
        self._named[loop] = found
        return found.names

    def _now(self) -> float:
        # Always a float, as it will be when it is read back: the hashes cover it.
        return self._clock.now() + 0.0

    @contextmanager
    def _files(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise from_system(error, self._database.path) from error

    def _indexed(self, kept: KeptBlob) -> Blob:
        with self._database.reading() as connection:
            known = connection.execute(_INDEXED, (kept.blob, kept.size)).fetchone()
        if not known:
            self._blobs.sync()
            with self._database.writing() as connection:
                connection.execute(_INDEX, (kept.blob, kept.size, self._now()))
        return kept.blob
