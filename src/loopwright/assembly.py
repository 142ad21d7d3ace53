"""Putting the parts together: a repository, its store, the settings a loop is pinned to, and the world it runs in.

The command line and the Python door both come through here; nothing below knows about both ends.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from loopwright.adapters.agents.casting import Stage, cast
from loopwright.adapters.checks.casting import command_checks
from loopwright.adapters.checks.environment import program
from loopwright.adapters.clock import SystemClock
from loopwright.adapters.files import ignore_all
from loopwright.adapters.publishing import STATE_FOLDER, WORKSPACES, scratchpad_file
from loopwright.adapters.stores.locks import describe_process
from loopwright.adapters.stores.sqlite import SqliteStore
from loopwright.adapters.workspace.preparation import Preparation
from loopwright.adapters.workspace.repository import Repository, find_repository, has_attempts, other_worktrees
from loopwright.adapters.workspace.workspace import GitWorkspace
from loopwright.config.reading import load_settings
from loopwright.config.settings import Settings
from loopwright.engine.journal import Folded, folded
from loopwright.engine.world import AnyLoop, Observer, Spending, World, known_loop
from loopwright.errors import ConfigError, Forbidden, UsageError
from loopwright.kernel.actions import Action
from loopwright.kernel.codec import encode
from loopwright.kernel.events import ConfigChanged, Created
from loopwright.kernel.limits import FeedbackLimits
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import Commit, LoopId
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.agent import Agent
from loopwright.ports.clock import Clock
from loopwright.ports.people import People
from loopwright.ports.store import Entry, LoopRow, NewLoop, Store
from loopwright.projections.progress import read_progress

LOOPS: Mapping[str, AnyLoop] = {"feedback": FEEDBACK}
CONFIG_FILE = "loop.toml"
LOG_FILE = "loop.db"
DISK_FLOOR = 200 * 1024 * 1024  # bytes that must be free before anything is started
FreeSpace = Callable[[Path], int]


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
class FeedbackRequest:
    task: str
    max_iterations: int | None = None
    merge: bool | None = None
    budget: float | None = None
    criteria: tuple[str, ...] = ()


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


# --- opening ---------------------------------------------------------------------------------------


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


def settings_of(project: Project) -> Settings:
    """The person's `loop.toml`, from their own tree and never from an agent's."""
    return load_settings(project.root)


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


# --- starting -----------------------------------------------------------------------------------------


async def create_feedback(
    project: Project,
    settings: Settings,
    request: FeedbackRequest,
    *,
    roles: tuple[str, ...] | None = None,
    free: FreeSpace | None = None,
) -> LoopId:
    """A new feedback loop, not yet driven. Refuses what could not end well, before anything is made.

    `roles` are played by agents from outside the settings.
    """
    merge = settings.finish.merge if request.merge is None else request.merge
    check_ground(project, settings, merge=merge, free=free)
    if roles is None:
        check_cast(project, settings)
    if not request.task.strip():
        raise UsageError("the task is empty; say what is to be done")
    limits = settings.limits.feedback
    if request.max_iterations is not None:
        limits = replace(limits, max_feedback_iterations=request.max_iterations)
    params = FeedbackParams(
        task=request.task.strip(),
        base=project.head,
        target=project.branch,
        merge=merge,
        tester="tester" in roles if roles is not None else bool(settings.agents_for("tester")),
        criteria=request.criteria,
        limits=limits,
    )
    return await _create(project, settings, params, request.budget)


async def adopt_progress(project: Project, settings: Settings, path: Path, task: str | None) -> LoopId:
    """Carry on a feedback loop that another tool began, from its `progress.json`, which is only read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    adopted = read_progress(text, str(path))
    if adopted.status == "IMPLEMENTATION_VERIFIED":
        raise UsageError(f"{path} is of a loop that has ended; there is nothing to go on with")
    said = task or adopted.feature_name
    if not said:
        raise UsageError(f"{path} does not say what the task is; give it with --task")
    check_ground(project, settings, merge=settings.finish.merge)
    check_cast(project, settings)
    limits = replace(settings.limits.feedback, max_feedback_iterations=adopted.max_iterations)
    params = FeedbackParams(
        task=said,
        base=project.head,
        target=project.branch,
        merge=settings.finish.merge,
        tester=bool(settings.agents_for("tester")),
        limits=limits,
        adopted=adopted.iterations,
        adopted_review_failures=adopted.review_failures,
        adopted_test_failures=adopted.test_failures,
    )
    return await _create(project, settings, params, None)


