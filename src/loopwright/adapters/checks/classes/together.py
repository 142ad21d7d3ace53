"""What a changed path is in the company of others: a lock without its manifest, or a move."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

from loopwright.adapters.checks.classes.metadata import changes_only_metadata, mark_shared_versions
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.trust import Classed, FileClass

_NOTHING = (  # what git calls an empty file, with either digest; and what nobody knows the content of
    "",
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_FAMILIES = (
    (r"package-lock|yarn|pnpm|bun\.|shrinkwrap|deno", r"package\.json|deno\.json|pnpm-workspace"),
    (r"cargo", r"cargo\.toml"),
    (r"go\.(?:work\.)?sum", r"go\.(?:mod|work)"),
    (r"gemfile", r"gemfile$|gemspec"),
    (r"composer", r"composer\.json"),
    (r"poetry|uv\.|pdm|pipfile|pylock|pixi|conda", r"pyproject|setup\.|requirements|pipfile$|pixi|environment"),
)


def seen_together(
    classed: tuple[Classed, ...],
    before: Mapping[str, str],
    after: Mapping[str, str],
    is_protected: Callable[[str], bool],
) -> tuple[Classed, ...]:
    """Return the classes in view of each other. `before` and `after` are the texts of what changed."""
    texts = tuple(
        replace(each, kind=FileClass.TEXT, why="only metadata differs", is_manifest=False)
        if each.is_manifest
        and not is_protected(each.change.path)
        and changes_only_metadata(each.change.path, before, after)
        else each
        for each in classed
    )
    return mark_shared_versions(moved(locks_put_back(texts)), before, after)


def locks_put_back(classed: tuple[Classed, ...]) -> tuple[Classed, ...]:
    """A lock that changed without its manifest changed for no reason of the task."""
    manifests = [c.change.path.lower() for c in classed if judge_by_name(c.change.path) is Judge.MANIFEST]
    alone = all(judge_by_name(each.change.path) is Judge.LOCK for each in classed)
    if alone:
        return classed
    return tuple(_lock_put_back(each, manifests) for each in classed)


def _lock_put_back(classed: Classed, manifests: list[str]) -> Classed:
    path = classed.change.path
    if classed.kind is not FileClass.JUDGE_BY_NAME or judge_by_name(path) is not Judge.LOCK:
        return classed
    name = posixpath.basename(path).lower()
    wanted = next((manifest for lock, manifest in _FAMILIES if re.match(lock, name)), "")
    if any(re.match(wanted, posixpath.basename(manifest)) for manifest in manifests):
        return classed
    why = "a lock changed without its manifest: the base's is kept"
    return replace(classed, why=why, put_back=True, is_manifest=False)


def moved(classed: tuple[Classed, ...]) -> tuple[Classed, ...]:
    """Shown as a move where the same content went from here to there. Files with nothing in them go nowhere."""
    changes = [each.change for each in classed]
    came = defaultdict[str, list[str]](list)
    for change in changes:
        if change.how == "added" and change.blob not in _NOTHING:
            came[change.blob].append(change.path)
    gone = {change.path: came[change.old] for change in changes if change.how == "removed" and change.old in came}
    pairs: dict[str, str] = {}
    for names_differ in (False, True):  # of several with the same content, those first that kept their names
        for path, places in gone.items():
            free = (each for each in places if each not in pairs and (names_differ or _name(each) == _name(path)))
            if path not in pairs and (other := next(free, "")):
                pairs |= {path: other, other: path}
    return tuple(replace(c, change=replace(c.change, moved=pairs.get(c.change.path, ""))) for c in classed)


def _name(path: str) -> str:
    return posixpath.basename(path)
