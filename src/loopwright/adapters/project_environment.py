"""The person's environment as a project's own tools see it: what is installed beside Loopwright is none of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Where a program of Python is installed. Only an environment of its own is told from the person's tools."""

    prefix: Path
    is_apart: bool

    @staticmethod
    def of_loopwright() -> Installation:
        return Installation(prefix=Path(sys.prefix), is_apart=sys.prefix != sys.base_prefix)


def of_the_project(environ: Mapping[str, str], root: Path, ours: Installation | None = None) -> Mapping[str, str]:
    """Without our own programs on the PATH, unless the person is in that environment or the project keeps it.

    Our `python` and `ruff` would pass for the project's, with none of its packages.
    """
    ours = ours or Installation.of_loopwright()
    if "PATH" not in environ or not ours.is_apart or _is_the_persons(ours.prefix, environ, root):
        return environ
    own = os.path.realpath(ours.prefix / "bin")
    folders = environ["PATH"].split(os.pathsep)
    left = os.pathsep.join(folder for folder in folders if not folder or os.path.realpath(folder) != own)
    return {**environ, "PATH": left}


def _is_the_persons(prefix: Path, environ: Mapping[str, str], root: Path) -> bool:
    place = os.path.realpath(prefix)
    active = (environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    is_active = any(each and os.path.realpath(each) == place for each in active)
    return is_active or Path(place).is_relative_to(os.path.realpath(root))
