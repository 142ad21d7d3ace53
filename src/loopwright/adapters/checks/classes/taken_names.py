"""Names that checks resolve elsewhere: a new file of the product must not stand in front of them."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

# Where what is installed lies beside a program: an environment's, a system's own, and those that a shim starts.
_BELOW = ("", "local/", "versions/*/", "installs/python/*/")
_MOST = 20_000  # entries looked at of one folder
_IMPORTED = (".py", ".pyi", ".so", ".pyd", ".pyc")
ROOTS = ("", "src", "lib", "python", "py")
TESTS = ("tests", "test")
# What runners of Python bring along, also where no environment could be looked at.
_USUAL = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "coverage", "xdist"}
    | {"execnet", "hypothesis", "mock", "attr", "attrs", "six", "setuptools", "pkg_resources", "pip", "wheel", "nose"}
    | {"nose2", "pytest_cov", "pytest_mock", "pytest_asyncio", "typing_extensions", "sitecustomize", "usercustomize"}
    | {"sortedcontainers", "pygments", "colorama", "trio", "anyio", "django", "numpy", "requests", "twisted", "tox"}
    | {"unittest2", "testtools", "mypy", "mypy_extensions", "ruff", "behave", "sybil", "freezegun", "zope"}
)


def names_in_site_packages(folder: Path) -> frozenset[str]:
    """Top-level names that an interpreter finds in this folder, those of editable installs left out."""
    found: set[str] = set()
    if not folder.is_dir():
        return frozenset()
    entries = [entry for entry, _ in zip(sorted(folder.iterdir()), range(_MOST), strict=False)]
    own = {name for entry in entries if _is_editable(entry) for name in _listed(entry)}
    for entry in entries:
        if entry.name.endswith((".dist-info", ".egg-info")):
            found |= _listed(entry)
        elif entry.is_dir() and entry.name.isidentifier():
            found.add(entry.name)
        elif entry.suffix in _IMPORTED:
            found.add(entry.name.split(".")[0])
    return frozenset(found - own - {"__pycache__"})


def _is_editable(entry: Path) -> bool:
    """Installed from a folder in place: the project's own, as a rule."""
    told = entry / "direct_url.json"
    return told.is_file() and '"editable": true' in told.read_text(encoding="utf-8", errors="replace")


def _listed(entry: Path) -> set[str]:
    """What a distribution says it brings."""
    if not entry.is_dir():
        return set()
    top, record = entry / "top_level.txt", entry / "RECORD"
    names = set(_text(top).split())
    for line in _text(record).splitlines():
        first, *below = line.partition(",")[0].split("/")  # not as paths: there are thousands of lines
        if not below and first.endswith(_IMPORTED):
            names.add(first.partition(".")[0])
        elif below and first.isidentifier() and ".." not in below:
            names.add(first)
    return {name for name in names if "/" not in name} - {"__pycache__"}


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def names_around(programs: Iterable[Path]) -> frozenset[str]:
    """What the interpreters among these programs find besides the project, in an environment or in the system."""
    homes = {program.parent.parent for program in programs if program.name.startswith(("python", "pypy", "pytest"))}
    folders = (folder for home in homes for place in _BELOW for folder in home.glob(f"{place}lib/python3*/*-packages"))
    return frozenset(name for folder in folders for name in names_in_site_packages(folder))


def names_in_node_modules(folder: Path) -> frozenset[str]:
    if not folder.is_dir():
        return frozenset()
    plain = {entry.name for entry in folder.iterdir() if not entry.name.startswith((".", "@"))}
    scoped = {
        f"{s.name}/{e.name}" for s in folder.iterdir() if s.name.startswith("@") and s.is_dir() for e in s.iterdir()
    }
    return frozenset(plain | scoped)


def module_at(path: str, tracked: frozenset[str]) -> tuple[str, str] | None:
    """The folder in which an import would find the file, and the name it would be found by."""
    if not path.endswith(_IMPORTED):
        return None
    parts = path.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        above = "/".join(parts[:depth])
        if f"{above}/__init__.py" not in tracked and path != f"{above}/__init__.py":
            name = parts[depth]
            return above, name.split(".")[0]
    return "", parts[0].split(".")[0]


@lru_cache(maxsize=4)  # the base of a loop is asked again for every candidate
def own_names(tracked: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Where the base itself has which names."""
    files = frozenset(tracked)
    return frozenset(found for path in files if (found := module_at(path, files)) is not None)


@lru_cache(maxsize=4)
def _folders_of_tests(own: frozenset[tuple[str, str]]) -> frozenset[str]:
    """Folders of tests that are no packages: imported by their name until a module of this name is found."""
    places = (place.split("/") for place, _ in own)
    named = ((parts, depth) for parts in places for depth, part in enumerate(parts) if part in TESTS)
    return frozenset("/".join(parts[: depth + 1]) for parts, depth in named if _is_root("/".join(parts[:depth])))


def module_of(path: str) -> str:
    """Without its suffix, and without what makes a folder a package; empty for what is no module."""
    folder, name = posixpath.split(path)
    stem = name.split(".")[0]
    if not path.endswith(_IMPORTED):
        return ""
    return folder if stem == "__init__" else posixpath.join(folder, stem)


def is_taken(name: str, taken: frozenset[str]) -> bool:
    return name in taken or name in _USUAL or name in sys.stdlib_module_names


def taken_name(
    path: str,
    *,
    tracked: frozenset[str],
    own: frozenset[tuple[str, str]],
    taken: frozenset[str],
    roots: frozenset[str] = frozenset(),
) -> str:
    """The name a new file would take from where checks find it now; empty when it takes none.

    `tracked` are the files of the base and of the candidate, `own` the names of the base alone. `roots` are folders of
    the base that imports start from: they stay so, whatever a candidate puts beside the file.
    """
    folder, bare = posixpath.split(module_of(path))
    if folder in roots and is_taken(bare, taken) and (folder, bare) not in own:
        return bare
    found = module_at(path, tracked)
    if found is None:
        return ""
    root, name = found
    if (root, name) in own or not (_is_root(root) or "/" not in root):
        return ""
    folders = _folders_of_tests(own) if _is_root(root) else frozenset()
    if any(PurePosixPath(folder).name == name and not path.startswith(f"{folder}/") for folder in folders):
        return name
    others = {held for place, held in own if place != root and _is_root(place)} if _is_root(root) else set()
    return name if is_taken(name, taken) or name in others else ""


def _is_root(root: str) -> bool:
    """A folder that imports start from: the usual ones, and those of tests, which runners put in front."""
    return root in ROOTS or PurePosixPath(root).name in TESTS
