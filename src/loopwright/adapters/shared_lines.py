"""Files of JSON lines to which many loops add, under a lock and in the order of time, each line with its number.

Whatever goes wrong here breaks nothing: a line that cannot be written now is written with the loop's next event, or
by `rebuild_lines`, which gives the same bytes.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopwright.adapters.files import made, write_whole
from loopwright.errors import ConfigError
from loopwright.kernel.codec import plain
from loopwright.kernel.model import LoopId
from loopwright.loops.kind import Noted

_PATIENCE = 1.0  # seconds: nothing is lost by not waiting
_BLOCK = 1 << 16
_LONGEST = 1 << 20  # no line of ours is longer
_OPEN = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC

Order = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """The event of the log that a line comes from; `part` counts the lines that one event makes."""

    loop: LoopId
    seq: int
    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePlace:
    """What every line ends with. `sequence` is its number in the file, from 1."""

    sequence: int
    log: LogPlace


def add_lines(root: Path, name: str, lines: tuple[Noted, ...], patience: float = _PATIENCE) -> bool:
    """Add the lines of one loop, oldest first, that are not in the file. False: not now. Never fails."""
    if not lines:
        return True
    file = root / name
    try:
        made(root, file.parent)
        with _alone(file.parent, patience) as is_alone:
            if is_alone:
                _add(file, lines)
            return is_alone
    except (OSError, ConfigError):
        return False


def rebuild_lines(root: Path, name: str, lines: Iterable[Noted]) -> Path | None:
    """The file from the lines of all loops; None, as when they were added, where there are none and it is not there.

    Raises `OSError`, and `ConfigError` if a link is in the way.
    """
    file, noted = root / name, sorted(lines, key=lambda each: each.order)
    if not noted and not os.path.lexists(file):
        return None
    made(root, file.parent)
    with _alone(file.parent, _PATIENCE):
        _rewrite(file, [numbered(each, number) for number, each in enumerate(noted, start=1)])
    return file


def thin_out(root: Path, name: str, keeps: Callable[[str], bool]) -> bool:
    """Take out of the file the lines that are not to be kept. False: nothing was, or not now. Never fails."""
    file = root / name
    try:
        if not file.is_file() or file.is_symlink():
            return False
        with _alone(file.parent, _PATIENCE) as is_alone:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            kept = [line for line in lines if keeps(line)]
            if is_alone and len(kept) < len(lines):
                _rewrite(file, kept)
                return True
    except OSError:
        return False
    return False


def numbered(noted: Noted, sequence: int) -> str:
    """One line of the file, without its end."""
    place = LinePlace(sequence=sequence, log=LogPlace(loop=noted.loop, seq=noted.seq, part=noted.part))
    return json.dumps({**noted.data, **plain(place)}, ensure_ascii=False, separators=(",", ":"))


def read_lines(file: Path) -> tuple[dict[str, Any], ...]:
    """Every line that is a JSON object; others are dropped. Nothing where there is no such file."""
    with suppress(OSError), os.fdopen(os.open(file, os.O_RDONLY | _OPEN), "rb") as opened:
        if stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return tuple(data for raw in opened if (data := _parsed(raw)) is not None)
    return ()


@contextmanager
def _alone(folder: Path, patience: float) -> Iterator[bool]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _OPEN)  # a file for it would lie among the person's
    try:
        yield _locked(handle, time.monotonic() + patience)
    finally:
        os.close(handle)


def _locked(handle: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)
        else:
            return True


def _add(file: Path, lines: tuple[Noted, ...]) -> None:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | _OPEN, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        end = _whole(handle)
        last, known = _standing(handle, end, lines[0])
        fresh = [each for each in lines if (each.seq, each.part) > known]
        if not fresh:
            return
        if last is None or _order(last) < fresh[0].order:
            following = (last["sequence"] if last else 0) + 1
            text = "".join(f"{numbered(each, number)}\n" for number, each in enumerate(fresh, start=following))
            os.ftruncate(handle, end)
            _write_all(handle, text.encode())
            return
    finally:
        os.close(handle)
    _merge(file, fresh)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _merge(file: Path, fresh: list[Noted]) -> None:
    """Another loop has written later moments already: everything is put in order and numbered anew."""
    held = [(_order(data), data) for data in read_lines(file) if _is_ours(data)]
    added = [(each.order, json.loads(numbered(each, 0))) for each in fresh]
    ordered = sorted(held + added, key=lambda pair: pair[0])
    anew = ({**data, "sequence": number} for number, (_, data) in enumerate(ordered, start=1))
    _rewrite(file, [json.dumps(data, ensure_ascii=False, separators=(",", ":")) for data in anew])


def _rewrite(file: Path, lines: list[str]) -> None:
    write_whole(file, "".join(f"{each}\n" for each in lines))


def _whole(handle: int) -> int:
    """Where the last whole line ends: what a dying process left after it is no line."""
    size = os.fstat(handle).st_size
    while size:
        begin = max(0, size - _BLOCK)
        cut = os.pread(handle, size - begin, begin).rfind(b"\n")
        if cut >= 0:
            return begin + cut + 1
        size = begin
    return 0


def _standing(handle: int, end: int, first: Noted) -> tuple[dict[str, Any] | None, tuple[int, int]]:
    """The last line, and how far this loop has been written; its lines cannot be older than its first."""
    last: dict[str, Any] | None = None
    for data in _backwards(handle, end):
        last = last or data
        if data["log"]["loop"] == first.loop:
            return last, (data["log"]["seq"], data["log"]["part"])
        if _moment(data) < first.timestamp:
            break
    return last, (0, -1)


def _backwards(handle: int, end: int) -> Iterator[dict[str, Any]]:
    """Whole lines of ours, the last one first."""
    rest = b""
    while end:
        begin = max(0, end - _BLOCK)
        parts = (os.pread(handle, end - begin, begin) + rest).split(b"\n")
        rest, whole = (parts[0], parts[1:]) if begin else (b"", parts)
        for raw in reversed(whole):
            data = _parsed(raw)
            if data is not None and _is_ours(data):
                yield data
        end = begin


def _parsed(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > _LONGEST:
        return None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _is_ours(data: dict[str, Any]) -> bool:
    """Whether it has what puts a line in order; others' lines are read, but do not survive putting in order."""
    match data:
        case {"sequence": int(), "log": {"loop": str(), "seq": int(), "part": int()}}:
            return isinstance(_moment(data), str)
        case _:
            return False


def _moment(data: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever stands there
    """Some files have another word for it."""
    return data.get("timestamp", data.get("ts"))


def _order(data: dict[str, Any]) -> Order:
    return _moment(data), data["log"]["loop"], data["log"]["seq"], data["log"]["part"]
