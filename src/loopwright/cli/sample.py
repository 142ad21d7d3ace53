"""Making the sample projects of `loop demo`: real files, a real git repository, one commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.config.settings import Settings
from loopwright.errors import UsageError, VcsFailed

BRANCH = "main"

_RENAMED = {"gitignore.txt": ".gitignore"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """What a demo plays, and what it says of it before and after."""

    files: str  # the folder of `loopwright.cli` with its project
    task: str
    introduction: str
    explanation: str
    result: tuple[str, ...]  # what git is asked for, to show what is on the branch at the end
    create: Callable[[Project, Settings], Coroutine[Any, Any, View]]


def fresh_folder(wanted: Path | None, environ: Mapping[str, str]) -> Path:
    """An empty folder: the wanted one, or a new temporary one that stays until the person removes it."""
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix="loop-demo-", dir=environ.get("TMPDIR")))
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        if any(wanted.iterdir()):
            raise UsageError(f"--at {wanted}: the folder is not empty; name one that does not exist yet")
    except OSError as error:
        raise UsageError(f"--at {wanted}: {error.strerror}; name a folder that can be made") from error
    return wanted.resolve()


def make_project(folder: Path, environ: Mapping[str, str], source: str) -> None:
    """The sample project in `folder`, committed on its first branch."""
    for path, text in _contents(files("loopwright.cli") / source):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_filled_in(text), encoding="utf-8")
    git(folder, environ, "init", "--quiet", f"--initial-branch={BRANCH}")
    git(folder, environ, "add", "--all")
    git(folder, environ, "commit", "--quiet", "--no-verify", "--message=The sample project")


def _contents(source: Traversable, within: str = "") -> Iterator[tuple[str, str]]:
    """Every file with its path. Python files of the sample end in .txt here, so that nothing takes them for ours."""
    for item in source.iterdir():
        name = _RENAMED.get(item.name, item.name.removesuffix(".txt"))
        if item.is_dir():
            yield from _contents(item, f"{within}{name}/")
        else:
            yield f"{within}{name}", item.read_text(encoding="utf-8")


def _filled_in(text: str) -> str:
    return text.replace("@python@", json.dumps(sys.executable)[1:-1])


def git(folder: Path, environ: Mapping[str, str], *args: str) -> str:
    """Git in the folder, without the person's hooks and signing; a person without an identity gets one for this."""
    safe = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false")
    argv, env = ["git", *safe, *args], _environment(environ)
    try:
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise UsageError("git was not found; install git 2.38 or newer") from error
    if done.returncode:
        raise VcsFailed(f"git {args[0]}", done.stderr)
    return done.stdout.rstrip("\n")


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The person's environment, without what would point git at another repository."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_") or "CONFIG" in name}
    who = {"GIT_AUTHOR": "Loopwright demo", "GIT_COMMITTER": "Loopwright demo"}
    names = {f"{prefix}_NAME": name for prefix, name in who.items()}
    mails = {f"{prefix}_EMAIL": "demo@localhost" for prefix in who}
    return {"PATH": os.defpath, **kept, **names, **mails}
