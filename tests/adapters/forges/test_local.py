import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from loopwright.adapters.forges.local import LocalForge
from loopwright.errors import ConfigError
from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.model import NO_COMMIT, Commit, Key
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.sightings import PullRequestSeen
from tests.adapters.forges.hosted import Branches
from tests.repository import Repository

KEY, BRANCH = Key("propose", 1), "feature/one"
PAGE = """\
# #1 One

Merge `feature/one` into `main`, not to be merged yet (draft).  
Proposed: `{commit}`. To see it: `git diff main...feature/one`  
Labels: needs:security-review  
To be looked at by: ada, bob

What it does.

---

Look at \\u202e this.
"""  # noqa: W291 - two spaces end a line of a page


def forge_of(repo: Repository) -> LocalForge:
    return LocalForge(repo.path, env=os.environ)


def opened(repo: Repository, commit: Commit, branch: str = BRANCH) -> PullRequestSeen:
    wanted = OpenPullRequest(key=KEY, branch=branch, target="refs/heads/main", commit=commit, title="One", body="")
    return asyncio.run(forge_of(repo).open(wanted))


def read(repo: Repository, number: int, commit: Commit) -> PullRequest:
    wanted = ReadPullRequest(key=KEY, branch=BRANCH, target="main", number=number, commit=commit)
    return asyncio.run(forge_of(repo).read(wanted)).seen


def merged(repo: Repository, number: int, commit: Commit) -> PullRequestSeen:
    wanted = MergePullRequest(key=KEY, branch=BRANCH, target="main", number=number, commit=commit)
    return asyncio.run(forge_of(repo).merge(wanted))


def test_people_read_a_proposal_on_a_page(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    wanted = OpenPullRequest(
        key=KEY,
        branch=BRANCH,
        target="main",
        commit=commit,
        title="One",
        body="What it does.\n",
        draft=True,
        labels=("needs:security-review",),
        reviewers=("ada", "bob"),
        comment="Look at \u202e this.",
    )
    seen = asyncio.run(forge_of(repo).open(wanted)).seen
    assert seen == PullRequest(number=1, url=".loop/pulls/1.md", state="open", head=commit, draft=True)
    assert (repo.path / seen.url).read_text() == PAGE.format(commit=commit)
    assert repo.git("status", "--porcelain") == ""


def test_a_branch_that_is_not_there_is_not_proposed(repo: Repository) -> None:
    commit = Branches(repo).position("main")
    answer = opened(repo, commit)
    assert answer == PullRequestSeen(key=KEY, failed="the branch feature/one does not exist")
    assert not list((repo.path / ".loop").glob("pulls/*.json"))


def test_nothing_is_proposed_for_a_target_that_is_not_there(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    wanted = OpenPullRequest(key=KEY, branch=BRANCH, target="gone", commit=commit, title="", body="")
    answer = asyncio.run(forge_of(repo).open(wanted))
    assert answer.failed == "gone does not exist, so nothing can be merged into it"


def test_a_clean_checked_out_target_moves_with_its_files(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    number = opened(repo, commit).seen.number
    answer = merged(repo, number, commit)
    assert (answer.failed, answer.seen.state, answer.seen.merged_as) == ("", "merged", commit)
    assert repo.git("rev-parse", "HEAD") == commit
    assert (repo.path / "feature-one-1.txt").read_text() == BRANCH
    assert repo.git("status", "--porcelain") == ""


def test_changes_of_the_persons_are_left_with_the_command_that_takes_the_result(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    number = opened(repo, commit).seen.number
    repo.write("README.md", "half done\n")
    answer = merged(repo, number, commit)
    where = f"main is checked out in {repo.path} with changes of your own"
    assert answer.failed == f"{where}; `git -C {repo.path} merge feature/one` takes the result"
    assert (answer.seen.state, answer.seen.onto) == ("open", NO_COMMIT)
    assert (repo.path / "README.md").read_text() == "half done\n"
    repo.git("merge", "--quiet", BRANCH)
    assert read(repo, number, commit).state == "merged"


def test_a_target_that_vanished_is_named_with_the_command_that_makes_it(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    number = opened(repo, commit).seen.number
    repo.git("checkout", "--quiet", "--detach")
    repo.git("branch", "-D", "main")
    answer = merged(repo, number, commit)
    assert answer.failed == "main does not exist any more; `git branch main feature/one` takes the result"
    assert answer.seen.state == "open"


def test_what_came_to_the_target_later_is_no_part_of_the_merge(repo: Repository) -> None:
    branches = Branches(repo)
    repo.git("checkout", "--quiet", "--detach")
    commit = branches.commit(BRANCH)
    number = opened(repo, commit).seen.number
    merged(repo, number, commit)
    branches.commit("main")
    branches.delete(BRANCH)
    seen = read(repo, number, commit)
    assert (seen.state, seen.merged_as) == ("merged", commit)
    second = branches.commit(BRANCH)
    number = opened(repo, second).seen.number
    merge = branches.merge(BRANCH, "main")
    branches.commit("main")
    seen = read(repo, number, second)
    assert (number, seen.state, seen.merged_as) == (2, "merged", merge)


def test_a_merged_proposal_is_merged_though_its_file_is_gone(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "--detach")
    commit = Branches(repo).commit(BRANCH)
    number = opened(repo, commit).seen.number
    merged(repo, number, commit)
    (repo.path / ".loop" / "pulls" / "1.json").unlink()
    assert read(repo, number, commit).state == "merged"


def test_a_file_that_names_another_target_moves_nothing(repo: Repository) -> None:
    branches = Branches(repo)
    repo.git("branch", "release")
    base, commit = branches.position("main"), branches.commit(BRANCH)
    number = opened(repo, commit).seen.number
    file = repo.path / ".loop" / "pulls" / "1.json"
    file.write_text(file.read_text().replace('"target": "main"', '"target": "release"'))
    assert merged(repo, number, commit).seen.state == "merged"
    assert (branches.position("main"), branches.position("release")) == (commit, base)


def test_a_file_that_cannot_be_read_is_named_and_not_overwritten(repo: Repository) -> None:
    commit = Branches(repo).commit(BRANCH)
    opened(repo, commit)
    file = repo.path / ".loop" / "pulls" / "1.json"
    file.write_text("{")
    with pytest.raises(ConfigError, match=r"1\.json: not JSON"):
        opened(repo, commit)
    assert file.read_text() == "{"
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        opened(repo, commit)


def test_proposals_of_many_at_once_have_numbers_of_their_own(repo: Repository) -> None:
    branches = Branches(repo)
    names = [f"feature/{number}" for number in range(6)]
    commits = [branches.commit(name) for name in names]
    with ThreadPoolExecutor(len(names)) as pool:
        seen = list(pool.map(lambda commit, name: opened(repo, commit, name).seen.number, commits, names))
    assert sorted(seen) == [1, 2, 3, 4, 5, 6]
