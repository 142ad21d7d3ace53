"""What `loop review` is pointed at: paths, each with its gate, its story and the file its findings go to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from loopwright.adapters.git.repository import files_of, is_part_of
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

    path: str
    gate: Gate
    story: str
    tier: str
    file: str  # where findings are handed over; empty: inline
    known: tuple[Known, ...]  # what earlier reviews of the same story found


def find_targets(
    project: Project, cwd: Path, paths: tuple[str, ...], gate: str, *, by_file: bool
) -> tuple[Target, ...]:
    """Raises `UsageError` for a path that cannot be reviewed. By file, a folder stands for the files in it."""
    if not paths:
        raise UsageError("name at least one PATH to review")
    named = [_inside(project.root, cwd, path) for path in paths]
    if by_file:
        named = [file for path in named for file in _spread(project, path)]
    chosen = list(dict.fromkeys(named))
    files = _hand_over_files(chosen)
    return tuple(_target(project, path, gate, files[path], by_file=by_file) for path in chosen)


def _inside(root: Path, cwd: Path, given: str) -> str:
    """The path from the top of the repository. Links are not followed: a review is of what stands there."""
    path = Path(os.path.normpath(cwd / given))
    try:
        inner = path.relative_to(root)
    except ValueError:
        raise UsageError(f"{given} is outside of {root}; name a path of this repository") from None
    if not inner.parts:
        raise UsageError(f"{given} is the whole repository; name files or folders in it")
    if inner.parts[0] in _OURS:
        raise UsageError(f"{given} is Loopwright's own; name a path of your project")
    if any((root / part).is_symlink() for part in (inner, *inner.parents)):
        raise UsageError(f"{given} is, or lies behind, a symbolic link; name the file itself")
    if quality_file.is_quality_file(inner.as_posix()):
        raise UsageError(f"{given} holds findings, it is nothing to review; name the artifact they are about")
    if not path.is_file() and not path.is_dir():
        raise UsageError(f"{given}: there is no such file or folder")
    return inner.as_posix()


def _spread(project: Project, path: str) -> list[str]:
    """A folder of a batch is each file in it that git knows or would take."""
    if not (project.root / path).is_dir():
        return [path]
    files = [file for file in files_of(project.root, project.environ, path) if not quality_file.is_quality_file(file)]
    if not files:
        raise UsageError(f"{path} has no file to review")
    return files


def _hand_over_files(paths: list[str]) -> dict[str, str]:
    """The usual name, unless two artifacts would share it."""
    uses = Counter(quality_file.name(path) for path in paths)
    return {
        path: quality_file.name(path) if uses[quality_file.name(path)] == 1 else quality_file.full_name(path)
        for path in paths
    }


def _target(project: Project, path: str, gate: str, file: str, *, by_file: bool) -> Target:
    at = Gate(gate) if gate else usual_gate(path)
    said_id, tier = read_story(project.root / path) if at is Gate.STORY else (None, None)
    story = story_id(path, {"id": said_id})
    held = read_handoff(handoff_path(project.root, story))
    return Target(
        path=path,
        gate=at,
        story=story,
        tier=tier or str((held or {}).get("tier") or handoff.USUAL_TIER),
        file=file if by_file or at in (Gate.DESIGN, Gate.STORY) else "",
        known=handoff.known(held, landed_in(project)) if held else (),
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
