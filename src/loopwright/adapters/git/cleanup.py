"""What a cancelled loop leaves behind. Whatever goes, its commits stay reachable."""

from __future__ import annotations

from pathlib import Path

from loopwright.adapters.git.branches import checked_out
from loopwright.adapters.git.checkouts import drop, is_throw_away, owned_by
from loopwright.adapters.git.folders import is_folder, locked, remove
from loopwright.adapters.git.refs import folder_of, keep, kept_by, position
from loopwright.adapters.git.site import Ground, Place
from loopwright.adapters.git.snapshots import files_of, keep_evidence
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Cleanup, Commit, LoopId

RUNS = "runs"  # what agents were given and gave back, by loop


def clean_up(ground: Ground, loop: LoopId, choice: Cleanup, branch: str = "") -> tuple[str, ...]:
    """The folders that stay, since they cannot be removed: a loop has ended all the same. `branch` goes in any case."""
    folder_of(loop)
    if choice is Cleanup.KEEP_EVERYTHING:
        return ()
    stay = _remove_workspaces(ground, loop)
    if branch:
        _remove_branches(ground, loop, branch)
    if choice in (Cleanup.ROLLBACK, Cleanup.FULL):
        _remove_branches(ground, loop, f"loop/{loop}", f"loopwright/{loop}", f"loopwright-{loop}")
    if choice is Cleanup.FULL:
        try:
            remove(ground.loop / RUNS / loop)
        except OSError:
            stay.append(ground.loop / RUNS / loop)
    return tuple(str(folder.relative_to(ground.root)) for folder in stay)


def remove_others(ground: Ground, loop: LoopId, name: str) -> None:
    """Remove what the loop's agents left in folders, but for this workspace. Raises `VcsFailed` where one stays."""
    stay = _remove_workspaces(ground, loop, but=name)
    try:
        remove(ground.loop / RUNS / loop)
    except OSError:
        stay.append(ground.loop / RUNS / loop)
    if stay:
        raise VcsFailed("rm", f"{stay[0]} cannot be removed, and holds tests that the next agent must not see")


def _remove_workspaces(ground: Ground, loop: LoopId, but: str = "") -> list[Path]:
    stay = []
    for place, at in owned_by(ground, loop):
        if place.folder.name == but:
            continue
        try:
            _remove_workspace(ground, loop, place, at)
        except (OSError, RecursionError):  # files of another user, a mount that is busy, folders without end
            stay.append(place.folder)
    return stay


def _remove_workspace(ground: Ground, loop: LoopId, place: Place, at: Commit) -> None:
    if is_folder(place.folder) and not is_throw_away(place.folder):
        with locked(place.lock) as hold:
            found = files_of(ground, place, hold, at)
        if found is not None and found.differences:
            keep_evidence(ground, loop, found.tree, at, "clean-up")
    drop(ground, place)


def _remove_branches(ground: Ground, loop: LoopId, *names: str) -> None:
    """A branch the person has checked out is theirs now, and stays."""
    for name in names:
        ref = f"refs/heads/{name}"
        tip = position(ground, ref)
        if tip is None or checked_out(ground, ref):
            continue
        held = kept_by(ground, loop)
        if tip not in {kept.commit for kept in held}:
            keep(ground, loop, "landed", tip, held, numbered=True)
        ground.refs.run("update-ref", "-d", ref, tip)
