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
    inside: frozenset[str] = frozenset()  # all files in them
    links: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()  # besides those that hold the others


def plan_links(made: Manifest, files: Path, without: frozenset[str] = frozenset()) -> LinkPlan:
    """Link the entries of dependency folders, but for those of `without` and those that only work as a copy."""
    paths_in = defaultdict[str, list[str]](list)
    for path in made.files:
        paths_in[path.rpartition("/")[0]].append(path)
    root_of = {folder: _root_of(f"{folder}/") for folder in paths_in}
    inside = defaultdict[str, list[str]](list)
    for folder, paths in paths_in.items():
        inside[root_of[folder]] += paths
    roots = {root for root, paths in inside.items() if root and root not in without}
    roots -= {root for root in roots if not _can_link(root, inside[root], made, files)}
    own = {path for folder, paths in paths_in.items() if is_cache(f"{folder}/") for path in paths} | made.speaks
    real = roots | {folder for folder in parents_of(own) if any(folder.startswith(f"{root}/") for root in roots)}
    links: set[str] = set()
    copied: list[str] = []
    for folder, paths in paths_in.items():
        if root_of[folder] in roots and folder not in real:
            links.add(_first_below(folder, real))
            continue
        copies = {path for path in paths if root_of[folder] not in roots or path in own or made.is_link(path)}
        links |= {*paths} - copies
        copied += [path for path in paths if path in copies]
    for folder in made.folders - real:
        if _root_of(f"{folder}/") in roots and posixpath.dirname(folder) in real:
            links.add(folder)
    rest = frozenset(folder for folder in made.folders if _root_of(f"{folder}/") not in roots)
    return LinkPlan(
        roots=frozenset(roots),
        inside=frozenset(path for root in roots for path in inside[root]),
        links=frozenset(links),
        copied=tuple(copied),
        folders=rest | real,
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
    """Return the stamps of every file, link and folder in these dependency folders, by its path below `files`."""
    found: Stamps = {}
    waiting = list(roots)
    while waiting:
        folder = waiting.pop()
        # By a descriptor, or the system would look up the whole path again for each of tens of thousands of files.
        descriptor = os.open(f"{files}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    path, seen = f"{folder}/{entry.name}", entry.stat(follow_symlinks=False)
                    found[path] = (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
                    if stat.S_ISDIR(seen.st_mode):
                        waiting.append(path)
        finally:
            os.close(descriptor)
    return found


def are_as_made(made: Manifest, files: Path, plan: LinkPlan, stamps: Stamps) -> bool:
    """Return whether the folders hold exactly what the list says: by stat, and by content where that differs."""
    found = {path: each for path, each in stamps.items() if not stat.S_ISDIR(each[0])}
    return found.keys() == plan.inside and all(
        [*each] == made.files[path][0] or _holds(f"{files}/{path}", each, made.files[path][1])
        for path, each in found.items()
    )


def only_linked_elsewhere(made: Manifest, files: Path, before: Stamps, now: Stamps) -> bool:
    """Return whether nothing changed but times that a hard link made elsewhere changes (uv and pnpm share files so)."""
    return before.keys() == now.keys() and all(
        was[:3] == now[path][:3]
        and was[4] == now[path][4]
        and path in made.files
        and _holds(f"{files}/{path}", now[path], made.files[path][1])
        for path, was in before.items()
        if was != now[path]
    )


def _holds(file: str, stamp: tuple[int, ...], digest: str) -> bool:
    try:
        return digest_at(file, stamp[0]) == digest
    except OSError:
        return False
