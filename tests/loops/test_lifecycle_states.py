"""The states of a system: what each asks for and is left with, which follows which, its checks and its skills."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import (
    Announce,
    Checkpoint,
    CleanUp,
    ExamineChange,
    ExamineFiles,
    Integrate,
    MergePullRequest,
    RunAgent,
    RunChecks,
    RunLoop,
    Tell,
)
from loopwright.kernel.deliverables import FileFault
from loopwright.kernel.events import AgentUnavailable, Answered, LoopEnded, StateEdited, TimeReached
from loopwright.kernel.model import NO_KEY, Ending, Finding, Key, LoopId, Outcome, Severity, Tree, Verdict
from loopwright.kernel.sightings import ChangeExamined, FilesExamined
from loopwright.loops.lifecycle.blocked_message import blocked_message, escalation_record
from loopwright.loops.lifecycle.machine import LIFECYCLE
from tests.loops import lifecycle as lc

# In the order of the table, each state's own skill last.
SKILLS = {
    "INIT": ("entry-portal", "requirements", "spec", "estimation", "triage", "memory-manager"),
    "SCAFFOLD": ("architect", "architecture-review", "git-workflow", "scaffold"),
    "IMPLEMENT": ("implement",),
    "TEST": ("test-generation",),
    "VERIFY": ("code-verification",),
    "VALIDATE": ("integration-test", "security-audit", "perf-analysis", "code-validation"),
    "DOCUMENT": ("document",),
    "REVIEW": ("refactor", "code-review"),
    "SHIP": ("deploy", "git-workflow"),
    "COMPLETE": ("retrospective", "calibration-tracker", "loop-controller", "memory-manager"),
}
STRAIGHT = [f"{begin}>{end}" for begin, end in zip(lc.ORDER, lc.ORDER[1:], strict=False)]


def invoked(stage: str) -> list[str]:
    """What is done in a state, by what it is asked as."""
    played = lc.at(stage, capabilities=("take",))
    before = len(played.actions)
    played.play(lc.on(Announce, None, step="move"))
    found = []
    for action in played.actions[before:]:
        match action:
            case RunAgent():
                found.append(action.skill)
            case Announce(text=text) if text.startswith("skill "):
                found.append(text.split()[1].rstrip(":"))
            case RunLoop() if action.key.step == "implement":
                found.append("implement")
            case _:
                pass
    return found


@pytest.mark.parametrize("stage", SKILLS)
def test_every_skill_of_a_state_is_invoked_in_the_order_of_the_table_its_own_last(stage: str) -> None:
    assert tuple(invoked(stage)) == SKILLS[stage]


def test_a_system_goes_through_the_ten_states_and_is_complete() -> None:
    played = lc.world(capabilities=("take",))
    assert played.moves == STRAIGHT
    assert (played.stage, played.outcome.ending, played.outcome.merged_into) == ("COMPLETE", Ending.VERIFIED, "main")
    assert played.outcome.commit == "merged"


def test_every_capability_is_made_tested_and_verified_before_the_whole_is_validated() -> None:
    played = lc.world(capabilities=("take", "ship", "bill"))
    each = ["IMPLEMENT>TEST", "TEST>VERIFY"]
    assert played.moves[1:-5] == [
        "SCAFFOLD>IMPLEMENT",
        *each,
        "VERIFY>IMPLEMENT",
        *each,
        "VERIFY>IMPLEMENT",
        *each,
    ]
    assert played.state.done == ("take", "ship", "bill")
    assert [json.loads(run.params)["branch"] for run in played.asked(RunLoop, step="implement")] == ["b"] * 3


def test_a_capability_is_a_commit_of_the_branch_once_it_is_verified() -> None:
    played = lc.world()
    found = [each.message for each in played.asked(Integrate)]
    assert found == [
        "docs(sys-001): specification of Orders",
        "chore(sys-001): scaffold of Orders",
        "feat(sys-001): take",
        "feat(sys-001): ship",
        "docs(sys-001): validation of Orders",
        "docs(sys-001): documentation of Orders",
        "chore(sys-001): review of Orders",
    ]


def test_capabilities_come_from_the_specification_where_nobody_named_any() -> None:
    named = lc.skill("spec", lc.reports(capabilities=["take", "ship", "take", 7, " "]))
    assert lc.world(named, capabilities=()).state.done == ("take", "ship")
    assert lc.world(named).state.done == ("take", "ship")  # as the person has it
    assert lc.world(capabilities=()).state.done == ("Orders",)  # else it is one itself


@pytest.mark.parametrize("said", [[], {"estimate": 3}, {"estimate": {"hours": "many"}}, {"estimate": {"hours": -1}}])
def test_an_estimate_that_is_none_is_not_taken(said: object) -> None:
    report = lc.reports()
    odd = replace(report, report=replace(report.report, extras=json.dumps(said)))
    assert lc.world(lc.skill("estimation", odd)).state.hours is None


def test_an_estimate_is_kept() -> None:
    assert lc.world(lc.skill("estimation", lc.reports(estimate={"hours": 12}))).state.hours == 12.0


# --- verification ---------------------------------------------------------------------------------------------------

LEFT = {
    "INIT": "SCAFFOLD",
    "SCAFFOLD": "IMPLEMENT",
    "IMPLEMENT": "TEST",
    "TEST": "VERIFY",
    "VERIFY": "VALIDATE",
    "VALIDATE": "DOCUMENT",
    "DOCUMENT": "REVIEW",
    "REVIEW": "SHIP",
}


@pytest.mark.parametrize(("stage", "to"), LEFT.items())
def test_a_state_is_left_when_exactly_its_checks_have_passed(stage: str, to: str) -> None:
    played = lc.at(stage, capabilities=("take",))
    before = len(played.actions)
    move = played.until(Announce, step="move")
    assert move.text == f"{stage} → {to}"
    ran = [each.names for each in played.actions[before:] if isinstance(each, RunChecks)]
    assert ran == ([lc.MATRIX[stage]] if lc.MATRIX[stage] else [])


def test_the_next_capability_needs_what_the_last_one_needs() -> None:
    played = lc.at("VERIFY")
    before = len(played.actions)
    assert played.until(Announce, step="move").text == "VERIFY → IMPLEMENT"
    (ran,) = (each.names for each in played.actions[before:] if isinstance(each, RunChecks))
    assert ran == lc.MATRIX["VERIFY"]


@pytest.mark.parametrize(
    ("stage", "name"), [(stage, name) for stage, names in lc.MATRIX.items() for name in names], ids=str
)
def test_no_state_is_left_while_one_of_its_checks_fails(stage: str, name: str) -> None:
    played = lc.at(stage, capabilities=("take",))
    before = len(played.moves)
    played.play(lc.on(RunChecks, lc.red(name), times=None), lc.on(RunAgent, None, step="diagnose"))
    assert played.moves[before] == f"{stage}>FAILED"
    assert played.state.phase in ("RETRY", "BLOCKED")


def test_only_what_is_configured_has_to_pass() -> None:
    played = lc.world(checks=("build",), capabilities=("take",))
    assert [each.names for each in played.asked(RunChecks)] == [("build",)] * 7
    assert lc.world(checks=()).asked(RunChecks) == []
    named = lc.world(checks=("style",), capabilities=("take",))
    assert len(named.asked(RunChecks, names=("style",))) == 2  # another name looks at the code as a linter does


def test_a_merge_needs_what_the_review_needs() -> None:
    played = lc.World()
    merge = played.until(MergePullRequest)
    assert merge.commit == played.state.landed
    assert {name for commit, _, name in played.ledger.passed if commit == merge.commit} == set(lc.CHECKS)


def test_tests_of_earlier_capabilities_stay_as_they_landed() -> None:
    later = lc.at("VALIDATE")
    check = later.until(RunChecks)
    assert check.after.commit == later.state.landed != lc.BASE
    early = lc.at("IMPLEMENT").until(RunChecks)
    assert (early.trust.tests_to_come, check.trust.tests_to_come) == (True, False)


# --- skills ---------------------------------------------------------------------------------------------------------


def test_a_skill_that_is_skipped_with_a_reason_is_not_invoked() -> None:
    played = lc.World()
    played.say(lc.skips("triage"))
    played.play()
    assert played.stage == "COMPLETE"
    assert played.asked(RunAgent, skill="triage") == []
    (skip,) = played.state.skips
    assert (skip.stage, skip.skill, skip.reason, skip.by) == ("INIT", "triage", "done by hand", "kim")


def test_the_skill_that_is_under_way_is_left_when_it_is_skipped() -> None:
    played = lc.World()
    assert played.until(RunAgent).skill == "entry-portal"
    assert played.say(lc.skips("entry-portal")).until(RunAgent).skill == "requirements"
    played.until(ExamineFiles)
    assert played.say(lc.skips("requirements")).until(RunAgent).skill == "spec"
    played.until(Checkpoint)
    assert played.say(lc.skips("spec")).until(RunAgent).skill == "estimation"


@pytest.mark.parametrize(
    ("skill", "reason", "why"),
    [
        ("triage", " ", "a skip needs a reason"),
        ("deploy-gate", "no", "no skill 'deploy-gate'"),
        ("security", "no", "no skill 'security'"),  # a gate, which nobody skips
        ("entry-portal", "no", "not needed from here on"),
        ("debug-assist", "no", "not needed from here on"),
        ("architect", "no", "done already"),
    ],
)
def test_a_skip_is_refused(skill: str, reason: str, why: str) -> None:
    played = lc.at("SCAFFOLD")
    played.until(RunAgent, skill="architecture-review")
    with pytest.raises(InvalidTransition, match=why):
        played.say(lc.skips(skill, reason))


def test_a_skill_that_cannot_be_done_blocks_with_its_two_options() -> None:
    played = lc.world(lc.skill("architect", lc.CANNOT))
    assert played.reason == "⚠️ Cannot proceed: architect not invoked"
    told = played.state.blocked
    assert told is not None
    assert told.ask == (
        'Invoke the skill now, or skip with reason: skip architect --reason "explanation". It said: no network'
    )
    assert "SCAFFOLD>BLOCKED" in played.moves
    played.say(lc.skips("architect"))
    assert played.play().stage == "COMPLETE"


def test_a_skill_that_could_not_be_done_is_invoked_again_when_a_person_says_so() -> None:
    mute = replace(lc.CANNOT, report=replace(lc.CANNOT.report, summary=""))
    played = lc.world(lc.skill("architect", mute))
    assert played.state.blocked is not None
    assert played.state.blocked.ask.endswith('--reason "explanation".')
    assert played.say(lc.says("resume")).until(RunAgent).skill == "architect"
    assert played.play().stage == "COMPLETE"


def test_another_skip_leaves_it_blocked() -> None:
    played = lc.world(lc.skill("architect", lc.CANNOT))
    played.say(lc.skips("document"))
    assert played.reason.endswith("architect not invoked")


def test_what_a_skill_has_to_leave_is_looked_at_and_done_again_where_it_is_not_there() -> None:
    empty = FilesExamined(
        key=NO_KEY, faults=(FileFault(path="docs/systems/sys-001/FEATURESPEC.md", why="it is empty"),)
    )
    played = lc.World()
    played.until(RunAgent, skill="spec")
    played.play(lc.on(ExamineFiles, empty))
    assert played.moves[:3] == ["INIT>FAILED", "FAILED>RETRY", "RETRY>INIT"]
    assert len(played.asked(RunAgent, skill="spec")) == 2
    assert played.stage == "COMPLETE"
    (failure,) = played.state.history
    assert (failure.sort, failure.resolved, failure.error) == (
        "skill",
        True,
        "docs/systems/sys-001/FEATURESPEC.md - it is empty",
    )


def test_a_persons_own_version_of_a_skill_may_leave_something_else() -> None:
    played = lc.World(leaves=(("spec", "SPEC.md"),))
    played.until(RunAgent, skill="spec")
    (wanted,) = played.until(ExamineFiles).wanted
    assert (wanted.path, wanted.section) == ("docs/systems/sys-001/SPEC.md", "")


def test_who_judges_has_to_give_a_verdict() -> None:
    asked = {run.skill for run in lc.world().asked(RunAgent) if run.needs_verdict}
    judging = {"architecture-review", "code-validation", "integration-test", "security-audit", "perf-analysis"}
    assert asked == {*judging, "code-review"}


def test_a_skill_that_judges_decides_by_its_no_and_by_what_is_grave() -> None:
    mild = lc.finding("a name is long", Severity.LOW)
    assert lc.world(lc.skill("code-review", lc.reports(mild, verdict=Verdict.PASS))).state.total == 0
    assert lc.world(lc.skill("code-review", lc.reports(mild, verdict=Verdict.FAIL))).state.total == 1
    assert lc.world(lc.skill("code-review", lc.reports(verdict=Verdict.FAIL))).state.total == 1
    assert lc.world(lc.skill("code-review", lc.reports(lc.finding("hole"), verdict=Verdict.PASS))).state.total == 1
    assert lc.world(lc.skill("code-review", lc.reports(lc.finding("hole")))).state.total == 1
    assert lc.world(lc.skill("security-audit", lc.reports(lc.finding("hole")))).reason.startswith("A security finding")
    unsaid = lc.world(lc.skill("code-validation", lc.reports()))
    assert unsaid.state.history[0].error == "code-validation gave no verdict: it has to say pass or fail"
    mended = lc.world(lc.skill("code-validation", lc.reports(mild, verdict=Verdict.FAIL)))
    assert [each.key.step for each in mended.asked(RunAgent, step="fix")] == ["fix"]  # it is not just asked again


def test_an_agent_that_crashes_is_respawned_once_and_then_has_failed() -> None:
    played = lc.world(lc.skill("architect", lc.crashes(1)), lc.skill("architect", lc.crashes(2)))
    assert (played.stage, played.state.total) == ("COMPLETE", 1)
    assert played.state.history[0].error == "architect did not end well: crashed: segfault c"


def test_an_agent_that_is_not_there_is_waited_for() -> None:
    away = AgentUnavailable(key=NO_KEY, until=9.0, role="skill")
    assert lc.world(lc.skill("architect", away, times=3)).state.total == 0
    old = AgentUnavailable(key=NO_KEY, until=9.0)  # of a log that does not tell the role
    stuck = lc.at("SCAFFOLD").play(lc.skill("architect", None))
    for _ in range(3):
        stuck.say(old)
        stuck.say(TimeReached(key=NO_KEY))
    assert stuck.play().stage == "COMPLETE"


def test_an_ambiguous_requirement_blocks_until_a_person_answers() -> None:
    played = lc.world(lc.skill("requirements", lc.ASKS))
    assert (played.stage, played.state.phase) == ("BLOCKED", "INIT")
    assert played.question.why == "the skill cannot go on without a person: Which currency?"
    message = blocked_message(played.state)
    assert "**Reason:** Ambiguous requirement discovered: Which currency?" in message
    assert "set state to INIT" in message
    assert escalation_record(played.state)["escalatedTo"] == "product owner"
    assert played.question.question == "Which currency?"
    played.say(lc.says("euro"))
    again = played.until(RunAgent)
    assert (again.skill, again.brief.answers) == ("requirements", ("Which currency?\n→ euro",))
    assert played.play().stage == "COMPLETE"


# --- the loops within -----------------------------------------------------------------------------------------------


def stuck(*found: Finding, ending: Ending = Ending.ESCALATED) -> LoopEnded:
    asking = Key("escalation", 1) if ending is Ending.ESCALATED else NO_KEY
    return LoopEnded(key=NO_KEY, outcome=Outcome(ending=ending, findings=found, note="three times", asking=asking))


def test_a_loop_that_is_stuck_is_a_failure_and_goes_on_with_the_diagnosis() -> None:
    played = lc.World(
        lc.on(RunLoop, stuck(lc.finding("assert 1", category="tests")), step="implement"),
        lc.skill("debug-assist", lc.reports(summary="the clock", advice={"diagnosis": ["x"], "recommendations": "y"})),
    )
    played.play()
    assert played.moves[2:5] == ["IMPLEMENT>FAILED", "FAILED>RETRY", "RETRY>IMPLEMENT"]
    first, again, other = played.asked(RunLoop, step="implement")
    assert (first.said, first.name, again.name, other.name) == (
        None,
        "capability-1-1",
        "capability-1-1",
        "capability-2-2",
    )
    assert again.said == Answered(key=Key("escalation", 1), choice="continue", count=1, advice="the clock\n- x")
    assert played.state.history[0].sort == "tests"


def test_a_loop_that_has_ended_badly_is_begun_anew() -> None:
    played = lc.world(lc.on(RunLoop, stuck(ending=Ending.FAILED), step="implement"))
    first, again, _ = played.asked(RunLoop, step="implement")
    assert (first.name, again.name, again.said) == ("capability-1-1", "capability-1-2", None)
    assert played.state.history[0].error == "It was not made: three times"


def test_what_a_person_took_untested_in_a_part_is_accepted_and_not_verified() -> None:
    took = LoopEnded(key=NO_KEY, outcome=Outcome(ending=Ending.ACCEPTED))
    assert lc.world(lc.on(RunLoop, took, step="implement")).outcome.ending is Ending.ACCEPTED


def test_the_changed_files_are_reviewed_but_for_tests_and_papers() -> None:
    paths = ("src/a.py", "tests/test_a.py", "docs/systems/sys-001/X.md", "README.md")
    seen = ChangeExamined(key=NO_KEY, tree=Tree(""), paths=paths, code=("src/a.py",))
    played = lc.World(lc.on(ExamineChange, seen, times=None), tests=("tests/**",))
    run = played.until(RunLoop, step="reviews")
    given = json.loads(run.params)
    assert [each["path"] for each in given["artifacts"]] == ["src/a.py"]
    assert json.loads(given["artifacts"][0]["own"]) == {"story": "sys-001-src-a-py"}
    assert json.loads(given["shared"])["against"] == lc.BASE
    assert (run.kind, given["base"]) == ("of-files", played.state.tip)


def test_without_such_files_there_is_nothing_to_review() -> None:
    papers = ChangeExamined(key=NO_KEY, tree=Tree(""), paths=("README.md",), code=("README.md",))
    played = lc.world(lc.on(ExamineChange, papers, times=None))
    assert (played.asked(RunLoop, step="reviews"), played.stage) == ([], "COMPLETE")


def test_a_review_that_did_not_pass_is_a_failure_and_goes_on_after_a_diagnosis() -> None:
    played = lc.world(
        lc.on(RunLoop, stuck(), step="reviews"), lc.on(RunLoop, stuck(ending=Ending.FAILED), step="reviews")
    )
    first, again, anew = played.asked(RunLoop, step="reviews")
    assert [first.name, again.name, anew.name] == ["reviews-1", "reviews-1", "reviews-2"]
    assert (first.said, again.said is not None, anew.said) == (None, True, None)
    assert [each.sort for each in played.state.history] == ["review", "review"]
    assert played.stage == "COMPLETE"


# --- completion -----------------------------------------------------------------------------------------------------


def test_the_five_actions_of_completion_come_in_order() -> None:
    played = lc.at("COMPLETE")
    before = len(played.actions)
    played.play()
    skills = ("skill", "record", "examine")
    found = [each for each in played.actions[before:] if each.key.step not in skills]
    assert [each.key.step for each in found] == ["weigh", "update-queue", "handoff", "interfaces", "clean", "next"]
    weigh, queue, handoff, interfaces, clean, following = found
    assert isinstance(weigh, Announce)
    assert weigh.text.count("[x]") == 10
    assert isinstance(queue, Tell)
    assert isinstance(queue.said, StateEdited)
    assert json.loads(queue.said.value) == {"status": "complete", "loop": "lc-1"}
    assert isinstance(handoff, Announce)
    assert handoff.text == "2. create handoff: what was built of Orders"
    assert isinstance(interfaces, Announce)
    assert interfaces.text == "3. update interfaces: contracts of sys-001 are final; told: sys-002"
    assert isinstance(clean, CleanUp)
    assert clean.branch == ""
    assert isinstance(following, Announce)
    assert following.text == "5. trigger next: sys-002 is ready"
    assert (played.state.unblocked, played.state.next) == (("sys-002",), "sys-002")


def test_a_system_without_a_queue_is_complete_all_the_same() -> None:
    played = lc.world(queue=LoopId(""), delete_branch=True)
    assert (played.asked(Tell), played.stage) == ([], "COMPLETE")
    (queue,) = played.asked(Announce, step="update-queue")
    assert queue.text == "1. update queue: there is none"
    (clean,) = played.asked(CleanUp)
    assert clean.branch == "feature/system-orders"
    (following,) = played.asked(Announce, step="next")
    assert following.text == "5. trigger next: no system is ready"
    (interfaces,) = played.asked(Announce, step="interfaces")
    assert interfaces.text == "3. update interfaces: contracts of sys-001 are final"


def test_where_it_stands_is_told() -> None:
    played = lc.at("TEST")
    stand = LIFECYCLE.stand(played.state)
    assert (stand.state, stand.headline, stand.attempt) == ("TEST", "0 of 2 capabilities done", 3)
    assert stand.lines == (
        "retries of the present failure: 0 of 3",
        "the same failure again: at most 2 times",
        "failures in all: 0 of 10",
    )
