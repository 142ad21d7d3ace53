"""Putting a plugin into a folder and taking exactly it out again.

A record beside the files says what we wrote. What somebody changed since is theirs: it is named and left. The record is
written first and removed last, so that whoever is interrupted can do the same again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from loopwright.adapters.files import read_regular, refuse_links, write_whole
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.codec import DecodeError, decode, encode

RECORD = "loopwright.json"
_LIMIT = 1 << 20
_DEEPEST = 32  # folders that are made for it


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginChange:
    """What was done, or would be, by paths in the folder."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # changed by somebody since, so left as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginPlace:
    """`top` is what links may lead to; no link is followed below it."""

    top: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class _Written:
    path: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """What `install` wrote into the folder."""

    version: int = 1
    made: int  # how many folders were made for it: its own, the one above, and so on
    written: tuple[_Written, ...]

    @property
    def files(self) -> dict[str, str]:
        return {each.path: each.digest for each in self.written}


def install(place: PluginPlace, texts: Mapping[str, str], *, only_look: bool = False) -> PluginChange:
    """Raises `Forbidden` if anything that is not ours is in the way; then nothing was written."""
    _refuse_links(place, texts)
    folder, record = place.folder, _read_record(place)
    if record is None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Forbidden(
                f"{folder} is there and not from `loop plugin install`; move it away, or give --path another"
            )
        record = _Record(written=(), made=sum(not each.exists() for each in (folder, *folder.parents)))
    now = {name: _digest_of(folder / name) for name in {*texts, *record.files}}
    foreign = [name for name in texts if now[name] not in ("", _digest(texts[name])) and name not in record.files]
    if foreign:
        raise Forbidden(f"{folder / foreign[0]} is not from `loop plugin install`; move it away and try again")
    kept = tuple(name for name in record.files if _is_changed(name, now, texts, record))
    removed = tuple(name for name in record.files if name not in texts and name not in kept and now[name])
    written = tuple(name for name in texts if name not in kept and now[name] != _digest(texts[name]))
    if not only_look:
        digests = {name: record.files[name] if name in kept else _digest(texts[name]) for name in (*texts, *kept)}
        record = _Record(written=tuple(map(_Written, digests, digests.values())), made=record.made)
        _write(folder, {name: texts[name] for name in written}, record)
        _remove(folder, removed)
    return PluginChange(written=(*written, RECORD) if written or removed else (), removed=removed, kept=kept)


def uninstall(place: PluginPlace, *, only_look: bool = False) -> PluginChange:
    """Removes what `install` wrote and nothing else. Raises `Forbidden` for a folder without our record."""
    record = _read_record(place)
    if record is None:
        if place.folder.exists():
            raise Forbidden(f"{place.folder} has no record of `loop plugin install`; nothing was removed")
        return PluginChange()
    _refuse_links(place, record.files)
    now = {name: _digest_of(place.folder / name) for name in record.files}
    removed = tuple(name for name, digest in record.files.items() if now[name] == digest)
    kept = tuple(name for name in record.files if now[name] and name not in removed)
    if not only_look:
        _remove(place.folder, (*removed, RECORD))
        with suppress(OSError):  # somebody else's files are in it
            for each in [place.folder, *place.folder.parents][: record.made]:
                each.rmdir()
    return PluginChange(removed=(*removed, RECORD), kept=kept)


def _is_changed(name: str, now: Mapping[str, str], texts: Mapping[str, str], record: _Record) -> bool:
    """By a person: it is there, and neither what we wrote nor what we would write."""
    return now[name] not in ("", record.files[name], _digest(texts[name]) if name in texts else "")


def _refuse_links(place: PluginPlace, names: Iterable[str]) -> None:
    for name in (*names, RECORD):
        refuse_links(place.top, place.folder / name)


def _write(folder: Path, texts: Mapping[str, str], record: _Record) -> None:
    try:
        for name, text in {RECORD: encode(record) + "\n", **texts}.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}; make it writable and try again") from error


def _remove(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{folder / name}: {error.strerror}; make it writable and try again") from error
        for above in PurePosixPath(name).parents:
            if above != PurePosixPath():
                with suppress(OSError):  # others are in it
                    (folder / above).rmdir()


def _read_record(place: PluginPlace) -> _Record | None:
    refuse_links(place.top, place.folder / RECORD)
    data = read_regular(place.folder / RECORD, _LIMIT)
    if data is None:
        return None
    with suppress(DecodeError, UnicodeDecodeError):
        record = decode(_Record, data.decode())
        if record.version == 1 and 0 <= record.made < _DEEPEST and all(map(_is_below, record.files)):
            return record
    raise Forbidden(
        f"{place.folder / RECORD} cannot be read, so nobody knows what is ours; remove {place.folder} by hand"
    )


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _digest_of(path: Path) -> str:
    """Empty for what is not there; what is no file is like a file of somebody else."""
    data = read_regular(path, _LIMIT)
    if data is None:
        return "no file" if path.exists() else ""
    return hashlib.sha256(data).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
