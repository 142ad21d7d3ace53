import os
from pathlib import Path

import pytest

from loopwright.adapters.git.conditions import merge_obstacle
from loopwright.kernel.model import Commit
from loopwright.ports.workspace import Moved
from tests.adapters.git.scene import Scene
from tests.repository import Repository

MAIN = "refs/heads/main"


def candidate(scene: Scene, **files: str) -> Commit:
    """One commit on the base, made by the loop."""
    folder = scene.prepare()
    for name, text in (files or {"README": "changed\n"}).items():
        (folder / f"{name}.md").write_text(text)
    return scene.snapshot().commit


def test_a_clean_checkout_moves_with_its_files(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene, README="changed\n", new="new\n")
    repo.write("mine.txt", "untracked\n")
    assert scene.advance(MAIN, base, commit) == Moved(how="done")
    assert repo.git("rev-parse", "HEAD") == commit
    assert repo.git("status", "--porcelain") == "?? mine.txt"
    assert ((repo.path / "README.md").read_text(), (repo.path / "new.md").read_text()) == ("changed\n", "new\n")
    assert scene.advance(MAIN, base, commit) == Moved(how="done")


def test_a_checkout_in_a_linked_worktree_moves_with_its_files(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "linked"))
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    assert scene.advance("refs/heads/topic", base, commit) == Moved(how="done")
    assert (tmp_path / "linked" / "README.md").read_text() == "changed\n"
    assert (repo.path / "README.md").read_text() == "# Sample\n"
    assert Repository(tmp_path / "linked").git("status", "--porcelain") == ""


@pytest.mark.parametrize("staged", ["", "staged"])
def test_a_dirty_checkout_stays_and_the_command_is_said(repo: Repository, staged: str) -> None:
    repo.write("mine.txt", "mine\n")
    repo.commit("mine")
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    repo.write("mine.txt", "half done\n")
    if staged:
        repo.git("add", "mine.txt")
    moved = scene.advance(MAIN, base, commit)
    take = f"git -C {repo.path} merge {commit[:12]}"
    why = f"main is checked out in {repo.path} with changes of your own"
    assert moved == Moved(how="dirty", detail=why, take=take)
    assert scene.advance(MAIN, base, commit, "loop/l-1").take == f"git -C {repo.path} merge loop/l-1"
    assert merge_obstacle(repo.path, os.environ, base, MAIN) == why
    assert repo.git("rev-parse", "HEAD") == base
    repo.git("stash", "--quiet")
    repo.git(*f"-C {repo.path} merge --quiet {commit[:12]}".split())
    assert repo.git("rev-parse", "HEAD") == commit


def test_what_is_written_into_the_memory_of_a_domain_is_no_work_of_the_person(repo: Repository) -> None:
    repo.write("domain-memory/shop/system-queue.json", "{}\n")
    repo.commit("memory")
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    repo.write("domain-memory/shop/system-queue.json", '{"systems": []}\n')
    assert scene.advance(MAIN, base, commit) == Moved(how="done")
    assert (repo.path / "domain-memory/shop/system-queue.json").read_text() == '{"systems": []}\n'


@pytest.mark.parametrize("ignored", ["", "ignored"])
def test_no_file_of_the_person_is_overwritten(repo: Repository, ignored: str) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene, keys="theirs\n")
    repo.write("keys.md", "mine\n")
    if ignored:
        (repo.path / ".git" / "info" / "exclude").write_text("keys.md\n")
    moved = scene.advance(MAIN, base, commit)
    assert moved.how == "dirty"
    assert "keys.md" in moved.detail
    assert repo.git("rev-parse", "HEAD") == base
    assert (repo.path / "keys.md").read_text() == "mine\n"


def test_a_target_that_moved_is_left_alone(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    repo.write("other.txt", "other\n")
    now = repo.commit("Theirs")
    assert scene.advance(MAIN, base, commit) == Moved(how="moved", detail=f"main is at {now[:12]}, not at {base[:12]}")
    assert repo.git("rev-parse", "HEAD") == now


def test_a_target_that_is_gone_is_moved(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    assert scene.advance("refs/heads/gone", base, commit).how == "moved"
    assert "refs/heads/gone" not in scene.refs()


def test_a_lock_of_the_person_is_waited_for_and_never_removed(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    lock = repo.write(".git/index.lock", "")
    moved = scene.advance(MAIN, base, commit)
    assert moved.how == "dirty"
    assert "another git is at work there" in moved.detail
    assert lock.exists()
    lock.unlink()
    assert scene.advance(MAIN, base, commit).how == "done"


def test_a_locked_ref_is_said_so(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    repo.git("branch", "free")
    lock = repo.write(".git/refs/heads/free.lock", "")
    moved = scene.advance("refs/heads/free", base, commit)
    assert moved.how == "dirty"
    assert moved.detail.startswith("free is locked: ")
    assert lock.exists()


def test_a_move_cut_short_between_files_and_ref_is_finished(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene, README="changed\n", new="new\n")
    repo.git("read-tree", "-m", "-u", base, commit)
    assert scene.advance(MAIN, base, commit) == Moved(how="done")
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("rev-parse", "HEAD") == commit


def test_a_branch_in_the_middle_of_a_rebase_stays(repo: Repository) -> None:
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    repo.git("branch", "topic")
    repo.git("checkout", "--quiet", "--detach")
    repo.write(".git/rebase-merge/head-name", "refs/heads/topic\n")
    moved = scene.advance("refs/heads/topic", base, commit)
    assert moved.how == "dirty"
    assert moved.detail.startswith("a rebase of topic is in progress")
    assert merge_obstacle(repo.path, os.environ, base, "refs/heads/topic") == "a rebase of topic is in progress"
    assert scene.refs()["refs/heads/topic"] == base


def test_a_worktree_whose_folder_is_gone_does_not_hold_its_branch(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "linked"))
    (tmp_path / "linked").rename(tmp_path / "elsewhere")
    scene = Scene(repo)
    base, commit = scene.base, candidate(scene)
    assert scene.advance("refs/heads/topic", base, commit) == Moved(how="done")
    assert scene.refs()["refs/heads/topic"] == commit
