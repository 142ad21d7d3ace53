"""The project's own Python: which interpreter it is and what it can import."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.tools.artifacts import text_of
from loopwright.adapters.tools.plan import ToolPlan
from loopwright.adapters.tools.workshop import Workshop

# Isolated: what lies in the candidate's folder must not pass for an installed package.
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_WANTED = "{name: find_spec(name) is not None for name in ('coverage', 'pytest')}"
_PROBE = ("-I", "-c", f"import json\nfrom importlib.util import find_spec\nprint(json.dumps({_WANTED}))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    path: str
    coverage: bool = False
    pytest: bool = False


async def interpreter(shop: Workshop, plan: ToolPlan) -> Interpreter | None:
    """The one that tests run with: the repository's own alone if it has one, else the first that has `coverage`."""
    if plan.own:
        return await _asked(shop, plan.own)
    found = [each for path in _candidates(shop) if (each := await _asked(shop, path))]
    return next((each for each in found if each.coverage), found[0] if found else None)


def environment_python(shop: Workshop, plan: ToolPlan) -> str:
    """The one whose packages the project imports: the repository's own, else of an environment that is active.

    Empty without either: the machine's Python need not even be of a version that the project can use.
    """
    first = next(iter(_candidates(shop)), "")
    active = bool(first) and (Path(first).parent.parent / "pyvenv.cfg").is_file()
    return plan.own or (first if active else "")


def _candidates(shop: Workshop) -> list[str]:
    folders = shop.env.get("PATH", "").split(os.pathsep)
    found = (os.path.join(folder, name) for folder in folders for name in ("python", "python3"))  # noqa: PTH118
    by_file = {os.path.dirname(path): path for path in found if os.access(path, os.X_OK)}  # noqa: PTH120
    return list(by_file.values())


async def _asked(shop: Workshop, path: str) -> Interpreter | None:
    ran = await shop.run(path, *_PROBE)
    try:
        has = json.loads(ran.stdout) if ran.code == 0 else None
    except ValueError:
        return None
    if not isinstance(has, dict):
        return None
    return Interpreter(path=path, coverage=has.get("coverage") is True, pytest=has.get("pytest") is True)


def declares(folder: Path, module: str) -> bool:
    """Whether the project depends on a package by whose name the module may go: `yaml` and `PyYAML` are one."""
    wanted = _plain(module.partition(".")[0])
    return any(wanted in _plain(match[1]) for line in _requirements(folder) if (match := _REQUIREMENT.match(line)))


def _requirements(folder: Path) -> Iterator[str]:
    try:
        data: object = tomllib.loads(text_of(folder, "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        data = {}
    for place in (("project", "dependencies"), ("project", "optional-dependencies"), ("dependency-groups",)):
        yield from _texts(_within(data, place))
    for name in ("requirements.txt", "requirements-dev.txt"):
        yield from text_of(folder, name).splitlines()


def _within(data: object, place: tuple[str, ...]) -> object:
    for name in place:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _texts(value: object) -> Iterator[str]:
    """The entries of a list, or of every list in a table."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
