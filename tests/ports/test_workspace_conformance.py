import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.kernel.model import Change, Commit
from loopwright.testing.fakes import MemoryWorkspace
from tests.ports.conformance.workspace import BASE_FILES, CONTRACTS, Contract, WorkspaceStage
from tests.ports.conformance.workspace_objects import OBJECT_CONTRACTS
from tests.repository import Repository

ALL = (*CONTRACTS, *OBJECT_CONTRACTS)


def with_base(path: Path, *init: str) -> Repository:
    path.mkdir()
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch=main", *init)
    for name, text in BASE_FILES.items():
        repository.write(name, text)
    repository.commit("Begin")
    return repository


def staged(root: Repository) -> WorkspaceStage:
    """The target is the branch `free`; the person commits to it in a worktree made for that."""
    base = Commit(root.git("rev-parse", "HEAD"))
    root.git("branch", "free", base)

    def person_commits(files: Mapping[str, str]) -> Commit:
        root.git("worktree", "add", "--quiet", "../elsewhere", "free")
        elsewhere = Repository(root.path.parent / "elsewhere")
        for name, text in files.items():
            elsewhere.write(name, text)
        commit = Commit(elsewhere.commit("Theirs"))
        root.git("worktree", "remove", "--force", "../elsewhere")
        return commit

    workspace = GitWorkspace(root.path, env=os.environ)
    return WorkspaceStage(workspace=workspace, base=base, target="refs/heads/free", person_commits=person_commits)


def plain(path: Path) -> WorkspaceStage:
    return staged(with_base(path / "repo"))


def linked_worktree(path: Path) -> WorkspaceStage:
    with_base(path / "repo").git("worktree", "add", "--quiet", "--detach", "../linked")
    return staged(Repository(path / "linked"))


def separate_git_directory(path: Path) -> WorkspaceStage:
    return staged(with_base(path / "repo", f"--separate-git-dir={path / 'elsewhere.git'}"))


def sha256(path: Path) -> WorkspaceStage:
    return staged(with_base(path / "repo", "--object-format=sha256"))


STAGES: dict[str, Callable[[Path], WorkspaceStage]] = {
    "plain": plain,
    "linked-worktree": linked_worktree,
    "separate-git-dir": separate_git_directory,
    "sha256": sha256,
}


def in_memory() -> WorkspaceStage:
    """A fake without files: an edit tells it what its workspace holds."""
    base = Commit("base")
    workspace = MemoryWorkspace(holds={base: dict(BASE_FILES)})

    def edit(_: Path, files: Mapping[str, str | None]) -> None:
        workspace.changes = tuple(change_of(name, files[name]) for name in sorted(files))

    def person_commits(_: Mapping[str, str]) -> Commit:
        raise AssertionError("nobody commits here")

    return WorkspaceStage(workspace=workspace, base=base, target="", person_commits=person_commits, edit=edit)


def change_of(name: str, text: str | None) -> Change:
    if text is None:
        return Change(path=name, how="removed")
    return Change(path=name, how="changed" if name in BASE_FILES else "added", blob=text)


@pytest.mark.parametrize("contract", OBJECT_CONTRACTS, ids=lambda contract: contract.__name__)
def test_the_fake_keeps_the_contracts_that_need_no_files(contract: Contract) -> None:
    asyncio.run(contract(in_memory()))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("contract", ALL, ids=lambda contract: contract.__name__)
def test_every_workspace_keeps_every_contract(contract: Contract, stage: str, tmp_path: Path) -> None:
    asyncio.run(contract(STAGES[stage](tmp_path)))


def test_contracts_are_numbered_in_order() -> None:
    numbers = [contract.__name__[:3] for contract in ALL]
    assert numbers == sorted(set(numbers))
