"""What a system counts as built: what ran, what changed product code, and what a person took as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.kernel.actions import Checkpoint, ExamineChange, MergePullRequest, RunAgent, RunChecks, RunLoop
from loopwright.kernel.events import Checkpointed, LoopEnded
from loopwright.kernel.faults import engine_finding
from loopwright.kernel.model import NO_KEY, CheckResult, Commit, Ending, Finding, Key, Outcome, Severity, Tree
from loopwright.kernel.sightings import ChangeExamined
from loopwright.kernel.trust import Trust
from loopwright.loops.lifecycle.blocked_message import blocked_message
from loopwright.loops.lifecycle.closing import owed
from loopwright.loops.lifecycle.completing import conditions
from loopwright.loops.lifecycle.failures import SEVERITIES
from loopwright.loops.lifecycle.states import Stage
from tests.loops import lifecycle as lc

NOTHING = lc.on(ExamineChange, ChangeExamined(key=NO_KEY, tree=Tree(""), paths=("docs/a.md",)), times=None)
EVERYTHING = (
    *("implement", "test-generation", "code-verification", "code-validation", "integration-test", "security-audit"),
    *("perf-analysis", "document", "code-review", "refactor"),
)


def shown(played: lc.World) -> dict[str, tuple[bool, str]]:
    return {each.name: (each.met, each.shown_by) for each in conditions(played.state)}


# --- nothing was built


def test_a_capability_without_product_code_stops_and_asks() -> None:
    played = lc.world(NOTHING, capabilities=("take",))
    assert played.reason == "take changes no product code"
    assert (played.state.resumes_at, played.asked(MergePullRequest)) == (Stage.IMPLEMENT, [])
    assert [each.choice for each in played.question.options][:2] == ["accept", "resume"]
    assert played.asked(RunAgent, skill="test-generation") == []


def test_product_code_is_looked_for_since_the_capability_began() -> None:
    played = lc.world(capabilities=("take", "ship"))
    looks = [each for each in played.asked(ExamineChange) if each.built_on]
    first, second = dict.fromkeys(each.built_on for each in looks)
    assert first != second
    assert {each.built_on for each in played.asked(ExamineChange)} == {"", first, second}


def test_an_accepted_system_completes_as_accepted_with_its_condition_open() -> None:
    played = lc.world(NOTHING, capabilities=("take",)).say(lc.says("accept")).play()
    assert (played.stage, played.outcome.ending) == ("COMPLETE", Ending.ACCEPTED)
    assert shown(played)["All capabilities implemented"] == (False, "0 done; take accepted as it is")
    assert played.state.built == ()
    assert owed(played.state, "kim") == ("- **Accepted without product code** by kim: take",)


IDLE = LoopEnded(
    key=NO_KEY,
    outcome=Outcome(
        ending=Ending.ESCALATED,
        findings=(engine_finding("no-change", "No file was changed"),),
        asking=Key("escalation", 1),
    ),
)


def test_a_maker_that_changes_nothing_is_the_only_one_until_a_person_answers() -> None:
    played = lc.world(NOTHING, lc.on(RunLoop, IDLE, step="implement", times=None), capabilities=("take",))
    assert (played.reason, played.state.total) == ("take changes no product code", 0)
    assert len(played.asked(RunLoop, step="implement")) == 1
    assert played.say(lc.says("accept")).play().outcome.ending is Ending.ACCEPTED


def test_new_guidance_reaches_the_maker_that_changed_nothing() -> None:
    idle = lc.on(RunLoop, IDLE, step="implement")
    played = lc.at("IMPLEMENT", capabilities=("take",)).play(replace(NOTHING, times=1), idle)
    played.say(lc.says("revise", text="build it")).play()
    _, again = played.asked(RunLoop, step="implement")
    assert (again.said is not None, played.outcome.ending) == (True, Ending.VERIFIED)


def test_new_guidance_makes_the_capability_once_more() -> None:
    nothing = replace(NOTHING, times=1)
    played = lc.at("IMPLEMENT", capabilities=("take",)).play(nothing)
    played.say(lc.says("revise", text="build it")).play()
    assert len(played.asked(RunLoop, step="implement")) == 2
    assert (played.outcome.ending, played.state.built) == (Ending.VERIFIED, ("take",))


def test_each_capability_that_builds_nothing_is_asked_about() -> None:
    played = lc.world(NOTHING).say(lc.says("accept")).play()
    assert (played.reason, played.state.done) == ("ship changes no product code", ("take",))


# --- what was skipped


def test_a_system_whose_skills_were_all_skipped_is_not_built() -> None:
    played = lc.World(NOTHING, capabilities=("take",))
    for skill in EVERYTHING:
        played.say(lc.skips(skill))
    assert played.play().reason == "take changes no product code"
    played.say(lc.says("accept")).play()
    assert played.outcome.ending is Ending.ACCEPTED
    met = {name for name, (is_met, _) in shown(played).items() if is_met}
    assert met == {
        "All tests passing",
        "Code verification passing (lint, types, complexity)",
        "Performance targets met",
        "PR approved and merged",
        "All required gates approved",
    }
    assert shown(played)["Documentation updated"] == (False, "skipped by kim: done by hand")
    assert shown(played)["Code review self-assessment passing"] == (False, "skipped by kim: done by hand")


def test_a_skipped_capability_beside_a_built_one_stays_open_and_holds_up_nothing() -> None:
    played = lc.World()
    played.until(RunLoop, name="capability-2-2")
    played.say(lc.skips("implement", "bought")).play(
        lc.Rule(lambda action: isinstance(action, ExamineChange) and bool(action.built_on), NOTHING.says, None)
    )
    assert (played.outcome.ending, played.state.built) == (Ending.VERIFIED, ("take",))
    assert shown(played)["All capabilities implemented"] == (False, "1 done; ship skipped: bought")
    assert played.state.course.decisions == ("skill implement skipped by kim (bought)",)


def test_code_verification_without_a_check_rests_on_its_skill() -> None:
    played = lc.world(checks=("build", "test"))
    name = "Code verification passing (lint, types, complexity)"
    assert shown(played)[name] == (True, "the skill code-verification; not configured: lint, types, complexity")


# --- what skills may change


@pytest.mark.parametrize(
    ("skill", "puts_back"), [("test-generation", "product"), ("document", "code"), ("refactor", ""), ("scaffold", "")]
)
def test_what_a_skill_may_not_change_is_put_back(skill: str, puts_back: str) -> None:
    played = lc.world(capabilities=("take",))
    (taken,) = (each for each in played.asked(Checkpoint, step="record") if each.why == f"what {skill} left")
    assert taken.puts_back == puts_back


def test_what_was_put_back_is_said() -> None:
    def taken(action: Checkpoint) -> Checkpointed:
        commit = played.commit()
        tree = Tree(played.ledger.trees[commit])
        dropped = ("src/a.py",) if action.puts_back == "product" else ()
        return Checkpointed(key=action.key, commit=commit, tree=tree, files=1, dropped=dropped)

    played = lc.World(lc.on(Checkpoint, taken, times=None, step="record"), capabilities=("take",))
    played.play()
    assert played.state.remarks == ("test-generation may not change src/a.py: put back",)


@pytest.mark.parametrize("stage", ["VERIFY", "VALIDATE", "DOCUMENT", "REVIEW"])
def test_what_a_later_state_lands_is_noticed_by_itself(stage: str) -> None:
    played = lc.at(stage)
    after = played.until(RunChecks, step="check").after
    assert (after.noticed, after.commit) == (stage != "VERIFY", played.state.landed if stage != "VERIFY" else "")


# --- a base that is red


LINT = Finding(
    severity=Severity.HIGH,
    category="checks",
    rule="lint",
    issue="check 'lint' failed: `ruff check` ended with exit code 1",
    evidence="ruff check\nsrc/a.py:3:8: F401 `os` imported but unused",
)
RED = lc.results(CheckResult(name="lint", passed=False, failures=(LINT,)), CheckResult(name="test", passed=True))
PREFLIGHT = lc.on(RunChecks, RED, step="preflight", times=None)


def test_a_red_base_is_asked_about_before_anybody_is_paid() -> None:
    played = lc.world(PREFLIGHT, trust=Trust(in_force=True))
    assert played.reason.startswith("lint failed on the base, before anything was made: src/a.py:3 - ")
    assert (played.asked(RunAgent), played.state.total) == ([], 0)
    assert [each.choice for each in played.question.options][:2] == ["resume", "continue"]


def test_going_on_with_a_red_base_begins_with_the_first_skill() -> None:
    played = lc.world(PREFLIGHT, trust=Trust(in_force=True)).say(lc.says("continue"))
    assert played.until(RunAgent).skill == "entry-portal"
    assert len(played.asked(RunChecks, step="preflight")) == 1


def test_a_base_that_is_said_to_be_mended_is_tried_again() -> None:
    played = lc.world(PREFLIGHT, trust=Trust(in_force=True)).say(lc.says("resume")).play()
    assert played.reason.startswith("lint failed on the base")
    played.rules.remove(PREFLIGHT)
    assert played.say(lc.says("resume")).play().stage == "COMPLETE"


def test_what_stops_the_loop_within_has_its_sort_and_place() -> None:
    stuck = LoopEnded(
        key=NO_KEY,
        outcome=Outcome(ending=Ending.ESCALATED, findings=(LINT, replace(LINT, issue="and more", rule="S1"))),
    )
    played = lc.world(lc.on(RunLoop, stuck, step="implement", times=None))
    failure = played.state.failure
    assert failure is not None
    assert (failure.sort, SEVERITIES[failure.sort]) == ("lint", Severity.MEDIUM)
    assert (failure.file, failure.line) == ("src/a.py", 3)
    assert "(src/a.py:3)" in blocked_message(played.state)


@pytest.mark.parametrize(
    ("finding", "sort"),
    [
        (replace(LINT, rule="not-finished build"), "build"),
        (replace(LINT, category="static", rule="F401"), "lint"),
        (replace(LINT, category="tests", rule="t::one"), "tests"),
        (replace(LINT, category="engine", rule="x"), "skill"),
    ],
)
def test_a_finding_of_the_loop_within_is_of_the_sort_of_its_check(finding: Finding, sort: str) -> None:
    stuck = LoopEnded(key=NO_KEY, outcome=Outcome(ending=Ending.ESCALATED, commit=Commit("x"), findings=(finding,)))
    assert lc.world(lc.on(RunLoop, stuck, step="implement")).state.history[0].sort == sort
