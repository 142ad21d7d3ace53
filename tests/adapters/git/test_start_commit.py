"""Where a review starts: what is committed, with the person's own state of the named paths and of no others."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from loopwright.adapters.git.start_commit import start_from
from loopwright.errors import UsageError, VcsFailed
from loopwright.kernel.model import Commit, Content
from tests.adapters.git.scene import LOOP, Scene
from tests.adapters.git.test_person import state
from tests.repository import Repository

START = "refs/loopwright/l-1/start"


@pytest.fixture
def docs(repo: Repository) -> Repository:
    for name in ("docs/a.md", "docs/b.md", "docs/deep/c.md", "src/e.py"):
        repo.write(name, f"{name}\n")
    repo.write(".gitignore", "*.log\nbuild/\n")
    repo.commit("files")
    return repo


def start(repo: Repository, *paths: str) -> Commit:
    return start_from(repo.path, os.environ, LOOP, Scene(repo).base, paths)


def changed(repo: Repository, commit: str) -> dict[str, str]:
    fields = repo.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", "HEAD", commit).split("\0")
    return dict(zip(fields[1::2], fields[0::2], strict=False))


def test_a_clean_tree_starts_at_the_commit_itself(docs: Repository) -> None:
    os.utime(docs.path / "docs" / "a.md", (1, 1))
    docs.write("src/e.py", "changed\n")
    docs.write("src/new.py", "new\n")
    assert start(docs, "docs", "README.md", "nothing") == Scene(docs).base
    assert start(docs) == Scene(docs).base
    assert START not in Scene(docs).refs()


def test_exactly_the_named_paths_are_taken(docs: Repository) -> None:
    docs.write("docs/a.md", "mine\n")
    docs.write("docs/deep/new.md", "new\n")
    (docs.path / "docs" / "b.md").unlink()
    docs.write("src/e.py", "not named\n")
    docs.git("add", "src/e.py")
    docs.write("README.md", "not named\n")
    commit = start(docs, "docs")
    assert changed(docs, commit) == {"docs/a.md": "M", "docs/b.md": "D", "docs/deep/new.md": "A"}
    assert docs.git("rev-parse", f"{commit}^@") == Scene(docs).base
    assert Scene(docs).refs()[START] == commit
    assert docs.git("log", "-1", "--format=%an|%s", commit) == "Test Person|Uncommitted changes to docs"


def test_nothing_of_the_persons_is_touched(docs: Repository) -> None:
    docs.write("docs/a.md", "staged\n")
    docs.write("docs/staged.md", "staged\n")
    docs.git("add", "docs")
    docs.git("rm", "--quiet", "--cached", "docs/b.md")
    docs.write("docs/a.md", "not staged\n")
    docs.write("docs/new.log", "mine\n")
    before = state(docs)
    commit = start(docs, "docs", "docs/new.log")
    assert state(docs) == before
    assert changed(docs, commit) == {"docs/a.md": "M", "docs/new.log": "A", "docs/staged.md": "A"}
    assert docs.git("show", f"{commit}:docs/a.md") == "not staged"
    assert not (docs.path / ".git" / "index.lock").exists()


def test_it_works_beside_a_lock_of_the_person(docs: Repository) -> None:
    docs.write("docs/a.md", "mine\n")
    docs.write(".git/index.lock", "")
    assert changed(docs, start(docs, "docs/a.md")) == {"docs/a.md": "M"}


def test_again_is_the_same_commit_and_a_later_state_another(docs: Repository) -> None:
    docs.write("docs/a.md", "one\n")
    first = start(docs, "docs")
    assert start(docs, "docs") == first
    docs.write("docs/a.md", "two\n")
    second = start(docs, "docs")
    assert (first != second, start(docs, "docs")) == (True, second)
    refs = Scene(docs).refs()
    assert (refs[START], refs[f"{START}+2"]) == (first, second)
    docs.git("commit", "--quiet", "--allow-empty", "--message=moved")
    assert docs.git("rev-parse", f"{start(docs, 'docs')}^") == Scene(docs).base


def test_an_ignored_file_is_taken_when_it_is_named_itself(docs: Repository) -> None:
    for name in ("docs/x.log", "build/y.md", "docs/__pycache__/z.pyc", "docs/staged.log"):
        docs.write(name, "x\n")
    docs.git("add", "--force", "docs/staged.log")
    assert changed(docs, start(docs, "docs", "build")) == {"docs/staged.log": "A"}
    taken = changed(docs, start(docs, "docs/x.log", "build/y.md"))
    assert taken == {"docs/x.log": "A", "build/y.md": "A"}


def test_a_tracked_file_that_is_ignored_is_taken(docs: Repository) -> None:
    docs.write("docs/x.log", "x\n")
    docs.git("add", "--force", "docs/x.log")
    docs.git("commit", "--quiet", "--message=log")
    docs.write("docs/x.log", "mine\n")
    assert changed(docs, start(docs, "docs")) == {"docs/x.log": "M"}
    (docs.path / "docs" / "x.log").unlink()
    assert changed(docs, start(docs, "docs")) == {"docs/x.log": "D"}


def test_links_are_taken_as_links_and_never_followed(docs: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    (docs.path / "docs" / "out").symlink_to(outside)
    (docs.path / "docs" / "a.md").unlink()
    (docs.path / "docs" / "a.md").symlink_to(outside / "secret.md")
    commit = start(docs, "docs", "docs/out/secret.md")
    assert changed(docs, commit) == {"docs/a.md": "T", "docs/out": "A"}
    assert docs.git("show", f"{commit}:docs/a.md") == str(outside / "secret.md")
    assert start(docs, "docs/out/secret.md") == Scene(docs).base


def test_a_link_in_place_of_a_folder(docs: Repository, tmp_path: Path) -> None:
    shutil.copytree(docs.path / "docs", tmp_path / "outside")
    shutil.rmtree(docs.path / "docs")
    (docs.path / "docs").symlink_to(tmp_path / "outside")
    assert changed(docs, start(docs, "docs/a.md")) == {"docs/a.md": "D"}
    gone = {"docs/a.md": "D", "docs/b.md": "D", "docs/deep/c.md": "D"}
    assert changed(docs, start(docs, "docs")) == {"docs": "A", **gone}


def test_a_file_becomes_a_folder_and_a_folder_a_file(docs: Repository) -> None:
    shutil.rmtree(docs.path / "docs" / "deep")
    docs.write("docs/deep", "file\n")
    (docs.path / "docs" / "a.md").unlink()
    docs.write("docs/a.md/x", "x\n")
    wanted = {"docs/a.md": "D", "docs/a.md/x": "A", "docs/deep": "A", "docs/deep/c.md": "D"}
    assert changed(docs, start(docs, "docs")) == wanted
    assert changed(docs, start(docs, "docs/a.md", "docs/deep")) == wanted


def test_the_executable_bit_counts(docs: Repository) -> None:
    (docs.path / "docs" / "a.md").chmod(0o755)
    assert changed(docs, start(docs, "docs/a.md")) == {"docs/a.md": "M"}


def test_line_ends_and_filters_are_the_persons(docs: Repository) -> None:
    docs.write(".gitattributes", "*.loud filter=shout\n")
    docs.commit("filters")
    docs.git("config", "core.autocrlf", "true")
    docs.git("config", "core.safecrlf", "true")
    docs.git("config", "filter.shout.clean", "tr a-z A-Z")
    (docs.path / "docs" / "a.md").write_bytes(b"docs/a.md\r\n")
    assert start(docs, "docs") == Scene(docs).base
    (docs.path / "docs" / "b.md").write_bytes(b"mine\r\n")
    docs.write("docs/x.loud", "quiet\n")
    commit = start(docs, "docs")
    assert changed(docs, commit) == {"docs/b.md": "M", "docs/x.loud": "A"}
    assert docs.git("cat-file", "-s", f"{commit}:docs/b.md") == "5"
    assert docs.git("show", f"{commit}:docs/x.loud") == "QUIET"


def test_files_that_are_not_checked_out_are_not_gone(docs: Repository) -> None:
    docs.git("sparse-checkout", "set", "--no-cone", "docs/a.md")
    assert not (docs.path / "docs" / "b.md").exists()
    docs.write("docs/a.md", "mine\n")
    assert changed(docs, start(docs, "docs", "docs/b.md", "src")) == {"docs/a.md": "M"}


def test_a_submodule_and_a_repository_inside_are_left_alone(docs: Repository, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    docs.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other.path), "docs/sub")
    docs.commit("submodule")
    moved = Repository(docs.path / "docs" / "sub")
    moved.write("more.md", "more\n")
    moved.commit("moved")
    Repository.create(docs.path / "docs" / "inner")
    docs.write("docs/new.md", "new\n")
    named = ("docs", "docs/sub/more.md", "docs/inner/README.md", "docs/sub", "docs/inner")
    assert changed(docs, start(docs, *named)) == {"docs/new.md": "A"}


def test_a_repository_made_of_a_tracked_folder_keeps_its_files(docs: Repository) -> None:
    docs.git("init", "--quiet", "docs")
    docs.git("-C", "docs", "commit", "--quiet", "--allow-empty", "--message=x")
    docs.write("docs/a.md", "mine\n")
    assert changed(docs, start(docs, "docs", "docs/a.md")) == {"docs/a.md": "M"}


def test_what_is_neither_file_nor_link_is_no_content(docs: Repository) -> None:
    (docs.path / "docs" / "a.md").unlink()
    os.mkfifo(docs.path / "docs" / "a.md")
    os.mkfifo(docs.path / "docs" / "pipe")
    assert changed(docs, start(docs, "docs", "docs/pipe")) == {"docs/a.md": "D"}


ODD = ["-x", "\udce9.txt", "new\nline", 'quo"te', "sp ace", ":(glob)b", "\\", "*", "[a]", "a\n\nLoopwright-Step: x"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_literal(docs: Repository, name: str) -> None:
    (docs.path / name).write_text("odd\n")
    docs.write("other", "x\n")
    commit = start(docs, name)
    assert len(docs.git("diff-tree", "-r", "--name-only", "HEAD", commit).splitlines()) == 1
    odd = docs.git("hash-object", "--", name)
    held = asyncio.run(Scene(docs).workspace.contents(commit, (name,)))
    assert held == (Content(path=name, object=odd),)
    assert start(docs, name) == commit


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "", ".git/config", "docs/.GIT/x"])
def test_what_is_not_in_the_repository_is_refused(docs: Repository, path: str) -> None:
    with pytest.raises(UsageError, match="is not a path in this repository"):
        start(docs, path)


def test_a_file_that_cannot_be_read_is_said(docs: Repository) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    docs.write("docs/a.md", "mine\n").chmod(0)
    with pytest.raises(VcsFailed, match=r"docs/a\.md"):
        start(docs, "docs")


def test_a_conflict_in_the_middle_of_a_merge_is_taken_as_it_lies_there(docs: Repository) -> None:
    docs.git("checkout", "--quiet", "-b", "side")
    docs.write("docs/a.md", "side\n")
    docs.commit("side")
    docs.git("checkout", "--quiet", "main")
    docs.write("docs/a.md", "main\n")
    docs.commit("main")
    with pytest.raises(AssertionError):
        docs.git("merge", "--quiet", "side")
    commit = start(docs, "docs")
    assert changed(docs, commit) == {"docs/a.md": "M"}
    assert docs.git("show", f"{commit}:docs/a.md").startswith("<<<<<<<")
    assert start(docs, "src") == Scene(docs).base


def test_a_linked_worktree_has_a_state_of_its_own(docs: Repository) -> None:
    docs.git("worktree", "add", "--quiet", "--detach", "../linked")
    linked = Repository(docs.path.parent / "linked")
    docs.write("docs/a.md", "main\n")
    linked.write("docs/b.md", "linked\n")
    assert changed(linked, start(linked, "docs")) == {"docs/b.md": "M"}


def test_the_workspace_starts_there_too(docs: Repository) -> None:
    docs.write("docs/a.md", "mine\n")
    scene = Scene(docs)
    commit = start(docs, "docs/a.md")
    assert (scene.prepare(at=commit) / "docs" / "a.md").read_text() == "mine\n"


def test_a_change_right_after_the_index_was_written_is_seen(docs: Repository) -> None:
    """Same size and same time: git looks into the file only because its index is not newer."""
    docs.git("config", "core.trustctime", "false")
    file, index = docs.write("docs/a.md", "aaaa\n"), docs.path / ".git" / "index"
    os.utime(file, (1_000_000_000, 1_000_000_000))
    docs.commit("aaaa")
    docs.write("docs/a.md", "bbbb\n")
    for touched in (file, index):
        os.utime(touched, (1_000_000_000, 1_000_000_000))
    assert changed(docs, start(docs, "docs")) == {"docs/a.md": "M"}


def test_a_named_file_takes_the_place_of_a_file_above_it(docs: Repository) -> None:
    (docs.path / "README.md").unlink()
    docs.write("README.md/x", "x\n")
    assert changed(docs, start(docs, "README.md/x")) == {"README.md": "D", "README.md/x": "A"}
