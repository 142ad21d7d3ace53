"""Which loop is meant: the one named, or the only one that fits."""

from __future__ import annotations

import asyncio
import difflib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from loopwright import assembly
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.stores.sqlite import SqliteStore
from loopwright.adapters.workspace.repository import find_repository
from loopwright.assembly import Project, View, open_project
from loopwright.cli.here import Here
from loopwright.errors import UsageError
from loopwright.kernel.actions import Ask, AwaitGate
from loopwright.projections.status import shown_status, title

_SHOWN = 10
OVER = ("complete", "cancelled")


def has_log(here: Here) -> bool:
    """Whether a loop was ever started here. Raises `UsageError` outside of a repository, `Forbidden` for a lost log."""
    return assembly.has_log(find_repository(here.cwd, here.environ), here.environ)


@contextmanager
def opened(here: Here, *, create: bool = False) -> Iterator[Project]:
    """The repository around the current folder, closed again afterwards. Only `create` makes a log where none is."""
    project = open_project(here.cwd, here.environ, create=create)
    try:
        yield project
    finally:
        asyncio.run(project.store.close())


@contextmanager
def only_looked_at(here: Here) -> Iterator[Project]:
    """As `opened`, with a log that is thrown away: nothing in the repository is made or changed."""
    repository, clock = find_repository(here.cwd, here.environ), SystemClock()
    assembly.has_log(repository, here.environ)  # where the real thing would be refused, so is the look at it
    with tempfile.TemporaryDirectory(prefix="loop-") as folder:
        store = SqliteStore.open(Path(folder) / "loop.db", clock)
        yield Project(
            root=repository.top,
            head=repository.head,
            branch=repository.branch_ref,
            environ=here.environ,
            store=store,
            clock=clock,
        )
        asyncio.run(store.close())


def named(views: Sequence[View], loop_id: str) -> View:
    """The loop with this id. Raises `UsageError` with the nearest one there is."""
    found = next((view for view in views if view.row.id == loop_id), None)
    if found is not None:
        return found
    near = difflib.get_close_matches(loop_id, [view.row.id for view in views], n=1)
    hint = f"did you mean {near[0]}" if near else "`loop status` lists them"
    raise UsageError(f"there is no loop {loop_id!r} here; {hint}")


def pick(views: Sequence[View], loop_id: str, fits: Callable[[View], bool]) -> View | None:
    """The loop that is named, whatever its state; else the only root that fits; None when none does."""
    if loop_id:
        return named(views, loop_id)
    fitting = [view for view in views if view.row.parent is None and fits(view)]
    if len(fitting) > 1:
        raise UsageError(f"several loops fit, name one with --loop ID: {listed(fitting)}")
    return fitting[0] if fitting else None


def listed(views: Sequence[View]) -> str:
    shown = [f"{view.row.id} ({status_of(view)}, {title(view.row)[:60]})" for view in views[:_SHOWN]]
    more = [f"and {len(views) - _SHOWN} more"] if len(views) > _SHOWN else []
    return "; ".join(shown + more)


def status_of(view: View) -> str:
    return shown_status(view.row, alive=view.alive is not None)


def is_over(view: View) -> bool:
    return view.row.status in OVER


def question_of(view: View) -> Ask | None:
    """What the loop asks a person now, if it does."""
    if is_over(view):
        return None
    return next((action for action in view.wanted if isinstance(action, Ask)), None)


def gates_of(view: View) -> tuple[AwaitGate, ...]:
    """The gates that are open now."""
    return () if is_over(view) else tuple(action for action in view.wanted if isinstance(action, AwaitGate))
