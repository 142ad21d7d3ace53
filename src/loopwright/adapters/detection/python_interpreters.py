"""The Python environments a project may be tested with, the most particular first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.managed import folder_of, question
from loopwright.adapters.detection.project_commands import tox_dependencies
from loopwright.adapters.detection.ways import Look

FOLDERS = (".venv", "venv", "env")
_TEST_EXTRAS = ("test", "tests", "testing", "dev", "develop", "development")
_REQUIREMENTS = (
    *("requirements-dev.txt", "dev-requirements.txt", "dev.requirements.txt", "requirements_dev.txt"),
    *("requirements-test.txt", "requirements-tests.txt", "test-requirements.txt", "requirements/test.txt"),
    *("requirements/tests.txt", "requirements/dev.txt", "tests/requirements.txt", "requirements.txt"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    argv: tuple[str, ...]
    about: str  # whose it is
    setup: tuple[tuple[str, ...], ...] = ()  # what a checkout needs first


def interpreters(look: Look) -> tuple[Launcher, ...]:
    """All that are there; nothing is made. A path inside the repository is written as one."""
    found: dict[tuple[str, ...], Launcher] = {}
    for each in (*_in_repository(look), *_active(look), *_of_managers(look), *_uv(look), *_on_path(look)):
        found.setdefault(each.argv, each)
    return tuple(found.values())


def _in_repository(look: Look) -> Iterator[Launcher]:
    for name in FOLDERS:
        if look.has(f"{name}/bin/python") and look.has(f"{name}/pyvenv.cfg"):
            yield Launcher(argv=(f"{name}/bin/python",), about=f"{name} of the repository")


def _active(look: Look) -> Iterator[Launcher]:
    """The one the shell is in. `python` means it there, and is right on the next machine too."""
    on_path = look.where("python")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = look.environ.get(variable, "")
        program = Path(prefix) / "bin" / "python"
        if prefix and program.is_file() and not program.is_relative_to(look.root):
            argv = ("python",) if on_path == program else (str(program),)
            yield Launcher(argv=argv, about=f"{prefix}, which is active")


def _of_managers(look: Look) -> Iterator[Launcher]:
    """Environments that tools keep elsewhere: a checkout has another path, where they would make new ones."""
    for argv in _by_managers(look):
        asked = question(argv)
        said = look.ask(asked) if asked and look.where(asked[0]) else ""
        folder = folder_of(argv, said, look.root)
        if folder is not None and (folder.is_relative_to(look.root) or not look.where(argv[0])):
            yield Launcher(argv=(_written(look, folder / "python"),), about=str(folder.parent))
        elif folder is not None:
            yield Launcher(argv=argv, about=str(folder.parent))
    for kept in (".tox", ".nox"):
        for program in sorted(look.root.glob(f"{kept}/*/bin/python")):
            if re.match(r"py|test", program.parts[-3]):
                yield Launcher(argv=(program.relative_to(look.root).as_posix(),), about=f"{kept} of the repository")
    named = re.search(
        r"^name:\s*([\w.-]+)", look.text("environment.yml") or look.text("environment.yaml"), re.MULTILINE
    )
    if named and look.where("conda"):
        argv = ("conda", "run", "--no-capture-output", "-n", named[1], "python")
        yield Launcher(argv=argv, about=f"conda environment {named[1]}")


def _is_poetry(look: Look) -> bool:
    backend = str(look.in_pyproject("build-system", "build-backend"))
    return look.has("poetry.lock") or look.in_pyproject("tool", "poetry") is not None or backend.startswith("poetry")


def _by_managers(look: Look) -> Iterator[tuple[str, ...]]:
    """How each manager that the project has starts its Python: so it is written, since that is no path of a machine."""
    if look.has(".pdm-python"):
        yield ("pdm", "run", "python")
    if _is_poetry(look):
        yield ("poetry", "run", "python")
    if look.has("Pipfile"):
        yield ("pipenv", "run", "python")
    if look.in_pyproject("tool", "hatch", "envs") is not None or look.has("hatch.toml"):
        yield from (("hatch", "run", f"{name}python") for name in ("", "hatch-test:", "test:"))


def _written(look: Look, path: Path) -> str:
    return path.relative_to(look.root).as_posix() if path.is_relative_to(look.root) else str(path)


def _uv(look: Look) -> Iterator[Launcher]:
    """Made anew in the checkout from the lock file, out of uv's cache."""
    if look.has("uv.lock") and look.where("uv"):
        extras = tuple(word for name in _extras(look) for word in ("--extra", name))
        setup = (("uv", "sync", "--frozen", *extras),)
        argv = ("uv", "run", "--frozen", *extras, "python")
        yield Launcher(argv=argv, about="uv, from uv.lock", setup=setup)


def _on_path(look: Look) -> Iterator[Launcher]:
    python, python3 = look.where("python"), look.where("python3")
    if python:
        yield Launcher(argv=("python",), about=str(python))
    if python3 and (python is None or python.resolve() != python3.resolve()):
        yield Launcher(argv=("python3",), about=str(python3))


def _extras(look: Look) -> tuple[str, ...]:
    extras = look.in_pyproject("project", "optional-dependencies")
    named = tuple(extras) if isinstance(extras, dict) else ()
    declared = re.search(
        r"^\[options\.extras_require\]\s*$(.*?)(?=^\[|\Z)", look.text("setup.cfg"), re.MULTILINE | re.DOTALL
    )
    named += tuple(re.findall(r"^([\w-]+)\s*=", declared[1], re.MULTILINE)) if declared else ()
    return tuple(name for name in named if name in _TEST_EXTRAS)


def install_advice(look: Look) -> str:
    """How the project's own people would install what its tests need."""
    if look.has("uv.lock"):
        return "uv sync" + "".join(f" --extra {name}" for name in _extras(look))
    if _is_poetry(look):
        return "poetry install"
    if look.has("pdm.lock"):
        return "pdm install"
    if look.has("Pipfile"):
        return "pipenv sync --dev" if look.has("Pipfile.lock") else "pipenv install --dev"
    return f"{_pip_of(look)} install {_what_to_install(look)}"


def add_advice(look: Look, tool: str) -> str:
    """How the project's own people would have one more tool."""
    managers = (
        ("uv add --dev", look.has("uv.lock")),
        ("poetry add --group dev", _is_poetry(look)),
        ("pdm add --dev", look.has("pdm.lock")),
        ("pipenv install --dev", look.has("Pipfile")),
    )
    return f"{next((adds for adds, is_used in managers if is_used), f'{_pip_of(look)} install')} {tool}"


def _pip_of(look: Look) -> str:
    """The pip of the environment that is there, or of one that is to be made."""
    for each in (*_in_repository(look), *_active(look)):
        return f"{each.argv[0]} -m pip"
    return "python3 -m venv .venv && .venv/bin/pip"


def _what_to_install(look: Look) -> str:
    is_project = look.has("setup.py", "setup.cfg") or look.in_pyproject("project") is not None
    extras, packages = tox_dependencies(look)
    extras = _extras(look) or tuple(name for name in extras if name)
    own = f"-e '.[{','.join(extras)}]'" if extras else "-e ." if is_project else ""
    groups = look.in_pyproject("dependency-groups")
    named = [name for name in (groups if isinstance(groups, dict) else ()) if name in _TEST_EXTRAS]
    files = [f"-r {name}" for name in _REQUIREMENTS if look.has(name)][:1]
    rest = [*(f"--group {name}" for name in named), *files, *packages]
    return " ".join(filter(None, [own, *(rest or ([] if extras else ["pytest"]))]))
