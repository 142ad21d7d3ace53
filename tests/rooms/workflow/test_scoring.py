from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.model import AgentReport, Question
from loopwright.kernel.wording import ANSWERED
from loopwright.loops.workflow.scoring import (
    DIMENSIONS,
    MIN_SPEC,
    Scored,
    Scores,
    ShapeChoice,
    fit,
    questions_for,
    read_scores,
    score,
    shape_for,
)
from tests.hostile import texts
from tests.rooms.workflow.reports import asking, saying

CLEAR = """\
Add token validation to `src/auth.ts`: validateToken rejects expired tokens with a 401.

Do not change the public API. Unit tests pass and coverage stays above 80 %.
Done when the branch is merged.
"""
VAGUE = Scores(outcome=0, scope=0, constraints=0, success=0, done=0)
FULL = Scores(outcome=2, scope=2, constraints=2, success=2, done=2)


def scores(*points: int) -> Scores:
    return Scores(**dict(zip(DIMENSIONS, points, strict=True)))


# Words


def test_a_clear_request_has_every_point_and_each_reason_quotes_the_words_it_rests_on() -> None:
    assert score(CLEAR) == Scored(
        scores=FULL,
        reasons=(
            'measurable by "rejects"',
            'an exact target, "`src/auth.ts`"',
            'an explicit limit, "Do not"',
            'tests, by "Unit tests", and more, by "coverage"',
            'a definite event, "Done when"',
        ),
    )
    assert score(CLEAR).as_lines[0] == 'outcome 2/2: measurable by "rejects"'


def test_nothing_scores_nothing() -> None:
    seen = score("")
    assert (seen.scores, seen.scores.spec) == (VAGUE, 0)
    assert seen.reasons == (
        "vague: no word says what is to be different afterwards",
        "no part of the code is named, so it may be the whole app",
        "none: nothing is said that must not happen",
        "none: no test and no other way to see that it succeeded",
        "implied: nothing says when it is over",
    )


@pytest.mark.parametrize(
    ("request_text", "dimension", "points", "why"),
    [
        ("Make it nicer", "outcome", 0, "vague: no word says what is to be different afterwards"),
        ("The tests log what is stored", "outcome", 0, "vague: no word says what is to be different afterwards"),
        ("Refactoring needed", "outcome", 1, 'a direction, "Refactoring", and nothing that can be measured'),
        ("It loads in under 200 ms", "outcome", 2, 'measurable by "under 200"'),
        ("Antwortzeit: 200 ms", "outcome", 2, 'measurable by "200 ms"'),
        ("Rewrite the whole app", "scope", 0, 'the whole app, by "whole app"'),
        ("Rename foo_bar everywhere", "scope", 1, '"foo_bar" is an exact target, but "everywhere" takes in all of it'),
        ("Fix the settings page", "scope", 1, 'an area, "page", and no file or name in the code'),
        ("Harden auth", "scope", 1, 'an area, "auth", and no file or name in the code'),
        ("Write it in TypeScript for Node.js", "scope", 0, "no part of the code is named, so it may be the whole app"),
        ("See https://example.com/a/b.py", "scope", 0, "no part of the code is named, so it may be the whole app"),
        ("Größe in src/größe.py prüfen", "scope", 2, 'an exact target, "src/größe.py"'),
        ("It fails:\n```\nFile lib/a.rb\n```", "scope", 2, 'an exact target, "lib/a.rb"'),
        ("Mend ValidationError", "scope", 2, 'an exact target, "ValidationError"'),
        ("Mend validateToken", "scope", 2, 'an exact target, "validateToken"'),
        ("Mend load()", "scope", 2, 'an exact target, "load()"'),
        ("Mend /api/users", "scope", 2, 'an exact target, "/api/users"'),
        ("Users don't see it", "constraints", 0, "none: nothing is said that must not happen"),
        ("It should be fast", "constraints", 1, 'soft, by "should": nobody could say when it is broken'),
        ("Sort it without changing the order", "constraints", 2, 'an explicit limit, "without changing"'),
        ("Sort it, no new dependencies", "constraints", 2, 'an explicit limit, "no new dependencies"'),
        ("Keep at most 10 of them", "constraints", 2, 'an explicit limit, "at most 10"'),
        ("The tests pass", "success", 1, 'one way to see it, "tests", and no other beside it'),
        ("Verify it with me", "success", 1, 'one way to see it, "Verify", and no other beside it'),
        ("With tests:\n- one\n- two", "success", 2, 'tests, by "tests", and a list of what has to hold'),
        ("With a test:\n- one", "success", 1, 'one way to see it, "test", and no other beside it'),
        ("Until it works", "done", 1, '"works", and no event after which it is over'),
        ("Stop once all of it is\nreleased", "done", 0, "implied: nothing says when it is over"),
        ("Stop once all of it is released", "done", 2, 'a definite event, "once all of it is released"'),
        ("Closes #12", "done", 2, 'a definite event, "Closes #12"'),
    ],
)
def test_a_dimension_is_seen_by_its_words(request_text: str, dimension: str, points: int, why: str) -> None:
    seen, place = score(request_text), DIMENSIONS.index(dimension)
    assert (astuple(seen.scores)[place], seen.reasons[place]) == (points, why)


def test_words_in_a_code_block_ask_for_nothing() -> None:
    assert score("```python\nassert returns(5) # must not, tests, done when\n```").scores == VAGUE
    assert score("~~~~\n```\nDone when merged").scores == VAGUE
    assert score("```\n```\nDone when merged").scores.done == 2


def test_what_is_far_too_long_is_read_from_its_beginning() -> None:
    assert score("Done when merged. " + "x " * 500_000).scores.done == 2
    assert score("x " * 500_000 + "Done when merged.").scores.done == 0


