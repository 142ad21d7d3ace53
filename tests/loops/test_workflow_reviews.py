"""Reviews and the last verification: what holds up nothing, and what must be mended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Ask, RunAgent, RunChecks
from loopwright.kernel.events import AgentFailed, AgentReported, ArtifactsLoaded, Event
from loopwright.kernel.model import AgentStatus, Demand, Key, Severity
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import Stopped, WaveSeen, WorkflowPhase, WorkflowState
from tests.loops import verified as v
from tests.loops.harness import with_key
from tests.loops.workflow import (
    ASKS,
    AWAY,
    BASE,
    BLOCKER,
    COLLEAGUE,
    CRASHED,
    FORBIDDEN,
    GARBLED,
    GREEN,
    LIGHT,
    RED,
    SAID,
    SUGGESTION,
    TOOL,
    VIEWS,
    WARNING,
    At,
    advises,
    at_work,
    checked,
    combined,
    does,
    finding,
    gates,
    keys,
    landed,
    makes,
    passes,
    planned,
    plans,
    play,
    refuses,
    runs,
    says,
    scores,
    seen,
    shapes,
    task,
    thoroughly,
    wanted,
    workflow,
)


def agents(state: WorkflowState) -> list[RunAgent]:
    return [each for each in WORKFLOW.decide(state) if isinstance(each, RunAgent)]


def reviewed(*answers: Event, **given: object) -> WorkflowState:
    """One task is done, and each view has said this."""
    return play(planned(**given), *does(1), *seen(), *thoroughly(*answers))  # type: ignore[arg-type]


# --- light ----------------------------------------------------------------------------------------------------------


def test_a_light_review_looks_at_what_its_wave_landed_beside_the_next_wave() -> None:
    state = play(planned(task(1), task(2, 1)), *does(1))
    assert at_work(state) == ["T-002"]
    first, second = agents(state)
    assert (first.role, first.start, first.brief.base, first.brief.candidate, first.needs_verdict) == (
        "reviewer",
        "tip-1",
        BASE,
        "tip-1",
        True,
    )
    own = first.brief.own
    assert (own.view, own.looks, own.wave, own.tasks) == ("delivery", "light", 1, ("T-001: Do part 1",))
    assert second.brief.own.view == "craft"


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ((refuses(BLOCKER),), WaveSeen(wave=1, score=6, issues=1, blockers=1, views=LIGHT)),
        ((passes(score=7), passes(score=8)), WaveSeen(wave=1, score=8, issues=0, blockers=0, views=LIGHT)),
        ((refuses(),), WaveSeen(wave=1, score=10, issues=0, blockers=0, views=LIGHT)),
        (
            (AWAY,),
            WaveSeen(
                wave=1,
                score=10,
                issues=0,
                blockers=0,
                views=LIGHT,
                failed=("delivery: crashed: it is not available: rate limit",),
            ),
        ),
    ],
)
def test_a_light_review_never_blocks_whatever_it_says(letters: tuple[Event, ...], expected: WaveSeen) -> None:
    state = play(planned(), *does(1), *seen(*letters))
    assert (state.waves, where(state)) == ((expected,), WorkflowPhase.REVIEW)


@pytest.mark.parametrize("letter", [CRASHED, GARBLED])
def test_a_light_reviewer_that_fails_is_tried_once_more_and_then_done_without(letter: AgentFailed) -> None:
    state = play(planned(task(1), task(2, 1)), *does(1), *seen(letter)[:1])
    assert "light-1-delivery-l1.2" in keys(state)
    state = play(state, *seen(letter)[:1])
    assert (at_work(state), [str(each.key) for each in agents(state)]) == (["T-002"], ["light-1-craft-l1.1"])


def test_a_light_reviewer_is_heard_when_it_asks() -> None:
    state = play(planned(), *does(1), *seen(ASKS))
    assert where(state) == Station.CLARIFY
    assert where(play(state, says("answer", text="this"), At("light", passes()))) == WorkflowPhase.REVIEW


def test_what_must_not_be_stops_everything_at_once_even_in_a_light_review() -> None:
    state = play(planned(task(1), task(2, 1)), *does(1), *seen(refuses(FORBIDDEN))[:1])
    assert (state.stopped, runs(state), wanted(state, Ask).why) == (
        Stopped.MUST_NOT,
        (),
        "mustNot-1 became true: the names are blue",
    )
    state = play(state, says("continue"))
    assert (at_work(state), state.tasks[2].plan.subject) == (["T-002", "T-003"], "Mend: the names are blue")
    assert [str(each.key) for each in agents(state)] == ["light-1-craft-l1.2"]


def test_so_it_does_as_the_last_view_and_its_wave_is_on_record() -> None:
    state = play(planned(), *does(1), *seen(passes(), refuses(FORBIDDEN)))
    assert (state.stopped, [each.blockers for each in state.waves]) == (Stopped.MUST_NOT, [1])
    assert at_work(play(state, says("continue"))) == ["T-002"]


def test_a_warning_about_a_rule_stops_nothing() -> None:
    mild = finding("it may be logged", Severity.HIGH, requirement="mustNot-1")
    assert where(play(planned(), *does(1), *seen(refuses(mild)))) == WorkflowPhase.REVIEW


# --- thorough -------------------------------------------------------------------------------------------------------


def test_the_thorough_review_sees_all_of_it() -> None:
    state = play(planned(), *does(1), *seen())
    assert [each.brief.own.view for each in agents(state)] == list(VIEWS)
    first = agents(state)[0]
    assert (first.brief.base, first.brief.candidate, first.brief.own.looks, first.brief.own.wave) == (
        BASE,
        "tip-1",
        "thorough",
        0,
    )


def test_without_a_blocker_it_is_verified() -> None:
    state = reviewed(passes(WARNING, SUGGESTION))
    assert where(state) == WorkflowPhase.VERIFY
    assert state.thorough is not None
    assert (state.thorough.passed, state.thorough.warnings, state.thorough.suggestions) == (
        True,
        (WARNING,),
        (SUGGESTION,),
    )


def test_every_blocker_becomes_a_task_of_the_next_wave_and_all_is_reviewed_again() -> None:
    state = reviewed(refuses(BLOCKER))
    assert (at_work(state), state.tasks[1].wave, state.tasks[1].plan.files) == (["T-002"], 2, ("src/a.py",))
    assert state.thorough is not None
    assert (state.thorough.passed, WORKFLOW.stand(state).findings) == (False, (BLOCKER,))
    state = play(state, *does(2), *seen())
    first = agents(state)[0]
    assert (first.key.attempt, first.brief.findings) == (2, (BLOCKER,))
    assert where(play(state, *thoroughly())) == WorkflowPhase.VERIFY


def test_a_pass_with_a_blocker_is_none() -> None:
    assert at_work(reviewed(passes(BLOCKER))) == ["T-002"]


@pytest.mark.parametrize("found", [WARNING, SUGGESTION])
def test_a_no_that_rests_on_little_stays_a_no(found: object) -> None:
    state = reviewed(refuses(found))  # type: ignore[arg-type]
    assert (at_work(state), state.tasks[1].plan.subject) == (["T-002"], f"Mend: {found.issue}")  # type: ignore[attr-defined]


def test_of_a_no_with_a_warning_a_suggestion_is_one() -> None:
    assert len(reviewed(refuses(WARNING, SUGGESTION)).tasks) == 2


@pytest.mark.parametrize(
    "second", [refuses(), passes(), passes(SUGGESTION)], ids=["again", "a pass", "a pass with a remark"]
)
def test_a_no_without_a_reason_is_asked_for_it_once_and_stays_a_no(second: AgentReported) -> None:
    state = play(planned(), *does(1), *seen(), *thoroughly(refuses())[:1])
    assert "thorough-1-delivery-t1.2" in keys(state)
    state = play(state, *thoroughly(second))
    assert (at_work(state), where(state)) == (["T-002"], WorkflowPhase.EXECUTE)


def test_a_view_that_is_blocked_has_not_passed_it() -> None:
    said = passes(SUGGESTION)
    blocked = replace(said, report=replace(said.report, status=AgentStatus.BLOCKED))
    assert at_work(reviewed(blocked)) == ["T-002"]


def test_a_view_without_a_verdict_asks_a_person_and_is_asked_again() -> None:
    state = play(planned(), *does(1), *seen(), *thoroughly(CRASHED)[:1], *thoroughly(CRASHED))
    assert (state.stopped, wanted(state, Ask).why) == (
        Stopped.STUCK,
        "delivery gave no verdict (crashed: segfault)",
    )
    assert [each.key.attempt for each in agents(play(state, says("continue")))] == [2, 2, 2]


def test_what_must_not_be_stops_the_thorough_review_before_the_others_have_spoken() -> None:
    state = play(planned(), *does(1), *seen(), *thoroughly(refuses(FORBIDDEN))[:1])
    assert (state.stopped, wanted(state, Ask).findings) == (Stopped.MUST_NOT, (FORBIDDEN,))
    state = play(state, says("continue"))
    assert at_work(state) == ["T-002"]
    assert where(play(state, *does(2), *seen(), *thoroughly(), GREEN, SAID)) == Station.LAND


def test_a_blocker_that_is_found_again_after_its_task_is_mended_again() -> None:
    state = play(reviewed(refuses(BLOCKER)), *does(2), *seen(), *thoroughly(refuses(BLOCKER)))
    assert at_work(state) == ["T-003"]


# --- one by one -----------------------------------------------------------------------------------------------------


def test_with_somebody_there_each_finding_is_resolved_by_them() -> None:
    state = reviewed(refuses(BLOCKER), passes(WARNING), attended=True)
    ask = wanted(state, Ask)
    assert (ask.kind, ask.findings, [each.choice for each in ask.options]) == (
        "check-in",
        (BLOCKER,),
        ["approve", "task", "cancel"],
    )
    assert ask.question == (
        "[BLOCKER] src/a.py - it leaks (2 findings to resolve).\nEvidence: seen\nWhat is done about it?"
    )
    state = play(state, says("task", text="close the file"))
    assert [each.choice for each in wanted(state, Ask).options] == ["skip", "approve", "task", "cancel"]
    state = play(state, says("skip"))
    assert (at_work(state), state.tasks[1].plan.subject) == (["T-002"], "Mend: close the file")
    assert state.acknowledged == (WARNING.fingerprint,)
    assert len(state.course.decisions) == 1


def test_a_warning_is_acknowledged_once() -> None:
    state = reviewed(refuses(BLOCKER), passes(WARNING), attended=True)
    state = play(state, says("approve"), says("skip"), *does(2), *seen(), *thoroughly(passes(WARNING)))
    assert where(state) == WorkflowPhase.VERIFY
    assert where(play(reviewed(passes(WARNING), attended=True), says("skip"))) == WorkflowPhase.VERIFY


def test_a_warning_may_become_a_task() -> None:
    assert at_work(play(reviewed(passes(WARNING), attended=True), says("approve"))) == ["T-002"]


def test_a_warning_on_which_a_no_rests_is_not_left_by_going_on() -> None:
    ask = wanted(reviewed(refuses(WARNING), attended=True), Ask)
    assert (ask.question.startswith("[BLOCKER]"), [each.choice for each in ask.options]) == (
        True,
        ["approve", "task", "cancel"],
    )


def test_a_finding_may_be_discussed_with_the_panel() -> None:
    state = reviewed(refuses(BLOCKER), attended=True, also_cast=("panel",))
    assert [each.choice for each in wanted(state, Ask).options] == ["approve", "task", "discuss", "cancel"]
    state = play(state, says("discuss"))
    run = wanted(state, RunAgent)
    assert (run.role, run.brief.findings, where(state)) == ("panel", (BLOCKER,), WorkflowPhase.DISCUSS)
    told = play(state, advises("close it"))
    assert "\nThe panel: Consensus: close it" in wanted(told, Ask).question
    assert "The panel: crashed: segfault" in wanted(play(state, CRASHED, CRASHED), Ask).question


def test_a_colleague_who_resolved_the_findings_is_not_asked_about_the_wave_besides() -> None:
    state = play(workflow(attended=True), scores(COLLEAGUE), SAID, says("continue"), plans(task(1)))
    state = play(state, *does(1), *seen(), *thoroughly(refuses(BLOCKER)), says("approve"))
    assert at_work(state) == ["T-002"]


def test_where_nobody_is_there_a_colleague_is_asked_before_what_is_to_be_mended() -> None:
    assert reviewed(refuses(BLOCKER), of=COLLEAGUE).stopped is Stopped.CHECK_IN


# --- the last verification ------------------------------------------------------------------------------------------


def test_all_commands_of_criteria_rules_and_tasks_run_at_the_end() -> None:
    state = workflow(cast=("scorer", "shaper", "planner"))
    rules = ({"text": "It leaks", "command": ["make", "never"]}, "It breaks")
    rows = [{"criterion": "1", "type": "execution output", "command": ["make", "holds"]}]
    state = play(state, scores(TOOL), shapes("It holds", must_not=rules, verification=rows), plans(task(1)))
    state = play(state, *does(1), *seen(), *thoroughly())
    run = wanted(state, RunChecks)
    assert (run.commit, run.also) == (
        "m-tip-1",
        (
            Demand("mustNot-1", ("make", "never")),
            Demand("criterion-1", ("make", "holds"), start=BASE),
            Demand("T-001", ("make", "part-1"), start=BASE),
        ),
    )
    assert at_work(play(state, checked(unmet=("criterion-1",)))) == ["T-002"]
    broken = play(state, checked(unmet=("mustNot-1",)))
    assert (broken.stopped, at_work(play(broken, says("continue")))) == (Stopped.MUST_NOT, ["T-002"])


def test_what_is_red_at_the_end_becomes_tasks() -> None:
    state = play(reviewed(), checked(red=(RED,)))
    assert (at_work(state), state.tasks[1].plan.subject) == (["T-002"], "Mend: assert 1 == 2")


def test_what_needs_a_person_at_the_end_waits_for_them() -> None:
    state = play(reviewed(), v.NOTHING_ELSE)
    assert (where(state), gates(state)) == (Station.GATE, [v.E1])
    assert keys(play(state, v.approves())) == ["verify-4"]
    assert at_work(play(state, v.rejects())) == ["T-002"]


def test_a_decision_on_what_is_held_back_is_taken_in_while_the_checks_run() -> None:
    state = play(planned(), *does(1)[:2], At("checks", checked(held=v.BENT)), *does(1)[3:], *seen(), *thoroughly())
    assert keys(state) == ["verify-3", f"gate-protected-{v.E1}"]
    assert keys(play(state, v.approves())) == ["verify-4"]
    assert keys(play(state, v.rejects())) == ["verify-3"]


def test_a_no_to_what_is_not_held_back_any_more_changes_nothing() -> None:
    state = play(planned(), *does(1)[:2], At("checks", checked(held=v.BENT)), *does(1)[3:], *seen(), *thoroughly())
    assert where(play(state, At("verify", GREEN), v.rejects(), SAID)) == Station.LAND


def test_the_same_tree_is_not_reviewed_twice() -> None:
    state = play(reviewed(), checked(red=(RED,)), makes(2), combined("m"), At("checks", GREEN), landed("tip-1"))
    state = play(state, *[At("light", passes())] * len(agents(state)))
    assert (where(state), state.rounds, state.tip) == (WorkflowPhase.VERIFY, 1, "tip-1")


def test_what_nobody_asked_for_leads_nowhere() -> None:
    state = reviewed()
    for event in (
        with_key(passes(), Key("thorough", 1, part="craft-t1", tries=1)),
        ArtifactsLoaded(key=Key("verify", 1), contents=()),
    ):
        with pytest.raises(InvalidTransition):
            WORKFLOW.apply(state, event)


def test_a_no_with_a_blocker_rests_on_that_and_its_warnings_stay_warnings() -> None:
    state = play(planned(), *does(1), *seen(), *thoroughly(refuses(BLOCKER, WARNING)))
    assert state.thorough is not None
    assert (state.thorough.blockers, state.thorough.warnings) == ((BLOCKER,), (WARNING,))
