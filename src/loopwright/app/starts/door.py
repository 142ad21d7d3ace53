"""Starting a loop of whatever kind: from Python, from a task in words, or from what another tool began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from loopwright.app.kinds import Kinds
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.config.settings import CheckSettings, LimitSettings, Settings, WorkspaceSettings
from loopwright.errors import UsageError
from loopwright.loops.kind import AnyKind

R = TypeVar("R")


class Request(Protocol):
    """What a Python program says to have a loop driven: a value of the loop's own type."""

    @property
    def protected(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done, in words: some loops need no more to begin."""

    text: str
    criteria: tuple[str, ...] = ()
    attempts: int | None = None  # at most; None: as the settings say
    merge: bool | None = None
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Generic[R]):
    """What a module of a loop's porch offers as `START`: `R` is the type of its request."""

    limits: Callable[[R], LimitSettings]
    create: Callable[[Project, Settings, R, tuple[str, ...]], Awaitable[View]]  # with the roles that are played
    from_task: Callable[[Project, Settings, Task], Awaitable[View]] | None = None  # of one that needs no more


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedAt:
    """What a person points at to have it taken over, and what they say about it."""

    path: Path
    cwd: Path
    task: str = ""
    artifact: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedCommand:
    """One that will be run because what was taken over says so."""

    of: str  # the task, criterion or rule it belongs to
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person is told of what was taken over, besides where it stands."""

    kept: str = ""  # the folder, from the root of the repository, with copies of the files that were read
    remarks: tuple[str, ...] = ()
    commands: tuple[AdoptedCommand, ...] = ()  # that it brings, and that will be run


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopter:
    """What a module of a loop's porch offers as `ADOPTER`: one sort of state another tool wrote. It is only read."""

    named: str  # what a person may point at, in words
    finds: Callable[[Path], Path | None]  # the file or folder meant by a path, if it is of this sort
    takes: tuple[str, ...]  # the fields of `PointedAt` that say something here
    adopt: Callable[[Project, Settings, PointedAt], Awaitable[View]]
    told: Callable[[View], Told] = lambda _view: Told()


AnyStart = Start[Any]


def kind_of(kinds: Kinds, request: Request) -> AnyKind:
    """The kind of loop that is asked for."""
    for kind in kinds.values():
        if kind.request is type(request):
            return kind
    known = ", ".join(kind.request.__name__ for kind in kinds.values() if kind.request)
    raise UsageError(f"no loop is started by a {type(request).__name__}; give one of {known}")


async def create_requested(
    project: Project, kind: AnyKind, request: Request, checks: tuple[CheckSettings, ...], roles: tuple[str, ...]
) -> View:
    """What a Python program asks for, not yet driven. `roles` are played by whoever asks."""
    start = next(start for start in _starts(kind))
    workspace = WorkspaceSettings(protected=tuple(request.protected))
    settings = Settings(checks=checks, limits=start.limits(request), workspace=workspace)
    return await start.create(project, settings, request, roles)


async def create_for_task(project: Project, settings: Settings, task: Task) -> View:
    """A loop of the first kind that needs no more than a task, not yet driven."""
    for kind in project.kinds.values():
        for start in _starts(kind):
            if start.from_task is not None:
                return await start.from_task(project, settings, task)
    raise UsageError("no kind of loop can be started by a task alone")


def adopters(kinds: Kinds) -> tuple[Adopter, ...]:
    """All sorts of state that can be taken over."""
    found = (getattr(import_module(name), "ADOPTER", None) for kind in kinds.values() for name in kind.porch)
    return tuple(each for each in found if isinstance(each, Adopter))


def _starts(kind: AnyKind) -> tuple[AnyStart, ...]:
    found = (getattr(import_module(name), "START", None) for name in kind.porch)
    return tuple(each for each in found if isinstance(each, Start))
