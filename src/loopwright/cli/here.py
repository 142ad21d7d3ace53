"""Where a command runs: folder, environment, terminal, person. Read once, then handed down."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopwright.adapters.speaker import speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    cwd: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False  # a person can be asked: stdin and stderr are a terminal
    draws: bool = False  # the live view can be drawn: stderr is a terminal that understands it
    kinds: Mapping[str, Any] = field(default_factory=dict)  # loops besides those we ship, by their names

    @staticmethod
    def of_process(environ: Mapping[str, str]) -> Here:
        seen = sys.stderr is not None and sys.stderr.isatty()
        return Here(
            cwd=_cwd(environ),
            environ=dict(environ),
            asks=seen and sys.stdin is not None and sys.stdin.isatty(),
            draws=seen and environ.get("TERM", "") not in ("", "dumb"),
        )

    @property
    def who(self) -> str:
        """Who speaks through this command, for the log."""
        return speaker(self.environ)


def _cwd(environ: Mapping[str, str]) -> Path:
    """The current folder; a removed one keeps its name so that the error can say it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(environ.get("PWD", "/nonexistent"))
