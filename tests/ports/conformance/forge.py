"""What every forge must do, as numbered contracts: each on a fresh `ForgeStage`, see `CONTRACTS`.

@pytest.mark.parametrize("contract", CONTRACTS)
def test_my_forge(contract): asyncio.run(contract(my_fresh_stage()))
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from loopwright.kernel.actions import MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.model import NO_COMMIT, Commit, Key
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.sightings import PullRequestSeen
from loopwright.ports.forge import Forge

BRANCH, KEY = "feature/one", Key("propose", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What people see of a proposal."""

    title: str
    body: str
    labels: tuple[str, ...]
    reviewers: tuple[str, ...]
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeStage:
    """A target with one commit. What people do, they do where the forge looks."""

    forge: Forge
    target: str
    commit: Callable[[str], Commit]  # one more commit on this branch of ours, which begins at the target
    person_commits: Callable[[str], Commit]  # one more commit of somebody else's on this branch, or on the target
    person_merges: Callable[[str], None]  # this branch into the target
    person_closes: Callable[[str, int], None]  # the proposal of this branch, with this number
    holds: Callable[[str], bool]  # whether the target has this commit
    shown: Callable[[int], Shown]


Contract = Callable[[ForgeStage], Coroutine[None, None, None]]


async def propose(stage: ForgeStage, commit: Commit, branch: str = BRANCH, **more: object) -> PullRequestSeen:
    said = {"title": "One", "body": "What it does.", **more}
    wanted = OpenPullRequest(key=KEY, branch=branch, target=stage.target, commit=commit, **said)  # type: ignore[arg-type]
    return await stage.forge.open(wanted)


async def look(stage: ForgeStage, number: int, commit: Commit, branch: str = BRANCH) -> PullRequest:
    wanted = ReadPullRequest(key=KEY, branch=branch, target=stage.target, number=number, commit=commit)
    answer = await stage.forge.read(wanted)
    assert (answer.failed, answer.away) == ("", False)
    return answer.seen


async def merge(stage: ForgeStage, number: int, commit: Commit) -> PullRequestSeen:
    wanted = MergePullRequest(key=KEY, branch=BRANCH, target=stage.target, number=number, commit=commit)
    return await stage.forge.merge(wanted)


