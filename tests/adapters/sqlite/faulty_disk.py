"""A file layer for SQLite that fails on demand, with the errors a real disk gives."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class FaultyDisk:
    """`fail` is raised by every write and sync while it is set."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fail: type[apsw.Error] | None = None

    def act(self) -> None:
        if self.fail is not None:
            raise self.fail


@contextmanager
def faulty_disk(name: str) -> Iterator[FaultyDisk]:
    disk = FaultyDisk(name)

    class File(apsw.VFSFile):
        def __init__(self, filename: str | apsw.URIFilename | None, flags: list[int]) -> None:
            super().__init__("", filename, flags)

        def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 -- the name is SQLite's
            disk.act()
            super().xWrite(data, offset)

        def xSync(self, flags: int) -> None:  # noqa: N802 -- the name is SQLite's
            disk.act()
            super().xSync(flags)

    class Layer(apsw.VFS):
        def __init__(self) -> None:
            super().__init__(name, "")

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 -- as above
            return File(name, flags)

    layer = Layer()
    try:
        yield disk
    finally:
        layer.unregister()
