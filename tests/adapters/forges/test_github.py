import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopwright.adapters.forges.github import GithubForge
from loopwright.adapters.forges.github_remote import remote_of
from loopwright.adapters.git.rules import Pinned
from loopwright.adapters.git.site import survey
from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.model import Commit, Key
from loopwright.kernel.proposals import Opinion
from loopwright.kernel.sightings import PullRequestSeen
from tests.adapters.forges.github_stand_in import GithubStandIn, github_of, needs_gh
from tests.adapters.forges.hosted import Branches
from tests.repository import Repository

KEY, BRANCH = Key("propose", 1), "feature/one"
LOG_IN = "gh is not logged in to git.test: run `gh auth login --hostname git.test`"


@dataclass(frozen=True, slots=True)
class Hosted:
    repo: Repository
    hub: GithubStandIn
    env: dict[str, str]

    @property
    def forge(self) -> GithubForge:
        return GithubForge(self.repo.path, env={**os.environ, **self.env})

    def commit(self) -> Commit:
        return Branches(self.repo).commit(BRANCH)

    def open(self, commit: Commit, **more: object) -> PullRequestSeen:
        said = {"title": "One", "body": "What it does.", **more}
        wanted = OpenPullRequest(key=KEY, branch=BRANCH, target="refs/heads/main", commit=commit, **said)  # type: ignore[arg-type]
        return asyncio.run(self.forge.open(wanted))

    def read(self, commit: Commit) -> PullRequestSeen:
        wanted = ReadPullRequest(key=KEY, branch=BRANCH, target="main", number=1, commit=commit)
        return asyncio.run(self.forge.read(wanted))

    def merge(self, commit: Commit) -> PullRequestSeen:
        wanted = MergePullRequest(key=KEY, branch=BRANCH, target="main", number=1, commit=commit)
        return asyncio.run(self.forge.merge(wanted))


@pytest.fixture
def hosted(repo: Repository, tmp_path: Path) -> Iterator[Hosted]:
    with github_of(repo, tmp_path) as (hub, env):
        yield Hosted(repo, hub, env)


@needs_gh
def test_what_people_and_checks_say_of_it_comes_back(hosted: Hosted) -> None:
    commit = hosted.commit()
    hosted.open(commit, comment="Please look.", reviewers=("ada", "acme/security"))
    hosted.hub.strangers.append("bob")
    hosted.hub.review(1, "ada", "CHANGES_REQUESTED", "Line 3.")
    hosted.hub.say(1, "bob", "Fine by me.")
    hosted.hub.pulls[1].checks += [
        {"__typename": "CheckRun", "name": "test", "status": "COMPLETED", "conclusion": "FAILURE"},
        {"__typename": "StatusContext", "context": "ci/slow", "state": "PENDING"},
    ]
    seen = hosted.read(commit).seen
    assert (seen.red, seen.pending) == (("test",), ("ci/slow",))
    assert seen.opinions == (
        Opinion(
            by="ada", said="changes-requested", text="Line 3.", commit=commit, at="2026-02-05T10:00:02Z", inside=True
        ),
        Opinion(by="bob", said="commented", text="Fine by me.", at="2026-02-05T10:00:03Z"),
    )
    hosted.hub.pulls[1].requested.remove("ada")  # as GitHub does when somebody has reviewed it
    hosted.open(commit, reviewers=("ada", "acme/security"))
    assert hosted.hub.pulls[1].requested == ["acme/security"]


@needs_gh
@pytest.mark.parametrize(
    ("status", "message", "is_away"),
    [(502, "Bad Gateway", True), (403, "API rate limit exceeded", True), (422, "Validation Failed", False)],
)
def test_a_hub_that_does_not_answer_is_away(hosted: Hosted, status: int, message: str, is_away: bool) -> None:  # noqa: FBT001
    hosted.hub.faults.append((status, message))
    answer = hosted.open(hosted.commit())
    assert (answer.away, message in answer.failed) == (is_away, True)
    assert hosted.hub.pulls == {}


@needs_gh
def test_a_hub_that_cannot_be_reached_is_away(hosted: Hosted) -> None:
    hosted.hub.socket.unlink()
    assert hosted.open(hosted.commit()).away


@needs_gh
@pytest.mark.parametrize("token", ["", "of-another"])
def test_whoever_is_not_logged_in_is_told_the_command(hosted: Hosted, token: str) -> None:
    hosted.env["GH_ENTERPRISE_TOKEN"] = token
    assert hosted.open(hosted.commit()) == PullRequestSeen(key=KEY, failed=LOG_IN)


