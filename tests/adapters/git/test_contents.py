"""What a commit holds at a path, whatever the path is called."""

import asyncio
import os

import pytest

from loopwright.adapters.git.history import PersonsHistory
from loopwright.adapters.git.objects import GitObjects
from loopwright.adapters.git.program import persons_git
from loopwright.adapters.git.site import Site
from loopwright.errors import VcsFailed
from loopwright.kernel.model import Commit
from tests.adapters.git.scene import Scene
from tests.repository import Repository


def objects(scene: Scene, commit: str, *paths: str) -> list[str]:
    found = asyncio.run(scene.workspace.contents(Commit(commit), paths))
    assert [content.path for content in found] == list(paths)
    return [content.object for content in found]


def test_a_folder_and_a_file_in_it_are_told_both(repo: Repository) -> None:
    repo.write("docs/deep/a.md", "a\n")
    repo.write("docs-more", "x\n")
    base = repo.commit("docs")
    asked = ("docs/deep/a.md", "docs", "docs/deep", "docs-more", "doc", "docs/deep/a.md/x")
    wanted = [repo.git("rev-parse", f"HEAD:{path}") for path in asked[:4]]
    assert objects(Scene(repo), base, *asked) == [*wanted, "", ""]


def test_the_top_and_what_is_outside(repo: Repository) -> None:
    scene = Scene(repo)
    tree, readme = repo.git("rev-parse", "HEAD^{tree}"), repo.git("rev-parse", "HEAD:README.md")
    asked = (".", "./README.md", "README.md/", "", "/README.md", "../README.md", "a\0b", "readme.md", "*")
    assert objects(scene, scene.base, *asked) == [tree, readme, readme, "", "", "", "", "", ""]


def test_names_that_mean_something_to_git_are_only_names(repo: Repository) -> None:
    head = repo.git("rev-parse", "HEAD")
    names = [f"note-g{head[:10]}", "a~1", "b^{tree}", "c@{0}", ":(glob)*", "-r", "new\nline", 'q"', "\udce9", "--", "*"]
    for name in names:
        (repo.path / name).write_text(f"{name!r}\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message=odd")
    scene = Scene(repo)
    listed = os.fsencode(repo.git("ls-tree", "HEAD")).splitlines()
    found = objects(scene, scene.base, *names)
    assert len(set(found)) == len(names)
    assert {name.encode() for name in found} == {row.split()[2] for row in listed if not row.endswith(b"README.md")}


def test_a_link_is_told_and_not_followed(repo: Repository) -> None:
    repo.write("real/a.md", "a\n")
    (repo.path / "link").symlink_to("real")
    base = repo.commit("link")
    assert objects(Scene(repo), base, "link", "link/a.md") == [repo.git("rev-parse", "HEAD:link"), ""]


def test_all_links_of_a_tree_are_told_with_what_they_say(repo: Repository) -> None:
    assert asyncio.run(GitObjects(Site(repo.path, os.environ)).links(Commit(repo.git("rev-parse", "HEAD")))) == {}
    (repo.path / "docs").mkdir()
    for path, target in (("docs/one", "../README.md"), ("two words", "docs/")):
        (repo.path / path).symlink_to(target)
    commit = Commit(repo.commit("links"))
    for reader in (GitObjects(Site(repo.path, os.environ)), PersonsHistory(repo.path, env=os.environ)):
        assert asyncio.run(reader.links(commit)) == {"docs/one": "../README.md", "two words": "docs/"}


def test_more_paths_than_one_command_line_takes(repo: Repository) -> None:
    scene = Scene(repo)
    names = tuple(f"nothing-{number}" for number in range(1200))
    found = objects(scene, scene.base, *names, "README.md")
    assert set(found[:-1]) == {""}
    assert found[-1] == repo.git("rev-parse", "HEAD:README.md")


def test_an_unknown_commit_is_said(repo: Repository) -> None:
    with pytest.raises(VcsFailed):
        objects(Scene(repo), "0" * 40, "README.md")


def test_an_object_is_read_once_by_its_full_name_and_anew_by_any_other(repo: Repository) -> None:
    git = persons_git(os.environ, repo.path)
    first = repo.git("rev-parse", "HEAD")
    asked = [(name, "ls-tree", "--name-only", name) for name in (first, "HEAD")]
    before = [git.run_once((name,), *argv) for name, *argv in asked]
    repo.write("more.txt", "x\n")
    repo.commit("More")
    (repo.path / ".git").rename(repo.path / "elsewhere")
    assert git.run_once((first,), "ls-tree", "--name-only", first) == before[0]
    with pytest.raises(VcsFailed):
        git.run_once(("HEAD",), "ls-tree", "--name-only", "HEAD")
