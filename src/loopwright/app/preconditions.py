"""Refusing, before anything is made, what could not end well here."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from loopwright.adapters.agents.cast import cast
from loopwright.adapters.checks.environment import program
from loopwright.adapters.checks.order import may_verify, verifies
from loopwright.adapters.checks.runners.reading import texts_in
from loopwright.adapters.checks.started import runnable_checks
from loopwright.adapters.git.conditions import conditions
from loopwright.adapters.project_environment import of_the_project
from loopwright.app.beforehand import check_allowed
from loopwright.app.layout import CONFIG_FILE
from loopwright.app.project import Project
from loopwright.config.settings import EXAMINER, FILLED_BY_DEFAULT, Settings
from loopwright.errors import ConfigError, UsageError

DISK_FLOOR = 200 * 1024 * 1024  # bytes that must be free before anything is started
NOBODY_RAN_THEM: Mapping[str, bool | None] = MappingProxyType({})
FreeSpace = Callable[[Path], int]


def check_ground(
    project: Project, settings: Settings, *, merge: bool, allow: tuple[str, ...] = (), free: FreeSpace | None = None
) -> None:
    """Raise the one sentence that says why no loop that verifies could end well here."""
    check_place(project, settings, merge=merge, allow=allow, free=free)
    if not can_verify(project.root, settings):
        raise UsageError(f"{CONFIG_FILE} has {no_verdict(settings)}; run `loop setup` or add [checks.test]")


def can_verify(root: Path, settings: Settings, counted: Mapping[str, bool | None] = NOBODY_RAN_THEM) -> bool:
    """Whether what these checks say may be enough to call something verified. `counted`: which of them count tests."""
    texts = texts_in(root, (check.run for check in settings.checks))
    return any(may_verify(check, texts, counted=counted.get(check.name)) for check in settings.checks)


def surely_verifies(root: Path, settings: Settings, counted: Mapping[str, bool | None]) -> bool:
    """As `can_verify`, where a run has shown it or the command says it."""
    texts = texts_in(root, (check.run for check in settings.checks))
    return any(counted.get(check.name) or verifies(check, texts) for check in settings.checks)


def no_verdict(settings: Settings) -> str:
    """Why these checks are not enough to call anything verified."""
    if not settings.checks:
        return "no check"
    names = " and ".join(repr(check.name) for check in settings.checks)
    return f'no check that counts tests: of {names} only the exit code is known, and none has trust = "exit-code"'


def check_place(
    project: Project, settings: Settings, *, merge: bool, allow: tuple[str, ...] = (), free: FreeSpace | None = None
) -> None:
    """As `check_ground`, for a loop that judges without checks."""
    check_allowed(project, settings, allow)
    if settings.sandbox.mode == "strict":
        raise ConfigError(
            CONFIG_FILE, "sandbox.mode", 'this version has no sandbox to be strict with; use "auto" or "off"'
        )
    if merge and not project.branch:
        raise UsageError("--merge needs a branch to merge into, and HEAD is detached; check out a branch first")
    for condition in conditions(project.root, project.environ, project.head):
        if condition.word == "fix":
            raise UsageError(f"{condition.what}: {condition.text}")
    environ = of_the_project(project.environ, project.root)
    for check in runnable_checks(settings, root=project.root, environ=environ):
        program(check.name, check.run, environ)
    left = (free or _free_space)(project.root)
    if left < DISK_FLOOR:
        needs, has = DISK_FLOOR // 2**20, left // 2**20
        raise UsageError(f"{project.root}: only {has} MB of disk are free and {needs} MB are needed; free some first")


def check_cast(project: Project, settings: Settings, roles: tuple[str, ...] = ("developer", "reviewer")) -> None:
    """Raise the one sentence that says which role nobody can play."""
    for role in roles:
        if not settings.agents_for(role):
            also = " or in roles.default" if role in FILLED_BY_DEFAULT else ""
            raise ConfigError(CONFIG_FILE, f"roles.{role}", f"names no agent; name one there{also}")
    cast(settings, project.stage)


def refuse_independent(settings: Settings, what: str) -> None:
    """Raise the sentence that says that nobody writes acceptance tests there, if they are asked for."""
    if settings.trust.acceptance == "independent":
        why = f'"independent" is obeyed by feedback loops and by workflows made of them; {what} has no examiner'
        raise ConfigError(CONFIG_FILE, "trust.acceptance", why)


def examiner_of(
    settings: Settings, roles: tuple[str, ...] | None = None, *, is_code: bool = True
) -> Literal["", "named", "missing"]:
    """Return whether somebody has to write acceptance tests, and can.

    `roles` are played from outside the settings. `is_code`: no person said that the work changes no behaviour, where no
    test could fail before it.
    """
    if settings.trust.acceptance == "maker" or not is_code:
        return ""
    is_played = EXAMINER in roles if roles is not None else bool(settings.agents_for(EXAMINER))
    return "named" if is_played else "missing"


def _free_space(path: Path) -> int:
    return shutil.disk_usage(path).free
