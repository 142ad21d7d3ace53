import asyncio
from pathlib import Path

import pytest

from loopwright.errors import NeedsPerson, UsageError, VcsFailed
from loopwright.kernel.model import Cleanup, Commit
from loopwright.ports.workspace import Landing
from tests.adapters.git.scene import LOOP, NAME, Scene
from tests.repository import Repository

LANDED = "refs/loopwright/l-1/landed-1"


def attempt(scene: Scene, text: str, step: str = "s-1") -> Commit:
    (scene.prepare(step=step) / "README.md").write_text(text)
    return scene.snapshot(step=step).commit


def test_the_author_is_the_person_and_the_committer_is_us(repo: Repository) -> None:
    scene = Scene(repo)
    landed = scene.land(attempt(scene, "one\n"), step="l-1/7/land")
    assert repo.git("log", "-1", "--format=%an <%ae>|%cn <%ce>|%P|%B", landed.commit) == (
        "Test Person <person@example.com>|Loopwright <loopwright@localhost>"
        f"|{scene.base}|Do it\n\nLoopwright-Loop: l-1\nLoopwright-Step: l-1/7/land\n"
    )


def landed_as(repo: Repository, message: str) -> list[str]:
    scene = Scene(repo)
    wanted = Landing(
        loop=LOOP, branch="loop/l-1", commit=attempt(scene, "one\n"), base=scene.base, message=message, step="land"
    )
    landed = asyncio.run(scene.workspace.land(wanted))
    return repo.git("log", "-1", "--format=%(trailers:only)", landed.commit).splitlines()


def test_trailers_of_the_message_are_trailers_of_the_commit(repo: Repository) -> None:
    ours = ["Loopwright-Loop: l-1", "Loopwright-Step: land"]
    assert landed_as(repo, "fix: it\n\nError: x\nFix: y\n\nAttempt: 1/3") == ["Attempt: 1/3", *ours]


@pytest.mark.parametrize("message", ["Do it", "Do: it", "Do it\n\nLoopwright-Step: another", "Do it\n\nas said"])
def test_nothing_in_a_message_passes_for_our_trailers(repo: Repository, message: str) -> None:
    assert landed_as(repo, message) == ["Loopwright-Loop: l-1", "Loopwright-Step: land"]


def test_without_an_identity_the_author_is_us_too(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "empty"))
    scene = Scene(repo)
    landed = scene.land(attempt(scene, "one\n"))
    assert repo.git("log", "-1", "--format=%an <%ae>", landed.commit) == "Loopwright <loopwright@localhost>"


def test_a_branch_called_loop_is_in_the_way(repo: Repository) -> None:
    scene = Scene(repo)
    assert asyncio.run(scene.workspace.branch(LOOP)) == "loop/l-1"
    repo.git("branch", "loop")
    assert asyncio.run(scene.workspace.branch(LOOP)) == "loopwright/l-1"
    repo.git("branch", "loopwright")
    assert asyncio.run(scene.workspace.branch(LOOP)) == "loopwright-l-1"


def test_a_judge_at_work_keeps_its_folder_while_something_lands(repo: Repository) -> None:
    """A review may go on beside a landing; what a dead controller left of one goes."""
    scene = Scene(repo)
    commit, left = attempt(scene, "one\n"), asyncio.run(scene.workspace.checkout(LOOP, scene.base, "dead"))

    async def story() -> tuple[bool, bool, bool]:
        workspace = scene.workspace
        judge = await workspace.checkout(LOOP, scene.base, "at work")
        wanted = Landing(loop=LOOP, branch="loop/l-1", commit=commit, base=scene.base, message="Do it", step="land")
        await workspace.land(wanted)
        kept = (judge / "README.md").exists()
        await workspace.discard(judge)
        return kept, judge.exists(), left.exists()

    assert asyncio.run(story()) == (True, False, False)


def test_a_second_landing_moves_the_branch_and_keeps_the_first(repo: Repository) -> None:
    scene = Scene(repo)
    first = scene.land(attempt(scene, "one\n"), step="land-1")
    second = scene.land(attempt(scene, "two\n", "s-2"), step="land-2")
    on_top = scene.land(attempt(scene, "three\n", "s-3"), base=second.commit, step="land-3")
    refs = scene.refs()
    assert refs["refs/heads/loop/l-1"] == on_top.commit
    assert [refs[f"refs/loopwright/l-1/landed-{n}"] for n in (1, 2, 3)] == [
        first.commit,
        second.commit,
        on_top.commit,
    ]


def test_commits_of_the_person_on_the_loops_branch_are_never_lost(repo: Repository) -> None:
    scene = Scene(repo)
    commit = attempt(scene, "one\n")
    repo.git("branch", "loop/l-1", repo.git("commit-tree", "-m", "mine", "-p", "HEAD", "HEAD^{tree}"))
    before = scene.refs()
    with pytest.raises(NeedsPerson, match="the loop did not make"):
        scene.land(commit)
    assert scene.refs()["refs/heads/loop/l-1"] == before["refs/heads/loop/l-1"]


def test_a_landing_cut_short_before_the_branch_is_finished(repo: Repository) -> None:
    scene = Scene(repo)
    commit = attempt(scene, "one\n")
    landed = scene.land(commit)
    repo.git("update-ref", "-d", "refs/heads/loop/l-1")
    assert scene.land(commit) == landed
    assert "refs/loopwright/l-1/landed-2" not in scene.refs()


