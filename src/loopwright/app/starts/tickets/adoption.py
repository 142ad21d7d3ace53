"""Going on with a ticket session that another tool began, from its files, which are only read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from loopwright.app.creation import new_id
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.publication import write_at_once
from loopwright.app.starts.door import Adopter, PointedAt
from loopwright.app.starts.tickets.sessions import (
    TicketRequest,
    create_session,
    limits_for,
    plan_session,
    session_of,
    session_params,
)
from loopwright.app.starts.tickets.ticket_text import ENDING, read_ticket
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.loops.tickets import ticket_read
from loopwright.loops.tickets.shape import ticket_parts
from loopwright.loops.tickets.state import TicketParams
from loopwright.loops.tickets.ticket_read import ReadTicket

_DEEPEST = 2  # tickets/active/<session>/ is two folders below what a person may name
_MOST = 20_000  # files that are looked at

Files = dict[str, tuple[Path, ...]]  # by session


def ticket_files(path: Path) -> Files:
    """The tickets of each session in a folder; of a file, those of its session beside it. Links are not followed."""
    alone = ticket_parts(path.name.removesuffix(ENDING)) if path.name.endswith(ENDING) else None
    found: Files = {}
    for file in _inside(path.parent if alone else path, 0 if alone else _DEEPEST):
        parts = ticket_parts(file.name.removesuffix(ENDING)) if file.name.endswith(ENDING) else None
        if parts and (alone is None or parts[0] == alone[0]):
            found[parts[0]] = (*found.get(parts[0], ()), file)
    return found


def _inside(folder: Path, deeper: int) -> Iterator[Path]:
    names: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        names = sorted((entry for _, entry in zip(range(_MOST), entries, strict=False)), key=lambda entry: entry.name)
    for entry in names:
        if entry.is_file(follow_symlinks=False):
            yield folder / entry.name
        elif deeper and entry.is_dir(follow_symlinks=False):
            yield from _inside(folder / entry.name, deeper - 1)


async def adopt_tickets(project: Project, settings: Settings, request: PointedAt) -> View:
    """The session, not yet driven: it goes on with the next number, or asks where the last ticket was escalated."""
    reads = _session(request)
    params = _adopted(project, settings, reads)
    if (known := await session_of(project, params.session)) is not None:
        raise UsageError(
            f"session {params.session} is known here already, as loop {known.row.id} ({known.row.status});"
            f" go on with `loop ticket run {params.session}`"
        )
    planned = plan_session(project, settings, params, TicketRequest())
    seen = await create_session(project, settings, planned, new_id(params.session))
    await write_at_once(project, seen)
    return seen


def _adopted(project: Project, settings: Settings, reads: tuple[ReadTicket, ...]) -> TicketParams:
    last = reads[-1]
    tickets = ticket_read.adopted(reads)
    params = session_params(last, last.session, project.head)
    limits = limits_for(last, settings, TicketRequest())
    return ticket_read.with_turn(replace(params, adopted=tickets, limits=limits), last)


def _session(request: PointedAt) -> tuple[ReadTicket, ...]:
    """The tickets of the session that is meant, oldest first."""
    found = ticket_files(request.path)
    if request.session and request.session not in found:
        names = ", ".join(sorted(found)) or "none"
        raise UsageError(f"{request.path} has no session {request.session!r}; there are {names}")
    if request.session or len(found) == 1:
        return _read(found[request.session or next(iter(found))])
    by_age = sorted(found.values(), key=lambda files: max(file.stat().st_mtime_ns for file in files), reverse=True)
    for files in by_age:
        reads = _read(files)
        if reads[-1].status != "approved":
            return reads
    raise UsageError(f"every session in {request.path} is approved; there is nothing to go on with")


def _read(files: tuple[Path, ...]) -> tuple[ReadTicket, ...]:
    """Raises `ConfigError` with file and line; a number that is there twice is of two folders."""
    reads = sorted((read_ticket(file) for file in files), key=lambda read: read.sequence or 0)
    for before, after in pairwise(reads):
        if before.sequence == after.sequence:
            raise UsageError(f"{after.file} and {before.file} are the same ticket; name the folder of one of them")
    return tuple(reads)


def _found(path: Path) -> Path | None:
    named = path.is_dir() or path.suffix == ENDING
    return path if named and ticket_files(path) else None


ADOPTER = Adopter(named="a folder of tickets", finds=_found, takes=("session",), adopt=adopt_tickets)
