"""Moving a branch of the person's: the one place where their checked-out files may change.

Not checked out anywhere: the ref alone, by compare-and-swap. Checked out and clean: with its files, as
`git merge --ff-only` would. Anything else: left where it is, with the command that takes the result.
"""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.adapters.git.program import Git, path_of, readable
from loopwright.adapters.git.refs import position
from loopwright.adapters.git.rules import persons_rules
from loopwright.adapters.git.site import Ground
from loopwright.kernel.model import Commit
from loopwright.ports.workspace import Moved

MEMORY = "domain-memory"  # below it we write, whoever has committed it
PATIENCE = 1.0  # seconds another git of the person may hold its lock before we give up
_DIRTY = "with changes of your own"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    ground: Ground
    target: str
    onto: Commit
    commit: Commit
    taken: str  # by which a person takes the result: a bare commit may be pruned


def advance(ground: Ground, target: str, onto: Commit, commit: Commit, branch: str = "") -> Moved:
    """`branch` has the commit, or what it was merged from."""
    folders = checked_out(ground, target)
    move = _Move(ground=ground, target=target, onto=onto, commit=commit, taken=branch or commit[:12])
    now = position(ground, target)
    if now == commit:
        return Moved(how="done")
    if now != onto:
        return _elsewhere(target, now, onto)
    if why := _unmovable(ground, target, folders):
        return _left(why, move)
    return _with_files(move, folders[0]) if folders else _swap(move)


def obstacle(ground: Ground, target: str) -> str:
    """What of the person's would keep the target where it is, as far as it can be seen beforehand."""
    folders = checked_out(ground, target)
    if why := _unmovable(ground, target, folders):
        return why
    dirty = next((folder for folder in folders if _is_dirty(replace(ground.person, cwd=folder))), None)
    return f"{_short(target)} is checked out in {dirty} {_DIRTY}" if dirty else ""


def _unmovable(ground: Ground, target: str, folders: list[Path]) -> str:
    if _in_progress(ground, target):
        return f"a rebase of {_short(target)} is in progress"
    return f"{_short(target)} is checked out more than once" if len(folders) > 1 else ""


def _swap(move: _Move) -> Moved:
    git, target = move.ground.refs, move.target
    said = git.ask("update-ref", "-m", "loopwright: advance", target, move.commit, move.onto)
    if said.code == 0:
        return Moved(how="done")
    now = position(move.ground, target)
    if now != move.onto:
        return _elsewhere(target, now, move.onto)
    return _left(f"{_short(target)} is locked: {_last(said.err)}", move)


def _with_files(move: _Move, folder: Path) -> Moved:
    ground, target = move.ground, move.target
    git = replace(ground.person, cwd=folder)
    where = f"{_short(target)} is checked out in {folder}"
    if changed := ground.rules.change(persons_rules(git, ground.common)):  # before their git obeys it
        return _left(f"{changed} is not what it was when the loop began; look at it first", move, folder)
    if _is_locked(git):
        return _left(f"{where} and another git is at work there", move, folder)
    if _is_dirty(git):
        if _has_files_of(git, move.commit):
            return _swap(move)  # a move that was cut short between files and ref
        return _left(f"{where} {_DIRTY}", move, folder)
    merge = ("merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-verify-signatures", "--quiet")
    said = git.ask(*merge, move.commit)
    now = position(ground, target)
    if now == move.commit:
        return Moved(how="done")
    if now != move.onto:
        return _elsewhere(target, now, move.onto)
    return _left(f"{where}: {_reason(said.err)}", move, folder)


def checked_out(ground: Ground, target: str) -> list[Path]:
    """The person's folders, linked ones included, where `target` is the current branch."""
    blocks = ground.refs.run("worktree", "list", "--porcelain", "-z").split(b"\0\0")
    found = []
    for block in blocks:
        lines = [path_of(line) for line in block.split(b"\0")]
        folder = Path(lines[0].removeprefix("worktree "))
        if f"branch {target}" in lines and folder.is_dir():
            found.append(folder if (folder / ".git").exists() else ground.root)  # the git directory may lie elsewhere
    return found


def _in_progress(ground: Ground, target: str) -> bool:
    """A rebase leaves HEAD detached but will move its branch at the end."""
    places = [ground.common, *(ground.common / "worktrees").glob("*")]
    names = (place / kind / "head-name" for place in places for kind in ("rebase-merge", "rebase-apply"))
    return any(name.is_file() and name.read_text(errors="replace").strip() == target for name in names)


def _is_locked(git: Git) -> bool:
    """The person's lock is waited for a little and never removed."""
    lock = Path(os.path.join(git.cwd, git.line("rev-parse", "--git-path", "index.lock")))  # noqa: PTH118
    limit = time.monotonic() + PATIENCE
    while lock.exists():
        if time.monotonic() > limit:
            return True
        time.sleep(0.05)
    return False


def _is_dirty(git: Git) -> bool:
    """What is unfinished in a submodule is not ours to mind: its commit stays as it is. What we write ourselves into
    the memory of a domain, which the person may have committed, is no work of theirs."""
    options = ("--untracked-files=no", "--no-renames", "--ignore-submodules=dirty")
    return git.run("status", "--porcelain", "-z", *options, "--", ":/", f":(top,exclude){MEMORY}") != b""


def _has_files_of(git: Git, commit: Commit) -> bool:
    index = git.ask("diff-index", "--quiet", "--cached", commit).code == 0
    return index and git.ask("diff-files", "--quiet").code == 0


def _elsewhere(target: str, now: Commit | None, onto: Commit) -> Moved:
    return Moved(how="moved", detail=f"{_short(target)} is at {(now or 'nothing')[:12]}, not at {onto[:12]}")


def _short(target: str) -> str:
    return target.removeprefix("refs/heads/")


def _left(why: str, move: _Move, folder: Path | None = None) -> Moved:
    place = f"-C {shlex.quote(str(folder))} " if folder else ""
    take = f"git {place}merge {shlex.quote(move.taken)}"
    return Moved(how="dirty", detail=why, take=take)


def _last(err: str) -> str:
    lines = [line for line in err.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _reason(err: str) -> str:
    """Git names the files in the way between its first line and its advice."""
    kept = [line.strip().removeprefix("error: ") for line in err.splitlines() if line.strip()]
    wanted = [line for line in kept if not line.startswith(("Please ", "Aborting", "hint:", "Updating "))]
    return readable(" ".join(wanted[:5]).encode()) or "git refused"
