"""Where tickets lie: `queue/`, `active/<session>/`, `completed/<session>/`, all below `.loop/tickets/`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from loopwright.app.starts.tickets.ticket_text import ENDING
from loopwright.errors import UsageError
from loopwright.loops.tickets.files import ACTIVE, COMPLETED, FOLDER
from loopwright.loops.tickets.shape import LAST_SEQUENCE, is_session, ticket_parts

QUEUE = "queue"


def tickets_folder(root: Path) -> Path:
    return root / FOLDER


def session_folder(root: Path, where: str, session: str) -> Path:
    """`where` is `ACTIVE` or `COMPLETED`. Raises `UsageError` for what is no session id."""
    if not is_session(session):
        raise UsageError(f"{session!a} cannot be a session: it needs 1 to 40 lower-case letters, digits and dashes")
    return tickets_folder(root) / where / session


def next_sequence(root: Path, session: str) -> int:
    """One more than the highest found in `active/` and `completed/`; 1 for a session that has none.

    Raises `UsageError` when three digits no longer do.
    """
    numbers = [number for where in (ACTIVE, COMPLETED) for number in _numbers(session_folder(root, where, session))]
    following = max(numbers, default=0) + 1
    if following > LAST_SEQUENCE:
        raise UsageError(f"the session {session} has {LAST_SEQUENCE} tickets, and there are no more; start another one")
    return following


def _numbers(folder: Path) -> list[int]:
    names: list[str] = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        names = [entry.name.removesuffix(ENDING) for entry in entries if entry.name.endswith(ENDING)]
    parts = [ticket_parts(name) for name in names]
    return [part[1] for part in parts if part and part[0] == folder.name]
