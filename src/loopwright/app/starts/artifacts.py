"""What `loop review` is pointed at: paths, each with its gate, its story and the file its findings go to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from loopwright.adapters.files import read_regular
from loopwright.adapters.git.program import printable
from loopwright.adapters.git.repository import files_of, is_part_of, submodule_paths
from loopwright.app.layout import STATE_FOLDER, WORKSPACES
from loopwright.app.project import Project
from loopwright.app.starts.stories import handoff_path, read_handoff, read_story, story_id
from loopwright.errors import UsageError
from loopwright.kernel.model import Commit
from loopwright.loops.quality import handoff, quality_file
from loopwright.loops.quality.state import Gate, Known

_OURS = (STATE_FOLDER, WORKSPACES, ".git")
_STORY_ENDINGS = (".yml", ".yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One artifact, as a path from the top of the repository."""

    path: str  # as the log has it
    source: str  # as file functions take it: a name that is not UTF-8 is no text for the log
    named: str  # as the person named it: a folder ends in `/`, and stands for each of its files in a batch
    gate: Gate
    story: str
    tier: str
    file: str  # where findings are handed over; empty: inline
    known: tuple[Known, ...]  # what earlier reviews of the same story found
    spared: tuple[str, ...] = ()  # files of somebody else that have the names it would have


def find_targets(
    project: Project, cwd: Path, paths: tuple[str, ...], gate: str, *, by_file: bool
) -> tuple[Target, ...]:
    """Raises `UsageError` for a path that cannot be reviewed. By file, a folder stands for the files in it."""
    if not paths:
        raise UsageError("name at least one PATH to review")
    named = [_inside(project.root, cwd, path) for path in paths]
    _refuse_submodules(project, named)
    chosen = {file: path for path in named for file in (_spread(project, path) if by_file else [path])}
    chosen |= {path: path for path in named if path in chosen}  # itself, and in a folder that is named besides
    files = _hand_over_files(project.root, list(chosen))
    return tuple(
        _target(project, path, gate, files[path], named=_as_named(project.root, said), by_file=by_file)
        for path, said in chosen.items()
    )


def _as_named(root: Path, path: str) -> str:
    return f"{printable(path)}/" if (root / path).is_dir() else printable(path)


def _inside(root: Path, cwd: Path, given: str) -> str:
    """The path from the top of the repository. Links are not followed: a review is of what stands there."""
    if not given:
        raise UsageError("a PATH is empty; name a file or a folder")
    path = Path(os.path.normpath(cwd / given))
    try:
        inner = path.relative_to(root)
    except ValueError:
        raise UsageError(f"{given} is outside of {root}; name a path of this repository") from None
    if not inner.parts:
        raise UsageError(f"{given} is the whole repository; name files or folders in it")
    if inner.parts[0] in _OURS:
        whose = "git's" if inner.parts[0] == ".git" else "Loopwright's"
        raise UsageError(f"{given} is {whose} own; name a path of your project")
    if any((root / part).is_symlink() for part in (inner, *inner.parents)):
        raise UsageError(f"{given} is, or lies behind, a symbolic link; name the file itself")
    if quality_file.is_quality_file(inner.as_posix()):
        raise UsageError(f"{given} holds findings, it is nothing to review; name the artifact they are about")
    if not path.is_file() and not path.is_dir():
        raise UsageError(f"{given}: there is no such file or folder")
    return inner.as_posix()


def _refuse_submodules(project: Project, named: list[str]) -> None:
    """A commit of this repository cannot hold a file of theirs."""
    for submodule in submodule_paths(project.root, project.environ):
        for path in named:
            if path == submodule:
                raise UsageError(f"{path} is a submodule; run `loop review` in its own repository")
            if path.startswith(f"{submodule}/"):
                raise UsageError(f"{path} lies in the submodule {submodule}; run `loop review` in its own repository")


def _spread(project: Project, path: str) -> list[str]:
    """A folder of a batch is each file in it that git knows or would take."""
    if not (project.root / path).is_dir():
        return [path]
    files = [file for file in files_of(project.root, project.environ, path) if not quality_file.is_quality_file(file)]
    if not files:
        raise UsageError(f"{printable(path)} has no file to review")
    return files


class _File(NamedTuple):
    name: str
    spared: tuple[str, ...]


def _hand_over_files(root: Path, paths: list[str]) -> dict[str, _File]:
    """The usual name, unless two artifacts would share it, or somebody has a file of that name already: what whoever
    fixes reads must be our findings, and what is theirs must stay.
    """
    uses = Counter(quality_file.name(printable(path)) for path in paths)
    names = (quality_file.name, quality_file.full_name, quality_file.other_name)

    def file_for(path: str) -> _File:
        shown = printable(path)
        wanted = [name(shown) for name in names[uses[quality_file.name(shown)] > 1 :]]
        spared = tuple(takewhile(lambda file: _is_taken(root / file), wanted[:-1]))
        return _File(wanted[len(spared)], spared)

    return {path: file_for(path) for path in paths}


def _is_taken(file: Path) -> bool:
    mark = quality_file.MARK.encode()
    return os.path.lexists(file) and not (read_regular(file, len(mark)) or b"").startswith(mark)


def _target(project: Project, source: str, gate: str, file: _File, *, named: str, by_file: bool) -> Target:
    path = printable(source)
    at = Gate(gate) if gate else usual_gate(path)
    said_id, tier = read_story(project.root / source) if at is Gate.STORY else (None, None)
    story = story_id(path, {"id": said_id})
    held = read_handoff(handoff_path(project.root, story))
    handed = by_file or at in (Gate.DESIGN, Gate.STORY)
    return Target(
        path=path,
        source=source,
        named=named,
        gate=at,
        story=story,
        tier=tier or str((held or {}).get("tier") or handoff.USUAL_TIER),
        file=file.name if handed else "",
        known=handoff.known(held, landed_in(project)) if held else (),
        spared=file.spared if handed else (),
    )


def landed_in(project: Project) -> Callable[[Commit], bool]:
    """Whether a fix is part of what is reviewed. Most findings of a story were resolved by the same few commits."""
    return cache(lambda commit: is_part_of(project.root, project.environ, commit, project.head))


def usual_gate(path: str) -> Gate:
    """What a path is by its name: a story, a design, a test, or code."""
    pure = PurePosixPath(path)
    if pure.suffix in _STORY_ENDINGS and ("stories" in pure.parts or pure.name.startswith("ST-")):
        return Gate.STORY
    if pure.stem.endswith("-design") and pure.suffix == ".md":
        return Gate.DESIGN
    if "tests" in pure.parts or pure.name.startswith("test_") or ".test." in pure.name or ".spec." in pure.name:
        return Gate.TEST
    return Gate.CODE
