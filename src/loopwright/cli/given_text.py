"""What is to be done, in the person's own words: from the command line, a file, or stdin."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from loopwright.errors import UsageError
from loopwright.kernel.quoting import one_line

_LARGEST = 64 * 1024  # bytes
_SHOWN = 80  # characters of it in a sentence
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class GivenText:
    """What a command calls it: `task` is also given with `--task-file`."""

    noun: str
    command: str

    def argument(self, command: F) -> F:
        """One word for the shell. Several are taken in only to say that they belong in quotes."""
        name = self.noun
        return click.argument(name, nargs=-1, metavar=f"[{name.upper()}]", callback=self._in_quotes)(command)

    def _in_quotes(self, _context: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> str:
        if len(words) > 1:
            meant = shlex.quote(one_line(" ".join(words), _SHOWN))
            raise UsageError(f"the {self.noun} belongs in quotes: `loop {self.command} {meant}`")
        return "".join(words)

    def read(self, cwd: Path, text: str, file: object) -> str:
        """From where it was given. Raises `UsageError` if there is none, or two."""
        if text and file:
            raise UsageError(f"give the {self.noun} as an argument or with --{self.noun}-file, not both")
        said = self._from(cwd, file) if isinstance(file, Path) else text
        if not said.strip():
            raise UsageError(f'the {self.noun} is empty; write `loop {self.command} "what is to be done"`')
        if len(said.encode("utf-8", "backslashreplace")) > _LARGEST:
            most = f"{_LARGEST // 1024} KiB"
            raise UsageError(f"the {self.noun} is larger than {most}; put the details into a file it names")
        return said.strip()

    def _from(self, cwd: Path, file: Path) -> str:
        option = f"--{self.noun}-file {file}"
        try:
            data = sys.stdin.buffer.read(_LARGEST + 1) if str(file) == "-" else (cwd / file).read_bytes()
            return data.decode()
        except OSError as error:
            raise UsageError(f"{option}: {error.strerror}; name a file that can be read") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{option}: not UTF-8 text; convert it") from error