def test_a_landing_on_a_branch_the_person_looks_at_brings_the_files(repo: Repository) -> None:
    scene = Scene(repo)
    base = scene.base
    scene.land(attempt(scene, "one\n"), step="land-1")
    repo.git("switch", "--quiet", "loop/l-1")
    tip = scene.base
    shot = asyncio.run(scene.workspace.prepare(LOOP, NAME, tip, "s-2"))
    (shot / "README.md").write_text("two\n")
    second = scene.snapshot("b", parent=tip, step="s-2")
    scene.land(second.commit, base=tip, step="land-2")
    assert (repo.path / "README.md").read_text() == "two\n"
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("rev-parse", "HEAD~2") == base


@pytest.mark.parametrize("branch", ["", "a..b", "-x.lock", "a b", "../x"])
def test_a_name_git_does_not_take_is_refused(repo: Repository, branch: str) -> None:
    with pytest.raises(UsageError, match="cannot name a branch"):
        Scene(repo).land(Scene(repo).base, branch=branch)


def test_a_merge_never_runs_a_driver_and_has_two_parents(repo: Repository) -> None:
    repo.write(".gitattributes", "* merge=evil\n")
    repo.git("config", "merge.evil.driver", "touch it-ran")
    repo.write("lines.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
    base = repo.commit("lines")
    scene = Scene(repo)
    (scene.prepare() / "lines.txt").write_text("one\n2\n3\n4\n5\n6\n7\n8\n9\n")
    commit = scene.snapshot().commit
    repo.write("lines.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
    onto = repo.commit("Theirs")
    merge = asyncio.run(scene.workspace.merge(commit, "refs/heads/main", message="Join", step="m-1"))
    assert repo.git("show", f"{merge.commit}:lines.txt") == "one\n2\n3\n4\n5\n6\n7\n8\nnine"
    assert repo.git("log", "-1", "--format=%P|%s", merge.commit) == f"{onto} {commit}|Join"
    assert not (repo.path / "it-ran").exists()
    assert repo.git("merge-base", onto, commit) == base


def test_histories_without_a_common_commit_fail_with_a_sentence(repo: Repository) -> None:
    scene = Scene(repo)
    repo.git("branch", "other", repo.git("commit-tree", "-m", "x", "HEAD^{tree}"))
    with pytest.raises(VcsFailed, match="unrelated histories"):
        asyncio.run(scene.workspace.merge(scene.base, "refs/heads/other", message="m", step="m"))


def test_an_unknown_commit_fails_before_anything_is_touched(repo: Repository) -> None:
    scene = Scene(repo)
    with pytest.raises(VcsFailed):
        scene.prepare(at="0" * 40)
    assert list((repo.path / ".worktrees").iterdir()) == [repo.path / ".worktrees" / ".gitignore"]


def test_rolling_back_removes_the_branch_and_keeps_its_commits(repo: Repository) -> None:
    scene = Scene(repo)
    landed = scene.land(attempt(scene, "one\n"))
    (scene.prepare(step="s-2") / "half.txt").write_text("half\n")
    mine = repo.git("commit-tree", "-m", "mine", "-p", landed.commit, f"{landed.tree}")
    repo.git("update-ref", "refs/heads/loop/l-1", mine)
    repo.write(".loop/runs/l-1/brief.md", "x")
    asyncio.run(scene.workspace.clean_up(LOOP, Cleanup.ROLLBACK))
    assert (repo.path / ".loop" / "runs" / "l-1").exists()
    asyncio.run(scene.workspace.clean_up(LOOP, Cleanup.FULL))
    assert not (repo.path / ".loop" / "runs" / "l-1").exists()
    refs = scene.refs()
    assert "refs/heads/loop/l-1" not in refs
    assert (refs[LANDED], refs["refs/loopwright/l-1/landed-2"]) == (landed.commit, mine)
    assert repo.git("show", f"{refs['refs/loopwright/l-1/evidence-1']}:half.txt") == "half"


def test_a_folder_that_cannot_be_removed_is_told_and_stays(repo: Repository) -> None:
    """As files of another user do not go, nor a busy mount: here nobody can lock it."""
    scene = Scene(repo)
    folder = scene.prepare(step="s-1")
    for lock in repo.path.rglob("workspaces/*/lock"):
        lock.unlink()
        lock.mkdir()
    stay = asyncio.run(scene.workspace.clean_up(LOOP, Cleanup.KEEP_ARTIFACTS))
    assert (stay, folder.is_dir()) == ((f".worktrees/{folder.name}",), True)


def test_a_branch_the_person_looks_at_is_not_rolled_back(repo: Repository) -> None:
    scene = Scene(repo)
    landed = scene.land(attempt(scene, "one\n"))
    repo.git("switch", "--quiet", "loop/l-1")
    asyncio.run(scene.workspace.clean_up(LOOP, Cleanup.FULL))
    assert repo.git("rev-parse", "HEAD") == landed.commit


def test_only_throw_away_folders_are_thrown_away(repo: Repository) -> None:
    scene = Scene(repo)
    for folder in (scene.prepare(), repo.path, repo.path / ".worktrees" / "judge-x" / "..", Path("/judge-x")):
        with pytest.raises(Exception, match="it was left alone"):
            asyncio.run(scene.workspace.discard(folder))
    assert (repo.path / "README.md").exists()
