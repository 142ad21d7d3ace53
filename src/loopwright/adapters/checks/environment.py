"""The environment a check runs in, and a digest of what in it could change a result."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loopwright.errors import CheckNotRunnable

# What could hand the check another interpreter, another repository or our own door.
_DROPPED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE")
_DROPPED_FAMILIES = ("GIT_", "LOOP_")
# Different in every shell and of no weight for a result.
_VOLATILE = ("_", "PWD", "OLDPWD", "SHLVL", "PYTEST_CURRENT_TEST")


def for_checks(person: Mapping[str, str], ceiling: Path) -> dict[str, str]:
    """The person's environment without what could steer a check, and with a wall above its folder for git."""
    kept = {
        name: value for name, value in person.items() if name not in _DROPPED and not name.startswith(_DROPPED_FAMILIES)
    }
    # A relative or empty entry means the current folder, where a candidate could have put its own `pytest`.
    folders = [folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    return kept | {
        "PATH": os.pathsep.join(folders),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CEILING_DIRECTORIES": str(ceiling),
    }


def is_of_the_tree(argv: tuple[str, ...]) -> bool:
    """`./run` is a file of the candidate; `pytest` and `/usr/bin/make` are not."""
    return "/" in argv[0] and not argv[0].startswith("/")


def program(check: str, argv: tuple[str, ...], environment: Mapping[str, str]) -> Path | None:
    """Where the command's program is, or None when it is a file of the tree. Raises `CheckNotRunnable`."""
    if is_of_the_tree(argv):
        return None
    found = shutil.which(argv[0], path=environment.get("PATH", ""))
    if found is None:
        raise CheckNotRunnable(check, " ".join(argv), f"the program {argv[0]!r} was not found")
    return Path(found)


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of tools and variables. Remembers what a shim answered, as long as the shim is the same file."""

    environment: Mapping[str, str]
    setup: tuple[tuple[str, ...], ...] = ()
    _versions: dict[str, str] = field(default_factory=dict)

    async def of(self, check: str, argv: tuple[str, ...]) -> str:
        """Tool, setup and names of variables. Lock files are part of the tree, which a receipt names besides."""
        where = program(check, argv, self.environment)
        lines = [await self._tool(where) if where else f"tree {argv[0]}"]
        lines += [f"setup {command!r}" for command in self.setup]
        lines += [f"name {name}" for name in sorted(self.environment) if name not in _VOLATILE]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]

    async def _tool(self, where: Path) -> str:
        real = where.resolve()
        stat = real.stat()
        line = f"tool {where} {real} {stat.st_size} {stat.st_mtime_ns}"
        if not where.name.startswith(("python", "pypy", "pytest")):
            return line
        packages = _installed(where)
        if packages is None:
            packages = self._versions.get(line) or await _asked(where, self.environment)
            self._versions[line] = packages
        return f"{line} {packages}"


def _installed(where: Path) -> str | None:
    """What a virtual environment holds: names of `dist-info` folders carry the versions. None: not in one."""
    home = where.parent.parent
    settings = home / "pyvenv.cfg"
    if not settings.is_file():
        return None
    packages = sorted(folder.name for folder in home.glob("lib/python*/site-packages/*.dist-info"))
    return hashlib.sha256("\n".join((settings.read_text("utf-8", "replace"), *packages)).encode()).hexdigest()[:16]


async def _asked(where: Path, environment: Mapping[str, str]) -> str:
    """The version an interpreter gives. A shim decides by the environment which one it starts."""
    if not where.name.startswith(("python", "pypy")):
        return ""
    process = await asyncio.create_subprocess_exec(
        str(where),
        *("-I", "-S", "-c", "import sys; print(sys.version, sys.executable)"),
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
    )
    said, _ = await process.communicate()
    return said.decode("utf-8", "replace").strip()
