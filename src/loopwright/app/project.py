"""One repository with its log and its settings, and opening it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.agents.cast import AgentStage
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.files import ignore_all
from loopwright.adapters.git.log_identity import (
    git_dir_of,
    loops_begun_here,
    renew_log_id,
    unsigned_loops,
    witnesses,
)
from loopwright.adapters.git.repository import Repository, find_repository, other_worktrees
from loopwright.adapters.sqlite.standing import Witness, disagreements
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.app.kinds import KINDS, Kinds
from loopwright.app.layout import LOG_FILE, RECORDS, STATE_FOLDER, WORKSPACES
from loopwright.engine.fold import AnyLoop
from loopwright.errors import Forbidden, UsageError
from loopwright.kernel.assignment import Assignment
from loopwright.kernel.model import Commit
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store

Confirm = Callable[[str, Sequence[str]], bool]  # whether the person who is shown these lines says yes


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


def open_project(cwd: Path, environ: Mapping[str, str], *, create: bool = True, kinds: Kinds | None = None) -> Project:
    """The repository around `cwd` with its store.

    Raises `UsageError` where there is none to work in, and `Forbidden` where its log is gone.
    """
    repository = find_repository(cwd, environ)
    if not has_log(repository, environ) and not create:
        raise UsageError(f"{repository.top} has no loops yet; `loop status` names the commands that begin one")
    return _opened(repository, environ, kinds)


def begin_log(cwd: Path, environ: Mapping[str, str]) -> Project:
    """The repository around `cwd` with a new, empty log, whatever became of an earlier one."""
    repository = find_repository(cwd, environ)
    _refuse_what_is_in_the_way(repository.top)
    file = log_file(repository.top)
    if file.exists():
        raise Forbidden(f"{file} is there already and was left as it is; move it away to begin a new log")
    shutil.rmtree(repository.top / STATE_FOLDER / RECORDS, ignore_errors=True)  # what another log has written
    renew_log_id(git_dir_of(repository.top, environ))
    return _opened(repository, environ)


def has_log(repository: Repository, environ: Mapping[str, str]) -> bool:
    """Whether a loop was ever started here. Raises `Forbidden` where one was and its log is gone:
    what cannot be read is never taken for a fresh start. So it does where a file or a link is in our way.
    """
    _refuse_what_is_in_the_way(repository.top)
    file = log_file(repository.top)
    if file.exists():
        _refuse_older(repository.top, environ)
        return True
    if _is_lost(repository.top, environ):
        raise Forbidden(
            f"{file} is gone, but earlier loops have left their refs here (refs/loopwright…);"
            " restore it from a backup, or begin a new log with `loop setup --new-log`"
        )
    return False


def _refuse_what_is_in_the_way(top: Path) -> None:
    for folder in (top / STATE_FOLDER, top / WORKSPACES):
        if folder.is_symlink():
            raise Forbidden(f"{folder} is a link, and nothing is written through one; put a folder there in its place")
        if folder.exists() and not folder.is_dir():
            raise Forbidden(f"{folder} is a file, and a folder of Loopwright's has to be there; move the file away")


def _refuse_older(top: Path, environ: Mapping[str, str]) -> None:
    """Raises `Forbidden` where the log is behind what commits of attempts bear witness of: part of it was lost, or an
    older one was put in its place, and with it counters and money would go back."""
    places = {loop: Witness(*place) for loop, place in witnesses(top, environ).items()}
    for loop, why in sorted(disagreements(log_file(top), places).items() if places else ()):
        raise Forbidden(
            f"{log_file(top)} is not the newest log of loop {loop}: {why}, as its commits under refs/loopwright/ say;"
            " restore the newest one, or move it away and begin a new log with `loop setup --new-log`"
        )


def _is_lost(top: Path, environ: Mapping[str, str]) -> bool:
    """Refs are shared by all worktrees, logs are not. What an older version left may be another worktree's."""
    if loops_begun_here(top, environ):
        return True
    if not unsigned_loops(top, environ):
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
