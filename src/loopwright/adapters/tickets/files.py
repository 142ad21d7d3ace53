"""The ticket files of a session, written from its state and its log: in `active/`, later in `completed/`.

Nothing here is truth: each file can be made anew from the log, with the same bytes.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.tickets import observer_log
from loopwright.adapters.tickets.folders import ACTIVE, COMPLETED, made, refuse_links, session_folder
from loopwright.adapters.tickets.reading import ENDING, ticket_text
from loopwright.errors import ConfigError
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import Record
from loopwright.kernel.yaml_writer import write_yaml
from loopwright.loops.tickets.state import Phase, Tickets, ticket_id
from loopwright.loops.tickets.ticket_file import Page, pages
from loopwright.loops.tickets.ticket_view import is_completed

_WORKSPACES = ".worktrees"


def page_text(page: Page) -> str:
    return f"---\n{write_yaml(page.front)}---\n\n{page.body}"


def publish(root: Path, loop_id: LoopId, state: Tickets, records: tuple[Record, ...]) -> tuple[Path, ...]:
    """Bring the files of a session, and the observer's, to what its state and its whole log say; and name them.

    Raises `OSError`, and `ConfigError` if a link is in the way.
    """
    written = tuple(_write(root, state, page) for page in session_pages(loop_id, state, records))
    _leave(root, state)
    return (*written, *observer_log.note(root, state.plan, records))


def ticket_path(root: Path, state: Tickets, number: int = 0) -> Path:
    """Where the file of a ticket is, or would be; without a number, the newest."""
    return _folders(root, state)[0] / f"{ticket_id(state.plan.session, number or state.ticket.number)}{ENDING}"


def withdraw(root: Path, state: Tickets) -> None:
    """Remove the files of a session that a person wants nothing left of. Raises `OSError`."""
    for folder in _folders(root, state):
        refuse_links(root, folder)
        for page in pages(state, ()):
            with suppress(FileNotFoundError, NotADirectoryError):
                (folder / f"{page.name}{ENDING}").unlink()
        with suppress(OSError):  # not there, or somebody else's files are in it
            folder.rmdir()


def session_pages(loop_id: LoopId, state: Tickets, records: tuple[Record, ...]) -> tuple[Page, ...]:
    """Every ticket of the session that is ours, as its file has it."""
    return pages(state, records, _worktree(loop_id, state))


def _worktree(loop_id: LoopId, state: Tickets) -> str | None:
    """From the root of the repository, so that the file says the same on every machine."""
    return None if state.phase is Phase.DONE else f"{_WORKSPACES}/{loop_id}"


def _folders(root: Path, state: Tickets) -> tuple[Path, Path]:
    """Where the session's files belong, and where they may have been."""
    active, completed = (session_folder(root, where, state.plan.session) for where in (ACTIVE, COMPLETED))
    return (completed, active) if is_completed(state) else (active, completed)


def _write(root: Path, state: Tickets, page: Page) -> Path:
    """Written where it belongs before it is gone from where it was. Most events leave a file as it is."""
    folder, other = _folders(root, state)
    path, text = made(root, folder) / f"{page.name}{ENDING}", page_text(page)
    if not _holds(path, text):
        write_whole(path, text)
    refuse_links(root, other)
    with suppress(FileNotFoundError, NotADirectoryError):
        (other / path.name).unlink()
    return path


def _holds(path: Path, text: str) -> bool:
    try:
        return ticket_text(path) == text
    except ConfigError:
        return False


def _leave(root: Path, state: Tickets) -> None:
    with suppress(OSError):  # not there, or somebody else's files are in it
        _folders(root, state)[1].rmdir()
