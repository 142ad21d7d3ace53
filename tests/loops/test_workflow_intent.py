"""From a request to its plan: scored, asked about, shaped, confirmed, taken apart."""

from __future__ import annotations

import pytest

from loopwright.errors import InvalidTransition
from loopwright.kernel.actions import Announce, Ask, Option, RunAgent
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.machine import Standpoint
from loopwright.kernel.model import NO_KEY, Ending, Question, Tree
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Station, where
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.plan import single_task
from loopwright.loops.workflow.scoring import ShapeChoice, score
from loopwright.loops.workflow.shape import ENGINE_RULES, MustNot, commands_of
from loopwright.loops.workflow.state import Recalled, Stopped, WorkflowPhase, WorkflowState, choice_of, fit_of, spec_of
from tests.loops import verified as v
from tests.loops.harness import taken
from tests.loops.workflow import (
    ASKS,
    BASE,
    CANCEL,
    CLEANED,
    COLLEAGUE,
    CRASHED,
    GARBLED,
    REQUEST,
    SAID,
    TOOL,
    TOOL_REVIEW,
    at_work,
    keys,
    outcome,
    planned,
    plans,
    play,
    reports,
    says,
    scores,
    shapes,
    task,
    wanted,
    workflow,
)

CLEAR = (
    "Return 429 from POST /login after 5 failed tries. Only change src/auth.py. It must not log passwords."
    " Done when pytest tests/test_auth.py passes and the response time stays below 50 ms."
)


# --- the score ------------------------------------------------------------------------------------------------------


def test_without_any_role_the_engines_own_rules_score_shape_and_plan() -> None:
    state = workflow(cast=(), request=CLEAR)
    assert wanted(state, Announce).text.startswith("scored by rule: outcome 2, scope 2")
    state = play(state, SAID)
    assert (state.scored, wanted(state, Announce).why) == (
        score(CLEAR),
        "no shaper is named: the engine's own rule stands in",
    )
    state = play(state, SAID, SAID)
    criteria = tuple(each.text for each in state.shape.criteria) if state.shape else ()
    assert [each.plan for each in state.tasks] == [single_task(CLEAR, criteria)]
    assert (where(state), at_work(state)) == (WorkflowPhase.EXECUTE, ["T-001"])


@pytest.mark.parametrize(
    ("given", "spec", "place"),
    [((1, 1, 1, 1, 0), 4, Station.CLARIFY), ((1, 1, 1, 1, 1), 5, WorkflowPhase.SHAPE)],
)
def test_a_request_below_5_is_asked_about_first(given: tuple[int, int, int, int, int], spec: int, place: str) -> None:
    state = play(workflow(), scores(given, "Which names?"))
    assert (spec_of(state), where(state)) == (spec, place)


def test_the_questions_are_the_scorers_own_and_the_scores_are_taken_once_more_after_the_answer() -> None:
    state = play(workflow(), scores((1, 1, 0, 0, 0), "Which names?"))
    ask = wanted(state, Ask)
    assert (ask.kind, ask.questions, ask.why) == (
        "question",
        (Question(question="Which names?"),),
        "the scorer cannot go on without a person",
    )
    state = play(state, says("answer", text="those of people"))
    assert (keys(state), wanted(state, RunAgent).brief.answers) == (
        ["score-2.2"],
        ("Which names?\n→ those of people",),
    )
    state = play(state, scores(TOOL))
    assert (spec_of(state), where(state)) == (8, WorkflowPhase.SHAPE)


def test_by_rule_the_answers_count_for_the_scores_that_are_taken_again() -> None:
    state = play(workflow(cast=()), SAID)
    assert (where(state), len(wanted(state, Ask).questions) > 0) == (Station.CLARIFY, True)
    state = play(state, says("answer", text=CLEAR), SAID)
    assert (where(state), state.scored) == (WorkflowPhase.SHAPE, score(REQUEST, state.course.answers))


def test_a_request_that_stays_unclear_is_asked_about_again() -> None:
    state = play(
        workflow(), scores((1, 0, 0, 0, 0), "Which?"), says("answer", text="some"), scores((1, 1, 0, 0, 0), "Who?")
    )
    assert (where(state), [each.question for each in wanted(state, Ask).questions]) == (Station.CLARIFY, ["Who?"])


