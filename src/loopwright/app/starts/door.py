"""What a loop needs to be started from Python, and to go on with what another tool began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from loopwright.app.project import Project
from loopwright.config.settings import LimitSettings, Settings
from loopwright.kernel.model import LoopId

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Generic[R]):
    request: type[R]
    roles: tuple[str, ...]  # without a callable for each of these nothing is started
    limits: Callable[[R], LimitSettings]
    create: Callable[[Project, Settings, R, tuple[str, ...]], Awaitable[LoopId]]  # with the roles that are played


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedAt:
    """What a person points at to have it taken over, and what they say about it."""

    path: Path
    cwd: Path
    task: str = ""
    artifact: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopter:
    """One sort of state that another tool wrote. It is only read."""

    named: str  # what a person may point at, in words
    finds: Callable[[Path], Path | None]  # the file or folder meant by a path, if it is of this sort
    takes: tuple[str, ...]  # the fields of `PointedAt` that say something here
    adopt: Callable[[Project, Settings, PointedAt], Awaitable[LoopId]]


AnyStart = Start[Any]
