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
    Integrate,
    MergePullRequest,
    ReadPullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    WaitUntil,
)
from loopwright.kernel.events import Answered, Checkpointed, LoopEnded, StateEdited
from loopwright.kernel.model import NO_KEY, Commit, Ending, Key, Outcome, Tree
from loopwright.kernel.sightings import ChangeExamined
from tests.loops import lifecycle as lc
from tests.loops.test_lifecycle_shipping import MOVED, merges
from tests.loops.test_lifecycle_target_moved import conflicts

STUCK = LoopEnded(
    key=NO_KEY,
    outcome=Outcome(ending=Ending.ESCALATED, asking=Key("escalation", 1), findings=(lc.finding("it fails"),)),
)
NOTHING = Checkpointed(key=NO_KEY, commit=Commit("c"), tree=Tree("t"), unchanged=True)
THEIRS = Commit("theirs")
COMMITTED = StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": ["tests/test_a.py"]}))


def unchanged(action: Checkpoint) -> Checkpointed:
    return replace(NOTHING, key=action.key)


def blocked() -> lc.World:
    """In IMPLEMENT, since the loop of the first capability never gets there."""
    played = lc.World(lc.on(RunLoop, STUCK, times=3, step="implement"), tests=("tests/**",)).play()
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


@pytest.mark.parametrize("word", [lc.says("resume"), lc.says("continue", count=1)])
def test_what_a_person_mended_of_a_capability_is_looked_at_before_it_is_made_once_more(word: Answered) -> None:
    played = blocked()
    mended = {"commit": THEIRS, "paths": ["src/a.py"], "made": ["src/a.py", "src/b.py"], "whole": True}
    played.say(StateEdited(subject="branch", value=json.dumps(mended)))
    played.ledger.trees[THEIRS] = "tree-theirs"
    before = len(played.actions)
    played.say(word).play(lc.on(Announce, None, step="move"))
    steps = [each.key.step for each in played.actions[before:]]
    assert ("implement" in steps, "fix" in steps, "check" in steps) == (False, False, True)
    assert (played.state.heading.to, played.state.files) == ("TEST", ("src/a.py", "src/b.py"))
    assert played.state.grounded == ()  # code is judged, whoever wrote it
    played.rules.clear()
    assert played.play().stage == "COMPLETE"


def test_of_what_they_commit_tests_and_settings_judge_and_code_does_not() -> None:
    paths = ["src/a.py", "tests/test_a.py", "conftest.py", "setup.cfg", "data/rates.json", "src/new.ts"]
    said = StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": paths}))
    grounded = blocked().say(said).state.grounded
    assert [path for _, path in grounded] == ["tests/test_a.py", "conftest.py", "setup.cfg", "data/rates.json"]


