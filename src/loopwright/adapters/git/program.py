"""Running git so that nothing an agent wrote decides what git does.

A `Git` is a program with a complete environment: nothing is inherited. Git is never stopped half-way,
because a killed git leaves lock files behind.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from loopwright.errors import VcsFailed

T = TypeVar("T")

_FULL_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_KNOWN, _LARGEST_KNOWN = 256, 256 * 1024  # answers, and bytes of one
LONGEST = 600.0  # seconds; a git that takes longer is stuck
OUR_NAME, OUR_EMAIL = "Loopwright", "loopwright@localhost"

# On every command: no program of a hook, no monitor, nothing in the background, every write synced.
ALWAYS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=all",
    "core.filesRefLockTimeout=2000",
    "core.packedRefsTimeout=2000",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "protocol.allow=never",
    "safe.directory=*",
    "advice.addEmbeddedRepo=false",
)
ISOLATED = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_COMMITTER_NAME": OUR_NAME,
    "GIT_COMMITTER_EMAIL": OUR_EMAIL,
}
PERSONS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    code: int
    out: bytes
    err: str


class ObjectAnswers:
    """What git said about objects, asked for by their full names: they never change, so that it is asked once.

    Bounded; what was least lately learned goes first. Threads share it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, ...], bytes], bytes] = {}
        self._one_at_a_time = threading.Lock()

    def said(self, argv: tuple[str, ...], stdin: bytes) -> bytes | None:
        return self._known.get((argv, stdin))

    def learn(self, argv: tuple[str, ...], stdin: bytes, said: bytes) -> None:
        if len(said) > _LARGEST_KNOWN:
            return
        with self._one_at_a_time:
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[argv, stdin] = said


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    program: str
    env: Mapping[str, str]
    cwd: Path
    settings: tuple[str, ...] = ALWAYS
    hold: tuple[int, ...] = ()  # descriptors git keeps open, so that our lock lives as long as a git that needs it
    known: ObjectAnswers = field(default_factory=ObjectAnswers, compare=False)

    def ask(self, *argv: str, stdin: bytes = b"") -> Said:
        """Run it and say what came of it, whatever that is."""
        try:
            done = subprocess.run(
                self._argv(argv),
                cwd=self.cwd,
                env=self.env,
                input=stdin,
                capture_output=True,
                pass_fds=self.hold,
                start_new_session=True,  # Ctrl-C in the person's terminal is not for git
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired as slow:
            raise VcsFailed(shown(argv), f"it took longer than {LONGEST:.0f} s") from slow
        except OSError as broken:
            raise VcsFailed(shown(argv), str(broken)) from broken
        return Said(code=done.returncode, out=done.stdout, err=readable(done.stderr))

    def run(self, *argv: str, stdin: bytes = b"") -> bytes:
        said = self.ask(*argv, stdin=stdin)
        if said.code != 0:
            raise VcsFailed(shown(argv), said.err)
        return said.out

    def run_once(self, names: Iterable[str], *argv: str, stdin: bytes = b"") -> bytes:
        """`run` of a command that reads these objects alone. What is no full name may be another object tomorrow."""
        known = self.known.said(argv, stdin)
        if known is None:
            known = self.run(*argv, stdin=stdin)
            if all(map(_FULL_NAME.fullmatch, names)):
                self.known.learn(argv, stdin, known)
        return known

    def line(self, *argv: str, stdin: bytes = b"") -> str:
        return readable(self.run(*argv, stdin=stdin)).strip()

    def names(self, *argv: str) -> list[str]:
        """What is listed with `-z`, as paths."""
        return [path_of(name) for name in self.run(*argv).split(b"\0") if name]

    def beginning(self, *argv: str, limit: int) -> bytes:
        """At most `limit` bytes of what a command that only reads would print."""
        with subprocess.Popen(
            self._argv(argv),
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            out = process.stdout.read(limit) if process.stdout else b""
            if len(out) == limit:
                process.kill()
                return out
        return out if process.returncode == 0 else self.run(*argv)[:limit]

    def having(self, **env: str) -> Git:
        return replace(self, env={**self.env, **env})

    def setting(self, *settings: str) -> Git:
        return replace(self, settings=(*self.settings, *settings))

    def _argv(self, argv: tuple[str, ...]) -> list[str]:
        options = [part for setting in self.settings for part in ("-c", setting)]
        return [self.program, *options, *argv]


def isolated_git(env: Mapping[str, str], cwd: Path) -> Git:
    """Git that reads no configuration but that of the git directory it is pointed at."""
    return Git(program=find_git(env), env={"PATH": env.get("PATH", os.defpath), **ISOLATED}, cwd=cwd)


def persons_git(env: Mapping[str, str], cwd: Path) -> Git:
    """Git as the person would run it in `cwd`, with their configuration; their hooks stay off, and nothing is fetched.

    A git before 2.45 knows no other word for the last than that no protocol is allowed.
    """
    kept = {name: value for name, value in env.items() if not name.startswith("GIT_") or name in PERSONS_OWN}
    ours = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    ours["GIT_NO_REPLACE_OBJECTS"] = "1"
    return Git(program=find_git(env), env={**kept, **ours}, cwd=cwd)


def find_git(env: Mapping[str, str]) -> str:
    found = shutil.which("git", path=env.get("PATH", os.defpath))
    if found is None:
        raise VcsFailed("git", "git was not found on PATH; install it")
    return found


def shown(argv: tuple[str, ...]) -> str:
    return " ".join(("git", *argv))[:200]


def readable(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


def path_of(name: bytes) -> str:
    """A name as Python's file functions take it; lossless, but not always printable."""
    return name.decode("utf-8", "surrogateescape")


def name_of(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def printable(path: str) -> str:
    """A path for people and the log: bytes that are not UTF-8 are escaped. Two files may then have one name."""
    return readable(name_of(path))


async def uninterrupted(work: Callable[[], T]) -> T:
    """`work` in a thread. A caller that is cancelled waits for its end, so that nothing is left half done."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            await asyncio.wait({task})
            task.exception()
        raise
