"""From settings to checks that run: the one place that knows how their parts go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.environment import Digests, for_checks
from loopwright.adapters.checks.order import UNITTEST
from loopwright.adapters.checks.runner import CommandChecks, ConfiguredChecks
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.config.settings import CheckSettings, Settings
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store


def command_checks(
    settings: Settings, store: Store, clock: Clock, *, root: Path, environ: Mapping[str, str]
) -> CommandChecks:
    ceiling = root / ".loop" / "verify"
    preparation = Preparation.of(settings.workspace, environ)
    return CommandChecks(
        settings=ConfiguredChecks(
            specs=tuple(as_run(check) for check in settings.checks),
            protected=settings.workspace.protected,
            parallel=settings.limits.parallel,
        ),
        checkouts=VerificationCheckouts(root, env=environ, preparation=preparation),
        source=GitObjects(root, env=environ),
        store=store,
        clock=clock,
        root=root,
        runs=root / ".loop" / "runs" / "checks",
        digests=Digests(environment=for_checks(environ, ceiling), setup=settings.workspace.setup),
    )


def as_configured(command: tuple[str, ...]) -> tuple[str, ...]:
    """A command that ran, as loop.toml has it: without the paths of this installation."""
    return tuple(word.replace(unittest_report.__file__, UNITTEST) for word in command)


def as_run(check: CheckSettings) -> CheckSettings:
    return replace(check, run=tuple(word.replace(UNITTEST, unittest_report.__file__) for word in check.run))