def test_a_scorer_that_gives_no_scores_is_asked_once_more_and_then_done_without() -> None:
    state = play(workflow(), reports(marks=1))
    assert (keys(state), bool(wanted(state, RunAgent).brief.repair)) == (["score-1.2"], True)
    state = play(state, reports(marks=1))
    assert (state.scored, len(state.remarks)) == (score(REQUEST), 1)


def test_a_scorer_that_crashes_twice_is_done_without() -> None:
    state = play(workflow(), CRASHED, CRASHED)
    assert state.remarks == ("The scorer gave no usable scores (crashed: segfault): they were taken by rule.",)


def test_a_scorer_may_ask_by_itself() -> None:
    state = play(workflow(), ASKS)
    assert [each.question for each in wanted(state, Ask).questions] == ["Which clock?"]
    assert keys(play(state, says("answer", text="the wall's"))) == ["score-2.2"]


# --- what the fit says ----------------------------------------------------------------------------------------------


def recalled(confirmed: int, dismissed: int = 0) -> tuple[Recalled, ...]:
    each = Recalled(title="t", text="it was slow", confirmed=True)
    return (each,) * confirmed + (Recalled(title="u", text="no"),) * dismissed


@pytest.mark.parametrize(
    ("given", "confirmed", "fit", "choice"),
    [
        (COLLEAGUE, 0, 25, ShapeChoice.COLLEAGUE),
        (COLLEAGUE, 2, 29, ShapeChoice.COLLEAGUE),
        (TOOL_REVIEW, 0, 30, ShapeChoice.TOOL_REVIEW),
        ((2, 1, 1, 1, 1), 5, 40, ShapeChoice.TOOL),
        ((2, 2, 1, 1, 1), 2, 39, ShapeChoice.TOOL_REVIEW),
        ((2, 2, 1, 1, 2), 0, 45, ShapeChoice.TOOL),
    ],
)
def test_the_fit_decides_how_it_is_worked(
    given: tuple[int, int, int, int, int], confirmed: int, fit: int, choice: ShapeChoice
) -> None:
    state = play(workflow(recalled=recalled(confirmed, 3)), scores(given))
    assert (fit_of(state), choice_of(state)) == (fit, choice)


def test_below_25_nothing_is_worked_for_it_is_unclear_too() -> None:
    state = play(workflow(recalled=recalled(2)), scores((1, 1, 1, 1, 0)))
    assert (fit_of(state), choice_of(state), where(state)) == (24, ShapeChoice.BLOCKED, Station.CLARIFY)


def test_what_a_person_dismissed_makes_nothing_familiar_and_is_told_to_nobody() -> None:
    state = play(workflow(recalled=recalled(1, 1)), scores(COLLEAGUE), SAID)
    assert (fit_of(state), wanted(state, RunAgent).brief.own.recalled) == (27, ("it was slow",))


def test_the_persons_own_word_goes_before_the_score() -> None:
    assert choice_of(play(workflow(shape="tool"), scores(COLLEAGUE))) is ShapeChoice.TOOL


# --- the shape ------------------------------------------------------------------------------------------------------


def shaped(*letters: object, of: tuple[int, int, int, int, int] = TOOL, **given: object) -> WorkflowState:
    state = workflow(cast=("scorer", "shaper", "planner"), **given)
    return play(state, scores(of), *letters)  # type: ignore[arg-type]  # letters are letters


def test_a_shape_is_taken_as_it_is_given() -> None:
    state = shaped(shapes("Names have a colour", must_not=("It is slow", {"text": "It leaks", "command": ["make"]})))
    assert state.shape is not None
    assert [each.text for each in state.shape.criteria] == ["Names have a colour"]
    assert state.shape.must_not == (
        MustNot("It is slow", seen="reviewers, as a critical finding that names mustNot-1"),
        MustNot("It leaks", command=("make",)),
    )
    assert (where(state), keys(state)) == (WorkflowPhase.PLAN, ["plan-1.1"])


