"""`loop-state.json` as a file that others wrote before, or write too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.doors import RecordPlace, take_over
from loopwright.adapters.files import made, read_regular, write_whole
from loopwright.app.layout import RECORDS, STATE_FOLDER
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.publication import write_at_once
from loopwright.kernel.model import LoopId
from loopwright.loops.lifecycle.files import edited

STATE_FILE = "loop-state.json"
LARGEST = 4 << 20  # bytes


def state_place(project: Project, name: str) -> RecordPlace:
    return RecordPlace(project.root, name, f"{STATE_FOLDER}/{RECORDS}")


def kept_in(loop: LoopId) -> str:
    """Where what it was taken over from stays as it was."""
    return f"{STATE_FOLDER}/lifecycle/{loop}/adopted"


def keep_original(project: Project, loop: LoopId, text: str) -> None:
    write_whole(made(project.root, project.root / kept_in(loop)) / STATE_FILE, text)


async def write_around(project: Project, seen: View, text: str) -> None:
    """The files of a system that was taken over; what was read for it stays until there is more to tell."""
    await write_at_once(project, seen, stay=tuple(_in_place(project, seen, text)))


def _in_place(project: Project, seen: View, text: str) -> Iterator[Path]:
    """What was read lies where the system has its own: it is no edit."""
    for name, copy in edited(seen.row.id, seen.now.state).items():
        place = state_place(project, name)
        if read_regular(place.path, LARGEST) == text.encode():
            take_over(place, text.encode())
            write_whole(project.root / copy, text)
            yield place.path