@given(texts)
def test_whatever_is_asked_for_is_scored_and_always_alike(request_text: str) -> None:
    seen = score(request_text)
    assert seen == score(request_text)
    assert all(0 <= points <= 2 for points in astuple(seen.scores))
    assert bool(seen.questions) == (seen.scores.spec < MIN_SPEC)
    assert [reason for reason in seen.reasons if "\n" in reason] == []


# Answers and questions


def test_answers_are_scored_with_the_request_and_their_questions_are_not() -> None:
    asked = f"Is it done when the tests pass in src/a.py?{ANSWERED}no"
    assert score("Make it better", (asked,)).scores == VAGUE
    assert score("Make it better", ("It is done when merged",)).scores == scores(0, 0, 0, 0, 2)


def test_questions_go_from_the_worst_dimension_on_and_only_below_five() -> None:
    assert [each.question for each in questions_for(scores(1, 2, 0, 1, 0))] == [
        "What must not happen on the way?",
        "After which event is it over?",
        "What can be observed afterwards that cannot be observed now?",
        "How is it seen that it succeeded, besides the tests that exist?",
    ]
    assert len(questions_for(VAGUE)) == 5
    assert [bool(questions_for(each)) for each in (scores(2, 2, 0, 0, 0), scores(2, 2, 1, 0, 0))] == [True, False]


def test_a_question_has_options_and_says_what_hangs_on_it() -> None:
    assert questions_for(VAGUE)[2] == Question(
        question="What must not happen on the way?",
        options=("no new dependencies", "the public interface must not change", "something else: say which"),
        impact="What is forbidden here stops the work at once when it is seen. The constraints scores 0 of 2.",
    )


@pytest.mark.parametrize("place", range(5))
def test_an_option_that_says_all_is_worth_its_points_and_one_that_asks_for_more_is_worth_none(place: int) -> None:
    for option in questions_for(VAGUE)[place].options:
        points = astuple(score("", (option,)).scores)
        assert points[place] == (0 if option.endswith(": say which") else 2), option
        assert option.endswith(": say which") is not any(points)


# What follows


def test_the_fit_counts_what_is_full_and_what_a_person_confirmed() -> None:
    assert fit(scores(2, 2, 1, 1, 1), 0) == 35
    assert fit(scores(1, 1, 2, 2, 2), 0) == 55
    assert [fit(VAGUE, confirmed) for confirmed in (-1, 0, 1, 5, 6, 100)] == [0, 0, 2, 10, 10, 10]
    assert fit(FULL, 5) == 75


def test_the_shape_by_its_bounds() -> None:
    assert {fit: str(shape_for(fit)) for fit in (0, 24, 25, 29, 30, 39, 40, 75)} == {
        0: "blocked",
        24: "blocked",
        25: "colleague",
        29: "colleague",
        30: "tool-review",
        39: "tool-review",
        40: "tool",
        75: "tool",
    }
    assert shape_for(fit(scores(2, 2, 1, 1, 1), 0)) is ShapeChoice.TOOL_REVIEW


# A scorer


POINTS = {"outcome": 2, "scope": 1, "constraints": 0, "success": 2, "done": 1}


def test_what_a_scorer_gave_is_taken_with_its_reasons_and_questions() -> None:
    report = asking("Which users?", scores=POINTS | {"more": 1}, reasons={"scope": " the\nauth  module ", "x": "y"})
    silent = "the scorer gave no reason"
    assert read_scores(report) == Scored(
        scores=scores(2, 1, 0, 2, 1),
        reasons=(silent, "the auth module", silent, silent, silent),
        questions=(Question(question="Which users?"),),
    )


def test_where_a_scorer_asks_nothing_the_engine_does() -> None:
    low = read_scores(saying(scores=dict.fromkeys(DIMENSIONS, 0)))
    assert isinstance(low, Scored)
    assert low.questions == questions_for(VAGUE)
    enough = read_scores(saying(scores=POINTS))
    assert isinstance(enough, Scored)
    assert enough.questions == ()


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (saying(), "scores is missing; give it an object"),
        (AgentReport(extras="["), "the result's other keys are not JSON that can be read"),
        (AgentReport(extras="[" * 100_000), "the result's other keys are not JSON that can be read"),
        (AgentReport(extras="[]"), "expected an object, found a list"),
        (saying(scores=[2]), "scores: expected an object, found a list"),
        (saying(scores={"outcome": 1}), "scores: scope is missing; give it a whole number, at least 0"),
        (saying(scores=POINTS | {"done": 3}), "scores.done: expected a whole number, at most 2, found the number 3"),
        (saying(scores=POINTS | {"done": -1}), "scores.done: expected a whole number, at least 0, found the number -1"),
        (saying(scores=POINTS | {"done": True}), "scores.done: expected a whole number, at least 0, found true"),
        (
            saying(scores=POINTS | {"done": 1.0}),
            "scores.done: expected a whole number, at least 0, found the number 1.0",
        ),
        (
            saying(scores=POINTS, reasons=["a"]),
            "reasons: expected an object with a sentence for each dimension, found a list",
        ),
    ],
)
def test_scores_that_cannot_be_taken_are_told_in_a_sentence(report: AgentReport, why: str) -> None:
    assert read_scores(report) == why


@given(st.dictionaries(st.sampled_from(DIMENSIONS), st.one_of(st.integers(-1, 3), st.booleans(), st.text())))
def test_only_five_whole_numbers_from_0_to_2_are_scores(said: dict[str, object]) -> None:
    fine = len(said) == 5 and all(type(points) is int and 0 <= points <= 2 for points in said.values())
    assert isinstance(read_scores(saying(scores=said)), Scored) is fine