def test_a_shape_with_too_few_rules_is_asked_for_once_more_and_then_gets_the_engines() -> None:
    state = shaped(shapes("It holds", must_not=("It leaks",)))
    assert (keys(state), "1 mustNot" in wanted(state, RunAgent).brief.repair) == (["shape-1.2"], True)
    state = play(state, shapes("It holds", must_not=("It leaks",)))
    assert state.shape is not None
    assert [each.text for each in state.shape.must_not] == ["It leaks", ENGINE_RULES[0].text]


def test_a_shape_whose_commands_reach_beyond_loopback_is_asked_for_once_more_and_then_made_by_rule() -> None:
    leak: object = {"text": "It leaks", "command": ["curl", "http://0.0.0.0/x"]}
    away = shapes("It holds", must_not=("It breaks", leak))
    state = shaped(away, shape_stays_near=True)
    assert keys(state) == ["shape-1.2"]
    assert "may reach HTTP on loopback only" in wanted(state, RunAgent).brief.repair
    assert "mustNot-2: http://0.0.0.0" in wanted(state, RunAgent).brief.repair
    state = play(state, away)
    assert (where(state), commands_of(state.shape) if state.shape else None) == (WorkflowPhase.PLAN, ())
    assert "no usable shape" in state.remarks[-1]
    near = shaped(shapes("It holds"), shape_stays_near=True)
    assert (where(near), near.remarks) == (WorkflowPhase.PLAN, ())


def test_a_shape_in_an_older_log_is_read_as_it_was_then() -> None:
    row = {"criterion": "It holds", "command": ["curl", "http://0.0.0.0/x"]}
    state = shaped(shapes("It holds", verification=[row]))
    assert state.shape is not None
    assert (where(state), commands_of(state.shape)) == (
        WorkflowPhase.PLAN,
        (("criterion-1", ("curl", "http://0.0.0.0/x")),),
    )


def test_a_shaper_that_gives_no_shape_is_done_without() -> None:
    for letters in ((reports(), reports()), (CRASHED, CRASHED), (GARBLED, GARBLED)):
        state = shaped(*letters)
        assert state.shape is not None
        assert (where(state), len(state.remarks), len(state.shape.must_not)) == (WorkflowPhase.PLAN, 1, 2)


def test_what_is_only_assumed_bars_the_work() -> None:
    assumed = shapes("It holds", verification=[{"criterion": "It holds", "type": "assumption"}])
    state = shaped(assumed, assumed)
    ask = wanted(state, Ask)
    assert (state.stopped, [each.choice for each in ask.options]) == (Stopped.SHAPE, ["continue", "revise", "cancel"])
    assert "criterion-1: It holds" in ask.question
    assert keys(play(state, says("continue"))) == ["shape-2.3"]
    assert keys(play(state, says("revise", text="measure it"))) == ["shape-2.3"]


def test_below_fit_40_the_shape_is_shown_to_whoever_is_there() -> None:
    state = shaped(shapes("It holds"), of=TOOL_REVIEW, attended=True)
    ask = wanted(state, Ask)
    assert (ask.kind, [each.choice for each in ask.options]) == ("check-in", ["continue", "revise", "cancel"])
    assert ask.question == (
        "The shape, before any task is made (spec 6/10, fit 30, tool-review). It is done when: It holds. It must not"
        " happen that: It breaks; It leaks. Is that what you mean? .loop/shape/SHAPE.md has all of it."
    )
    assert keys(play(state, says("continue"))) == ["plan-2.2"]
    again = play(state, says("revise", text="and it must be fast"))
    assert (keys(again), wanted(again, RunAgent).brief.answers) == (["shape-2.2"], ("and it must be fast",))


def test_from_fit_40_on_the_shape_is_not_asked_about() -> None:
    assert where(shaped(shapes("It holds"), attended=True)) == WorkflowPhase.PLAN


def test_where_nobody_is_there_the_shape_is_taken_and_said() -> None:
    state = shaped(shapes("It holds"), of=TOOL_REVIEW)
    assert (where(state), state.remarks) == (
        WorkflowPhase.PLAN,
        ("The shape was taken without asking (fit 30, nobody was there to confirm it).",),
    )


# --- the plan -------------------------------------------------------------------------------------------------------

