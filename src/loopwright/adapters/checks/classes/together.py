"""What a changed path is in the company of others: a lock without its manifest, a move, a test allowed to change."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace

from loopwright.adapters.checks.classes.layout import collected_by_name
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.trust import Classed, FileClass

_FAMILIES = (
    (r"package-lock|yarn|pnpm|bun\.|shrinkwrap|deno", r"package\.json|deno\.json|pnpm-workspace"),
    (r"cargo", r"cargo\.toml"),
    (r"go\.(?:work\.)?sum", r"go\.(?:mod|work)"),
    (r"gemfile", r"gemfile$|gemspec"),
    (r"composer", r"composer\.json"),
    (r"poetry|uv\.|pdm|pipfile|pylock|pixi|conda", r"pyproject|setup\.|requirements|pipfile$|pixi|environment"),
)


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
    """Shown as a move where the same content went from here to there."""
    went = {c.change.old: c.change.path for c in classed if c.change.how == "removed" and c.change.old}
    came = {c.change.blob: c.change.path for c in classed if c.change.how == "added" and c.change.blob}
    return tuple(
        replace(each, moved=came.get(each.change.old, ""))
        if each.change.how == "removed"
        else replace(each, moved=went.get(each.change.blob, ""))
        if each.change.how == "added"
        else each
        for each in classed
    )


def set_apart(classed: tuple[Classed, ...], tests: Mapping[str, str], yielding: frozenset[str]) -> tuple[Classed, ...]:
    """Tests that a person allowed to change judge for themselves alone: the others run without them first.

    In Python one file of tests can patch the product for all that come after it. `tests` are the texts of the base's;
    what others of them name is needed.
    """
    collected = {path for path in tests if collected_by_name(path) or path in yielding}
    allowed = {each.change.path for each in classed if each.allowed and each.change.how == "changed"} & collected
    needed = {path for path in allowed for other, text in tests.items() if other != path and _is_named(path, text)}
    if allowed == collected:
        return classed
    return tuple(replace(each, judged=b"") if each.change.path in allowed - needed else each for each in classed)


def _is_named(path: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(posixpath.basename(path).removesuffix('.py'))}\b", text) is not None
