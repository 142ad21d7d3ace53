"""Files by their content: `<sha256>`, whole or not there at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from loopwright.adapters.files import PRIVATE_FILE, make_private, sync
from loopwright.errors import StoreCorrupt, UsageError
from loopwright.kernel.model import Blob

_CHUNK = 1 << 20
_NAME = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeptBlob:
    blob: Blob
    size: int


class Blobs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, kept: KeptBlob) -> bool:
        try:
            return self._file(kept.blob).stat().st_size == kept.size
        except FileNotFoundError:
            return False

    def write(self, content: bytes) -> KeptBlob:
        kept = KeptBlob(Blob(hashlib.sha256(content).hexdigest()), len(content))
        if not self.has(kept):
            with self._fresh() as (file, fresh):
                file.write(content)
                self._land(file, fresh, kept.blob)
        return kept

    def move_in(self, path: Path) -> KeptBlob:
        """A file with one name is renamed; one with more names, or on another disk, is copied: nobody may change it."""
        with _regular(path) as source:
            kept = _measured(source)
            if self.has(kept):
                path.unlink()
            elif os.fstat(source.fileno()).st_nlink > 1 or not self._rename(source, path, kept.blob):
                self._copy(source, kept.blob)
                path.unlink()
        return kept

    def sync(self) -> None:
        """A file that was there already may have lost its writer before its name was durable."""
        sync(self._folder)

    def read(self, blob: Blob, limit: int | None) -> bytes:
        if not _NAME.fullmatch(blob):
            raise UsageError(f"{blob!r} is not the name of a blob")
        file = self._file(blob)
        try:
            with file.open("rb") as source:
                content = source.read(-1 if limit is None else limit + 1)
        except FileNotFoundError as error:
            raise StoreCorrupt(str(file), "blob", "it is missing") from error
        if limit is not None and len(content) > limit:
            return content[:limit]
        if hashlib.sha256(content).hexdigest() != blob:
            raise StoreCorrupt(str(file), "blob", "it is not what was written")
        return content

    def _file(self, blob: Blob) -> Path:
        return self._folder / blob

    @contextmanager
    def _fresh(self) -> Iterator[tuple[BinaryIO, Path]]:
        make_private(self._folder)
        fresh = self._folder / f".new-{secrets.token_hex(8)}"
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file, fresh
        finally:
            fresh.unlink(missing_ok=True)

    def _land(self, file: BinaryIO, fresh: Path, blob: Blob) -> None:
        file.flush()
        os.fsync(file.fileno())
        fresh.rename(self._file(blob))
        sync(self._folder)

    def _rename(self, source: BinaryIO, path: Path, blob: Blob) -> bool:
        make_private(self._folder)
        os.fchmod(source.fileno(), PRIVATE_FILE)
        os.fsync(source.fileno())
        try:
            path.rename(self._file(blob))
        except OSError as error:
            if error.errno == errno.EXDEV:
                return False
            raise
        sync(self._folder)
        return True

    def _copy(self, source: BinaryIO, blob: Blob) -> None:
        source.seek(0)
        with self._fresh() as (file, fresh):
            while chunk := source.read(_CHUNK):
                file.write(chunk)
            self._land(file, fresh, blob)


@contextmanager
def _regular(path: Path) -> Iterator[BinaryIO]:
    """Open what may have been left by an agent: no link is followed, no pipe is waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise UsageError(f"{path} is not a regular file, so it cannot be kept")
        yield source


def _measured(source: BinaryIO) -> KeptBlob:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return KeptBlob(Blob(digest.hexdigest()), size)