def test_whoever_has_no_gh_is_told_what_to_install(repo: Repository, tmp_path: Path) -> None:
    repo.git("remote", "add", "origin", "git@git.test:acme/shop.git")
    (tmp_path / "git").symlink_to("/usr/bin/git")
    forge = GithubForge(repo.path, env={**os.environ, "PATH": str(tmp_path)})
    wanted = ReadPullRequest(key=KEY, branch=BRANCH, target="main", number=1, commit=Commit("c"))
    answer = asyncio.run(forge.read(wanted))
    assert "install your system's package `gh`" in answer.failed
    assert not answer.away


def test_a_repository_without_a_remote_there_is_told_so(repo: Repository) -> None:
    repo.git("remote", "add", "origin", "../elsewhere")
    forge = GithubForge(repo.path, env=os.environ)
    asked = {"key": KEY, "branch": BRANCH, "target": "main", "commit": Commit("c")}
    answers = (
        asyncio.run(forge.open(OpenPullRequest(**asked, title="", body=""))),  # type: ignore[arg-type]
        asyncio.run(forge.read(ReadPullRequest(**asked, number=1))),  # type: ignore[arg-type]
        asyncio.run(forge.merge(MergePullRequest(**asked, number=1))),  # type: ignore[arg-type]
    )
    assert all(each.failed.startswith("no remote of this repository is on GitHub") for each in answers)


@pytest.mark.parametrize(
    ("settings", "env", "chosen"),
    [
        ({}, {}, "github.com/acme/shop by upstream"),
        ({"remote.Fork.gh-resolved": "base"}, {}, "github.com/ada/shop by Fork"),
        ({}, {"GH_HOST": "git.test"}, "git.test/acme/shop by inside"),
    ],
)
def test_the_remote_is_the_one_that_gh_takes(
    repo: Repository, settings: dict[str, str], env: dict[str, str], chosen: str
) -> None:
    repo.git("remote", "add", "Fork", "git@github.com:ada/shop.git")
    repo.git("remote", "add", "inside", "https://git.test/acme/shop")
    repo.git("remote", "add", "upstream", "https://github.com/acme/shop.git")
    for name, value in settings.items():
        repo.git("config", name, value)
    environ = {**os.environ, **env}
    remote = remote_of(survey(repo.path, environ, Pinned()), environ)
    assert remote is not None
    assert f"{remote.address} by {remote.name}" == chosen


@needs_gh
def test_a_branch_that_somebody_else_made_there_is_not_overwritten(hosted: Hosted) -> None:
    theirs = hosted.hub.branches.commit(BRANCH)
    hosted.hub.branches.commit("main")
    hosted.repo.git("commit", "--quiet", "--allow-empty", "--message=Otherwise")
    answer = hosted.open(hosted.commit())
    assert answer.failed == "feature/one has commits at origin that are not ours; look at them, or delete it there"
    assert (answer.seen.head, answer.away) == (theirs, False)
    assert hosted.hub.branches.position(BRANCH) == theirs
    assert hosted.hub.pulls == {}


@needs_gh
def test_a_request_for_another_target_is_neither_changed_nor_merged(hosted: Hosted) -> None:
    commit = hosted.commit()
    hosted.open(commit)
    hosted.hub.pulls[1].target = "release"
    hosted.hub.branches.repo.git("branch", "release", "main")
    for answer in (hosted.open(commit, labels=("a",)), hosted.merge(commit)):
        assert answer.failed == "pull request #1 is for release now, not for main; change its base back"
    assert (hosted.hub.pulls[1].labels, hosted.hub.pulls[1].state) == ([], "OPEN")


@needs_gh
def test_what_github_does_not_merge_is_told_in_its_words(hosted: Hosted) -> None:
    commit = hosted.commit()
    hosted.open(commit, draft=True)
    assert hosted.merge(commit).failed == "pull request #1 was made a draft again"
    hosted.open(commit)
    hosted.hub.protected = "At least 1 approving review is required"
    answer = hosted.merge(commit)
    assert "At least 1 approving review is required" in answer.failed
    assert (answer.seen.state, answer.away) == ("open", False)
    hosted.hub.protected = ""
    assert hosted.merge(commit).seen.merged_as == hosted.hub.branches.position("main")


@needs_gh
def test_what_was_closed_is_not_proposed_again_behind_anybodys_back(hosted: Hosted) -> None:
    commit = hosted.commit()
    hosted.open(commit)
    hosted.hub.close(1)
    answer = hosted.open(commit)
    assert (answer.failed, answer.seen.state) == ("pull request #1 of exactly this commit was closed", "closed")
    second = hosted.open(hosted.commit())
    assert (second.failed, second.seen.number) == ("", 2)
