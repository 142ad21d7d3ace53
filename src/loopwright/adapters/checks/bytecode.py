"""Compiled Python for checks: never what lies beside the sources, where anybody may have put it.

A check that runs on the base writes what it compiles into a folder of its own, empty before; that folder then serves
the runs on candidates, which write none. An agent can reach it: so it serves only while every file is as it was made,
and its list is one that this process made or that an event of the log names. A run that wrote there does not count.
What was compiled of the base's own files serves too. The checkout of a candidate lies elsewhere and its files have
other times, so Python is made to compare the content: the compiled file holds a hash of its source, not its time.
"""

from __future__ import annotations

import _imp
import asyncio
import contextlib
import struct
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.git.folders import remove
from loopwright.adapters.git.manifest import Manifest, is_as_made, read_manifest, stat_of, take_manifest

_PROJECT = "project"  # what was compiled of the base's own files
_HEAD = struct.Struct("<4sIII")  # of a compiled file: magic number, flags, and time and size of the source
_BY_CONTENT = 0b11  # flags: a hash of the source follows, and is compared
_FOR_ASSERTIONS = "-pytest-"  # in names of files that pytest compiles by itself: older ones compare times


@dataclass(frozen=True, slots=True)
class LentBytecode:
    """Compiled files that one run may load. The run could write there: it counts only if nothing changed."""

    folder: Path
    list_name: str
    stamps: Mapping[Path, list[int]]

    def is_intact(self) -> bool:
        return _stamps(self.stamps) == self.stamps


class Bytecode:
    def __init__(self, folder: Path, is_named: Callable[[str], Awaitable[bool]]) -> None:
        self._folder, self._is_named = folder, is_named
        self._own: set[str] = set()

    async def made_before(self, check: str, checkout: Path) -> LentBytecode | None:
        """Return what this check may load in this checkout, or None where nothing can be trusted."""
        made = await asyncio.to_thread(self._sound, check)
        if made is None or not (made.name in self._own or await self._is_named(made.name)):
            return None
        self._own.add(made.name)
        link = await asyncio.to_thread(_lend, self._files(check), checkout)
        stamps = _stamps((link, *(self._files(check) / path for path in made.files)))
        return LentBytecode(self._files(check), made.name, stamps)

    async def keep(self, check: str, fresh: Path, checkout: Path) -> str:
        """Keep what a run on the base compiled. The name of the list; empty: nothing.

        Two may do so at once: then one of them has compiled in vain.
        """
        made = await asyncio.to_thread(self._shelved, check, fresh, checkout)
        if made is None:
            return ""
        self._own.add(made.name)
        return made.name

    def _sound(self, check: str) -> Manifest | None:
        made = read_manifest(self._list(check))
        files = self._files(check)
        return (
            made if made and all(is_as_made(f"{files}/{path}", noted) for path, noted in made.files.items()) else None
        )

    def _shelved(self, check: str, fresh: Path, checkout: Path) -> Manifest | None:
        _part(fresh, checkout)
        made = take_manifest(fresh, frozenset())
        if not made.files:
            return None
        with contextlib.suppress(OSError):
            remove(self._folder / check)
            (self._folder / check).mkdir(parents=True)
            fresh.rename(self._files(check))
            write_whole(self._list(check), made.text)
            return made
        return None

    def _files(self, check: str) -> Path:
        return self._folder / check / "files"

    def _list(self, check: str) -> Path:
        return self._folder / check / "made.json"


def _part(fresh: Path, checkout: Path) -> None:
    """Put what was compiled of the checkout's own files where it serves other checkouts."""
    own = fresh / checkout.relative_to("/")
    if not own.is_dir():
        return
    for file in [path for path in own.rglob("*") if not path.is_dir() or path.is_symlink()]:
        source = checkout / file.relative_to(own).with_name(f"{file.name.partition('.')[0]}.py")
        held = _by_content(file, source)
        if held is None:
            file.unlink()
        else:
            file.write_bytes(held)
    own.rename(fresh / _PROJECT)


def _by_content(file: Path, source: Path) -> bytes | None:
    """Return the compiled file with a hash of its source in place of the time; None where it is not of that source."""
    try:
        compiled, found, text = file.read_bytes(), source.stat(), source.read_bytes()
        magic, flags, changed, size = _HEAD.unpack_from(compiled)
    except (OSError, struct.error):
        return None
    # An interpreter that hashes in another way compiles the source, as if there were no such file.
    digest = _imp.source_hash(int.from_bytes(magic, "little"), text)
    if flags == _BY_CONTENT:
        return compiled if compiled[_HEAD.size - len(digest) : _HEAD.size] == digest else None
    is_of_source = (changed, size) == (int(found.st_mtime) & 0xFFFFFFFF, len(text) & 0xFFFFFFFF)
    if flags or not is_of_source or _FOR_ASSERTIONS in file.name:
        return None
    return b"".join((magic, _BY_CONTENT.to_bytes(4, "little"), digest, compiled[_HEAD.size :]))


def _stamps(paths: Iterable[Path]) -> dict[Path, list[int]]:
    found: dict[Path, list[int]] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            found[path] = stat_of(str(path))
    return found


def _lend(files: Path, checkout: Path) -> Path:
    """Let Python find what was compiled of the base's files for those of this checkout, until that is gone."""
    link = files / checkout.relative_to("/")
    with contextlib.suppress(OSError):  # without it the sources are compiled
        link.parent.mkdir(parents=True, exist_ok=True)
        for other in link.parent.iterdir():
            if other.is_symlink() and not (checkout.parent / other.name).exists():
                other.unlink(missing_ok=True)
        link.symlink_to(files / _PROJECT)
    return link
