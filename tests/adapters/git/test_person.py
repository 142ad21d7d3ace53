"""The person's checkout is byte for byte what it was, whatever the loop does short of `advance`."""

import asyncio
import os

import pytest

from loopwright.kernel.model import Cleanup, Commit
from loopwright.ports.workspace import Landing, Taking
from tests.adapters.git.scene import LOOP, NAME, Scene
from tests.repository import Repository


def state(repo: Repository) -> dict[str, object]:
    """Files with their times, the index and HEAD."""
    seen: dict[str, object] = {}
    for path in sorted(repo.path.rglob("*")):
        name = path.relative_to(repo.path).as_posix()
        if path.is_file() and not name.startswith((".git/", ".loop/", ".worktrees/")):
            seen[name] = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
    for name in ("index", "HEAD", "config", "info/exclude"):
        file = repo.path / ".git" / name
        seen[f".git/{name}"] = (file.read_bytes(), file.stat().st_mtime_ns)
    return seen


def taking(base: Commit, label: str) -> Taking:
    return Taking(loop=LOOP, name=NAME, label=label, parent=base, base=base, step="s-1")


def whole_loop(scene: Scene, base: Commit) -> None:
    async def run() -> None:
        workspace = scene.workspace
        folder = await workspace.prepare(LOOP, NAME, base, "s-1")
        (folder / "README.md").write_text("changed\n")
        shot = await workspace.snapshot(taking(base, "attempt-1"))
        await workspace.discard(await workspace.checkout(LOOP, shot.commit, "judge"))
        await workspace.diff(base, shot.commit, limit=1000)
        branch = await workspace.branch(LOOP)
        landed = await workspace.land(
            Landing(loop=LOOP, branch=branch, commit=shot.commit, base=base, message="Do it", step="land")
        )
        merge = await workspace.merge(landed.commit, "refs/heads/other", message="m", step="m")
        assert (await workspace.advance("refs/heads/other", merge.onto, merge.commit)).how == "done"
        await workspace.clean_up(LOOP, Cleanup.FULL)

    asyncio.run(run())


@pytest.mark.parametrize("detached", ["", "detached"])
def test_a_dirty_checkout_is_left_byte_for_byte(repo: Repository, detached: str) -> None:
    repo.write("both.txt", "committed\n")
    repo.write(".gitignore", "*.log\n")
    base = Commit(repo.commit("more"))
    repo.git("branch", "other")
    if detached:
        repo.git("checkout", "--quiet", "--detach")
    repo.write("both.txt", "staged\n")
    repo.write("new.txt", "staged\n")
    repo.git("add", "both.txt", "new.txt")
    repo.write("both.txt", "not staged\n")
    repo.write("untracked.txt", "mine\n")
    repo.write("secret.log", "mine\n")
    (repo.path / "README.md").unlink()
    before = state(repo)
    status = repo.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored")
    whole_loop(Scene(repo), base)
    assert state(repo) == before
    now = repo.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored")
    ours = ("! .loop/", "! .worktrees/")
    assert [line for line in now.splitlines() if line not in ours] == status.splitlines()


def test_the_work_goes_on_beside_a_lock_of_the_person(repo: Repository) -> None:
    base = Commit(repo.git("rev-parse", "HEAD"))
    repo.git("branch", "other")
    lock = repo.write(".git/index.lock", "")
    whole_loop(Scene(repo), base)
    assert lock.exists()


def test_every_object_is_in_the_persons_own_store(repo: Repository) -> None:
    scene = Scene(repo)
    (scene.prepare() / "new.txt").write_text("new\n")
    shot = scene.snapshot()
    (repo.path / ".loop").rename(repo.path / ".gone")
    assert repo.git("show", f"{shot.commit}:new.txt") == "new"
    assert repo.git("fsck", "--strict") == ""


def test_the_environment_of_the_person_points_nowhere_else(
    repo: Repository, tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook of theirs, where git sets these."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    scene = Scene(repo)
    base = Commit("".join((repo.path / ".git" / "refs" / "heads" / "main").read_text().split()))

    async def run() -> str:
        folder = await scene.workspace.prepare(LOOP, NAME, base, "s-1")
        (folder / "README.md").write_text("changed\n")
        shot = await scene.workspace.snapshot(taking(base, "a"))
        return await scene.workspace.diff(base, shot.commit, limit=1000)

    assert asyncio.run(run()).endswith("-# Sample\n+changed\n")