async def _create(project: Project, settings: Settings, params: FeedbackParams, budget: float | None) -> LoopId:
    loop = LoopId(f"{_slug(params.task)}-{secrets.token_hex(3)}")
    data = encode(params)
    created = Created(kind=FEEDBACK.name, params=data, settings=settings.to_json())
    limit = settings.budget.usd if budget is None else budget
    new = NewLoop(id=loop, kind=FEEDBACK.name, params=data, budget=limit)
    await project.store.create(new, Entry(kind="Created", data=encode(created)))
    return loop


def _slug(task: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", task.lower()).strip("-")
    return words[:24].strip("-") or "loop"


def check_ground(project: Project, settings: Settings, *, merge: bool, free: FreeSpace | None = None) -> None:
    """Raise the one sentence that says why no loop could end well here."""
    if not settings.can_verify:
        raise UsageError(f"{CONFIG_FILE} has neither a build nor a test check; run `loop setup` or add [checks.test]")
    if settings.sandbox.mode == "strict":
        raise ConfigError(
            CONFIG_FILE, "sandbox.mode", 'this version has no sandbox to be strict with; use "auto" or "off"'
        )
    if merge and not project.branch:
        raise UsageError("--merge needs a branch to merge into, and HEAD is detached; check out a branch first")
    for check in settings.checks:
        program(check.name, check.run, project.environ)
    left = (free or _free_space)(project.root)
    if left < DISK_FLOOR:
        needs, has = DISK_FLOOR // 2**20, left // 2**20
        raise UsageError(f"{project.root}: only {has} MB of disk are free and {needs} MB are needed; free some first")


def check_cast(project: Project, settings: Settings) -> None:
    """Raise the one sentence that says which role nobody can play."""
    for role in ("developer", "reviewer"):
        if not settings.agents_for(role):
            raise ConfigError(CONFIG_FILE, f"roles.{role}", "names no agent; name one there or in roles.default")
    cast(settings, project.stage)


def _free_space(path: Path) -> int:
    return shutil.disk_usage(path).free


# --- running ----------------------------------------------------------------------------------------------


async def pinned_settings(project: Project, loop: LoopId) -> Settings:
    """The configuration the loop's root is pinned to."""
    row = (await project.store.load(loop)).row
    while row.parent is not None:
        row = (await project.store.load(row.parent)).row
    return Settings.from_json((await view(project, row.id)).now.settings)


def changed_settings(project: Project, seen: View, by: str) -> ConfigChanged | None:
    """The person's `loop.toml` as an event, if it is not what the loop is pinned to."""
    now = settings_of(project)
    if now.to_json() == seen.now.settings:
        return None
    before = getattr(Settings.from_json(seen.now.settings).limits, seen.row.kind)
    limits = _moved(seen.now.state.plan.limits, before, getattr(now.limits, seen.row.kind))
    return ConfigChanged(digest=now.digest, settings=now.to_json(), limits=encode(limits), by=by)


def _moved(own: FeedbackLimits, before: FeedbackLimits, now: FeedbackLimits) -> FeedbackLimits:
    """The loop's own limits moved as the file's have: what `--max-iterations` said is not undone by another edit."""
    return FeedbackLimits(
        **{
            field.name: max(1, getattr(own, field.name) + getattr(now, field.name) - getattr(before, field.name))
            for field in fields(FeedbackLimits)
        }
    )


async def build_world(
    project: Project,
    loop: LoopId,
    *,
    people: People,
    observer: Observer,
    agent: Agent | None = None,
) -> World:
    """The world a loop is driven in, as its pinned settings say. `agent` stands in for the configured ones."""
    settings = await pinned_settings(project, loop)
    environ, root = project.environ, project.root
    preparation = Preparation.of(settings.workspace, environ)
    return World(
        store=project.store,
        clock=project.clock,
        agent=agent or cast(settings, project.stage),
        checks=command_checks(settings, project.store, project.clock, root=root, environ=environ),
        workspace=GitWorkspace(root, env=environ, preparation=preparation),
        people=people,
        observer=observer,
        loops=LOOPS,
        who=describe_process(project.clock.now()),
        protected=settings.workspace.protected,
        spending=Spending(tokens=settings.budget.tokens, seconds=settings.budget.wall),
        scratchpad=lambda each: scratchpad_file(root, each),
        slots=asyncio.Semaphore(settings.limits.parallel),
    )