async def c01_a_proposal_is_open_at_exactly_its_commit(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    answer = await propose(stage, commit, labels=("needs:review",), draft=True)
    assert (answer.key, answer.failed, answer.away) == (KEY, "", False)
    seen = answer.seen
    assert (seen.state, seen.head, seen.draft, seen.onto) == ("open", commit, True, NO_COMMIT)
    assert seen.number > 0
    assert seen.url
    assert await look(stage, seen.number, commit) == seen


async def c02_to_open_it_again_is_to_open_it_once(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    first = await propose(stage, commit, comment="Please look.")
    again = await propose(stage, commit, comment="Please look.")
    assert again == first
    await propose(stage, commit, comment="Please look again.")
    assert stage.shown(first.seen.number).comments == ("Please look.", "Please look again.")


async def c03_a_further_commit_is_proposed_by_the_same_one(stage: ForgeStage) -> None:
    first = await propose(stage, stage.commit(BRANCH))
    second = stage.commit(BRANCH)
    answer = await propose(stage, second)
    assert (answer.seen.number, answer.seen.head, answer.seen.state) == (first.seen.number, second, "open")


async def c04_somebody_elses_commit_on_the_branch_is_told_and_kept(stage: ForgeStage) -> None:
    ours = stage.commit(BRANCH)
    number = (await propose(stage, ours)).seen.number
    theirs = stage.person_commits(BRANCH)
    assert (await look(stage, number, ours)).head == theirs
    answer = await propose(stage, ours)
    assert answer.failed
    assert (answer.seen.head, answer.away) == (theirs, False)
    assert (await look(stage, number, ours)).head == theirs


async def c05_what_is_empty_stays_and_what_is_new_is_added(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    number = (await propose(stage, commit, labels=("a",), reviewers=("ada",), comment="First.")).seen.number
    await propose(stage, commit, title="", body="", labels=("b",))
    assert stage.shown(number) == Shown(
        title="One", body="What it does.", labels=("a", "b"), reviewers=("ada",), comments=("First.",)
    )
    await propose(stage, commit, title="Two", body="More.")
    assert (stage.shown(number).title, stage.shown(number).body) == ("Two", "More.")


async def c06_a_draft_becomes_ready_and_a_draft_again(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    seen = [(await propose(stage, commit, draft=draft)).seen for draft in (True, False, True)]
    assert [each.draft for each in seen] == [True, False, True]
    assert len({each.number for each in seen}) == 1


async def c07_every_branch_has_one_of_its_own(stage: ForgeStage) -> None:
    one, two = stage.commit(BRANCH), stage.commit("feature/two")
    first, second = await propose(stage, one), await propose(stage, two, "feature/two")
    assert first.seen.number != second.seen.number
    assert (await look(stage, second.seen.number, two, "feature/two")).head == two


async def c08_what_was_proposed_is_merged_once(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    number = (await propose(stage, commit)).seen.number
    first = await merge(stage, number, commit)
    assert (first.seen.state, first.failed, first.seen.onto) == ("merged", "", NO_COMMIT)
    assert first.seen.merged_as
    assert stage.holds(commit)
    assert stage.holds(first.seen.merged_as)
    assert await merge(stage, number, commit) == first
    assert await look(stage, number, commit) == first.seen
    assert (await propose(stage, commit)).seen.state == "merged"


async def c09_another_commit_than_the_one_proposed_is_not_merged(stage: ForgeStage) -> None:
    ours = stage.commit(BRANCH)
    number = (await propose(stage, ours)).seen.number
    theirs = stage.person_commits(BRANCH)
    answer = await merge(stage, number, ours)
    assert answer.failed
    assert (answer.seen.state, answer.seen.head, answer.away) == ("open", theirs, False)
    assert not stage.holds(ours)


async def c10_nothing_is_merged_into_a_target_that_has_moved(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    number = (await propose(stage, commit)).seen.number
    tip = stage.person_commits(stage.target)
    assert (await look(stage, number, commit)).onto == tip
    answer = await merge(stage, number, commit)
    assert "has moved on" in answer.failed
    assert (answer.seen.state, answer.seen.onto) == ("open", tip)
    assert not stage.holds(commit)


async def c11_what_somebody_else_merged_is_merged(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    number = (await propose(stage, commit)).seen.number
    stage.person_merges(BRANCH)
    seen = await look(stage, number, commit)
    assert seen.state == "merged"
    assert stage.holds(seen.merged_as)
    assert await merge(stage, number, commit) == PullRequestSeen(key=KEY, seen=seen)


async def c12_what_somebody_closed_is_closed(stage: ForgeStage) -> None:
    commit = stage.commit(BRANCH)
    number = (await propose(stage, commit)).seen.number
    stage.person_closes(BRANCH, number)
    assert (await look(stage, number, commit)).state == "closed"
    answer = await merge(stage, number, commit)
    assert answer.failed
    assert answer.seen.state == "closed"
    assert not stage.holds(commit)


async def c13_what_nobody_proposed_is_none(stage: ForgeStage) -> None:
    assert (await look(stage, 7, stage.commit(BRANCH))).state == "none"


CONTRACTS: tuple[Contract, ...] = (
    c01_a_proposal_is_open_at_exactly_its_commit,
    c02_to_open_it_again_is_to_open_it_once,
    c03_a_further_commit_is_proposed_by_the_same_one,
    c04_somebody_elses_commit_on_the_branch_is_told_and_kept,
    c05_what_is_empty_stays_and_what_is_new_is_added,
    c06_a_draft_becomes_ready_and_a_draft_again,
    c07_every_branch_has_one_of_its_own,
    c08_what_was_proposed_is_merged_once,
    c09_another_commit_than_the_one_proposed_is_not_merged,
    c10_nothing_is_merged_into_a_target_that_has_moved,
    c11_what_somebody_else_merged_is_merged,
    c12_what_somebody_closed_is_closed,
    c13_what_nobody_proposed_is_none,
)
