"""From settings to the checks and the workspaces of a repository: only here is known how their parts go together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.checks.bytecode import Bytecode
from loopwright.adapters.checks.environment import Digests, for_checks
from loopwright.adapters.checks.order import as_run
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.adapters.pins import packages_of
from loopwright.config.settings import Settings
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store


def command_checks(
    settings: Settings, store: Store, clock: Clock, *, root: Path, environ: Mapping[str, str]
) -> CommandChecks:
    """They run in checkouts below `.loop/verify`; git looks for no repository at or above that folder."""
    ceiling = root / ".loop" / "verify"
    return CommandChecks(
        specs=tuple(as_run(check) for check in settings.checks),
        protected=settings.workspace.protected,
        parallel=settings.limits.parallel,
        checkouts=VerificationCheckouts(
            root, env=environ, preparation=Preparation.of(settings.workspace, environ), is_named=store.is_named
        ),
        source=GitObjects(root, env=environ),
        store=store,
        clock=clock,
        root=root,
        runs=root / ".loop" / "runs" / "checks",
        digests=Digests(
            environment=for_checks(environ, ceiling),
            setup=settings.workspace.setup,
            person=environ,
            packages=lambda: packages_of(settings, environ),
            pinned=packages_of(settings, environ),
            bytecode=Bytecode(root / ".loop" / "bytecode", store.is_named),
        ),
    )


def git_workspace(settings: Settings, *, root: Path, environ: Mapping[str, str]) -> GitWorkspace:
    return GitWorkspace(root, env=environ, preparation=Preparation.of(settings.workspace, environ))
