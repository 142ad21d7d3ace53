"""What a story's file and its handoff say, from the disk."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from loopwright.adapters.doors import read_data
from loopwright.adapters.yaml_text import SIZE_LIMIT, read_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError, UsageError
from loopwright.loops.kind import Data
from loopwright.loops.quality import files, handoff
from loopwright.loops.quality.handoff_rules import TIERS
from loopwright.loops.quality.quality_file import is_quality_file

FILE_NAME = "handoff.yml"
_NAME = re.compile(r"(?!\.)(?!.*\.\.)[A-Za-z0-9._-]{1,64}")
_SLUG = 31  # with a digest of 8 and a dash it makes the 40 of an id of ours
_STORIES = (".yml", ".yaml")


def handoff_path(root: Path, story: str) -> Path:
    if not _NAME.fullmatch(story):
        raise UsageError(
            f"{story!a} cannot be the id of a story: it needs 1 to 64 letters, digits, dots, dashes and underscores"
        )
    return root / files.handoff_path(story)


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
        data = read_yaml(read_plain_file(path, str(path), SIZE_LIMIT), str(path)).plain()
    except (ConfigError, FileNotFoundError):
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
    return read_data(path, handoff.problems)
