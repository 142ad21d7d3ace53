"""Whatever an agent does to its `.git`, its attributes or our folders: nothing of it runs, nothing outside changes."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.git.scene import Scene, run_in
from tests.repository import Repository

Trap = Callable[[Path, Path, Path], None]  # the workspace, a program that leaves a mark, the person's repository

DRIVERS = """\
[core]
    hooksPath = {hooks}
    fsmonitor = {program}
    worktree = {person}
    sshCommand = {program}
    editor = {program}
    pager = {program}
    alternateRefsCommand = {program}
    attributesFile = {attributes}
    excludesFile = {attributes}
[include]
    path = {more}
[filter "evil"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[merge "evil"]
    driver = {program}
[diff "evil"]
    textconv = {program}
    command = {program}
[diff]
    external = {program}
[alias]
    add = !{program}
    commit-tree = !{program}
[gpg]
    program = {program}
[commit]
    gpgSign = true
[uploadpack]
    packObjectsHook = {program}
"""
ATTRIBUTES = "* filter=evil diff=evil merge=evil\n"
HOOKS = (
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
    "post-merge",
)


def drivers(folder: Path, program: Path, person: Path) -> None:
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in HOOKS:
        shutil.copy2(program, hooks / hook)
    attributes = folder / ".gitattributes"
    attributes.write_text(ATTRIBUTES)
    more = folder / "more.config"
    more.write_text('[filter "evil"]\n    clean = ' + str(program))
    text = DRIVERS.format(hooks=hooks, program=program, person=person, attributes=attributes, more=more)
    for config in (folder / ".git" / "config", folder / ".git" / "config.worktree"):
        if config.parent.is_dir():
            config.write_text(text)


def hooks_in_place(folder: Path, program: Path, person: Path) -> None:
    (folder / ".git" / "hooks").mkdir()
    for hook in HOOKS:
        shutil.copy2(program, folder / ".git" / "hooks" / hook)


def gone(folder: Path, program: Path, person: Path) -> None:
    shutil.rmtree(folder / ".git")


def rubbish(folder: Path, program: Path, person: Path) -> None:
    for path in (folder / ".git").rglob("*"):
        if path.is_file():
            path.write_bytes(b"rubbish")


def link_to_the_person(folder: Path, program: Path, person: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").symlink_to(person / ".git")


def file_that_points_at_the_person(folder: Path, program: Path, person: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text(f"gitdir: {person / '.git'}\n")


def borrowed_elsewhere(folder: Path, program: Path, person: Path) -> None:
    (folder / ".git" / "objects" / "info" / "alternates").write_text("/nowhere\n")


def refs_moved(folder: Path, program: Path, person: Path) -> None:
    run_in(folder, "git", "commit", "--quiet", "--allow-empty", "--message=mine")
    run_in(folder, "git", "update-ref", "refs/heads/main", "HEAD")
    run_in(folder, "git", "checkout", "--quiet", "--orphan", "lost")
    run_in(folder, "git", "branch", "--quiet", "-D", "main", "work")


def our_own_directory(folder: Path, program: Path, person: Path) -> None:
    """Without a sandbox an agent reaches `.loop/git`."""
    own = person / ".loop" / "git"
    drivers(folder, program, person)
    shutil.copy2(folder / ".git" / "config", own / "config")
    (own / "info" / "attributes").write_text(ATTRIBUTES)
    (own / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        shutil.copy2(program, own / "hooks" / hook)
    (own / "HEAD").unlink()
    (own / "HEAD").symlink_to(person / "README.md")


def our_own_directory_moved(folder: Path, program: Path, person: Path) -> None:
    evil = folder / "evil"
    shutil.rmtree(evil, ignore_errors=True)
    shutil.copytree(folder / ".git", evil)
    drivers(folder, program, person)
    shutil.copy2(folder / ".git" / "config", evil / "config")
    (person / ".loop" / "git" / "commondir").write_text(str(evil))


TRAPS: tuple[Trap, ...] = (
    drivers,
    hooks_in_place,
    gone,
    rubbish,
    link_to_the_person,
    file_that_points_at_the_person,
    borrowed_elsewhere,
    refs_moved,
    our_own_directory,
    our_own_directory_moved,
)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "it-ran"


@pytest.fixture
def program(tmp_path: Path, mark: Path) -> Path:
    file = tmp_path / "program"
    file.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    file.chmod(0o755)
    return file


def persons_files(repo: Repository) -> dict[str, bytes]:
    """Everything in the person's tree and git directory but objects, refs of ours and our own folders."""
    ours = (".loop/", ".worktrees/", ".git/objects/", ".git/refs/loopwright", ".git/refs/heads/loop/", ".git/logs/")
    names = (*ours, ".git/loopwright-log", ".git/refs/loopwright-logs")
    files = {path.relative_to(repo.path).as_posix(): path for path in repo.path.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(names)}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_in_the_workspace_never_springs(repo: Repository, program: Path, mark: Path, trap: Trap) -> None:
    scene = Scene(repo)
    before = persons_files(repo)
    folder = scene.prepare()
    (folder / "README.md").write_text("changed\n")
    trap(folder, program, repo.path)
    mark.unlink(missing_ok=True)  # what the agent's own git ran is the agent's affair
    shot = scene.snapshot()
    assert ("README.md", "changed") in {(change.path, change.how) for change in shot.changes}
    scene.prepare(at=shot.commit, step="s-2")
    trap(folder, program, repo.path)
    mark.unlink(missing_ok=True)
    scene.prepare(step="s-3")
    assert (folder / "README.md").read_text() == "# Sample\n"
    scene.land(shot.commit)
    assert not mark.exists()
    assert persons_files(repo) == before


@pytest.mark.parametrize("trap", TRAPS)
def test_the_workspaces_git_works_again_at_the_next_step(
    repo: Repository, program: Path, mark: Path, trap: Trap
) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    trap(folder, program, repo.path)
    scene.prepare(step="s-2")
    mark.unlink(missing_ok=True)
    assert run_in(folder, "git", "status", "--porcelain", "--branch").stdout == "## work\n"
    assert run_in(folder, "git", "log", "--format=%s").stdout == "Begin\n"
    assert run_in(folder, "git", "rev-parse", "HEAD").stdout.strip() == scene.base
    assert not mark.exists()


def test_git_without_its_directory_does_not_find_the_person(repo: Repository) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    repo.write("README.md", "uncommitted work\n")
    shutil.rmtree(folder / ".git")
    assert run_in(folder, "git", "reset", "--hard").returncode == 128
    assert (repo.path / "README.md").read_text() == "uncommitted work\n"


def test_an_agents_git_has_an_identity_and_nowhere_to_push(repo: Repository, tmp_path: Path) -> None:
    scene = Scene(repo)
    folder = scene.prepare()
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(tmp_path)}
    (folder / "new.txt").write_text("new\n")
    run_in(folder, "git", "add", "--all", **nobody)
    assert run_in(folder, "git", "commit", "--quiet", "--message=mine", **nobody).returncode == 0
    assert run_in(folder, "git", "log", "-1", "--format=%an <%ae>").stdout == "Test Person <person@example.com>\n"
    assert run_in(folder, "git", "remote").stdout == ""
    assert run_in(folder, "git", "push").returncode == 128
    assert [change.path for change in scene.snapshot().changes] == ["new.txt"]


