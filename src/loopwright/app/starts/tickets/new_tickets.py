"""Putting tickets into the queue: one that a person describes, or one for each task of another tool's list."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from loopwright.adapters.importers.imported import Imported
from loopwright.adapters.importers.task_files import read_tasks
from loopwright.adapters.yaml_text import SIZE_LIMIT
from loopwright.app.project import Project
from loopwright.app.starts.tickets.folders import next_sequence, session_folder
from loopwright.app.starts.tickets.queue import put, read_queued, waiting
from loopwright.app.starts.tickets.sessions import sessions
from loopwright.app.starts.tickets.ticket_text import parse, shown_path, ticket_text
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import slug
from loopwright.loops.tickets.files import ACTIVE, COMPLETED, Page, draft
from loopwright.loops.tickets.shape import is_session
from loopwright.loops.tickets.state import Criterion

_SLUG = 24  # characters of a session that is named after a title
_CRITERION = re.compile(r"([A-Za-z][A-Za-z0-9]*-[0-9]+):\s*(.+)", re.DOTALL)
_IS_TICKET = re.compile(
    r"\A\ufeff?---\s*$|^#{1,2}\s+(?:Requirements|Acceptance Criteria)\s*$", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A ticket as it was asked for. Empty: not said."""

    title: str = ""
    what: str = ""
    criteria: tuple[str, ...] = ()
    context: str = ""
    cycle: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A ticket that was put into the queue. `sequence` is that of its first ticket."""

    session: str
    file: Path
    sequence: int


def described_in(file: Path, said: Described) -> Described:
    """With what a file adds: a ticket that somebody wrote, or else a text that says what is to be built."""
    text = ticket_text(file)
    if not _IS_TICKET.search(text):
        return replace(said, what=text)
    read = parse(text, shown_path(file))
    return Described(
        title=said.title or read.title,
        what=read.what,
        criteria=(*(f"{box.id}: {box.text}" for box in read.criteria), *said.criteria),
        context=said.context or read.context,
        cycle=said.cycle or read.cycle,
        session=said.session or read.session,
    )


async def new_ticket(project: Project, said: Described) -> Put:
    """In the queue, whole or not at all. Without a session it gets one that nobody has, named after its title."""
    if not said.title.strip():
        raise UsageError("the ticket has no title; say what is to be built")
    page = _page(said)
    session = said.session or await free_session(project, said.title)
    return _put(project, session, page)


def _put(project: Project, session: str, page: Page) -> Put:
    file = put(project.root, session, page)
    return Put(session=session, file=file, sequence=next_sequence(project.root, session))


async def free_session(project: Project, title: str) -> str:
    """A session that nobody has, named after a title."""
    taken = await _taken(project)
    return next(name for name in _names(title) if not _is_taken(project, name, taken))


async def import_tickets(project: Project, file: Path, name: str, cycle: str) -> tuple[list[Put], list[str]]:
    """One for each task, in the order in which they are to be done, and the sessions that are known here already."""
    _, tasks = read_tasks(file, name)
    known, fresh, made, left = await _taken(project), set[str](), list[Put](), list[str]()
    begin = int(project.clock.now() * 1e9)
    pages = [(task, _page(_of_task(task, cycle))) for task in tasks]  # all can be written, or none is
    for number, (task, page) in enumerate(pages):
        session = next(each for each in _names(f"{task.id} {task.title}") if each not in fresh)
        fresh.add(session)
        if _is_taken(project, session, known):
            left.append(session)
            continue
        made.append(_put(project, session, page))
        # The queue goes by age, and a disk's clock is coarse.
        with suppress(OverflowError):  # nor does it reach beyond the year 2262
            os.utime(made[-1].file, ns=(begin + number, begin + number))
    return made, left


def _of_task(task: Imported, cycle: str) -> Described:
    return Described(title=task.title, what=task.what, criteria=task.criteria, context=task.context, cycle=cycle)


def _page(said: Described) -> Page:
    """Raises `UsageError` for what could not be read back."""
    criteria = identified(said.criteria or (said.title,))
    page = draft(title=said.title, what=said.what, criteria=criteria, context=said.context, cycle=said.cycle)
    text = page.text
    if len(text.encode()) > SIZE_LIMIT:
        raise UsageError(f"the ticket {one_line(said.title, 60)!r} is larger than {SIZE_LIMIT // 1024} KiB; shorten it")
    try:
        parse(text, f"the ticket {one_line(said.title, 60)!r}")
    except ConfigError as error:
        raise UsageError(str(error)) from error
    return page


def identified(texts: tuple[str, ...]) -> tuple[Criterion, ...]:
    """A criterion without an id (`AC-1: …`) gets the first that none of the others has. Raises `UsageError`."""
    found = tuple(_criteria(texts))
    ids = [each.id.casefold() for each in found]
    for each in found:
        if ids.count(each.id.casefold()) > 1:
            raise UsageError(f"the criterion {each.id} is there twice; give one of them another id")
    return found


def _criteria(texts: tuple[str, ...]) -> Iterator[Criterion]:
    named = [_CRITERION.fullmatch(text.strip()) for text in texts]
    given = {found[1].casefold() for found in named if found}
    free = (f"AC-{number}" for number in count(1) if f"ac-{number}" not in given)
    for text, found in zip(texts, named, strict=True):
        if not text.strip():
            raise UsageError("a criterion is empty; say with --accept what must hold")
        yield Criterion(id=found[1], text=found[2]) if found else Criterion(id=next(free), text=text)


def _names(title: str) -> Iterator[str]:
    """Sessions after a title, each more different than the one before."""
    name = slug(title, _SLUG) or "ticket"
    yield name
    yield from (f"{name}-{number}" for number in count(2))


async def _taken(project: Project) -> set[str]:
    """Sessions of the log and of the queue."""
    known = {each.now.state.plan.session for each in await sessions(project)}
    for path in waiting(project.root):
        with suppress(ConfigError):
            known.add(read_queued(project.root, path).session)
    return known


def _is_taken(project: Project, session: str, known: set[str]) -> bool:
    folders = (session_folder(project.root, where, session) for where in (ACTIVE, COMPLETED))
    return session in known or not is_session(session) or any(folder.exists() for folder in folders)
