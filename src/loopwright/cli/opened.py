"""Opening the project around the current folder, for as long as a command needs it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.git.repository import find_repository
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.app import project as projects
from loopwright.app.beforehand import unseen_changes
from loopwright.app.kinds import KINDS, Kinds
from loopwright.app.project import Project, open_project
from loopwright.cli.here import Here
from loopwright.cli.output import note


def kinds(here: Here) -> Kinds:
    return {**KINDS, **here.kinds}


def has_log(here: Here) -> bool:
    """Whether a loop was ever started here. Raises `UsageError` outside of a repository, `Forbidden` for a lost log."""
    return projects.has_log(find_repository(here.cwd, here.environ), here.environ)


@contextmanager
def opened(here: Here, *, create: bool = False) -> Iterator[Project]:
    """The repository around the current folder, closed again afterwards. Only `create` makes a log where none is."""
    project = open_project(here.cwd, here.environ, create=create, kinds=kinds(here))
    try:
        yield project
    finally:
        asyncio.run(project.store.close())


@contextmanager
def only_looked_at(here: Here) -> Iterator[Project]:
    """As `opened`, with a log that is thrown away: nothing in the repository is made or changed."""
    repository, clock = find_repository(here.cwd, here.environ), SystemClock()
    projects.has_log(repository, here.environ)  # where the real thing would be refused, so is the look at it
    with tempfile.TemporaryDirectory(prefix="loop-") as folder:
        store = SqliteStore.open(Path(folder) / "loop.db", clock)
        yield Project(
            root=repository.top,
            head=repository.head,
            branch=repository.branch_ref,
            environ=here.environ,
            store=store,
            clock=clock,
            kinds=kinds(here),
        )
        asyncio.run(store.close())


def looking(here: Here) -> AbstractContextManager[Project]:
    """With the real log where there is one, which is only read."""
    return opened(here) if has_log(here) else only_looked_at(here)


def note_unseen(project: Project, taken: tuple[str, ...] = ()) -> None:
    """As a loop that begins says it; `taken` are paths that it has as they are."""
    for line in unseen_changes(project, taken):
        note(line)
