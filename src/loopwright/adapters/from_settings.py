"""From settings to the checks and the workspaces of a repository: only here is known how their parts go together."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.classes.taken_names import names_around, names_in_node_modules
from loopwright.adapters.checks.environment import Digests, for_checks
from loopwright.adapters.checks.order import as_run
from loopwright.adapters.checks.outfit import Outfit
from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.config.settings import CheckSettings, Settings
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
    ceiling = root / ".loop" / "verify"
    specs = tuple(as_run(check) for check in settings.checks)
    source, workspace = GitObjects(root, env=environ), settings.workspace
    preparation = Preparation.of(workspace, environ)
    return CommandChecks(
        specs=specs,
        canary=settings.trust.canary,
        parallel=settings.limits.parallel,
        classifier=Classifier(
            source=source,
            product=workspace.product,
            tests=workspace.tests,
            protected=workspace.protected,
            commands=tuple(spec.run for spec in specs),
            taken=names_around(_programs(specs, environ)) | names_in_node_modules(root / "node_modules"),
        ),
        outfit=Outfit(
            checkouts=VerificationCheckouts(root, env=environ, preparation=preparation, pinned=pinned),
            source=source,
            store=store,
            clock=clock,
            root=root,
            runs=root / ".loop" / "runs" / "checks",
            digests=Digests(environment=for_checks(environ, ceiling), setup=workspace.setup),
            protected=workspace.protected,
        ),
    )


def _programs(specs: tuple[CheckSettings, ...], environ: Mapping[str, str]) -> list[Path]:
    found = (shutil.which(spec.run[0], path=environ.get("PATH")) for spec in specs)
    return [Path(each) for each in found if each]


def git_workspace(
    settings: Settings, *, root: Path, environ: Mapping[str, str], pinned: Pinned | None = None
) -> GitWorkspace:
    preparation = Preparation.of(settings.workspace, environ)
    return GitWorkspace(root, env=environ, preparation=preparation, pinned=pinned)
