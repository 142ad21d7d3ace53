"""From settings to the checks and the workspaces of a repository: only here is known how their parts go together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.environment import digests_for
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.checks.started import names_taken, runnable_checks
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.adapters.project_environment import of_the_project
from loopwright.config.settings import Settings
from loopwright.ports.clock import Clock
from loopwright.ports.store import Store


def command_checks(
    settings: Settings,
    store: Store,
    clock: Clock,
    *,
    root: Path,
    environ: Mapping[str, str],
    pinned: Pinned | None = None,
) -> CommandChecks:
    """They run in checkouts below `.loop/verify`; git looks for no repository at or above that folder."""
    environ = of_the_project(environ, root)
    specs = runnable_checks(settings, root=root, environ=environ)
    commands = tuple(spec.run for spec in specs)
    workspace = settings.workspace
    preparation = Preparation.of(workspace, environ)
    checkouts = VerificationCheckouts(
        root, env=environ, preparation=preparation, pinned=pinned, is_named=store.is_named
    )
    return CommandChecks(
        specs=specs,
        canary=settings.trust.canary,
        changed_tests=settings.trust.changed_tests,
        unshown=settings.trust.unshown,
        parallel=settings.limits.parallel,
        classifier=Classifier(
            source=checkouts.objects,
            product=workspace.product,
            tests=workspace.tests,
            protected=workspace.protected,
            commands=commands,
            taken=names_taken(specs, root=root, environ=environ),
        ),
        outfit=Outfit(
            checkouts=checkouts,
            source=checkouts.objects,
            store=store,
            clock=clock,
            root=root,
            runs=root / ".loop" / "runs" / "checks",
            digests=digests_for(settings, commands, environ, root=root, is_named=store.is_named),
            protected=workspace.protected,
        ),
    )


def git_workspace(
    settings: Settings, *, root: Path, environ: Mapping[str, str], pinned: Pinned | None = None
) -> GitWorkspace:
    preparation = Preparation.of(settings.workspace, of_the_project(environ, root))
    return GitWorkspace(root, env=environ, preparation=preparation, pinned=pinned)
