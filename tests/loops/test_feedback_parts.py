"""A feedback loop as a part of a larger one: commands that its task brings, and a result that its parent lands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, AwaitGate, Integrate, RunAgent, RunChecks, Stop
from loopwright.kernel.events import ChecksReported, SkillSkipped, StateEdited
from loopwright.kernel.evidence import Evidence, Level
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import CheckResult, Commit, Demand, Ending, Outcome, Tree
from loopwright.loops.course import Station, where
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackState
from loopwright.loops.parts import TaskFacts
from tests.loops import verified as v
from tests.loops.feedback import (
    CANCEL,
    CLEANED,
    DONE,
    FAILURE,
    ISSUE,
    LANDED,
    approves,
    developer,
    fails,
    keys,
    params,
    passes,
    play,
    red,
    rejects,
    saved,
    says,
    wanted,
)

DEMANDS = (Demand("T-001", ("make", "one")), Demand("mustNot-1", ("make", "two")))
UNMET = replace(v.LANDS, also=(CheckResult(name="T-001", passed=False, note="exit code 3"),))
MET = replace(v.LANDS, also=(CheckResult(name="T-001", passed=True),))


def part(task: str = "add retry", *, lands: bool = False, **limits: int) -> FeedbackState:
    plan = replace(params(**limits), task=task, trust=v.PART, also=DEMANDS, lands=lands, accepts_checked=True)
    return FEEDBACK.start(plan)


def checked(state: FeedbackState, report: ChecksReported, commit: str = "c1") -> FeedbackState:
    kept = replace(saved(commit), tree=Tree(f"tree-{commit}"), protected=report.held)
    kept = replace(kept, evidence=evidence(report.held))
    return play(state, DONE, kept, passes(), report)


def outcome(state: FeedbackState) -> Outcome:
    (stop,) = FEEDBACK.decide(state)
    assert isinstance(stop, Stop)
    return stop.outcome


# --- commands of the task


def test_every_run_of_the_checks_and_every_landing_has_the_commands_of_the_task() -> None:
    state = play(part(lands=True), DONE, saved("c1"), passes())
    assert wanted(state, RunChecks).also == DEMANDS
    assert wanted(play(state, MET), Integrate).also == DEMANDS


def test_what_was_held_back_and_is_approved_afterwards_runs_them_too() -> None:
    state = play(checked(part(lands=True), v.WITHOUT), LANDED, approves(v.E1))
    assert (keys(state), wanted(state, RunChecks).also) == (["checks-held-1"], DEMANDS)


def test_the_roles_are_told_the_commands() -> None:
    state = part()
    assert developer(state).brief.own == TaskFacts(commands=DEMANDS)
    assert wanted(play(state, DONE, saved("c1")), RunAgent).brief.own == TaskFacts(commands=DEMANDS)
    assert developer(FEEDBACK.start(params())).brief.own is None


@pytest.mark.parametrize("lands", [True, False])
def test_a_command_that_failed_is_a_failed_attempt_told_to_the_developer(*, lands: bool) -> None:
    state = checked(part(lands=lands), UNMET)
    brief = developer(state).brief
    assert [(each.rule, each.requirement) for each in brief.failures] == [("verify T-001", "T-001")]
    assert state.test_failures == 1


def test_where_what_was_asked_for_is_held_back_a_person_is_asked_before_attempts_are_wasted() -> None:
    """The command may fail for want of just that."""
    report = replace(UNMET, held=v.MANIFEST)
    state = checked(part("raise the version in pyproject.toml"), report)
    gate = wanted(state, AwaitGate)
    assert (where(state), gate.evidence) == (Station.GATE, v.E3)
    assert gate.why.endswith("; what was asked for names it; without it these fail: verify T-001")
    assert wanted(play(state, approves(v.E3)), RunChecks).approved == v.MANIFEST
    rejected = play(state, rejects(v.E3, "no"))
    assert (where(rejected), len(rejected.past)) == ("IMPLEMENT", 1)


def test_where_nothing_else_would_land_a_person_is_asked_as_well() -> None:
    state = checked(part(), replace(UNMET, held=v.MANIFEST, nothing_else=True))
    assert where(state) == Station.GATE


@pytest.mark.parametrize(
    "report",
    [
        replace(UNMET, held=v.MANIFEST),  # nobody asked for it
        replace(UNMET, results=v.RED.results, held=v.BENT),
        replace(v.LANDS, also=(CheckResult(name="mustNot-1", passed=False),), held=v.BENT),
    ],
)
def test_else_it_is_a_failed_attempt(report: ChecksReported) -> None:
    assert where(checked(part("mend tests/t.py"), report)) == "IMPLEMENT"


def test_approved_and_still_failing_it_is_a_failed_attempt() -> None:
    state = checked(part("mend tests/t.py"), replace(UNMET, held=v.BENT))
    state = play(state, approves(v.E1))
    assert where(play(state, replace(UNMET, held=v.BENT))) == "IMPLEMENT"


# --- what is left to the parent


def test_a_part_that_passed_ends_with_its_commit_and_lands_nothing() -> None:
    ended = outcome(checked(part(), MET))
    assert ended == Outcome(ending=Ending.VERIFIED, attempts=1, commit=Commit("c1"))


def test_what_is_held_back_of_it_is_its_parents_to_ask_for() -> None:
    state = checked(part(), v.WITHOUT)
    assert outcome(state) == Outcome(ending=Ending.VERIFIED, attempts=1, commit=Commit("c1"))
    assert state.course.open_gates == ()


def test_a_change_that_it_needs_is_waited_for_and_then_its_commit_has_it() -> None:
    state = checked(part("mend tests/t.py"), v.WITHOUT)
    assert (where(state), wanted(state, AwaitGate).evidence) == (Station.GATE, v.E1)
    because = wanted(state, AwaitGate).because
    ended = outcome(play(state, approves(v.E1), v.LANDS))
    assert (ended.commit, ended.approved, ended.may_drop) == ("c1", because, ())


def test_what_a_person_took_untested_ends_accepted_with_its_commit() -> None:
    state = checked(checked(part(), v.UNNOTICED), v.UNNOTICED, "c2")
    gate = wanted(state, AwaitGate)
    ended = outcome(play(state, v.approves(gate.evidence, gate.gate), v.UNNOTICED))
    assert (ended.ending, ended.commit, ended.branch) == (Ending.ACCEPTED, "c2", "")
    assert [each.rule for each in ended.findings] == ["untested-change"]


def test_what_a_person_accepts_is_the_best_attempt_unlanded_and_checked_by_the_parent() -> None:
    state = checked(part(max_feedback_iterations=2), red(FAILURE))
    state = play(state, DONE, saved("c2"), fails(ISSUE), says("accept"))
    ended = outcome(state)
    assert (ended.ending, ended.commit, ended.branch) == (Ending.ACCEPTED, "c1", "")
    assert [each.rule for each in ended.findings] == [FAILURE.rule]


def test_what_no_check_has_seen_is_left_to_the_parents_checks_when_it_is_accepted() -> None:
    state = play(part(max_feedback_iterations=1), DONE, saved("c1"), fails(ISSUE), says("accept"))
    assert (outcome(state).ending, outcome(state).commit) == (Ending.ACCEPTED, "c1")


def test_a_part_can_be_cancelled() -> None:
    ended = outcome(play(part(), CANCEL, CLEANED))
    assert (ended.ending, ended.commit) == (Ending.CANCELLED, "")


UNSHOWN = replace(v.LANDS, evidence=Evidence(level=Level.GUARDED))


def test_a_part_is_asked_for_a_test_once_and_gets_an_attempt_for_it() -> None:
    state = checked(part(max_feedback_iterations=1), UNSHOWN)
    assert [each.rule for each in developer(state).brief.failures] == ["no-witness"]
    assert (state.allowance.iterations, state.test_failures) == (2, 0)
    said = replace(DONE, report=replace(DONE.report, no_test="a faster way to the same"))
    kept = replace(saved("c2"), tree=Tree("tree-c2"))
    ended = outcome(play(state, said, kept, passes(), UNSHOWN))
    assert (ended.ending, ended.attempts, ended.no_test) == (Ending.VERIFIED, 2, "a faster way to the same")


def test_a_part_with_attempts_left_gets_none_besides() -> None:
    assert checked(part(max_feedback_iterations=3), UNSHOWN).allowance.iterations == 3


# --- what a parent hears of one that is stuck


def test_a_question_names_all_that_is_open() -> None:
    state = checked(part(max_feedback_iterations=1), red(FAILURE))
    assert [each.rule for each in wanted(state, Ask).findings] == [FAILURE.rule]


def test_that_nothing_was_changed_at_first_is_among_it() -> None:
    state = play(part(), DONE, saved("c1", files=0))
    assert [each.rule for each in wanted(state, Ask).findings] == ["no-change"]


def test_a_part_tells_its_newest_commit_once_there_is_one() -> None:
    state = part()
    assert FEEDBACK.stand(state).commit == ""
    assert FEEDBACK.stand(checked(state, red(FAILURE))).commit == "c1"


def test_nothing_that_others_write_about_it_is_taken_in() -> None:
    with pytest.raises(InvalidTransition, match="nothing that others write about 'T-001' is taken in here"):
        FEEDBACK.apply(part(), StateEdited(subject="T-001", value="completed"))
    with pytest.raises(InvalidTransition, match="no skill 'deploy' is asked for here"):
        FEEDBACK.apply(part(), SkillSkipped(skill="deploy", reason="a library"))
