"""Where the project's own Python packages lie in a checkout: the folders that go first on the path of its checks.

An editable installation, or a copy that was installed once, would hand them the person's tree instead.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath

_LARGEST = 256 * 1024
_FOLDERS = re.compile(
    r"""package_dir\s*=\s*\{\s*["']["']\s*:\s*["']([^"']+)|find_(?:namespace_)?packages\(\s*(?:where\s*=\s*)?["']([^"']+)"""
)
_WHERE: tuple[tuple[str, ...], ...] = (
    ("setuptools", "package-dir", ""),
    ("setuptools", "packages", "find", "where"),
    ("hatch", "build", "dev-mode-dirs"),
    ("hatch", "build", "sources"),
    ("hatch", "build", "targets", "wheel", "sources"),
    ("pdm", "build", "package-dir"),
    ("maturin", "python-source"),
    ("uv", "build-backend", "module-root"),
    ("pytest", "ini_options", "pythonpath"),
)
_PACKAGES: tuple[tuple[str, ...], ...] = (  # folders of packages: the one above each is where it is imported from
    ("hatch", "build", "packages"),
    ("hatch", "build", "targets", "wheel", "packages"),
    ("scikit-build", "wheel", "packages"),
)
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_NO_PRODUCT = (
    "tests",
    "test",
    "testing",
    "docs",
    "doc",
    "examples",
    "example",
    "benchmarks",
    "bench",
    "scripts",
    "tools",
)
_NO_MODULES = ("setup", "conftest", "noxfile", "tasks", "fabfile", "dodo", "manage", "conf")


def roots(folder: Path) -> tuple[Path, ...]:
    """As the project's files say, else `src` where packages lie there, else the folder itself where they do."""
    members = chain.from_iterable(roots(member) for member in _members(folder))
    usual = () if (folder / "src/__init__.py").is_file() else ("src",)  # a package of that name is no root
    named = [_inside(folder, name) for name in (*_declared(folder), *usual)]
    found = [each for each in named if each is not None and own_names(each)]
    if not found and own_names(folder):
        found = [folder]
    return tuple(dict.fromkeys((*sorted(found, key=lambda each: each == folder), *members)))


def safe_roots(folder: Path, installed: tuple[str, ...] = ()) -> tuple[Path, ...]:
    """Those that may go first: none where a file would stand in for the standard library, in the runner itself too.

    `installed` are folders that an environment has installed: what lies here at the same place goes first as well.
    """
    inner = chain.from_iterable(_installed_roots(folder, PurePosixPath(place)) for place in installed)
    found = dict.fromkeys((*roots(folder), *inner))
    return tuple(each for each in found if sys.stdlib_module_names.isdisjoint(own_names(each)))


def python_path(folder: Path, installed: tuple[str, ...] = ()) -> dict[str, str]:
    """The variable that puts them first; none where there is no Python of the project's own."""
    found = os.pathsep.join(str(each) for each in safe_roots(folder, installed))
    return {"PYTHONPATH": found} if found else {}


def _installed_roots(folder: Path, place: PurePosixPath) -> tuple[Path, ...]:
    """Of the project that lies here as it does there, whichever clone that is, or that has the place as its `src`.

    One with a manifest: a folder that a candidate made may not come in front of anything.
    """
    for parts in (place.parts[1:], place.parts[1:-1]):
        for start in range(len(parts)):
            found = _inside(folder, "/".join(parts[start:]))
            if found is not None and is_project(found):
                return roots_of_project(found)
    return ()


def is_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MANIFESTS)


def roots_of_project(folder: Path) -> tuple[Path, ...]:
    """Also where nothing in `src` says that it is a package: none has to."""
    usual = _inside(folder, "src")
    return roots(folder) or (() if usual is None else (usual,))


def own_names(root: Path) -> tuple[str, ...]:
    """The packages and modules of the project that an import finds in this folder."""
    if not root.is_dir():
        return ()
    found = (_import_name(each) for each in sorted(root.iterdir()))
    return tuple(name for name in found if name.isidentifier() and name.lower() not in _NO_PRODUCT)


def _import_name(path: Path) -> str:
    """Empty where it is no product: tests, set-up, a folder without any code."""
    if path.is_file():
        is_steering = path.stem in _NO_MODULES or path.stem.startswith("test_") or path.stem.endswith("_test")
        return path.stem if path.suffix == ".py" and not is_steering else ""
    if (path / "__init__.py").is_file():
        return path.name
    inner = path.parent.name in ("src", "lib", "python") and any(path.glob("*/__init__.py"))  # a namespace
    return path.name if inner else ""


def _members(folder: Path) -> Iterator[Path]:
    """Of a workspace of several projects."""
    for pattern in _texts(_within(_pyproject(folder), ("tool", "uv", "workspace", "members"))):
        if not pattern.startswith(("/", "..")) and "**" not in pattern:
            yield from (each for each in sorted(folder.glob(pattern)) if each != folder and each.is_dir())


def _declared(folder: Path) -> Iterator[str]:
    tools = _within(_pyproject(folder), ("tool",))
    for place in _WHERE:
        yield from _texts(_within(tools, place))
    for place in _PACKAGES:
        yield from (str(PurePosixPath(text).parent) for text in _texts(_within(tools, place)))
    packages = _within(tools, ("poetry", "packages"))
    yield from (text for each in _list(packages) for text in _texts(_within(each, ("from",))))
    yield from _of_setup(folder)


def _of_setup(folder: Path) -> Iterator[str]:
    settings = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        settings.read_string(_text(folder / "setup.cfg"))
    except configparser.Error:
        settings.clear()
    lines = settings.get("options", "package_dir", fallback="").split("\n")
    yield from (line.strip().removeprefix("=").strip() for line in lines if line.strip().startswith("="))
    yield settings.get("options.packages.find", "where", fallback="").strip()
    yield from (name for pair in _FOLDERS.findall(_text(folder / "setup.py")) for name in pair if name)


def _inside(folder: Path, name: str) -> Path | None:
    """The folder of that name; None for what lies elsewhere, or is not there."""
    parts = PurePosixPath(name).parts
    if not name or name.startswith("/") or ".." in parts or any(mark in name for mark in "*?[\0"):
        return None
    found = folder.joinpath(*parts)
    return found if found.is_dir() and not found.is_symlink() else None


def _pyproject(folder: Path) -> object:
    try:
        return tomllib.loads(_text(folder / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _within(data: object, place: tuple[str, ...]) -> object:
    for name in place:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _texts(value: object) -> Iterator[str]:
    yield from (each for each in _list(value) if isinstance(each, str))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _text(file: Path) -> str:
    if not file.is_file():
        return ""
    with file.open("rb") as content:
        return content.read(_LARGEST).decode("utf-8", "replace")