def test_the_workspaces_git_knows_the_persons_branches_and_tags(repo: Repository) -> None:
    repo.git("tag", "--annotate", "--message=one", "v1")
    repo.git("branch", "work/other")
    repo.git("branch", "feature/x")
    folder = Scene(repo).prepare()
    assert run_in(folder, "git", "describe").stdout == "v1\n"
    names = run_in(folder, "git", "for-each-ref", "--format=%(refname:short)").stdout.split()
    assert names == ["feature/x", "main", "work", "v1"]
    assert run_in(folder, "git", "fsck", "--strict").returncode == 0


def test_a_shallow_clone_and_borrowed_objects_serve_as_well(repo: Repository, tmp_path: Path) -> None:
    repo.commit("Second")
    url = f"file://{repo.path}"
    repo.git("clone", "--quiet", "--depth=1", url, str(tmp_path / "shallow"))
    repo.git("clone", "--quiet", "--shared", str(repo.path), str(tmp_path / "shared"))
    for name in ("shallow", "shared"):
        scene = Scene(Repository(tmp_path / name))
        folder = scene.prepare()
        (folder / "README.md").write_text("changed\n")
        assert [change.path for change in scene.snapshot().changes] == ["README.md"]
        assert run_in(folder, "git", "log", "--format=%s").stdout.startswith("Second\n")
        assert run_in(folder, "git", "fsck").returncode == 0


def test_hooks_of_the_person_do_not_run(repo: Repository, program: Path, mark: Path) -> None:
    for hook in HOOKS:
        shutil.copy2(program, repo.path / ".git" / "hooks" / hook)
    scene = Scene(repo)
    base = scene.base
    (scene.prepare() / "README.md").write_text("changed\n")
    landed = scene.land(scene.snapshot().commit)
    assert scene.advance("refs/heads/main", base, landed.commit).how == "done"
    assert not mark.exists()


def test_our_folders_as_links_are_refused(repo: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / ".worktrees").symlink_to(outside)
    with pytest.raises(Exception, match="it has to be a folder"):
        Scene(repo).prepare()
    assert list(outside.iterdir()) == []
