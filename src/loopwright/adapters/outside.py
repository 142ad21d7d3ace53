"""From settings to what of a project has effects outside it: where proposals go, and who runs the person's commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.errands import PersonsErrands
from loopwright.adapters.forges.github import GithubForge
from loopwright.adapters.forges.local import LocalForge
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.adapters.project_environment import of_the_project
from loopwright.config.settings import Settings
from loopwright.ports.errands import Errands
from loopwright.ports.forge import Forge
from loopwright.ports.store import Store


def forge_of(settings: Settings, *, root: Path, environ: Mapping[str, str], pinned: Pinned | None = None) -> Forge:
    match settings.forge.kind:
        case "local":
            return LocalForge(root, env=environ, pinned=pinned)
        case "github":
            return GithubForge(root, env=environ, pinned=pinned)


def errands_of(
    settings: Settings, store: Store, *, root: Path, environ: Mapping[str, str], pinned: Pinned | None = None
) -> Errands:
    """In a checkout with everything that `[workspace]` gives to one. It may write into every folder there."""
    env = of_the_project(environ, root)
    checkouts = VerificationCheckouts(
        root,
        env=environ,
        preparation=replace(Preparation.of(settings.workspace, env), link=False),
        pinned=pinned,
        is_named=store.is_named,
    )
    return PersonsErrands(root, env, store, checkouts)
