"""A system whose gates people decide on a pull request: what they find there, and what becomes of what they do."""

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Action, OpenPullRequest
from loopwright.kernel.events import Event, StateEdited
from loopwright.kernel.gates import PROTECTED
from loopwright.kernel.model import Commit, Tree
from loopwright.kernel.proposals import Deciders, Opinion, PullRequest
from loopwright.kernel.risks import Risk
from loopwright.kernel.sightings import ChangeExamined, PullRequestSeen
from loopwright.loops import course as c
from loopwright.loops.course import GateRecord, Station
from loopwright.loops.lifecycle.flow import onward
from loopwright.loops.lifecycle.opinions import heard
from loopwright.loops.lifecycle.proposing import comment, elsewhere
from loopwright.loops.lifecycle.state import LifecycleParams, LifecycleState, Step
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import Reply, Story, planned, risky

ASKED, LATER = "2026-02-05T10:00:05Z", "2026-02-05T10:00:06Z"
HOSTED = planned(forge="github", reviewers=(("security", "ada"), ("security", "sec@example.org"), ("deploy", "ada")))
MAY = Deciders(approvers=(("security", ("ada", "sec@example.org")), ("deploy", ("ada",))))
NO = Opinion(by="ada", said="changes-requested", text="Not like that.", at=LATER)


def opened(action: Action) -> Event:
    assert isinstance(action, OpenPullRequest)
    seen = PullRequest(number=7, url="https://git.test/7", state="open", head=action.commit, asked=ASKED)
    return PullRequestSeen(key=action.key, seen=replace(seen, draft=action.draft))


def looked(**shown: object) -> Reply:
    """The page as it is at the next look; `failed` is why what was asked was not done."""
    failed = str(shown.pop("failed", ""))

    def answer(action: Action) -> Event:
        head: Commit = getattr(action, "commit")  # noqa: B009 - of whatever is asked of a forge
        given = {"number": 7, "url": "https://git.test/7", "state": "open", "head": head, **shown}
        return PullRequestSeen(key=action.key, seen=PullRequest(**given), failed=failed)  # type: ignore[arg-type]

    return answer


def hosted(plan: LifecycleParams = HOSTED, **replies: list[Reply]) -> Story:
    story = Story(plan, propose=[opened] * 9)
    story.replies |= {step: list(each) for step, each in replies.items()}
    return story


def page(state: LifecycleState, /, *opinions: Opinion, **shown: object) -> PullRequest:
    given = {"number": 7, "url": "https://git.test/7", "state": "open", "head": state.landed, **shown}
    return PullRequest(opinions=opinions, **given)  # type: ignore[arg-type]


def shipping(plan: LifecycleParams = HOSTED, **replies: list[Reply]) -> Story:
    return hosted(plan, **replies).to(Stage.SHIP)


def test_people_find_it_before_they_are_waited_for_and_labels_of_what_is_decided_go() -> None:
    found: list[OpenPullRequest] = []

    def noted(action: Action) -> Event:
        assert isinstance(action, OpenPullRequest)
        found.append(action)
        return opened(action)

    Story(HOSTED, propose=[noted] * 9).done()
    security, deploy, shipped = found
    assert (security.draft, security.labels, security.reviewers) == (True, ("needs:security-review",), ("ada",))
    assert "## Security Review Requested" in security.comment
    assert "- [ ] no secret in the code" in security.comment
    assert "Needed: ada, sec@example.org." in security.comment
    assert "Closes #123" in security.body
    assert (deploy.labels, deploy.settled) == (("needs:deploy-review",), ("needs:security-review",))
    assert (shipped.draft, shipped.labels, shipped.comment) == (False, (), "")
    assert shipped.settled == ("needs:security-review", "needs:deploy-review")


def test_a_request_says_where_what_and_how_it_is_decided() -> None:
    places = (
        Risk(gate="database", rule="schema", file="m/1.sql", line=3, text="create table"),
        Risk(gate="database", rule="migrations", file="m/1.sql", line=0, text=""),
    )
    state = hosted(look=[risky(*places)] * 9).at_gate().state
    state = c.called_for(state, GateRecord(gate=PROTECTED, evidence="e", why="what judges was changed"))
    told = comment(state)
    assert "- `m/1.sql:3`: create table\n- `m/1.sql`: migrations\n" in told
    assert "Whoever belongs to the repository may decide, but for the author of the pull request." in told
    assert "This one is decided where the loop runs: `loop approve protected@e`." in told


def test_another_gate_of_the_same_commit_is_asked_for_there_too() -> None:
    state = hosted().at_gate().state
    assert onward(c.steered(state, station=None)).course.station is Station.GATE
    assert onward(c.steered(replace(state, requested=()), station=None)).step is Step.PROPOSE


