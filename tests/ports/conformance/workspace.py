"""What every workspace over files must do, as numbered contracts: each on a fresh `WorkspaceStage`, see `CONTRACTS`.

The numbers go on in `workspace_objects`.

@pytest.mark.parametrize("contract", (*CONTRACTS, *OBJECT_CONTRACTS))
def test_my_workspace(contract): asyncio.run(contract(my_fresh_stage()))
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.errors import EngineError
from loopwright.kernel.model import Cleanup, Commit, LoopId
from loopwright.ports.workspace import Landing, Snapshot, Taking, Workspace

LOOP, NAME = LoopId("l-1"), "l-1-work"
BASE_FILES: Mapping[str, str] = {
    ".gitignore": "ignored/\n",
    "changed.txt": "before\n",
    "kept.txt": "kept\n",
    "sub/removed.txt": "x\n",
}


def write_files(folder: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        if text is not None:
            (folder / name).write_text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStage:
    """A repository with one commit of `BASE_FILES`."""

    workspace: Workspace
    base: Commit
    target: str  # a full ref at `base`, checked out nowhere
    person_commits: Callable[[Mapping[str, str]], Commit]  # files written on top of `target`, as a person would
    edit: Callable[[Path, Mapping[str, str | None]], None] = write_files  # in a prepared folder; None removes


Contract = Callable[[WorkspaceStage], Coroutine[None, None, None]]


def files_in(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path.read_text() for name, path in texts.items() if not name.startswith(".git/")}


async def _snapshot(stage: WorkspaceStage, label: str, *, parent: Commit | None = None, step: str = "s-1") -> Snapshot:
    start = parent or stage.base
    return await stage.workspace.snapshot(
        Taking(loop=LOOP, name=NAME, label=label, parent=start, base=stage.base, step=step)
    )


async def _attempt(stage: WorkspaceStage, text: str, label: str = "attempt-1", step: str = "s-1") -> Snapshot:
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, step)
    (folder / "changed.txt").write_text(text)
    return await _snapshot(stage, label, step=step)


async def c01_a_prepared_workspace_has_exactly_the_files(stage: WorkspaceStage) -> None:
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, "s-1")
    assert files_in(folder) == dict(BASE_FILES)
    assert await stage.workspace.prepare(LOOP, NAME, stage.base, "s-1") == folder
    assert files_in(folder) == dict(BASE_FILES)


async def c02_a_snapshot_says_what_changed(stage: WorkspaceStage) -> None:
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, "s-1")
    (folder / "changed.txt").write_text("after\n")
    (folder / "new.txt").write_text("new\n")
    shutil.rmtree(folder / "sub")
    shot = await _snapshot(stage, "a")
    assert [(change.path, change.how) for change in shot.changes] == [
        ("changed.txt", "changed"),
        ("new.txt", "added"),
        ("sub/removed.txt", "removed"),
    ]
    assert [bool(change.blob) for change in shot.changes] == [True, True, False]
    assert await stage.workspace.tree(shot.commit) == shot.tree


async def c03_the_same_step_again_is_the_same_snapshot(stage: WorkspaceStage) -> None:
    first = await _attempt(stage, "one\n")
    folder = await stage.workspace.prepare(LOOP, NAME, first.commit, "s-2")
    (folder / "changed.txt").write_text("later\n")
    again = await _snapshot(stage, "attempt-1")
    assert again == first


async def c04_another_step_never_takes_the_place_of_an_attempt(stage: WorkspaceStage) -> None:
    first = await _attempt(stage, "one\n", step="s-1")
    second = await _attempt(stage, "two\n", step="s-2")
    assert first.commit != second.commit
    assert (await _attempt(stage, "x\n", step="s-1"), await _attempt(stage, "x\n", step="s-2")) == (first, second)


async def c05_a_workspace_goes_back_to_any_commit(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, "s-2")
    assert files_in(folder) == dict(BASE_FILES)
    await stage.workspace.prepare(LOOP, NAME, shot.commit, "s-3")
    assert files_in(folder) == {**BASE_FILES, "changed.txt": "one\n"}


async def c06_ignored_files_stay_and_are_no_change(stage: WorkspaceStage) -> None:
    folder = await stage.workspace.prepare(LOOP, NAME, stage.base, "s-1")
    (folder / "ignored").mkdir()
    (folder / "ignored" / "cache").write_text("warm")
    shot = await _snapshot(stage, "a")
    await stage.workspace.prepare(LOOP, NAME, stage.base, "s-2")
    assert shot.changes == ()
    assert files_in(folder) == {**BASE_FILES, "ignored/cache": "warm"}


async def c07_a_lost_workspace_is_made_again(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    folder = await stage.workspace.prepare(LOOP, NAME, shot.commit, "s-2")
    shutil.rmtree(folder)
    lost = await _snapshot(stage, "b", parent=shot.commit, step="s-2")
    assert (lost.tree, lost.changes) == (shot.tree, shot.changes)
    await stage.workspace.prepare(LOOP, NAME, shot.commit, "s-3")
    assert files_in(folder) == {**BASE_FILES, "changed.txt": "one\n"}


async def c08_a_judge_gets_a_folder_that_is_thrown_away(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    folder = await stage.workspace.checkout(LOOP, shot.commit, "judge-1")
    (folder / "scribble").write_text("x")
    assert await stage.workspace.checkout(LOOP, shot.commit, "judge-1") == folder
    assert files_in(folder) == {**BASE_FILES, "changed.txt": "one\n"}
    await stage.workspace.discard(folder)
    await stage.workspace.discard(folder)
    assert not folder.exists()


async def c09_a_diff_is_never_longer_than_asked(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "é" * 5000)
    whole = await stage.workspace.diff(stage.base, shot.commit, limit=100_000)
    assert "-before" in whole
    assert "+é" in whole
    for limit in (0, 1, 30, 200):
        cut = await stage.workspace.diff(stage.base, shot.commit, limit=limit)
        assert len(cut) <= limit
    assert await stage.workspace.diff(stage.base, stage.base, limit=100) == ""
    odd = ("changed.txt", "../outside", "/etc/passwd", "")
    assert "+é" in await stage.workspace.diff(stage.base, shot.commit, limit=100_000, only=odd)
    assert "+é" not in await stage.workspace.diff(stage.base, shot.commit, limit=100_000, only=("no-such-file",))


async def c10_landing_makes_one_commit_on_the_base_once(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    branch = await stage.workspace.branch(LOOP)
    still = Landing(loop=LOOP, branch=branch, commit=shot.commit, base=stage.base, message="Do it", step="l-1")
    ready = await stage.workspace.land(replace(still, moves=False))
    assert (await stage.workspace.merge(ready.commit, f"refs/heads/{branch}", message="m", step="m-1")).gone
    landed = await stage.workspace.land(
        Landing(loop=LOOP, branch=branch, commit=shot.commit, base=stage.base, message="Do it", step="l-1")
    )
    again = await stage.workspace.land(
        Landing(loop=LOOP, branch=branch, commit=shot.commit, base=stage.base, message="Do it", step="l-1")
    )
    assert landed == again == ready
    assert (landed.tree, landed.changes) == (shot.tree, shot.changes)
    assert landed.commit not in (shot.commit, stage.base)


async def c11_landing_no_change_is_the_base(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "before\n")
    landed = await stage.workspace.land(
        Landing(loop=LOOP, branch="loop/l-1", commit=shot.commit, base=stage.base, message="m", step="l-1")
    )
    assert landed == Snapshot(commit=stage.base, tree=shot.tree, changes=())


async def c12_a_target_that_stood_still_is_fast_forwarded(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    merge = await stage.workspace.merge(shot.commit, stage.target, message="m", step="m-1")
    assert (merge.onto, merge.commit, merge.tree) == (stage.base, shot.commit, shot.tree)
    assert merge.fast_forward
    for _ in range(2):
        assert (await stage.workspace.advance(stage.target, merge.onto, merge.commit)).how == "done"
    again = await stage.workspace.merge(shot.commit, stage.target, message="m", step="m-1")
    assert (again.onto, again.commit) == (shot.commit, shot.commit)


async def c13_a_target_that_moved_is_merged_in_objects(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    moved = stage.person_commits({"kept.txt": "theirs\n"})
    merge = await stage.workspace.merge(shot.commit, stage.target, message="m", step="m-1")
    assert (merge.onto, merge.conflicts, merge.fast_forward) == (moved, (), False)
    assert (await stage.workspace.advance(stage.target, stage.base, merge.commit)).how == "moved"
    assert (await stage.workspace.advance(stage.target, moved, merge.commit)).how == "done"
    folder = await stage.workspace.checkout(LOOP, merge.commit, "look")
    assert files_in(folder) == {**BASE_FILES, "changed.txt": "one\n", "kept.txt": "theirs\n"}


async def c14_a_conflict_names_the_paths_and_moves_nothing(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    moved = stage.person_commits({"changed.txt": "theirs\n"})
    merge = await stage.workspace.merge(shot.commit, stage.target, message="m", step="m-1")
    assert (merge.onto, merge.tree, merge.conflicts) == (moved, "", ("changed.txt",))


async def c15_cleaning_up_keeps_every_attempt(stage: WorkspaceStage) -> None:
    shot = await _attempt(stage, "one\n")
    branch = await stage.workspace.branch(LOOP)
    landed = await stage.workspace.land(
        Landing(loop=LOOP, branch=branch, commit=shot.commit, base=stage.base, message="m", step="l-1")
    )
    folder = await stage.workspace.prepare(LOOP, NAME, shot.commit, "s-2")
    await stage.workspace.clean_up(LOOP, Cleanup.KEEP_EVERYTHING)
    assert folder.is_dir()
    for choice in (Cleanup.KEEP_ARTIFACTS, Cleanup.ROLLBACK, Cleanup.FULL, Cleanup.FULL):
        await stage.workspace.clean_up(LOOP, choice)
        assert not folder.exists()
    assert await _attempt(stage, "other\n") == shot
    assert await stage.workspace.tree(landed.commit) == shot.tree


async def c16_names_that_are_not_ours_are_refused(stage: WorkspaceStage) -> None:
    for name in ("", "../x", "A", "a/b", "-" * 41, "a\n", ".git"):
        assert repr(name) in await _refusal(stage, name)


async def _refusal(stage: WorkspaceStage, name: str) -> str:
    try:
        await stage.workspace.prepare(LOOP, name, stage.base, "s-1")
    except EngineError as refused:
        return str(refused)
    raise AssertionError(f"{name!r} was taken")


async def c17_a_snapshot_counts_from_the_base_not_from_the_parent(stage: WorkspaceStage) -> None:
    first = await _attempt(stage, "one\n")
    folder = await stage.workspace.prepare(LOOP, NAME, first.commit, "s-2")
    (folder / "kept.txt").write_text("two\n")
    second = await _snapshot(stage, "b", parent=first.commit, step="s-2")
    assert [(change.path, change.how) for change in second.changes] == [
        (first.changes[0].path, first.changes[0].how),
        ("kept.txt", "changed"),
    ]
    assert second.changes[0].blob == first.changes[0].blob


CONTRACTS: tuple[Contract, ...] = (
    c01_a_prepared_workspace_has_exactly_the_files,
    c02_a_snapshot_says_what_changed,
    c03_the_same_step_again_is_the_same_snapshot,
    c04_another_step_never_takes_the_place_of_an_attempt,
    c05_a_workspace_goes_back_to_any_commit,
    c06_ignored_files_stay_and_are_no_change,
    c07_a_lost_workspace_is_made_again,
    c08_a_judge_gets_a_folder_that_is_thrown_away,
    c09_a_diff_is_never_longer_than_asked,
    c10_landing_makes_one_commit_on_the_base_once,
    c11_landing_no_change_is_the_base,
    c12_a_target_that_stood_still_is_fast_forwarded,
    c13_a_target_that_moved_is_merged_in_objects,
    c14_a_conflict_names_the_paths_and_moves_nothing,
    c15_cleaning_up_keeps_every_attempt,
    c16_names_that_are_not_ours_are_refused,
    c17_a_snapshot_counts_from_the_base_not_from_the_parent,
)
