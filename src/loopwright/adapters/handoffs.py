"""`.loop/stories/<id>/handoff.yml` on the disk, and what a story's own file says of it.

A handoff that cannot be read is never overwritten: it may hold what other tools and people wrote there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.adapters.files import write_whole
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml, write_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.shapes import shown
from loopwright.projections.handoff import Data, initial, problems
from loopwright.projections.handoff_rules import TIERS
from loopwright.projections.quality_file import is_quality_file

FILE_NAME = "handoff.yml"
_NAME = re.compile(r"(?!\.)(?!.*\.\.)[A-Za-z0-9._-]{1,64}")
_SLUG = 31  # with a digest of 8 and a dash it makes the 40 of an id of ours
_STORIES = (".yml", ".yaml")


def handoff_path(root: Path, story: str) -> Path:
    if not _NAME.fullmatch(story):
        raise UsageError(
            f"{story!a} cannot be the id of a story: it needs 1 to 64 letters, digits, dots, dashes and underscores"
        )
    return root / ".loop" / "stories" / story / FILE_NAME


def story_id(artifact: str, story: dict[str, object] | None = None) -> str:
    """The id that the story's file gives it, else one made from the artifact's path, the same at every call."""
    given = (story or {}).get("id")
    if isinstance(given, str) and _NAME.fullmatch(given):
        return given
    slug = re.sub(r"[^a-z0-9]+", "-", artifact.lower()).strip("-")[:_SLUG].strip("-")
    if slug and slug == artifact:
        return slug
    digest = hashlib.sha256(artifact.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}".strip("-")


def read_story(path: Path) -> tuple[str | None, str | None]:
    """The id and the tier that a story's file gives, each if it can be one. Never fails: faults are for the review."""
    if path.suffix not in _STORIES or is_quality_file(path.name):
        return None, None
    try:
        data = read_yaml(_text(path) or "", str(path)).plain()
    except ConfigError:
        return None, None
    if not isinstance(data, dict):
        return None, None
    name, tier = data.get("id"), data.get("tier")
    return (
        name if isinstance(name, str) and _NAME.fullmatch(name) else None,
        tier if isinstance(tier, str) and tier in TIERS else None,
    )


def read_handoff(path: Path) -> Data | None:
    """None if there is none. Raises `ConfigError` with line and key if it is not what it has to be."""
    text = _text(path)
    return None if text is None else _checked(text, str(path))


def update_handoff(
    root: Path, story: str, tier: str, change: Callable[[Data], Data], *, begin: Data | None = None
) -> Data:
    """Change the story's handoff, or what it begins with, and write it whole if that makes a difference.

    It begins with `begin`, where the story was taken over from another tool, else with the initial one.

    Returns what it holds now. Raises `ConfigError` if it cannot be read, or could not be read any more; then nothing
    is written. The tier is that of a new handoff; one that exists keeps its own. Raises `OSError` if the disk does
    not take it.
    """
    path = handoff_path(root, story)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.parent):
        before = read_handoff(path)
        if before is not None and before["story_id"] != story:
            raise ConfigError(str(path), "story_id", f"has to be {story}, as the folder is called")
        after = change((begin or initial(story, tier)) if before is None else before)
        if after == before:
            return after
        text = write_yaml(after)
        if len(text.encode()) > SIZE_LIMIT:
            says = f"would grow beyond {SIZE_LIMIT // 1024} KiB; take resolved findings out of quality_findings"
            raise ConfigError(str(path), "", says)
        written = _checked(text, str(path))
        write_whole(path, text)
        return written


def _checked(text: str, name: str) -> Data:
    found = read_yaml(text, name)
    data = found.plain()
    for problem in problems(data):
        raise ConfigError(name, shown(problem.at), problem.says, line=found.line(*problem.at))
    return data if isinstance(data, dict) else {}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two controllers may review parts of one story; neither may lose what the other wrote."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _text(path: Path) -> str | None:
    """None if there is no such file."""
    try:
        return read_plain_file(path, str(path), SIZE_LIMIT)
    except FileNotFoundError:
        return None
