"""Which ticket is meant: by its id, its session, its loop or its file; without a name, the oldest one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.tickets.queue import Queued, queue_folder, read_queued, waiting
from loopwright.app.starts.tickets.sessions import sessions
from loopwright.app.starts.tickets.ticket_text import ENDING
from loopwright.errors import AlreadyRunning, ConfigError, UsageError
from loopwright.kernel.quoting import one_line
from loopwright.loops.tickets.shape import ticket_parts

_NONE = "there is no ticket to be done; make one with `loop ticket new TITLE`"


async def oldest(project: Project) -> View | Queued:
    """What is under way comes before what waits in the queue; what another command drives is left to it."""
    active = [each for each in await sessions(project) if not each.is_over]
    if free := [each for each in active if each.alive is None]:
        return free[0]
    if files := waiting(project.root):
        return _first_free(project, files)
    if active:
        raise AlreadyRunning(active[0].row.id, active[0].alive or "")
    raise UsageError(_NONE)


def _first_free(project: Project, files: tuple[Path, ...]) -> Queued:
    """The oldest that nobody has claimed and that is not blocked; else the oldest, which says why it is not done."""
    first = read_queued(project.root, files[0])
    others = (read_queued(project.root, path) for path in files[1:])
    return first if first.is_free else next((each for each in others if each.is_free), first)


async def named(project: Project, cwd: Path, name: str) -> View | Queued:
    """Raises `UsageError` for a name that nothing has, and `ConfigError` for a file that is no ticket."""
    stem = Path(name).name.removesuffix(ENDING)
    files = {path.name.removesuffix(ENDING): path for path in waiting(project.root)}
    if _is_in_queue(project, cwd, name) and stem in files:
        return read_queued(project.root, files[stem])
    parts = ticket_parts(stem)
    session = parts[0] if parts else stem
    for each in reversed(await sessions(project)):
        if session == each.now.state.plan.session or stem == each.row.id:
            return each
    if path := files.get(stem) or files.get(f"TICKET-{stem}"):
        return read_queued(project.root, path)
    return _by_session(project, tuple(files.values()), session)


def number_in(name: str) -> int | None:
    """The number of the ticket, where a name has one."""
    parts = ticket_parts(Path(name).name.removesuffix(ENDING))
    return parts[1] if parts else None


def _is_in_queue(project: Project, cwd: Path, name: str) -> bool:
    """Whether a path was given, and it is one of the queue."""
    return "/" in name and (cwd / name).parent == queue_folder(project.root)


def _by_session(project: Project, files: tuple[Path, ...], session: str) -> Queued:
    for path in files:
        with suppress(ConfigError):  # a bad ticket is told when it is its turn
            queued = read_queued(project.root, path)
            if queued.session == session:
                return queued
    raise UsageError(f"there is no ticket or session {one_line(session, 60)!r}; `loop ticket list` shows them")
