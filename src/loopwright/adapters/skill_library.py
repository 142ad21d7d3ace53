"""Skills as texts: those that are shipped, and a person's own below `.loop/skills/`, which go before them.

A skill is a folder with a `SKILL.md`, in the format that coding agents share: frontmatter with a name and a
description, then Markdown. What we need besides stands in its `metadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from loopwright.adapters.files import refuse_links, sorted_entries
from loopwright.adapters.yaml_text import read_yaml
from loopwright.config.plain_file import read_plain_file
from loopwright.errors import ConfigError, UsageError
from loopwright.kernel.quoting import one_line
from loopwright.kernel.shapes import Field, Problem, fitted, matching, named, nearest, record, shown, text
from loopwright.kernel.shapes import Path as Place

BUILT_IN = Path(__file__).parent.parent / "skills"
OVERRIDES = Path(".loop", "skills")
FILE = "SKILL.md"
LARGEST = 64 * 1024  # bytes: it becomes part of a brief

_FENCE = "---"
_NAME = matching("a name of lower-case letters, digits and single hyphens", r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SENTENCES = matching("text of at most 1024 characters", r"(?s:(?=.*\S).{1,1024})")
_FILE_NAME = matching("a relative file name without `..`", r"(?!.*(?:^|/)\.\.?(?:/|$))[\w.-]+(?:/[\w.-]+)*")
_FRONT = record(
    Field(name="name", shape=_NAME, required=True, means="The same as the folder's."),
    Field(name="description", shape=_SENTENCES, required=True, means="What it does and when to use it."),
    Field(name="license", shape=text()),
    Field(name="compatibility", shape=text()),
    Field(name="allowed-tools", shape=text()),
    Field(name="metadata", shape=named(text())),
    says="a name, a description and more keys",
    closed=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    name: str
    description: str
    body: str
    origin: Literal["built-in", "project"]
    deliverable: str = ""  # a file in the folder of the system; empty: the change itself, or what the engine does
    section: str = ""
    references: tuple[str, ...] = ()


_NOTHING = SkillText(name="", description="", body="", origin="built-in")  # what a skill of a new name goes before


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLibrary:
    """`root` is the top of the person's repository. Whatever is wrong with a file of theirs raises `ConfigError`."""

    root: Path
    built_in: Path = BUILT_IN

    @property
    def names(self) -> tuple[str, ...]:
        folder = self.root / OVERRIDES
        refuse_links(self.root, folder)
        own = _folders(folder)
        for name in own:
            fitted(_NAME, name, lambda _at, says: ConfigError(str(OVERRIDES), "", says))
        return tuple(sorted({*_folders(self.built_in), *own}))

    def read(self, name: str) -> SkillText:
        """Raises `UsageError` where there is no such skill."""
        found = self.find(name)
        if found is None:
            raise UsageError(f"there is no skill {one_line(name, 64)!r}; {nearest(name, self.names)}")
        return found

    def find(self, name: str) -> SkillText | None:
        if isinstance(_NAME.read(name), Problem):
            return None
        shipped, own = self.built_in / name / FILE, self.root / OVERRIDES / name / FILE
        before = _skill(_text(shipped, name), name, name) if shipped.is_file() else None
        refuse_links(self.root, own)
        if not own.parent.exists():
            return before
        file = str(OVERRIDES / name / FILE)
        return _skill(_text(own, file), file, name, before or _NOTHING)

    def guide(self, name: str) -> str:
        """What an agent is told of the skill; nothing of one that nobody knows."""
        found = self.find(name)
        return found.body if found else ""


def _folders(folder: Path) -> tuple[str, ...]:
    """Also a link in the place of one: looking for that skill says what is wrong with it."""
    return tuple(entry.name for entry in sorted_entries(folder) if entry.is_symlink() or entry.is_dir())


def _text(file: Path, name: str) -> str:
    try:
        return read_plain_file(file, name, LARGEST, follow=False)
    except FileNotFoundError as error:
        raise ConfigError(name, "", "is not there; the folder of a skill has one") from error


def _skill(content: str, file: str, name: str, before: SkillText | None = None) -> SkillText:
    """With `before`, the person's own: of its deliverable it need not say what the one it takes the place of says."""
    front, body = _split(content.removeprefix("\ufeff").replace("\r\n", "\n"), file)
    found = read_yaml(front, file)

    def error(at: Place, says: str) -> ConfigError:
        return ConfigError(file, shown(at), says, line=found.line(*at))

    held: dict[str, Any] = fitted(_FRONT, found.plain(), error)
    if held["name"] != name:
        raise error(("name",), f"expected {name!r}, as its folder is called, found {held['name']!r}")
    if not body.strip():
        raise ConfigError(file, "", "has no text below its frontmatter", line=content.count("\n") + 1)
    own: Mapping[str, str] = held.get("metadata") or {}
    if "deliverable" in own:
        fitted(_FILE_NAME, own["deliverable"], lambda _at, says: error(("metadata", "deliverable"), says))
    elif before is not None:
        own = {"deliverable": before.deliverable, "section": before.section, **own}
    return SkillText(
        name=name,
        description=" ".join(held["description"].split()),
        body=body.strip() + "\n",
        origin="built-in" if before is None else "project",
        deliverable=own.get("deliverable", ""),
        section=own.get("section", ""),
        references=tuple(own.get("references", "").split()),
    )


def _split(content: str, file: str) -> tuple[str, str]:
    """Frontmatter and the rest; lines of the frontmatter count from the file's first."""
    lines = content.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise ConfigError(file, "", "has no frontmatter; begin with a line ---, name, description, and ---", line=1)
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise ConfigError(file, "", "the frontmatter has no end; close it with a line ---", line=1)
    return "\n".join(("", *lines[1:end])), "\n".join(lines[end + 1 :])