def test_it_is_read_only_where_a_decision_is_waited_for_elsewhere() -> None:
    story = hosted()
    assert elsewhere(story.state) is None
    waits = story.at_gate().state
    assert elsewhere(replace(waits, plan=replace(waits.plan, forge="local"))) is None
    wanted = elsewhere(waits)
    assert wanted is not None
    assert (wanted.number, wanted.commit) == (7, waits.landed)
    late = story.said(StateEdited(subject="gate-timeout", value="")).to(Stage.BLOCKED).state
    assert elsewhere(late) is not None


def test_what_was_decided_there_moves_it_on_also_when_its_time_is_over() -> None:
    plan = replace(HOSTED, reviewers=())
    yes = Opinion(by="ada", said="approved", at=LATER, inside=True)
    story = hosted(plan).at_gate()
    for late in (False, True):
        if late:
            story = hosted(plan).at_gate().said(StateEdited(subject="gate-timeout", value="")).to(Stage.BLOCKED)
        (said,) = heard(story.state, page(story.state, yes), Deciders())
        assert story.said(said).to(Stage.DOCUMENT).state.course.gates[-1].by == "ada@git.test"


def test_a_no_there_sends_it_back_with_its_words() -> None:
    story = hosted().at_gate()
    (said,) = heard(story.state, page(story.state, NO), MAY)
    state = story.said(said).state
    assert (state.phase, state.findings[0].issue) == (Stage.IMPLEMENT, "A person rejected security: Not like that.")


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ({"state": "closed"}, "The pull request #7 was closed unmerged"),
        ({"state": "merged"}, "The pull request #7 was merged before what it waits for was decided"),
        ({"head": Commit("theirs")}, "Somebody pushed to feature/system-work-orders: it is at theirs, and "),
    ],
)
def test_what_somebody_does_to_it_meanwhile_blocks_with_what_was_seen(shown: dict[str, object], why: str) -> None:
    story = hosted().at_gate()
    (said,) = heard(story.state, page(story.state, NO, **shown), MAY)
    state = story.said(said).to(Stage.BLOCKED).state
    assert state.blocked is not None
    assert state.blocked.reason.startswith(why)
    assert heard(state, page(state, NO, **shown), MAY) == ()
    with pytest.raises(InvalidTransition, match="nothing is waited for there"):
        story.said(said)


def test_it_is_merged_only_when_the_checks_of_the_forge_have_ended_well() -> None:
    merging = looked(state="merged", merged_as=Commit("merge"))
    story = shipping(read=[looked(pending=("ci",)), looked()], merge=[merging]).to(Stage.COMPLETE)
    assert story.state.merged == "merge"
    red = shipping(read=[looked(red=("ci",))]).to(Stage.FAILED).state
    assert red.findings[0].issue == "Checks of the forge are red after the approval: ci"
    refused = shipping(read=[looked()], merge=[looked(red=("ci",), failed="a check is required")]).to(Stage.FAILED)
    assert refused.state.failure is not None
    blocked = shipping(read=[looked()], merge=[looked(failed="reviews are required")]).to(Stage.BLOCKED).state
    assert blocked.blocked is not None
    assert blocked.blocked.reason == "reviews are required"


def test_where_a_person_merges_it_is_looked_at_until_they_did() -> None:
    plan = replace(HOSTED, merges=False)
    story = shipping(plan, read=[looked(), looked(state="merged", merged_as=Commit("theirs"))]).to(Stage.COMPLETE)
    assert story.state.merged == "theirs"


def test_changes_that_are_asked_for_after_the_approval_send_it_back_if_they_are_an_approvers() -> None:
    state = shipping(read=[looked(opinions=(NO,))]).to(Stage.IMPLEMENT).state
    assert state.findings[0].issue == "A person rejected deploy: Not like that."
    for other in (replace(NO, by="eve"), replace(NO, at=ASKED)):
        assert shipping(read=[looked(opinions=(other,))] * 2).to(Stage.COMPLETE).state.merged


def test_what_is_mended_after_the_approval_is_approved_anew() -> None:
    story = shipping(read=[looked(red=("ci",))], look=[risky()] * 9).to(Stage.RETRY)
    approved = {gate.evidence for gate in story.state.course.gates}
    story.replies["look"] = [lambda action: ChangeExamined(key=action.key, tree=Tree("another"), code=("a",))] * 2
    waits = story.at_gate().state
    assert (waits.phase, [gate.gate for gate in waits.course.open_gates]) == (Stage.SHIP, ["deploy"])
    assert waits.course.open_gates[0].evidence not in approved
