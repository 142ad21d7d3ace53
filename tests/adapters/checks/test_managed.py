"""A command of a package manager is started in the environment that the person's own tree has."""

from pathlib import Path

import pytest

from loopwright.adapters.checks.managed import in_environment
from tests.adapters.detection.projects import program, virtual_environment, write


def persons(folder: Path, *managers: str) -> dict[str, str]:
    """A PATH with managers that know one environment, which has Python and pytest."""
    virtual_environment(folder / "kept")
    program(folder / "kept" / "bin" / "pytest")
    for name in managers:
        write(folder / "bin" / name, f"#!/bin/sh\necho {folder}/kept\n")
        (folder / "bin" / name).chmod(0o755)
    return {"PATH": f"{folder}/bin:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("written", "started"),
    [
        ("poetry run python -m pytest -q", "{kept}/python -m pytest -q"),
        ("poetry run pytest tests", "{kept}/pytest tests"),
        ("pipenv run pytest", "{kept}/pytest"),
        ("hatch run python -m pytest", "{kept}/python -m pytest"),
        ("hatch run test:pytest", "{kept}/pytest"),
        ("poetry run make test", "poetry run make test"),
        ("poetry run ./check", "poetry run ./check"),
        ("poetry check", "poetry check"),
        ("hatch run cov", "hatch run cov"),
        ("uv run pytest", "uv run pytest"),
        ("python -m pytest", "python -m pytest"),
    ],
)
def test_what_the_environment_has_is_started_there(tmp_path: Path, written: str, started: str) -> None:
    environ = persons(tmp_path, "poetry", "pipenv", "hatch")
    argv = in_environment(tuple(written.split()), tmp_path, environ)
    assert " ".join(argv) == started.format(kept=tmp_path / "kept" / "bin")


@pytest.mark.parametrize("manager", ["poetry", "pdm"])
def test_without_an_environment_the_command_stays_as_it_is(tmp_path: Path, manager: str) -> None:
    argv = (manager, "run", "pytest")
    assert in_environment(argv, tmp_path, {"PATH": "/nowhere"}) == argv


def test_pdm_has_written_down_where_its_python_is(tmp_path: Path) -> None:
    persons(tmp_path)
    write(tmp_path / ".pdm-python", f"{tmp_path}/kept/bin/python\n")
    assert in_environment(("pdm", "run", "pytest"), tmp_path, {}) == (f"{tmp_path}/kept/bin/pytest",)
