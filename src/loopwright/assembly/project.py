"""One repository with its log and its settings: opening it, and looking at the loops in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.agents.casting import Stage
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.files import ignore_all
from loopwright.adapters.publishing import STATE_FOLDER, WORKSPACES
from loopwright.adapters.stores.sqlite import SqliteStore
from loopwright.adapters.workspace.repository import Repository, find_repository, has_attempts, other_worktrees
from loopwright.config.reading import Warn, load_settings
from loopwright.config.settings import Settings
from loopwright.engine.journal import Folded, folded
from loopwright.engine.world import AnyLoop, known_loop
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.actions import Action
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Commit, LoopId
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.tickets.machine import TICKETS
from loopwright.ports.clock import Clock
from loopwright.ports.store import LoopRow, Store

LOOPS: Mapping[str, AnyLoop] = {loop.name: loop for loop in (FEEDBACK, QUALITY, BATCH, TICKETS)}
CONFIG_FILE = "loop.toml"
LOG_FILE = "loop.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One repository and its log."""

    root: Path
    head: Commit
    branch: str  # a full ref; empty on a detached HEAD
    environ: Mapping[str, str]
    store: Store
    clock: Clock

    @property
    def stage(self) -> Stage:
        return Stage(root=self.root, environ=self.environ, store=self.store, clock=self.clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A loop as it stands, for those who only look."""

    row: LoopRow
    now: Folded
    loop: AnyLoop
    alive: str | None  # who drives it now

    @property
    def wanted(self) -> tuple[Action, ...]:
        return self.loop.decide(self.now.state)

    @property
    def standpoint(self) -> Standpoint:
        return self.loop.stand(self.now.state)


def open_project(cwd: Path, environ: Mapping[str, str], *, create: bool = True) -> Project:
    """The repository around `cwd` with its store.

    Raises `UsageError` where there is none to work in, and `Forbidden` where its log is gone.
    """
    repository = find_repository(cwd, environ)
    if not has_log(repository, environ) and not create:
        raise UsageError(f"{repository.top} has no loops yet; start one with `loop feedback`")
    return _opened(repository, environ)


def begin_log(cwd: Path, environ: Mapping[str, str]) -> Project:
    """The repository around `cwd` with a new, empty log, whatever became of an earlier one."""
    repository = find_repository(cwd, environ)
    file = log_file(repository.top)
    if file.exists():
        raise Forbidden(f"{file} is there already and was left as it is; move it away to begin a new log")
    return _opened(repository, environ)


def has_log(repository: Repository, environ: Mapping[str, str]) -> bool:
    """Whether a loop was ever started here. Raises `Forbidden` where one was and its log is gone:
    what cannot be read is never taken for a fresh start.
    """
    file = log_file(repository.top)
    if file.exists():
        return True
    if _is_lost(repository.top, environ):
        raise Forbidden(
            f"{file} is gone, but attempts of earlier loops are still under refs/loopwright/;"
            " restore it from a backup, or begin a new log with `loop setup --new-log`"
        )
    return False


def _is_lost(top: Path, environ: Mapping[str, str]) -> bool:
    """Refs are shared by all worktrees, logs are not: in a worktree that was never used they may be another's."""
    if not has_attempts(top, environ):
        return False
    if any((top / name).exists() for name in (STATE_FOLDER, WORKSPACES)):
        return True
    return not any(log_file(other).exists() for other in other_worktrees(top, environ))


def log_file(top: Path) -> Path:
    return top / STATE_FOLDER / LOG_FILE


def _opened(repository: Repository, environ: Mapping[str, str]) -> Project:
    for name in (STATE_FOLDER, WORKSPACES):
        ignore_all(repository.top / name)
    clock = SystemClock()
    return Project(
        root=repository.top,
        head=repository.head,
        branch=repository.branch_ref,
        environ=environ,
        store=SqliteStore.open(log_file(repository.top), clock),
        clock=clock,
    )


def settings_of(project: Project, warn: Warn | None = None) -> Settings:
    """The person's `loop.toml`, from their own tree and never from an agent's.

    With `warn` for a loop in flight: it hears of keys that would be refused at a new start.
    """
    return load_settings(project.root, warn)


async def view(project: Project, loop: LoopId) -> View:
    loaded = await project.store.load(loop)
    machine = known_loop(LOOPS, loaded.row.kind)
    return View(
        row=loaded.row,
        now=folded(machine, loaded),
        loop=machine,
        alive=await project.store.holder(loop),
    )


async def views(project: Project) -> tuple[View, ...]:
    """All loops, newest first."""
    return tuple([await view(project, row.id) for row in await project.store.rows()])
