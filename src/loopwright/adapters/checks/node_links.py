"""Packages of a JavaScript project that are linked to from outside its checkout: `npm link`, workspaces.

A checkout without `node_modules` of its own finds those of the folders above, whose links lead into the person's tree.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from loopwright.adapters.files import sorted_entries

_LARGEST = 256 * 1024
_FOLDER = "node_modules"


def linked_elsewhere(checkout: Path) -> dict[str, str]:
    """Each with the place it leads to. A copy of a published version is no link: a compiler may build itself by one."""
    found = {name: _resolved(name, folder, checkout) for name, folder in _own(checkout).items()}
    return {name: str(place) for name, place in found.items() if place is not None}


def links_around(root: Path) -> Iterator[tuple[str, str]]:
    """Every package that is a link, where code of the root or of a checkout in it looks for packages."""
    for above in (root, *root.parents):
        yield from _links(above / _FOLDER)


def _links(folder: Path) -> Iterator[tuple[str, str]]:
    for entry in sorted_entries(folder):
        if entry.is_symlink():
            yield entry.path, str(Path(entry.path).readlink())
        elif entry.name.startswith("@"):
            yield from _links(Path(entry.path))


def _own(checkout: Path) -> dict[str, Path]:
    """The names of the project's packages, each with its folder; one that exports itself is found in its own folder."""
    root = _package(checkout)
    folders = [checkout, *(folder for pattern in _patterns(root) for folder in sorted(checkout.glob(pattern)))]
    packages = ((folder, _package(folder)) for folder in folders if folder.is_dir())
    return {
        name: folder
        for folder, package in packages
        if isinstance(name := package.get("name"), str) and (folder != checkout or "exports" not in package)
    }


def _patterns(package: dict[str, object]) -> Iterator[str]:
    spaces = package.get("workspaces")
    listed = spaces.get("packages") if isinstance(spaces, dict) else spaces
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, str) and each.strip("/.") and not each.startswith(("/", "!", "..")) and "**" not in each:
            yield each.removeprefix("./")


def _resolved(name: str, folder: Path, checkout: Path) -> Path | None:
    """Where node goes from the top of the checkout, if that is the source of the package in another tree."""
    for above in (checkout, *checkout.parents):
        place = above / _FOLDER / name
        if place.exists():
            real = Path(os.path.realpath(place))
            inside = real.is_relative_to(os.path.realpath(checkout))
            return None if inside or _FOLDER in real.parts or real == folder else real
    return None


def _package(folder: Path) -> dict[str, object]:
    try:
        with (folder / "package.json").open("rb") as file:
            data = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
