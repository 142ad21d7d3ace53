"""Projects that lie below the top of a repository: each is tested from there, by a check of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.detection.node_checks import module_folders, node_advice, read_package
from loopwright.adapters.detection.python_checks import has_python_tests, inside
from loopwright.adapters.detection.python_interpreters import install_advice, interpreters
from loopwright.adapters.detection.ways import Detected, Look, Prospect, Way
from loopwright.config.settings import CheckSettings

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "package.json", "Cargo.toml", "Makefile")
_NOT_OURS = re.compile(
    r"(?:^|/)(?:\.[^/]*|node_modules|vendor|venv|env|tests?|examples?|docs?|fixtures|templates?)(?:/|$)"
)
_MOST = 4
# How each manager of packages is started for another folder.
_ELSEWHERE = {"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}


def part_checks(look: Look) -> Detected:
    """The tests of each project below. Without any, that is said."""
    found = [prospect for folder in project_folders(look) if (prospect := _tests(look, folder)).ways][:_MOST]
    if not found:
        return Detected(stack="unknown", notes=("no build or test command was recognised; write [checks] by hand",))
    first, *others = found
    return Detected(stack="unknown", prospects=(_named(first, "test"), *(_named(each) for each in others)))


def _named(prospect: Prospect, name: str = "") -> Prospect:
    name = name or f"test-{re.sub(r'[^A-Za-z0-9_-]', '-', prospect.name)}"
    ways = tuple(replace(way, check=replace(way.check, name=name)) for way in prospect.ways)
    return replace(prospect, name=name, ways=ways)


def project_folders(look: Look) -> list[str]:
    """Those that have a manifest and lie in no other that has one."""
    marks = (file for pattern in ("*", "*/*") for mark in _MARKS for file in look.root.glob(f"{pattern}/{mark}"))
    every = sorted({file.parent.relative_to(look.root).as_posix() for file in marks})
    ours = [folder for folder in every if not _NOT_OURS.search(folder)]
    return [folder for folder in ours if not any(folder.startswith(f"{other}/") for other in ours)]


def _tests(look: Look, folder: str) -> Prospect:
    part = replace(look, root=look.root / folder)
    package = read_package(part)
    if package is not None and package.tests:
        run = (package.manager, _ELSEWHERE[package.manager], folder, "test")
        way = Way(check=CheckSettings(name=folder, run=run), copy=module_folders(look))
        advice = node_advice(part, package, (package.manager, "test"))
        return Prospect(name=folder, ways=(way,), advice=f"cd {folder} && {advice}" if advice else "")
    if has_python_tests(part.root):
        commands = tuple(_python(look, part, folder))
        return _plain(folder, *commands, advice=f"cd {folder} && {install_advice(part)}")
    if part.has("Cargo.toml"):
        return _plain(folder, ("cargo", "test", "--manifest-path", f"{folder}/Cargo.toml"))
    return _plain(folder, *([("make", "-C", folder, "test")] if "test" in part.make_targets else []))


def _plain(folder: str, *commands: tuple[str, ...], advice: str = "") -> Prospect:
    ways = tuple(Way(check=CheckSettings(name=folder, run=run)) for run in commands)
    return Prospect(name=folder, ways=ways, advice=advice)


def _python(look: Look, part: Look, folder: str) -> Iterator[tuple[str, ...]]:
    """With Pythons that need no other folder to be found: those of managers depend on where they are asked.

    The part's own environment comes first, then that of the whole.
    """
    own = (program for program in _simple(part) if "/" in program and not Path(program).is_absolute())
    programs = tuple(dict.fromkeys((*(f"{folder}/{program}" for program in own), *_simple(look))))
    tests = next((name for name in ("tests", "test") if part.has_folder(name)), "")
    yield from ((program, "-m", "pytest", folder) for program in programs)
    yield from (inside(folder, program, "-m", "pytest") for program in programs)
    yield from (
        (program, "-m", "unittest", "discover", "-s", f"{folder}/{tests}".rstrip("/"), "-t", folder)
        for program in programs
    )


def _simple(look: Look) -> list[str]:
    return [each.argv[0] for each in interpreters(look) if len(each.argv) == 1]
