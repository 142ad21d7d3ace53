import os
import shlex
import shutil
from pathlib import Path

import pytest

from loopwright.adapters.git.repository import Repository as Found
from loopwright.adapters.git.repository import find_repository
from loopwright.errors import UsageError
from loopwright.kernel.model import Commit
from tests.repository import Repository


def find(folder: Path, **env: str) -> Found:
    return find_repository(folder, {**os.environ, **env})


def test_a_repository_is_found_from_any_folder_in_it(repo: Repository) -> None:
    repo.write("lib/a.txt", "a\n")
    head = Commit(repo.commit("lib"))
    expected = Found(top=repo.path, head=head, branch_ref="refs/heads/main", dirty=False)
    assert (find(repo.path), find(repo.path / "lib")) == (expected, expected)


@pytest.mark.parametrize("name", ["README.md", "new.txt"])
def test_what_is_not_committed_is_dirty(repo: Repository, name: str) -> None:
    repo.write(name, "changed\n")
    assert find(repo.path).dirty


def test_looking_does_not_write_the_index(repo: Repository) -> None:
    index = repo.path / ".git" / "index"
    os.utime(repo.path / "README.md", ns=(1, 1))
    before = (index.read_bytes(), index.stat().st_ino)
    assert not find(repo.path).dirty
    assert (index.read_bytes(), index.stat().st_ino) == before


def test_our_own_folders_are_not_dirty(repo: Repository) -> None:
    repo.write(".loop/.gitignore", "*\n")
    repo.write(".loop/loop.db", "x")
    assert not find(repo.path).dirty


def test_a_detached_head_has_no_branch(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "--detach")
    assert find(repo.path).branch_ref == ""


def test_a_linked_worktree_is_a_repository_of_its_own(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "feature/x", str(tmp_path / "linked"))
    found = find(tmp_path / "linked")
    assert (found.top, found.branch_ref) == (tmp_path / "linked", "refs/heads/feature/x")


def test_a_folder_with_a_line_end_in_its_name(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "two\nlines")
    assert find(repo.path).top == repo.path


def test_outside_of_any_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository; run `git init` there"):
        find(tmp_path)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "--quiet")
    with pytest.raises(UsageError, match="has no commit yet; make a first commit"):
        find(tmp_path)


def test_a_bare_repository(tmp_path: Path) -> None:
    Repository(tmp_path).git("init", "--quiet", "--bare")
    with pytest.raises(UsageError, match="is in a bare repository; run this in a checkout of it"):
        find(tmp_path)


def test_inside_the_git_directory(repo: Repository) -> None:
    with pytest.raises(UsageError, match="is inside a git directory"):
        find(repo.path / ".git")


def test_without_git(repo: Repository, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"git was not found on PATH.*install git 2\.38 or newer"):
        find(repo.path, PATH=str(tmp_path))


@pytest.mark.parametrize("version", ["git version 2.37.9", "git version 1.99.0", "nonsense"])
def test_an_old_git(repo: Repository, tmp_path: Path, version: str) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match=f"this is {version}; git 2.38 or newer is needed"):
        find(repo.path, PATH=str(tmp_path))


def test_a_broken_repository_says_what_git_says(repo: Repository) -> None:
    (repo.path / ".git" / "config").write_text("[core\n")
    with pytest.raises(UsageError, match="git cannot"):
        find(repo.path)


def test_a_repository_of_another_user_is_refused_with_the_command_that_trusts_it(
    repo: Repository, tmp_path: Path
) -> None:
    real = shutil.which("git")
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    git.chmod(0o700)
    mine = tmp_path / "my work"
    repo.path.rename(mine)
    with pytest.raises(UsageError) as refused:
        find(mine, PATH=f"{git.parent}{os.pathsep}{os.environ['PATH']}")
    assert str(refused.value) == (
        f"the repository at {mine} belongs to another user, so git refuses to read it; if you trust what is in it,"
        f" run `git config --global --add safe.directory {shlex.quote(str(mine))}` and try again"
    )
