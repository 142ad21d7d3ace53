"""Dependency folders such as `node_modules`: linked to what setup made instead of copied into every checkout.

The folder itself is real, with a link to each entry: a tool finds its packages by the real path of what is linked, and
what it adds (`node_modules/.vite`) stays in the checkout. A run may write through a link. So everything that is linked
is compared by stat after a run: nobody can set the time of a file's last change.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.manifest import Manifest, digest_at, parents_of

NODE_MODULES = "node_modules"
DEPENDENCY_FOLDERS = (NODE_MODULES, ".venv", "venv")
_CACHE = re.compile(r"(?:^|/)node_modules/\.(?:cache|vite|vite-temp)/")

Stamps = dict[str, tuple[int, ...]]  # path: what a manifest notes of a file


def is_cache(path: str) -> bool:
    """Whether a tool writes the file while it works: every checkout has a copy of its own."""
    return _CACHE.search(path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlan:
    """How what setup made is laid into a checkout."""

    roots: frozenset[str] = frozenset()  # dependency folders whose entries are linked
    links: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()  # besides those that hold the others


def plan_links(made: Manifest, files: Path, without: frozenset[str] = frozenset()) -> LinkPlan:
    """Link the entries of dependency folders, but for those of `without` and those that only work as a copy."""
    inside = defaultdict[str, list[str]](list)
    for path in made.files:
        inside[_root_of(path)].append(path)
    roots = {root for root, paths in inside.items() if root and root not in without}
    roots -= {root for root in roots if not _can_link(root, inside[root], made, files)}
    real = {*roots}
    for root in roots:
        own = frozenset(path for path in inside[root] if path in made.speaks or is_cache(path))
        real |= {folder for folder in parents_of(own) if folder.startswith(f"{root}/")}
    links: set[str] = set()
    copied = [path for root, paths in inside.items() if root not in roots for path in paths]
    for path in (path for root in roots for path in inside[root]):
        entry = _first_below(path, real)
        if entry == path and (path in made.speaks or is_cache(path) or made.is_link(path)):
            copied.append(path)
        else:
            links.add(entry)
    for folder in made.folders - real:
        if _root_of(f"{folder}/") in roots and posixpath.dirname(folder) in real:
            links.add(folder)
    rest = frozenset(folder for folder in made.folders if _root_of(f"{folder}/") not in roots)
    return LinkPlan(
        roots=frozenset(roots), links=frozenset(links), copied=tuple(copied), folders=rest | frozenset(real)
    )


def _root_of(path: str) -> str:
    """The outermost dependency folder that the path lies in; empty: in none."""
    at = 0
    while (end := path.find("/", at)) >= 0:
        if path[at:end] in DEPENDENCY_FOLDERS:
            return path[:end]
        at = end + 1
    return ""


def _first_below(path: str, real: set[str]) -> str:
    """The part of the path that lies directly in the deepest real folder above it."""
    while (above := posixpath.dirname(path)) not in real:
        path = above
    return path


def _can_link(root: str, paths: Iterable[str], made: Manifest, files: Path) -> bool:
    """Whether everything in the folder resolves the same through links.

    A link of a workspace (`node_modules/app -> ../packages/app`) leads into the checkout, and a package of node that
    speaks of its own folder is found by its real path: both need a copy.
    """
    is_node = posixpath.basename(root) == NODE_MODULES
    for path in paths:
        if made.is_link(path) and not _stays_inside(path, os.readlink(f"{files}/{path}"), root):  # noqa: PTH115
            return False
        if is_node and path in made.speaks and posixpath.dirname(path) != root and not is_cache(path):
            return False
    return True


def _stays_inside(path: str, target: str, root: str) -> bool:
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return target.startswith("/") or place == root or place.startswith(f"{root}/")


def take_stamps(files: Path, roots: Iterable[str]) -> Stamps:
    """Every file, link and folder in these dependency folders."""
    found: Stamps = {}
    waiting = [f"{files}/{root}" for root in roots]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen = entry.stat(follow_symlinks=False)
                found[entry.path] = (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
                if stat.S_ISDIR(seen.st_mode):
                    waiting.append(entry.path)
    return found


def are_as_made(made: Manifest, files: Path, roots: frozenset[str], stamps: Stamps) -> bool:
    """Whether the folders hold exactly what the list says: by stat, and by content where that differs."""
    top = len(str(files)) + 1
    found = {path[top:]: each for path, each in stamps.items() if not stat.S_ISDIR(each[0])}
    listed = {path: noted for path, noted in made.files.items() if _root_of(path) in roots}
    return found.keys() == listed.keys() and all(
        each == tuple(listed[path][0]) or _holds(f"{files}/{path}", each, listed[path][1])
        for path, each in found.items()
    )


def only_linked_elsewhere(made: Manifest, files: Path, before: Stamps, now: Stamps) -> bool:
    """Whether nothing changed but the times that a hard link made elsewhere changes (uv and pnpm share files so)."""
    top = len(str(files)) + 1
    return before.keys() == now.keys() and all(
        was[:3] == now[path][:3]
        and was[4] == now[path][4]
        and path[top:] in made.files
        and _holds(path, now[path], made.files[path[top:]][1])
        for path, was in before.items()
        if was != now[path]
    )


def _holds(file: str, stamp: tuple[int, ...], digest: str) -> bool:
    try:
        return digest_at(file, stamp[0]) == digest
    except OSError:
        return False
