"""Holding what skills leave behind against what they have to: in a commit, and never in a person's own files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.adapters.git.repository import paths_at, texts_at, tree_of
from loopwright.adapters.skill_library import SkillLibrary, SkillText
from loopwright.errors import UsageError
from loopwright.kernel.deliverables import LARGEST_FILE, faults_in
from loopwright.kernel.quoting import one_line
from loopwright.loops.lifecycle.skills import SKILLS, Skill, folder_of
from loopwright.loops.lifecycle.verifier import SkillRecord, SkillReport, SkillsAsked, report, told_otherwise, wanted_of

_SYSTEM = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """Where the deliverables of a system lie: in a commit. Whoever knows more says what was done and skipped."""

    root: Path
    environ: Mapping[str, str]
    ref: str = "HEAD"
    system: str = ""  # empty: the only one there is
    record: SkillRecord = field(default_factory=SkillRecord)


def verified(asked: SkillsAsked, where: Committed, at: str) -> SkillReport:
    """Raises `UsageError` where nothing can be looked at, and `ConfigError` for a skill of theirs that is wrong."""
    library = SkillLibrary(root=where.root)
    skills = tuple(as_told(library.read(name)) for name in asked.skills)
    tree = tree_of(where.root, where.environ, where.ref)
    if not tree:
        raise UsageError(f"there is no commit {one_line(where.ref, 100)!r}; name a branch or a commit with --ref")
    files = any(skill.leaves for skill in skills)
    wanted = wanted_of(skills, (where.system and _named(where.system)) or (_only_system(where, tree) if files else ""))
    demands = [demand for each in wanted.values() for demand in each]
    texts = texts_at(where.root, where.environ, tree, tuple(each.path for each in demands), LARGEST_FILE)
    return report(asked, wanted, faults_in(zip(demands, texts, strict=True)), where.record, at)


def as_told(text: SkillText) -> Skill:
    """The skill with what a person's own text says of it."""
    if text.origin == "built-in" and text.name in SKILLS:
        return SKILLS[text.name]
    return told_otherwise(text.name, text.deliverable, text.section)


def _named(system: str) -> str:
    if not _SYSTEM.fullmatch(system):
        raise UsageError(
            f"{one_line(system, 60)!r} is no id of a system; it has lower-case letters, digits and hyphens"
        )
    return system


def _only_system(where: Committed, tree: str) -> str:
    above = folder_of("")
    rest = (path.removeprefix(above) for path in paths_at(where.root, where.environ, tree) if path.startswith(above))
    found = sorted({name.partition("/")[0] for name in rest if "/" in name})
    if len(found) == 1:
        return _named(found[0])
    there = f"{one_line(where.ref, 100)} has those of {one_line(', '.join(found))}" if found else "there are none yet"
    raise UsageError(f"which system's deliverables are meant is not clear ({there}); name it with --system")
