"""What is to be done, in the person's own words: from the command line, a file, or stdin."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from loopwright.errors import UsageError

_LARGEST = 64 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class GivenText:
    """What a command calls it: `task` is also given with `--task-file`."""

    noun: str
    command: str

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
