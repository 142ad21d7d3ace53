"""Submodules are there for agents, judges and checks as the person has them, and stay what they are."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.kernel.gates import is_check_configuration
from loopwright.kernel.model import Tree
from tests.adapters.git.scene import LOOP, Scene, run_in
from tests.repository import Repository

ADD = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet")


@pytest.fixture
def scene(repo: Repository, tmp_path: Path) -> Scene:
    """`vendor` is a submodule with line ends of its own, `vendor/deep` one in it."""
    deep = Repository.create(tmp_path / "deep")
    deep.write("deep.txt", "deep\n")
    deep.commit("deep")
    inner = Repository.create(tmp_path / "inner")
    inner.write(".gitattributes", "*.txt text eol=crlf\n")
    inner.write("src/calc.txt", "1\n")
    inner.git(*ADD, str(deep.path), "deep")
    inner.commit("calc")
    repo.git(*ADD, str(inner.path), "vendor")
    repo.git("-c", "protocol.file.allow=always", "submodule", "update", "--quiet", "--init", "--recursive")
    repo.commit("submodule")
    (repo.path / "vendor" / "src" / "calc.txt").write_text("the person is at work\n")  # what is recorded counts
    return Scene(repo)


def files(folder: Path) -> dict[str, bytes]:
    names = [path for path in (folder / "vendor").rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in names}


LAID = {
    "vendor/.gitattributes": b"*.txt text eol=crlf\n",
    "vendor/.gitmodules": b"",
    "vendor/README.md": b"# Sample\n",
    "vendor/src/calc.txt": b"1\r\n",
    "vendor/deep/README.md": b"# Sample\n",
    "vendor/deep/deep.txt": b"deep\n",
}


def test_they_are_populated_for_agents_judges_and_checks(scene: Scene) -> None:
    base = scene.base
    judge = asyncio.run(scene.workspace.checkout(LOOP, base, "judge"))
    for folder in (scene.prepare(), judge):
        assert {**files(folder), "vendor/.gitmodules": b""} == LAID
        assert run_in(folder, "git", "status", "--porcelain").stdout == ""
    pool = VerificationCheckouts(scene.repo.path, env=os.environ)
    tree = Tree(scene.repo.git("rev-parse", "HEAD^{tree}"))

    async def checks() -> None:
        async with pool.lay(tree, commit=base, base=base) as checkout:
            assert {**files(checkout.folder), "vendor/.gitmodules": b""} == LAID
            (checkout.folder / "vendor" / "src" / "calc.txt").write_text("bent")
            (checkout.folder / "vendor" / "left.txt").write_text("left")
            await checkout.restore(is_check_configuration)
            assert (checkout.folder / "vendor" / "src" / "calc.txt").read_bytes() == b"1\r\n"
        async with pool.lay(tree, commit=base, base=base) as checkout:
            assert {**files(checkout.folder), "vendor/.gitmodules": b""} == LAID

    asyncio.run(checks())


def test_what_an_agent_changes_in_one_is_said_and_put_back(scene: Scene) -> None:
    folder = scene.prepare()
    (folder / "README.md").write_text("changed\n")
    (folder / "vendor" / "src" / "calc.txt").write_text("2\n")
    (folder / "vendor" / "new.py").write_text("new\n")
    (folder / "vendor" / "deep" / "deep.txt").unlink()
    shot = scene.snapshot()
    lost = ("vendor/deep/deep.txt", "vendor/new.py", "vendor/src/calc.txt")
    assert ([change.path for change in shot.changes], shot.dropped) == (["README.md"], lost)
    assert scene.snapshot() == shot
    scene.prepare(step="s-2")
    assert {**files(folder), "vendor/.gitmodules": b""} == LAID
    assert scene.snapshot("again", step="s-2").dropped == ()


@pytest.mark.parametrize("how", ["link", "link above", "file", "gone", "repository"])
def test_nothing_is_written_through_what_an_agent_put_in_its_place(scene: Scene, tmp_path: Path, how: str) -> None:
    folder, outside = scene.prepare(), tmp_path / "outside"
    outside.mkdir()
    vendor = folder / "vendor"
    if how == "repository":
        run_in(vendor, "git", "init", "--quiet")
        run_in(vendor, "git", "-c", "user.name=a", "-c", "user.email=a", "commit", "--allow-empty", "-m", "mine")
    else:
        shutil.rmtree(vendor)
    if how.startswith("link"):
        vendor.symlink_to(outside)
    if how == "link above":
        (outside / "deep").mkdir()
    if how == "file":
        vendor.write_text("mine\n")
    shot = scene.snapshot()
    assert shot.dropped != () or [change.path for change in shot.changes] == ["vendor"]
    scene.prepare(step="s-2")
    assert [path for path in outside.rglob("*") if path.is_file()] == []
    assert {**files(folder), "vendor/.gitmodules": b""} == LAID


def test_a_merge_leaves_the_status_as_it_was(scene: Scene) -> None:
    before = scene.repo.git("status", "--porcelain")
    base, folder = scene.base, scene.prepare()
    (folder / "README.md").write_text("changed\n")
    assert scene.advance("refs/heads/main", base, scene.snapshot().commit).how == "done"
    assert (before, scene.repo.git("status", "--porcelain")) == (" M vendor", " M vendor")


def test_one_that_is_not_checked_out_is_an_empty_folder(scene: Scene) -> None:
    scene.repo.git("submodule", "deinit", "--quiet", "--force", "vendor")
    folder = scene.prepare()
    assert files(folder) == {}
    (folder / "README.md").write_text("changed\n")
    assert [change.path for change in scene.snapshot().changes] == ["README.md"]


def test_one_that_a_later_commit_does_not_have_leaves_nothing_behind(scene: Scene) -> None:
    with_it = scene.base
    scene.repo.git("rm", "--quiet", "--force", "vendor")
    scene.repo.write("vendor/own.txt", "own\n")
    without = scene.repo.commit("our own by now")
    scene.repo.git("checkout", "--quiet", with_it)
    folder = scene.prepare(at=with_it)
    scene.prepare(at=without, step="s-2")
    assert files(folder) == {"vendor/own.txt": b"own\n"}
