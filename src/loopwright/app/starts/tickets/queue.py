"""`.loop/tickets/queue/`: the door through which a person puts a ticket. Only here a file is more than a picture.

A ticket is taken out of the queue when its loop is in the log, and no sooner: whoever dies in between finds it there
again, and the same file with the same text always names the same loop.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import ignore_all, made, refuse_links, write_whole
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.starts.tickets.folders import QUEUE, next_sequence, tickets_folder
from loopwright.app.starts.tickets.ticket_text import ENDING, parse, shown_path, ticket_text
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.wording import slug
from loopwright.loops.tickets.files import Page
from loopwright.loops.tickets.shape import is_session
from loopwright.loops.tickets.ticket_read import ReadTicket

_ACTIVATED = ".activated"  # within the queue: what a person wrote is kept as they wrote it
_OVER = ("approved", "escalated")
_TAKEN = ("claimed", "blocked")
_SLUG = 40
_LOOP_SLUG = 31  # with a dash and a digest of 8 it makes the 40 of an id of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A ticket in the queue, read. `loop` is the id of its loop: the same for the same session and text, always."""

    path: Path
    ticket: ReadTicket
    session: str
    sequence: int  # of its first ticket: 1, unless the session has tickets already
    digest: str

    @property
    def is_free(self) -> bool:
        """Nobody else has it, and nothing keeps it from being done."""
        return self.ticket.status not in _TAKEN

    @property
    def loop(self) -> str:
        name = self.session[:_LOOP_SLUG].strip("-")
        return f"{name}-{self.digest[:8]}" if name else self.digest[:8]


def queue_folder(root: Path) -> Path:
    return tickets_folder(root) / QUEUE


def waiting(root: Path) -> tuple[Path, ...]:
    """The files in the queue, oldest first, those of one moment by name. Links, pipes and hidden files are none."""
    folder = queue_folder(root)
    refuse_links(root, folder)
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if _is_ticket(entry)]
            dated = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name) for entry in found)
    except FileNotFoundError:  # no queue, or taken out by another command in between
        return waiting(root) if folder.is_dir() else ()
    except NotADirectoryError as error:
        raise ConfigError(shown_path(folder), "", "is not a folder") from error
    return tuple(folder / name for _, name in dated)


def _is_ticket(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(ENDING) and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)


def read_queued(root: Path, path: Path) -> Queued:
    """Raises `ConfigError` with file and line for a ticket that cannot be taken."""
    text = ticket_text(path)
    digest = hashlib.sha256(text.encode()).hexdigest()
    ticket = parse(text, shown_path(path))
    if ticket.status in _OVER:
        raise ConfigError(ticket.file, "status", f"is {ticket.status}; a ticket that waits to be done is open")
    session = ticket.session or _session_of(path, digest)
    return Queued(path=path, ticket=ticket, session=session, sequence=next_sequence(root, session), digest=digest)


def _session_of(path: Path, digest: str) -> str:
    """`TICKET-<session>.md` names it; any other name is made one."""
    stem = path.name.removesuffix(ENDING)
    named = stem.removeprefix("TICKET-")
    if named != stem:
        if not is_session(named):
            says = f"{named!a} cannot be a session: it needs 1 to 40 lower-case letters, digits and dashes"
            raise ConfigError(shown_path(path), "", f"{says}; rename the file")
        return named
    return slug(stem, _SLUG) or f"ticket-{digest[:8]}"


def take_out(root: Path, queued: Queued) -> bool:
    """Move the file out of the queue, once its loop is in the log. False: it is gone, or is another ticket by now.

    Safe to repeat. Raises `OSError`.
    """
    try:
        text = ticket_text(queued.path)
    except ConfigError:
        return False
    if hashlib.sha256(text.encode()).hexdigest() != queued.digest:
        return False
    kept = made(root, queue_folder(root) / _ACTIVATED) / f"{queued.loop}{ENDING}"
    write_whole(kept, text)
    queued.path.unlink(missing_ok=True)
    return True


def was_taken_out(root: Path, queued: Queued) -> bool:
    """Whether this very ticket has left the queue before: then a person put it there once more."""
    return (queue_folder(root) / _ACTIVATED / f"{queued.loop}{ENDING}").exists()


def put(root: Path, session: str, page: Page) -> Path:
    """A new ticket, whole or not at all. Raises `UsageError` if the session is none or is waiting already."""
    if not is_session(session):
        raise UsageError(f"{session!a} cannot be a session: it needs 1 to 40 lower-case letters, digits and dashes")
    ignore_all(root / STATE_FOLDER)
    folder = made(root, queue_folder(root))
    path = folder / f"TICKET-{session}{ENDING}"
    handle, name = tempfile.mkstemp(prefix=".new-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(page.text)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(name)
    except FileExistsError as error:
        raise UsageError(f"{shown_path(path)} is in the queue already; run it or choose another name") from error
    finally:
        Path(name).unlink()
    return path
