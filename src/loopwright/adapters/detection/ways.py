"""What a look at a project is given and what it comes back with: the ways to run each check, best first."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from loopwright.config.settings import CheckSettings

Stack = Literal["python", "django", "node", "rust", "go", "make", "unknown"]
Ask = Callable[[tuple[str, ...]], str]  # what a program prints; empty where it cannot be asked
_LARGEST = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to run a check, with what a checkout needs for it."""

    check: CheckSettings
    setup: tuple[tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """A check the project seems to have. The first of its ways that works is taken."""

    name: str
    ways: tuple[Way, ...]
    advice: str = ""  # what would help where none of them works


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    stack: Stack
    prospects: tuple[Prospect, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Look:
    """The person's tree and environment. Only `ask` starts anything, and only what is named to it."""

    root: Path
    environ: Mapping[str, str]
    ask: Ask = field(default=lambda _argv: "")

    def where(self, program: str) -> Path | None:
        """Where a program is on the PATH."""
        found = shutil.which(program, path=self.environ.get("PATH", ""))
        return None if found is None else Path(found)

    def has(self, *names: str) -> bool:
        return any((self.root / name).is_file() for name in names)

    def has_folder(self, name: str) -> bool:
        return (self.root / name).is_dir()

    def text(self, name: str) -> str:
        """The text of a small file; empty when there is none."""
        file = self.root / name
        if not file.is_file():
            return ""
        with file.open("rb") as content:
            return content.read(_LARGEST).decode("utf-8", "replace")

    @cached_property
    def pyproject(self) -> Mapping[str, Any]:
        try:
            return tomllib.loads(self.text("pyproject.toml"))
        except tomllib.TOMLDecodeError:
            return {}

    def in_pyproject(self, *keys: str) -> Any:  # noqa: ANN401 - TOML
        """What stands there; None where nothing does."""
        found: Any = self.pyproject
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    @cached_property
    def makefile(self) -> str:
        return next((self.text(name) for name in ("GNUmakefile", "makefile", "Makefile") if self.has(name)), "")

    @cached_property
    def make_targets(self) -> frozenset[str]:
        return frozenset(re.findall(r"^([\w-]+)\s*:(?!=)", self.makefile, re.MULTILINE))


def single(name: str, *ways: tuple[str, ...], copy: tuple[str, ...] = (), advice: str = "") -> Prospect:
    """A check of plain commands that count nothing."""
    checks = (CheckSettings(name=name, run=run) for run in ways)
    return Prospect(name=name, ways=tuple(Way(check=check, copy=copy) for check in checks), advice=advice)
