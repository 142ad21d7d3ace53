"""How far a log has come, looked at without opening it as a store: nothing is written, made or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from loopwright.kernel.model import LoopId

_LENGTH = "SELECT seq FROM loops WHERE id = ?"
_HASH = "SELECT hash FROM events WHERE loop = ? AND seq = ?"


@dataclass(frozen=True, slots=True)
class Witness:
    """A place in the log of a loop: the number of an event, and its hash; before event 1, that the loop is there."""

    seq: int
    hash: str


def disagreements(path: Path, places: Mapping[LoopId, Witness]) -> dict[LoopId, str]:
    """Why the log does not have each of these places, in words; a log that cannot be read disagrees with nothing:
    whoever opens it says what is wrong with it."""
    try:
        # Where nobody has it open all of it is in the one file; to look at that makes no file beside it.
        alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"{path.absolute().as_uri()}?mode=ro{alone}", flags=flags)
        connection.set_busy_timeout(2000)
        try:
            found = {loop: _why_not(connection, loop, place) for loop, place in places.items()}
        finally:
            connection.close()
    except apsw.Error:
        return {}
    return {loop: why for loop, why in found.items() if why}


def _why_not(connection: apsw.Connection, loop: LoopId, place: Witness) -> str:
    length = connection.execute(_LENGTH, (loop,)).fetchone()
    if length is None:
        return "it is not there"
    if length[0] < place.seq:
        return f"it has {length[0]} events there, and had {place.seq}"
    if place.seq == 0:
        return ""
    held = connection.execute(_HASH, (loop, place.seq)).fetchone()
    return "" if held is not None and held[0].startswith(place.hash) else f"its event {place.seq} is another one there"