CYCLE = plans(task(1, 2), task(2, 1))
WRONG = {
    "a cycle": (CYCLE, "T-001 → T-002 → T-001"),
    "dangling": (plans(task(1, 9)), "T-001 waits for T-009"),
    "double": (plans(task(1), task(1)), "T-001 (2 times)"),
    "too many": (plans(*(task(number) for number in range(1, 27))), "26 tasks"),
    "none": (plans(), "no task"),
    "unreadable": (reports(steps=[]), "tasks"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_plan_that_is_wrong_is_asked_for_once_more_and_then_no_task_starts(name: str) -> None:
    wrong, named = WRONG[name]
    state = play(workflow(), scores(TOOL), SAID, wrong)
    assert (keys(state), named in wanted(state, RunAgent).brief.repair) == (["plan-1.2"], True)
    state = play(state, wrong)
    ask = wanted(state, Ask)
    assert (state.stopped, len(state.tasks), ask.paused, ask.kind) == (Stopped.PLAN, 0, False, "escalation")
    assert ask.question.startswith("No task was started: the plan cannot be worked by: ")
    assert named in ask.question
    assert at_work(play(state, says("continue"), plans(task(1)))) == ["T-001"]


def test_a_planner_that_crashes_twice_starts_nothing() -> None:
    state = play(workflow(), scores(TOOL), SAID, CRASHED, CRASHED)
    assert (state.stopped, "crashed: segfault" in wanted(state, Ask).question) == (Stopped.PLAN, True)


def test_a_plan_that_breaks_a_soft_rule_is_taken_the_second_time_and_said() -> None:
    unseen = plans(task(1, verify=False))
    state = play(workflow(), scores(TOOL), SAID, unseen)
    assert keys(state) == ["plan-1.2"]
    state = play(state, unseen)
    assert (at_work(state), state.remarks) == (
        ["T-001"],
        ("a task without a verify command is seen by the checks only: T-001",),
    )


# --- before and beside ----------------------------------------------------------------------------------------------


def test_the_checks_are_tried_on_the_base_before_anybody_is_paid() -> None:
    state = workflow(trust=Trust(in_force=True))
    assert keys(state) == ["preflight"]
    assert keys(play(state, v.RED)) == ["score-1.1"]
    failed = play(state, ChecksReported(key=NO_KEY, tree=Tree("t"), results=(), unable=("no pytest",)))
    assert (outcome(failed).ending, outcome(failed).note) == (Ending.FAILED, "no pytest")


@pytest.mark.parametrize(
    "letters",
    [(), (scores(TOOL),), (scores(TOOL), SAID), (scores((0, 0, 0, 0, 0)),), (scores(TOOL), SAID, CYCLE, CYCLE)],
)
def test_it_can_be_cancelled_before_any_task_is_made(letters: tuple[object, ...]) -> None:
    state = play(workflow(), *letters, CANCEL)  # type: ignore[arg-type]  # letters are letters
    assert keys(state) == ["clean-up"]
    assert outcome(play(state, CLEANED)).ending is Ending.CANCELLED


def test_what_was_not_asked_for_is_refused() -> None:
    with pytest.raises(InvalidTransition):
        taken(WORKFLOW, workflow(), SAID)
    with pytest.raises(InvalidTransition, match="is not one of the options"):
        play(shaped(shapes("x"), of=TOOL_REVIEW, attended=True), says("skip"))


def test_where_it_stands_is_told_in_numbers() -> None:
    state = planned(task(1), max_iterations=None)
    assert WORKFLOW.stand(state) == Standpoint(
        state="EXECUTE",
        attempt=1,
        limit=0,
        ended=0,
        headline="0 of 1 task done",
        lines=(
            "iterations used: 0 of unlimited",
            "the same failure of one task in a row: 0 of 3",
            "attempts that failed: 0 of 25",
        ),
    )
    assert WORKFLOW.stand(workflow()).headline == ""
    assert (state.tip, state.ground, state.commit) == (BASE, BASE, BASE)


def test_the_options_of_a_plan_that_is_wrong() -> None:
    state = play(workflow(), scores(TOOL), SAID, CYCLE, CYCLE)
    assert wanted(state, Ask).options == (
        Option(choice="continue", label="Have it planned once more", how="continue", prompt="continue: go on"),
        Option(choice="revise", label="Revise: give new guidance"),
        Option(choice="cancel", label="Cancel the workflow"),
    )
