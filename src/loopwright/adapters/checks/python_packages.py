"""The Python packages of a checkout, wherever they lie, with the names that imports have for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from loopwright.adapters.checks.python_roots import is_project, own_names, roots_of_project

_MOST_FOLDERS, _MOST = 5000, 500
_LEFT_OUT = ("node_modules", "site-packages", "__pycache__", "venv", "build", "dist")
_FIRST = "__init__.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPackage:
    """A folder, or a file that is a module, by its path in the checkout."""

    name: str
    path: str
    is_declared: bool  # a project of the tree has it where imports start from

    def is_at(self, place: str) -> bool:
        """Whether a place elsewhere is that of the same package in another tree."""
        parts, there = PurePosixPath(self.path).parts, PurePosixPath(place)
        folder = there.parent if there.name == _FIRST else there
        return len(parts) > 1 and folder.parts[-len(parts) :] == parts


def packages_below(checkout: Path) -> tuple[OwnPackage, ...]:
    """Bounded: nobody waits for a tree of thousands of projects."""
    folders = list(zip(_folders(checkout), range(_MOST_FOLDERS), strict=False))
    starts = {root: folder for folder, _ in folders if is_project(folder) for root in roots_of_project(folder)}
    found = {each.path: each for folder, _ in folders for each in _packages(folder, checkout, starts)}
    plain = (each for each in found.values() if each.name.split(".")[0] not in sys.stdlib_module_names)
    return tuple(each for each, _ in zip(plain, range(_MOST), strict=False))


def _folders(checkout: Path) -> Iterator[Path]:
    for folder, inner, _ in os.walk(checkout):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _LEFT_OUT)
        yield Path(folder)


def _packages(folder: Path, checkout: Path, starts: dict[Path, Path]) -> Iterator[OwnPackage]:
    """The folder itself, or its modules where it is none but lies where imports start from."""
    if folder == checkout or _is_package(folder.parent):
        return
    if _is_package(folder):
        yield from _named(folder, checkout, starts)
    elif folder in starts:
        modules = (folder / f"{name}.py" for name in own_names(folder))
        yield from (each for module in modules if module.is_file() for each in _named(module, checkout, starts))
    elif _start(folder, starts) is not None:
        for module in sorted(folder.glob("*.py")):
            yield from _named(module, checkout, starts)


def _named(path: Path, checkout: Path, starts: dict[Path, Path]) -> Iterator[OwnPackage]:
    is_direct = path.parent in starts
    start = path.parent if is_direct else _start(path, starts)
    parts = path.relative_to(start or path.parent).with_suffix("").parts
    if all(part.isidentifier() for part in parts):
        where = path.relative_to(checkout).as_posix()
        yield OwnPackage(name=".".join(parts), path=where, is_declared=start is not None)


def _start(path: Path, starts: dict[Path, Path]) -> Path | None:
    """The nearest root above it that is a folder for packages alone, such as `src`: elsewhere anything may lie."""
    return next((above for above in path.parents if above in starts and starts[above] != above), None)


def _is_package(folder: Path) -> bool:
    return (folder / _FIRST).is_file()
