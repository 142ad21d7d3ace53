"""Whose loops are whose: worktrees of one repository share all refs, and each has a log of its own.

The log of a worktree has a name, which lies in the git directory of this worktree alone and goes with it. Loops
begun there are listed under `refs/loopwright-logs/<name>/`. So a log is lost only where loops are listed under its
name; those of a worktree that was removed are nobody's any more.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.git.folders import put
from loopwright.adapters.git.program import path_of, persons_git, readable
from loopwright.kernel.model import Commit, LoopId

LISTS = "refs/loopwright-logs/"
ATTEMPTS = "refs/loopwright/"
_FILE = "loopwright-log"
LOG = "Loopwright-Log"  # the trailer of a commit that says how far the log had come
_WITNESS = re.compile(r"(?<![0-9])([0-9]{1,9}) ([0-9a-f]{16,64})")
_NAME = re.compile(r"[0-9a-f]{16}")


def begun_in(name: str) -> str:
    return f"{LISTS}{name}/"


def log_id(git_dir: Path) -> str:
    """The name of this worktree's log, given now if it has none."""
    return _read(git_dir) or renew_log_id(git_dir)


def renew_log_id(git_dir: Path) -> str:
    """From now on a new log: loops begun before are not its own."""
    put(git_dir / _FILE, secrets.token_hex(8) + "\n")
    return _read(git_dir)


def _read(git_dir: Path) -> str:
    file = git_dir / _FILE
    text = file.read_text(errors="replace").strip() if file.is_file() else ""
    return text if _NAME.fullmatch(text) else ""


def git_dir_of(top: Path, env: Mapping[str, str]) -> Path:
    return Path(path_of(persons_git(env, top).run("rev-parse", "--absolute-git-dir")[:-1]))


def loops_begun_here(top: Path, env: Mapping[str, str]) -> frozenset[LoopId]:
    """Loops of this worktree: each of them must be in its log."""
    name = _read(git_dir_of(top, env))
    return frozenset(_listed(top, env, begun_in(name))) if name else frozenset()


def sign(top: Path, env: Mapping[str, str], loop: LoopId, base: Commit) -> None:
    """Write down that the loop was begun here: from now on its row is missed, whatever becomes of the log."""
    ref = f"{begun_in(log_id(git_dir_of(top, env)))}{loop}"
    persons_git(env, top).run("update-ref", "--stdin", stdin=f"update {ref} {base}\n".encode())


def witnesses(top: Path, env: Mapping[str, str]) -> dict[LoopId, tuple[int, str]]:
    """How far the log of each loop begun here had come, as its newest attempt bears witness; 0 before there is one."""
    form = f"%(refname)%00%(contents:trailers:key={LOG},valueonly,separator=%x1F)"
    begun = loops_begun_here(top, env)
    found: dict[LoopId, tuple[int, str]] = dict.fromkeys(begun, (0, ""))
    rows = persons_git(env, top).run("for-each-ref", f"--format={form}", ATTEMPTS).splitlines() if begun else ()
    for row in rows:
        ref, _, text = readable(row).partition("\0")
        loop = LoopId(ref.removeprefix(ATTEMPTS).partition("/")[0])
        if loop in begun and (place := _WITNESS.search(text)):
            found[loop] = max(found[loop], (int(place[1]), place[2]))
    return found


def unsigned_loops(top: Path, env: Mapping[str, str]) -> frozenset[LoopId]:
    """Loops of which nobody wrote down where they were begun, as older versions left them."""
    signed = {LoopId(loop.partition("/")[2]) for loop in _listed(top, env, LISTS)}
    return frozenset(LoopId(attempt.partition("/")[0]) for attempt in _listed(top, env, ATTEMPTS)) - signed


def _listed(top: Path, env: Mapping[str, str], prefix: str) -> list[LoopId]:
    said = readable(persons_git(env, top).run("for-each-ref", "--format=%(refname)", prefix))
    return [LoopId(ref.removeprefix(prefix)) for ref in said.splitlines()]
