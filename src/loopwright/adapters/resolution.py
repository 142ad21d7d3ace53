"""The programs that a command resolves to outside of the tree, and the folders that its own Python imports from."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath

PIECES = re.compile(r"""[\s;&|()<>"'`=]+""")  # of a line for a shell
_NAME = re.compile(r"[A-Za-z_][\w.+-]*")
_SHEBANG = 4096  # bytes
_PATIENCE = 20.0  # seconds
# Isolated, as nothing of the current folder or of the user takes part in a check.
_QUESTION = "import json, sys; print(json.dumps([sys.version, sys.executable, sys.prefix, sys.base_prefix, sys.path]))"


@dataclass(frozen=True, slots=True)
class ImportPath:
    """The version of a Python, and where it looks for modules outside of the project's own sources."""

    version: str = ""
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolves commands in the environment of checks. An interpreter is asked once."""

    environ: Mapping[str, str]
    root: Path
    _asked: dict[str, ImportPath] = field(default_factory=dict)

    def programs(self, argv: tuple[str, ...]) -> dict[str, str]:
        """Each word of the command that names a program, with its place; files of the tree are left out.

        What stands after `-m` is a module of the interpreter before it.
        """
        words = [piece for word in argv for piece in dict.fromkeys((word, *PIECES.split(word)))]
        pieces = dict.fromkeys(piece for before, piece in pairwise(("", *words)) if before != "-m")
        return {piece: place for piece in pieces if (place := self._place(piece))}

    def interpreters(self, argv: tuple[str, ...]) -> dict[str, ImportPath]:
        """Those that the command starts, by place; where it names none, that of the active environment."""
        started = dict.fromkeys(filter(None, map(self._python, self.programs(argv).values())))
        return {place: self._interpreter(place) for place in started or dict.fromkeys(self._active())}

    def _place(self, piece: str) -> str:
        if piece.startswith("/"):
            return piece if _is_program(piece) else ""
        return shutil.which(piece, path=self.environ.get("PATH", "")) or "" if _NAME.fullmatch(piece) else ""

    def _python(self, program: str) -> str:
        """The interpreter of a program: itself, or that in the first line of a script such as `pytest`."""
        if is_python(program):
            return program
        words = python_of_script(program)
        return self._place(words[-1]) if words else ""

    def _active(self) -> Iterator[str]:
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            python = f"{self.environ.get(name, '')}/bin/python"
            if self.environ.get(name) and _is_program(python):
                yield python

    def _interpreter(self, place: str) -> ImportPath:
        if place not in self._asked:
            self._asked[place] = self._ask(place)
        return self._asked[place]

    def _ask(self, place: str) -> ImportPath:
        try:
            said = subprocess.run(
                (place, "-I", "-c", _QUESTION),
                env=dict(self.environ),
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            ).stdout.decode("utf-8", "replace")
        except (OSError, subprocess.TimeoutExpired):
            return ImportPath()  # the check itself reports what it cannot start
        try:
            version, executable, prefix, base, path = json.loads(said)
        except (ValueError, TypeError):
            return ImportPath(said)
        own = [Path(os.path.realpath(each)) for each in (prefix, base)]
        folders = tuple(dict.fromkeys(Path(os.path.realpath(each)) for each in path if each))
        return ImportPath(f"{version} {executable}", tuple(each for each in folders if self._is_installed(each, own)))

    def _is_installed(self, folder: Path, prefixes: list[Path]) -> bool:
        """An editable installation adds sources of the project, which change as people work."""
        in_prefix = any(folder.is_relative_to(prefix) for prefix in prefixes)
        return folder.is_dir() and (in_prefix or not folder.is_relative_to(os.path.realpath(self.root)))


def python_of_script(program: str) -> tuple[str, ...]:
    """Return the words of a script's first line up to the interpreter, where that is a Python."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - a line of it, not the whole program
            line = file.readline(_SHEBANG).decode("utf-8", "replace")
    except OSError:
        return ()
    words = tuple(line.removeprefix("#!").split()) if line.startswith("#!") else ()
    place = next((index for index, word in enumerate(words[:2]) if is_python(word)), None)
    return () if place is None else words[: place + 1]


def is_python(word: str) -> bool:
    return PurePosixPath(word).name.rstrip("0123456789.") in ("python", "pypy")


def _is_program(place: str) -> bool:
    try:
        return os.path.isfile(place) and os.access(place, os.X_OK)  # noqa: PTH113 - every word of every command
    except ValueError:
        return False
