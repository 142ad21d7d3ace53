"""Environments that package managers keep for a project by its path: in a checkout they would make new, empty ones.

So `poetry run pytest`, which is right on every machine, is started in a checkout as the program of the environment
that the person's own tree has.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_PATIENCE = 20.0  # seconds with a package manager that is asked for its environment
_PDM = ".pdm-python"


def answer(argv: tuple[str, ...], root: Path, environ: Mapping[str, str]) -> str:
    """What a program prints; empty where it cannot be asked, or fails."""
    try:
        said = subprocess.run(
            argv,
            cwd=root,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.decode("utf-8", "replace") if said.returncode == 0 else ""


def question(argv: tuple[str, ...]) -> tuple[str, ...]:
    """What the manager of `poetry run …` is asked for the place of its environment; empty for any other command."""
    match argv:
        case ("poetry", "run", _, *_):
            return ("poetry", "env", "info", "-p")
        case ("pipenv", "run", _, *_):
            return ("pipenv", "--venv")
        case ("hatch", "run", word, *_):
            return ("hatch", "env", "find", word.rpartition(":")[0] or "default")
        case _:
            return ()


def folder_of(argv: tuple[str, ...], said: str, root: Path) -> Path | None:
    """Where the programs of the manager's environment are; None where there is none. `said` answers the question."""
    if argv[:2] == ("pdm", "run"):
        file = root / _PDM
        python = Path(file.read_text(encoding="utf-8", errors="replace").strip()) if file.is_file() else Path()
        return python.parent if python.is_absolute() and python.is_file() else None
    lines = said.strip().splitlines()
    folder = Path(lines[0].strip()) / "bin" if lines else Path()
    return folder if folder.is_absolute() and (folder / "python").is_file() else None


def in_environment(argv: tuple[str, ...], root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The command as it is started here: with the program of the environment, where that has it."""
    asked = question(argv)
    if not asked and argv[:2] != ("pdm", "run"):
        return argv
    said = _remembered(asked, root, tuple(sorted(environ.items()))) if asked else ""
    folder = folder_of(argv, said, root)
    name = argv[2].rpartition(":")[2] if argv[0] == "hatch" else argv[2]
    if folder is None or "/" in name or not (folder / name).is_file():
        return argv
    return (str(folder / name), *argv[3:])


@cache
def _remembered(argv: tuple[str, ...], root: Path, environ: tuple[tuple[str, str], ...]) -> str:
    """A command that begins looks at its checks several times, and a manager takes its second to answer."""
    return answer(argv, root, dict(environ))
