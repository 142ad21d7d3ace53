"""The person's git settings, read by one command: each with the file that sets it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.program import Git, path_of, readable

_FILE = "file:"


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    key: str  # section and name in lower case, a subsection as it is written
    value: str
    file: Path | None  # None: from the command line or the environment


def read_config(person: Git) -> tuple[ConfigEntry, ...]:
    """Return all settings in the order in which git reads them: of a key with several values the last wins."""
    fields = person.run("config", "--list", "--show-origin", "-z").split(b"\0")
    return tuple(_entry(person, origin, setting) for origin, setting in zip(fields[::2], fields[1::2], strict=False))


def _entry(person: Git, origin: bytes, setting: bytes) -> ConfigEntry:
    key, _, value = readable(setting).partition("\n")
    place = path_of(origin)
    return ConfigEntry(key, value, person.cwd / place.removeprefix(_FILE) if place.startswith(_FILE) else None)