def test_with_new_guidance_it_is_made_once_more_from_what_a_person_committed() -> None:
    played = blocked().say(StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": ["src/a.py"]})))
    played.ledger.trees[THEIRS] = "tree-theirs"
    made = played.say(lc.says("revise", text="and the rest")).until(RunLoop, step="implement")
    assert json.loads(made.params)["base"] == THEIRS


def test_what_a_stuck_loop_made_is_named_to_whoever_is_to_mend_it() -> None:
    stuck = replace(STUCK, outcome=replace(STUCK.outcome, commit=Commit("of-the-maker")))
    played = lc.World(lc.on(RunLoop, stuck, times=3, step="implement")).play()
    assert "(first `git merge of-the-maker` there" in played.question.question
    assert played.state.handed_over == "of-the-maker"
    played.rules.clear()
    played.say(lc.says("continue", count=1)).until(RunLoop, step="reviews")
    assert played.state.maker.commit == ""  # nobody who mends another begins with it


def test_what_was_made_and_has_not_landed_is_brought_together_with_what_a_person_committed() -> None:
    played = lc.at("VERIFY", tests=("tests/**",))
    made, landed = played.state.tip, played.state.landed
    assert made != played.state.landed_tip
    joined = played.say(COMMITTED).until(Combine)
    assert (joined.key.step, joined.base, joined.commits, joined.made_on) == ("join", THEIRS, (made,), (landed,))
    assert played.until(Combine, step="ground").keep == ((THEIRS, "tests/test_a.py"),)
    assert played.state.tip == played.until(RunAgent).start not in (made, THEIRS)
    assert (played.play().stage, played.state.theirs) == ("COMPLETE", "")


def test_where_they_have_merged_what_was_made_themselves_nothing_is_brought_together() -> None:
    whole = StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": [], "whole": True}))
    played = lc.at("VERIFY").say(whole)
    assert (played.state.tip, played.state.landed, played.state.theirs) == (THEIRS, THEIRS, "")


@pytest.mark.parametrize("step", ["implement", "reviews"])
def test_a_loop_that_was_begun_and_not_heard_of_is_not_gone_on_with(step: str) -> None:
    played = lc.World()
    first = played.until(RunLoop, step=step)
    again = played.say(COMMITTED).until(RunLoop, step=step)
    assert first.name != again.name
    assert (played.state.tip in again.params, played.state.tip in first.params) == (True, False)


def test_of_two_commits_by_hand_both_are_brought_together_with_what_was_made() -> None:
    played = lc.at("VERIFY")
    landed = played.state.landed
    later = StateEdited(subject="branch", value=json.dumps({"commit": "later", "paths": []}))
    joined = played.say(COMMITTED).say(later).until(Combine)
    assert (joined.base, joined.made_on) == ("later", (landed,))


def test_where_both_changed_the_same_lines_it_is_a_failure_of_that_state_and_decided_there() -> None:
    played = lc.at("VERIFY").say(COMMITTED).play(lc.on(Combine, conflicts, step="join"))
    (failure,) = played.state.history
    assert (failure.stage, failure.sort) == ("VERIFY", "merge")
    assert failure.error == "src/a.py - src/a.py conflicts with what you committed on the branch"
    assert "RETRY>VERIFY" in played.moves
    assert (played.stage, played.state.theirs, played.state.onto) == ("COMPLETE", "", "")


def test_fixes_that_have_not_landed_do_not_land_without_what_is_theirs() -> None:
    played = lc.at("VALIDATE", lc.check("perf", lc.red("perf"), times=1))
    played.until(Integrate)
    assert played.state.pieces
    assert played.say(COMMITTED).state.pieces == ()
    assert played.play().stage == "COMPLETE"


@pytest.mark.parametrize("stage", ["FAILED", "RETRY"])
def test_what_is_committed_while_it_is_mended_is_looked_at_where_it_failed(stage: str) -> None:
    played = lc.at("VERIFY", lc.check("lint", lc.red("lint"), times=1))
    while played.state.phase != stage:
        action, event = played.next()
        played.take(event, action)
    played.say(COMMITTED)
    assert played.state.phase == "VERIFY"
    assert played.play().stage == "COMPLETE"


MERGED = StateEdited(subject="branch", value=json.dumps({"commit": THEIRS, "paths": ["src/a.py"], "onto": "main-2"}))


def unmerged() -> lc.World:
    """In SHIP, with a conflict that no fix decides."""
    played = lc.at("SHIP")
    played.play(
        merges(MOVED),
        lc.on(Combine, conflicts, step="update"),
        lc.on(Checkpoint, unchanged, times=3, step="record-fix"),
    )
    assert (played.stage, played.state.resumes_at) == ("BLOCKED", "SHIP")
    return played


@pytest.mark.parametrize("word", [lc.says("resume"), lc.says("continue", count=1)])
def test_a_conflict_that_a_person_decided_by_hand_is_decided(word: Answered) -> None:
    played = unmerged().say(MERGED)
    assert (played.state.tip, played.state.onto, played.state.proposal.onto) == (THEIRS, "main-2", "")
    assert (played.state.failing, played.state.conflicted) == (THEIRS, "")
    played.ledger.trees[THEIRS] = "tree-theirs"
    before = len(played.actions)
    played.say(word).play(lc.gate("deploy", None))
    steps = [each.key.step for each in played.actions[before:]]
    assert ("update" in steps, "fix" in steps, "reviews" in steps, "check" in steps) == (False, False, True, True)
    assert played.waits_for() == ["deploy"]
    assert played.play(lc.gate("deploy", lc.approves)).stage == "COMPLETE"


def test_what_comes_to_a_branch_that_is_merged_is_not_taken_for_its_work() -> None:
    state = unmerged().state
    assert state.takes_commits
    assert not replace(state, merged=Commit("m")).takes_commits


def test_what_comes_to_a_branch_that_is_proposed_is_told_by_the_forge() -> None:
    played = lc.at("SHIP", forge="github")
    with pytest.raises(InvalidTransition, match="proposed to be merged"):
        played.say(COMMITTED)


def test_where_there_is_no_forge_but_git_it_is_taken_in_until_it_is_merged() -> None:
    played = lc.at("SHIP").say(COMMITTED)
    played.ledger.trees[THEIRS] = "tree-theirs"
    assert played.state.tip == THEIRS
    assert played.play().stage == "COMPLETE"
    assert not played.state.takes_commits


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
        return ChangeExamined(key=action.key, tree=Tree(""), paths=(own,), fresh=(own,), code=(own,))

    played = lc.World(lc.gate("deploy", lc.rejects("other names")), lc.on(ExamineChange, looked, times=None))
    worlds.append(played)
    played.until(RunLoop, step="reviews")
    again = played.until(RunLoop, step="implement")
    after = json.loads(again.params)["after"]
    assert (after["commit"], after["own"]) == (played.state.landed, ["tests/test_ship.py"])


@pytest.mark.parametrize("to", ["REVIEW", "IMPLEMENT", "SCAFFOLD"])
def test_what_is_gone_back_to_is_reviewed_again(to: str) -> None:
    played = lc.at("SHIP")
    (first,) = (each for each in played.actions if isinstance(each, RunLoop) and each.key.step == "reviews")
    again = played.say(lc.edits(to)).until(RunLoop, step="reviews")
    assert (again.said, first.name, again.name) == (None, "reviews-1", "reviews-2")
    assert played.play().stage == "COMPLETE"


def test_every_state_has_its_own_checks_though_nothing_was_changed_in_it() -> None:
    played = lc.at("VALIDATE", lc.on(Checkpoint, unchanged, times=None))
    before, tip = len(played.actions), played.state.tip
    played.play(lc.on(Announce, None, step="move"))
    asked = [each.names for each in played.actions[before:] if isinstance(each, RunChecks)]
    assert (asked, played.state.tip) == ([("build", "test", "security", "perf", "integration")], tip)


def test_one_that_somebody_made_a_draft_again_is_not_merged_before_it_is_none() -> None:
    played = lc.at("SHIP", lc.on(ReadPullRequest, lc.seen(draft=True)), forge="github")
    assert played.until(WaitUntil).why == "until the pull request is no draft any more"
    assert played.asked(MergePullRequest) == []
    assert played.play().stage == "COMPLETE"
