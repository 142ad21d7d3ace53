"""One repository with its log and its settings: opening it, and looking at the loops in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.agents.cast import AgentStage
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.files import ignore_all
from loopwright.adapters.git.repository import Repository, find_repository, has_attempts, other_worktrees
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.app.kinds import KINDS
from loopwright.app.layout import LOG_FILE, STATE_FOLDER, WORKSPACES
from loopwright.config.reading import Warn, load_settings
from loopwright.config.settings import Settings
from loopwright.engine.fold import AnyLoop, Fold, Opened
from loopwright.engine.journal import open_loop
from loopwright.errors import EngineError, Forbidden, UsageError
from loopwright.kernel.actions import Action
from loopwright.kernel.assignment import Assignment
from loopwright.kernel.codec import decode
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Commit, LoopId, Outcome
from loopwright.kernel.quoting import one_line
from loopwright.loops.kind import AnyKind
from loopwright.ports.clock import Clock
from loopwright.ports.store import LoopRow, Store

Kinds = Mapping[str, AnyKind]
OVER = ("complete", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One repository and its log."""

    root: Path
    head: Commit
    branch: str  # a full ref; empty on a detached HEAD
    environ: Mapping[str, str]
    store: Store
    clock: Clock
    kinds: Kinds = field(default_factory=lambda: KINDS)

    @property
    def loops(self) -> Mapping[str, AnyLoop]:
        return {name: kind.loop for name, kind in self.kinds.items()}

    @property
    def stage(self) -> AgentStage:
        return AgentStage(
            root=self.root,
            environ=self.environ,
            store=self.store,
            clock=self.clock,
            brief=self.brief,
            handed=self.handed,
        )

    def brief(self, run: Assignment) -> str:
        """What an agent is told, as Markdown."""
        return self.kinds[run.kind].brief(run)

    def handed(self, run: Assignment) -> Mapping[str, str]:
        """Files laid beside its work while it is done."""
        return self.kinds[run.kind].handed(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A loop as the list of loops has it: nothing of its log is read."""

    row: LoopRow
    kind: AnyKind
    alive: str | None  # who drives it now

    @property
    def title(self) -> str:
        """What the loop is about, from what it was started with."""
        return one_line(self.kind.title(decode(self.kind.loop.params, self.row.params)), 120)

    @property
    def is_over(self) -> bool:
        return self.row.status in OVER

    @property
    def status(self) -> str:
        """The store's word for it, unless its controller died."""
        return "interrupted" if self.row.status == "running" and self.alive is None else self.row.status


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A loop as it stands, for those who look and for whoever drives it: its log was read once."""

    opened: Opened
    listed: Listed

    @property
    def row(self) -> LoopRow:
        return self.opened.row

    @property
    def now(self) -> Fold:
        return self.opened.now

    @property
    def kind(self) -> AnyKind:
        return self.listed.kind

    @property
    def alive(self) -> str | None:
        return self.listed.alive

    @property
    def is_over(self) -> bool:
        return self.listed.is_over

    @property
    def title(self) -> str:
        return self.listed.title

    @property
    def outcome(self) -> Outcome | None:
        return self.opened.outcome

    @property
    def wanted(self) -> tuple[Action, ...]:
        return self.opened.wanted

    @property
    def standpoint(self) -> Standpoint:
        return self.opened.standpoint


def open_project(cwd: Path, environ: Mapping[str, str], *, create: bool = True, kinds: Kinds | None = None) -> Project:
    """The repository around `cwd` with its store.

    Raises `UsageError` where there is none to work in, and `Forbidden` where its log is gone.
    """
    repository = find_repository(cwd, environ)
    if not has_log(repository, environ) and not create:
        raise UsageError(f"{repository.top} has no loops yet; start one with `loop feedback`")
    return _opened(repository, environ, kinds)


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


def _opened(repository: Repository, environ: Mapping[str, str], kinds: Kinds | None = None) -> Project:
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
        kinds=KINDS if kinds is None else kinds,
    )


def settings_of(project: Project, warn: Warn | None = None) -> Settings:
    """The person's `loop.toml`, from their own tree and never from an agent's.

    With `warn` for a loop in flight: it hears of keys that would be refused at a new start.
    """
    return load_settings(project.root, warn)


async def view(project: Project, loop: LoopId) -> View:
    opened = await open_loop(project.store, project.loops, loop)
    return View(opened=opened, listed=await _listed(project, opened.row))


async def listing(project: Project) -> tuple[Listed, ...]:
    """The loops that people start and answer, newest first; their parts and their logs are not read."""
    return tuple([await _listed(project, row) for row in await project.store.rows() if row.parent is None])


async def _listed(project: Project, row: LoopRow) -> Listed:
    alive = await project.store.holder(row.id)
    return Listed(row=row, kind=known_kind(project.kinds, row.kind), alive=alive)


def known_kind(kinds: Kinds, name: str) -> AnyKind:
    """Raises `EngineError` for a loop that only another version knows."""
    if name not in kinds:
        raise EngineError(f"this version knows no {name!r} loops, only {', '.join(kinds)}; upgrade to go on with it")
    return kinds[name]


async def views(project: Project) -> tuple[View, ...]:
    """All loops, newest first."""
    return tuple([await view(project, row.id) for row in await project.store.rows()])
