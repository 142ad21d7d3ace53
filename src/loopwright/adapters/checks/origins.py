"""The question before the first run: where do the checks find the project's own packages?"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.checks.local_installs import installed_from
from loopwright.adapters.checks.node_links import linked_elsewhere
from loopwright.adapters.checks.python_packages import packages_below
from loopwright.adapters.checks.python_roots import own_names, roots, safe_roots
from loopwright.adapters.resolution import is_python, python_of_script
from loopwright.config.settings import CheckSettings
from loopwright.errors import PackageElsewhere

# Isolated until its own imports are made, so that no file of the candidate stands in for them. Nothing is imported
# but the finders that an installation put there by itself: what lies in a package is looked for without loading it.
_PROGRAM = """
import importlib.util, json, sys
path, names = json.loads(sys.argv[1])
sys.path[:0] = path
def below(name, places):
    for finder in sys.meta_path:
        spec = getattr(finder, "find_spec", lambda *_: None)(name, places)
        if spec is not None:
            return spec
def place(name):
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
        for each in rest:
            first += "." + each
            spec = below(first, list(spec.submodule_search_locations))
        return spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or ()), "")
    except Exception:
        return ""
print(json.dumps({name: place(name) for name in names}))
"""
_LAUNCHERS = tuple((tool, "run") for tool in ("uv", "poetry", "pdm", "hatch", "pipenv", "rye"))
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundElsewhere:
    package: str
    place: str
    path: str = ""  # of the package in the checkout


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """What of the project would be imported from outside the checkout."""

    certain: tuple[FoundElsewhere, ...] = ()  # from another tree of the project
    doubtful: tuple[FoundElsewhere, ...] = ()  # of another project with that name, or a copy that was installed once


async def origins(
    argv: tuple[str, ...], environment: Mapping[str, str], checkout: Path, root: Path | None = None
) -> Origins:
    """Without those of Python where nobody can be asked: the command does not say which interpreter it starts.

    `root` is the person's repository.
    """
    linked = tuple(FoundElsewhere(package=name, place=place) for name, place in linked_elsewhere(checkout).items())
    asked = _interpreter(argv, environment, checkout)
    own = dict.fromkeys(name for each in roots(checkout) for name in own_names(each))
    top = [name for name in own if name not in sys.stdlib_module_names]  # of these some are always there already
    inner = [each for each in packages_below(checkout) if each.name not in top] if asked else []
    if asked is None or not (top or inner):
        return Origins(certain=linked)
    command, is_module = asked
    found = safe_roots(checkout, installed_from(argv, environment, root))
    path = [str(each) for each in ((checkout,) if is_module else ()) + found]
    names = (*top, *dict.fromkeys(each.name for each in inner))
    said = await _asked((*command, "-I", "-c", _PROGRAM, json.dumps((path, names))), environment, checkout)
    here = os.path.realpath(checkout)
    far = {name: at for name, at in said.items() if at and not Path(os.path.realpath(at)).is_relative_to(here)}
    outer = tuple(FoundElsewhere(package=name, place=far[name]) for name in top if name in far)
    lost = [each for each in inner if each.name in far]
    there = tuple(FoundElsewhere(package=each.name, place=far[each.name], path=each.path) for each in lost)
    pairs = tuple(zip(lost, there, strict=True))
    return Origins(
        certain=(*linked, *outer, *(one for each, one in pairs if each.is_at(one.place))),
        doubtful=tuple(one for each, one in pairs if each.is_declared),
    )


def refuse_elsewhere(spec: CheckSettings, found: Origins) -> None:
    """Raises `PackageElsewhere` when the check would run another tree than the one it is to judge."""
    for each in found.certain:
        raise PackageElsewhere(spec.name, " ".join(spec.run), package=each.package, place=each.place)


def _interpreter(
    argv: tuple[str, ...], environment: Mapping[str, str], checkout: Path
) -> tuple[tuple[str, ...], bool] | None:
    """The command that starts it, and whether it looks for modules in the current folder, too."""
    if is_python(argv[0]):
        return argv[:1], "-m" in argv
    if argv[:2] in _LAUNCHERS:
        return (*argv[:2], "python"), "-m" in argv and any(is_python(word) for word in argv[2:3])
    return _of_script(argv[0], environment, checkout)


def _of_script(program: str, environment: Mapping[str, str], checkout: Path) -> tuple[tuple[str, ...], bool] | None:
    """`pytest` and others of a virtual environment name their interpreter in the first line."""
    found = str(checkout / program) if "/" in program else shutil.which(program, path=environment.get("PATH", ""))
    words = python_of_script(found) if found else ()
    return (words, False) if words else None


async def _asked(argv: tuple[str, ...], environment: Mapping[str, str], checkout: Path) -> dict[str, str]:
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=checkout,
        )
    except OSError:
        return {}  # that it cannot be started is said by the check itself
    try:
        said, _ = await asyncio.wait_for(process.communicate(), _PATIENCE)
        places = json.loads(said)
    except (TimeoutError, ValueError):
        return {}
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return {str(name): str(place) for name, place in places.items()} if isinstance(places, dict) else {}
