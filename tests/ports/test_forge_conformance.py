import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from loopwright.adapters.forges.github import GithubForge
from loopwright.adapters.forges.local import LocalForge
from loopwright.adapters.forges.pull_files import PullFiles
from loopwright.kernel.model import Commit
from loopwright.testing.memory_forge import MemoryForge
from tests.adapters.forges.github_stand_in import github_of, needs_gh
from tests.adapters.forges.hosted import Branches
from tests.ports.conformance.forge import CONTRACTS, Contract, ForgeStage, Shown
from tests.repository import Repository


def in_memory(_: Path) -> ForgeStage:
    branches, numbers = {"main": Commit("base")}, count(1)
    forge = MemoryForge(branches)
    held = {"base"}

    def commit(branch: str) -> Commit:
        branches[branch] = Commit(f"commit-{next(numbers)}")
        return branches[branch]

    def merges(branch: str) -> None:
        pull = next(pull for pull in forge.pulls if pull.branch == branch)
        held.add(branches[branch])
        pull.seen = replace(pull.seen, state="merged", merged_as=branches[branch])

    def closes(_: str, number: int) -> None:
        pull = forge.pulls[number - 1]
        pull.seen = replace(pull.seen, state="closed")

    def shown(number: int) -> Shown:
        pull = forge.pulls[number - 1]
        return Shown(
            title=pull.title, body=pull.body, labels=pull.labels, reviewers=pull.reviewers, comments=pull.comments
        )

    return ForgeStage(
        forge=forge,
        target="main",
        commit=commit,
        person_commits=commit,
        person_merges=merges,
        person_closes=closes,
        holds=lambda wanted: wanted in held | {branches["main"]},
        shown=shown,
    )


def local(path: Path) -> ForgeStage:
    repo = Repository.create(path / "repo")
    branches = Branches(repo)
    repo.git("branch", "release")

    def merges(branch: str) -> None:
        branches.merge(branch, "release")

    def shown(number: int) -> Shown:
        pull = next(each for each in PullFiles(repo.path).all() if each.number == number)
        return Shown(
            title=pull.title, body=pull.body, labels=pull.labels, reviewers=pull.reviewers, comments=pull.comments
        )

    return ForgeStage(
        forge=LocalForge(repo.path, env=os.environ),
        target="release",
        commit=branches.commit,
        person_commits=branches.commit,
        person_merges=merges,
        person_closes=lambda branch, _: branches.delete(branch),
        holds=lambda commit: branches.holds("release", commit),
        shown=shown,
    )


@contextmanager
def github(path: Path) -> Iterator[ForgeStage]:
    repo = Repository.create(path / "repo")
    ours = Branches(repo)
    with github_of(repo, path) as (hub, env):

        def person_commits(branch: str) -> Commit:
            return hub.branches.commit(branch)

        def merges(branch: str) -> None:
            hub.merge(next(pull.number for pull in hub.pulls.values() if pull.branch == branch))

        def shown(number: int) -> Shown:
            pull = hub.pulls[number]
            return Shown(
                title=pull.title,
                body=pull.body,
                labels=tuple(pull.labels),
                reviewers=tuple(pull.requested),
                comments=tuple(each["body"].partition("\n\n<!-- loopwright:")[0] for each in pull.comments),
            )

        yield ForgeStage(
            forge=GithubForge(repo.path, env={**os.environ, **env}),
            target="main",
            commit=ours.commit,
            person_commits=person_commits,
            person_merges=merges,
            person_closes=lambda _, number: hub.close(number),
            holds=lambda commit: hub.branches.holds("main", commit),
            shown=shown,
        )


STAGES: dict[str, Callable[[Path], ForgeStage]] = {"memory": in_memory, "local": local}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
def test_every_forge_keeps_every_contract(contract: Contract, stage: str, tmp_path: Path) -> None:
    asyncio.run(contract(STAGES[stage](tmp_path)))


@needs_gh
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
def test_github_keeps_every_contract(contract: Contract, tmp_path: Path) -> None:
    with github(tmp_path) as stage:
        asyncio.run(contract(stage))


def test_contracts_are_numbered_in_order() -> None:
    numbers = [contract.__name__[:3] for contract in CONTRACTS]
    assert numbers == sorted(set(numbers))
