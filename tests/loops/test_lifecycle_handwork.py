"""What a person does with their own hands: commits on the system's branch, and ways back to an earlier state."""

import json
from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Announce,
    Checkpoint,
    Combine,
    ExamineChange,
    MergePullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    WaitUntil,
)
from loopwright.kernel.events import Checkpointed, LoopEnded, StateEdited
from loopwright.kernel.model import NO_KEY, Commit, Ending, Key, Outcome, Tree
from loopwright.kernel.sightings import ChangeExamined
from tests.loops import lifecycle as lc

STUCK = LoopEnded(
    key=NO_KEY,
    outcome=Outcome(ending=Ending.ESCALATED, asking=Key("escalation", 1), findings=(lc.finding("it fails"),)),
)
NOTHING = Checkpointed(key=NO_KEY, commit=Commit("c"), tree=Tree("t"), unchanged=True)
THEIRS = Commit("theirs")
COMMITTED = StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": ["tests/test_a.py"]}))


def blocked() -> lc.World:
    """In IMPLEMENT, since the loop of the first capability never gets there."""
    played = lc.World(lc.on(RunLoop, STUCK, times=3, step="implement")).play()
    assert (played.stage, played.state.resumes_at) == ("BLOCKED", "IMPLEMENT")
    return played


def test_what_a_person_commits_on_the_branch_is_what_the_work_goes_on_from() -> None:
    played = blocked()
    assert "and commit it on the branch feature/system-orders" in played.question.question
    played.say(COMMITTED)
    assert (played.state.tip, played.state.landed) == (THEIRS, THEIRS)
    played.say(lc.says("resume"))
    ground = played.until(Combine)
    assert (THEIRS, "tests/test_a.py") in ground.keep
    made = played.until(RunLoop, step="implement")
    assert (json.loads(made.params)["base"], made.said, made.name) == (THEIRS, None, "capability-1-2")
    assert played.play().stage == "COMPLETE"


def test_what_is_committed_while_it_goes_on_is_taken_up_at_once() -> None:
    played = lc.at("TEST")
    played.say(COMMITTED)
    assert played.until(Combine).keep == ((THEIRS, "tests/test_a.py"),)
    assert played.until(RunAgent).start == THEIRS


def test_what_comes_to_a_branch_that_is_proposed_is_told_by_the_forge() -> None:
    played = lc.at("SHIP")
    with pytest.raises(InvalidTransition, match="proposed to be merged"):
        played.say(COMMITTED)


def test_who_goes_back_to_an_earlier_state_begins_the_loop_of_a_capability_anew() -> None:
    played = blocked()
    played.say(StateEdited(subject="state", value='"SCAFFOLD"'))
    made = played.until(RunLoop, step="implement")
    assert (made.said, made.name) == (None, "capability-1-2")
    assert json.loads(made.params)["base"] == played.state.tip


def test_a_capability_that_is_made_again_may_change_what_it_made_itself() -> None:
    worlds: list[lc.World] = []

    def looked(action: ExamineChange) -> ChangeExamined:
        own = f"tests/test_{worlds[0].state.current}.py"
        return ChangeExamined(key=action.key, tree=Tree(""), paths=(own,), fresh=(own,))

    played = lc.World(lc.gate("deploy", lc.rejects("other names")), lc.on(ExamineChange, looked, times=None))
    worlds.append(played)
    played.until(RunLoop, step="reviews")
    again = played.until(RunLoop, step="implement")
    after = json.loads(again.params)["after"]
    assert (after["commit"], after["words"]) == (played.state.landed, ["tests/test_ship.py"])


@pytest.mark.parametrize("to", ["REVIEW", "IMPLEMENT", "SCAFFOLD"])
def test_what_is_gone_back_to_is_reviewed_again(to: str) -> None:
    played = lc.at("SHIP")
    (first,) = (each for each in played.actions if isinstance(each, RunLoop) and each.key.step == "reviews")
    again = played.say(lc.edits(to)).until(RunLoop, step="reviews")
    assert (again.said, first.name, again.name) == (None, "reviews-1", "reviews-2")
    assert played.play().stage == "COMPLETE"


def test_every_state_has_its_own_checks_though_nothing_was_changed_in_it() -> None:
    played = lc.at("VALIDATE", lc.on(Checkpoint, lambda action: replace(NOTHING, key=action.key), times=None))
    before, tip = len(played.actions), played.state.tip
    played.play(lc.on(Announce, None, step="move"))
    asked = [each.names for each in played.actions[before:] if isinstance(each, RunChecks)]
    assert (asked, played.state.tip) == ([("build", "test", "security", "perf", "integration")], tip)


def test_one_that_somebody_made_a_draft_again_is_not_merged_before_it_is_none() -> None:
    played = lc.at("SHIP", lc.on(ReadPullRequest, lc.seen(draft=True)), forge="github")
    assert played.until(WaitUntil).why == "until the pull request is no draft any more"
    assert played.asked(MergePullRequest) == []
    assert played.play().stage == "COMPLETE"
