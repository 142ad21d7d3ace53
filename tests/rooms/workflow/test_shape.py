import re
from collections.abc import Callable

import pytest
from hypothesis import given

from loopwright.kernel.model import AgentReport
from loopwright.loops.workflow.aspects import ASPECTS, aspects_of
from loopwright.loops.workflow.evidence import CriterionStatus
from loopwright.loops.workflow.scoring import Scored, ShapeChoice, score
from loopwright.loops.workflow.shape import (
    ENGINE_RULES,
    TYPES,
    MustNot,
    ShapeCriterion,
    WorkShape,
    bars_completion,
    criterion_name,
    must_not_name,
    read_shape,
    shape_of,
    shape_problems,
    with_engine_rules,
)
from loopwright.loops.workflow.shape_page import ShapeFacts, render_shape
from tests.hostile import all_harmless, texts
from tests.rooms.workflow.reports import saying

REQUEST = """\
# Validation

Add token validation to `src/auth.ts` without changing the public API. It has to reject expired tokens.
This is nice to have, e.g. for the app.

- [ ] a valid token passes
- Do not log tokens.
- it has to reject expired tokens
- It is small. It is quiet;

```
This must stay out.
```
Nobody must ever need it.
"""


def by_reviewers(index: int) -> str:
    return f"reviewers, as a critical finding that names mustNot-{index}"


# Without a shaper


def test_a_request_says_what_must_hold_and_what_must_not_happen() -> None:
    assert shape_of(REQUEST, ("which?\n→ It should be quick; never retry.",)) == WorkShape(
        criteria=(
            ShapeCriterion("It has to reject expired tokens.", type="code review"),
            ShapeCriterion("a valid token passes", type="code review"),
            ShapeCriterion("It is small.", type="code review"),
            ShapeCriterion("It is quiet", type="code review"),
            ShapeCriterion("Nobody must ever need it.", type="code review"),
            ShapeCriterion("It should be quick", type="code review"),
        ),
        must_not=(
            MustNot("without changing the public API", seen=by_reviewers(1)),
            MustNot("Do not log tokens.", seen=by_reviewers(2)),
            MustNot("never retry.", seen=by_reviewers(3)),
            *ENGINE_RULES,
        ),
        aspects=("API", "Auth", "Error"),
    )


HELPER = "Add a whole helper. The tests should pass."


def criteria_of(request_text: str, *answers: str) -> list[str]:
    return [each.text for each in shape_of(request_text, answers).criteria]


def test_what_the_loops_own_questions_were_answered_with_has_to_hold() -> None:
    said = (
        "1: p/whole.py; 2: it is done when the branch is merged; 3: no new dependencies;"
        " 4: coverage of p/whole.py is above 90 %;5: whole(1) is 2"
    )
    shape = shape_of(HELPER, (f"Which files?\n→ {said}",))
    assert [each.text for each in shape.criteria] == [
        "The tests should pass.",
        "it is done when the branch is merged",
        "coverage of p/whole.py is above 90 %",
        "whole(1) is 2",
    ]
    assert [each.text for each in shape.must_not[:-2]] == ["no new dependencies"]


@pytest.mark.parametrize(
    ("said", "criteria"),
    [
        ("v2.1: a log is kept. 2: 10:30 is shown", ["v2.1: a log is kept.", "10:30 is shown"]),
        ("1: the users log in\n2: the users log in;", ["the users log in"]),
        ("a header is there; it is UTF-8", ["a header is there", "it is UTF-8"]),
        ("src/a.py and `whole` only", []),
        ("1: in the settings page; 2: yes", []),
        ("one file or function: say which", []),
    ],
)
def test_a_place_or_an_option_alone_is_nothing_to_tick(said: str, criteria: list[str]) -> None:
    assert criteria_of("Export orders", f"which?\n→ {said}") == (criteria or ["Export orders"])


def test_a_request_of_code_alone_whose_tests_are_to_pass_is_to_be_fulfilled() -> None:
    assert criteria_of("```\ncode\n```", "how?\n→ the tests pass") == ["The request is fulfilled", "the tests pass"]


def test_what_a_person_said_unasked_is_read_as_the_request_is() -> None:
    assert criteria_of("Export orders", "a header is there") == ["Export orders"]


@pytest.mark.parametrize(
    ("request_text", "criteria"),
    [
        (HELPER, ["Add a whole helper.", "The tests should pass."]),
        ("# Export\n\nThe tests should pass.", ["Export", "The tests should pass."]),
        ("The tests should pass.", ["The tests should pass."]),
        ("```\ncode\n```\n- The tests pass", ["The tests pass"]),
        ("Never retry. Export it. All checks pass.", ["Export it.", "All checks pass."]),
        (
            "Export it. It's done when a file is there. Done when a file is there.",
            ["Export it.", "It's done when a file is there."],
        ),
        ("Export it. The tests pass. It prints a header.", ["The tests pass.", "It prints a header."]),
    ],
)
def test_when_it_is_done_is_a_criterion_and_checks_alone_never_stand_for_the_work(
    request_text: str, criteria: list[str]
) -> None:
    assert criteria_of(request_text) == criteria


@pytest.mark.parametrize(
    ("request_text", "criterion"),
    [
        ("Export orders", "Export orders"),
        ("\n  \n# Export orders\n\nas CSV", "Export orders"),
        ("", "The request is fulfilled"),
        ("```\ncode\n```", "The request is fulfilled"),
    ],
)
def test_there_is_always_a_criterion_and_without_a_command_only_reviewers_see_it(
    request_text: str, criterion: str
) -> None:
    shape = shape_of(request_text, ())
    assert shape.criteria == (ShapeCriterion(criterion, type="code review"),)
    assert (shape.must_not, shape_problems(shape)) == (ENGINE_RULES, ())


@pytest.mark.parametrize(
    ("criterion", "measured"),
    [
        ("All tests pass", True),
        ("The existing unit tests still pass.", True),
        ("Done when the test suite is green", True),
        ("It is done once all checks pass.", True),
        ("All tests pass and coverage is above 80 %", False),
        ("Coverage is above 80 %", False),
        ("The tests of the parser are readable", False),
    ],
)
def test_a_criterion_without_a_command_is_measured_only_if_it_says_that_the_checks_pass(
    criterion: str,
    measured: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    (seen,) = shape_of(f"- {criterion}", ()).criteria[-1:]
    assert (seen.text, seen.is_measured) == (criterion, measured)
    assert seen.type == ("execution output" if measured else "code review")


@pytest.mark.parametrize(
    ("sentence", "rules"),
    [
        ("Users don't see the button", ()),
        ("It rejects tokens without a signature", ()),
        ("The cache never expires", ()),
        ("You must not touch it", ("You must not touch it",)),
        ("It shouldn’t block", ("It shouldn’t block",)),  # noqa: RUF001 - as people write it
        ("Please don't touch it", ("Please don't touch it",)),
        ("Sort it, but never twice", ("Sort it, but never twice",)),
        ("Add a cache with no new dependencies, and fast", ("no new dependencies",)),
        ("Do it without any lock", ("without any lock",)),
    ],
)
def test_what_forbids_and_what_only_looks_like_it(sentence: str, rules: tuple[str, ...]) -> None:
    assert tuple(rule.text for rule in shape_of(sentence, ()).must_not[:-2]) == rules


@given(texts)
def test_whatever_is_asked_for_has_a_shape_work_can_begin_on(request_text: str) -> None:
    shape = shape_of(request_text, (request_text,))
    assert shape_problems(shape) == ()
    assert bars_completion(shape) == ()


# Rules


def test_what_is_missing_in_a_shape_is_named_and_the_engine_adds_its_own_rules() -> None:
    bare = WorkShape(criteria=(), must_not=(MustNot("The API changes"),))
    assert shape_problems(bare) == (
        "it has no criterion, so nothing would say when the work is done",
        "it has 1 mustNot, and at least 2 have to stand before work begins",
        "mustNot-1 (The API changes) has neither a command nor another way to be seen",
    )
    assert with_engine_rules(bare).must_not == (MustNot("The API changes", seen=by_reviewers(1)), ENGINE_RULES[0])
    assert shape_problems(with_engine_rules(bare)) == (
        "it has no criterion, so nothing would say when the work is done",
    )


def test_rules_that_are_enough_and_can_be_seen_stay_as_they_are() -> None:
    shape = WorkShape(criteria=(), must_not=(MustNot("a", command=("true",)), MustNot("b", seen="me"), MustNot("c")))
    assert with_engine_rules(shape).must_not == (*shape.must_not[:2], MustNot("c", seen=by_reviewers(3)))


def test_a_rule_of_the_engine_stands_once() -> None:
    said = WorkShape(criteria=(), must_not=(MustNot("a test of  the base fails or is gone."),))
    assert [rule.text for rule in with_engine_rules(said).must_not] == [
        "a test of  the base fails or is gone.",
        ENGINE_RULES[1].text,
    ]


def test_an_assumption_bars_completion() -> None:
    criteria = (ShapeCriterion("a"), ShapeCriterion("b", type="assumption"), ShapeCriterion("c", type="observation"))
    assert bars_completion(WorkShape(criteria=criteria, must_not=())) == ("criterion-2: b",)
    assert (must_not_name(1), criterion_name(1)) == ("mustNot-1", "criterion-1")


# Aspects


def test_the_ten_aspects_are_found_by_whole_words() -> None:
    assert " ".join(ASPECTS) == "Data API UI Auth Performance Error Testing Migration Integration Deployment"
    one_each = "a schema, an endpoint, a Button, authorisation, latency, validation, tests, legacy, a plugin, docker"
    assert aspects_of(one_each) == ASPECTS
    assert aspects_of("the latest fastener, an apiary, uint, tested_by, Rests") == ()
    assert aspects_of("") == ()


# A shaper


def test_what_a_shaper_gave_is_taken_with_its_verification() -> None:
    said = {
        "criteria": ["Rejects  expired\ntokens", " ", "Is fast", "Is clean"],
        "mustNot": ["The API changes", {"text": "It logs", "command": ["grep", "-q", "x"], "seen": None}, "  "],
        "verification": [
            {"criterion": "rejects expired tokens.", "type": "Execution-Output", "command": ["pytest", "-k", "a"]},
            {"criterion": "2", "type": "measurement"},
            {"criterion": "criterion-3"},
        ],
        "decisions": ["zod"],
        "conflicts": ["none\n# of them"],
        "aspects": ["auth", "Cooking"],
    }
    assert read_shape(saying(shape=said)) == WorkShape(
        criteria=(
            ShapeCriterion("Rejects expired tokens", command=("pytest", "-k", "a")),
            ShapeCriterion("Is fast", type="measurement"),
            ShapeCriterion("Is clean", type="code review"),
        ),
        must_not=(MustNot("The API changes"), MustNot("It logs", command=("grep", "-q", "x"))),
        aspects=("Auth",),
        decisions=("zod",),
        conflicts=("none # of them",),
    )


def test_aspects_that_no_shaper_names_are_found_in_the_criteria() -> None:
    assert read_shape(saying(shape={"criteria": ["The login is fast"]})) == WorkShape(
        criteria=(ShapeCriterion("The login is fast", type="code review"),),
        must_not=(),
        aspects=("Auth", "Performance"),
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "shape is missing; give it an object"),
        ({}, "shape: criteria is missing; give it a list"),
        ({"criteria": "a"}, 'shape.criteria: expected a list, found the text "a"'),
        ({"criteria": [1]}, "shape.criteria[0]: expected text, found the number 1"),
        (
            {"criteria": [], "mustNot": [1]},
            "shape.mustNot[0]: expected text, or an object, found the number 1",
        ),
        ({"criteria": [], "mustNot": [{}]}, "shape.mustNot[0]: text is missing; give it text"),
        (
            {"criteria": [], "mustNot": [{"text": "a", "command": "rm"}]},
            'shape.mustNot[0].command: expected a command as a list of its words, found the text "rm"',
        ),
        (
            {"criteria": ["a"], "verification": [{"criterion": "a", "type": "hope"}]},
            f'shape.verification[0].type: expected one of {", ".join(TYPES)}, found the text "hope"',
        ),
        (
            {"criteria": ["a"], "verification": [{"criterion": "a", "type": 1}]},
            f"shape.verification[0].type: expected one of {', '.join(TYPES)}, found the number 1",
        ),
        (
            {"criteria": ["a"], "verification": [{"criterion": "a"}, {"criterion": "b"}]},
            "shape.verification[1].criterion: no criterion is 'b'; use one of criteria",
        ),
        ({"criteria": [], "decisions": {}}, "shape.decisions: expected a list, found a table of keys"),
    ],
)
def test_a_shape_that_cannot_be_taken_is_told_in_a_sentence(said: object, why: str) -> None:
    assert read_shape(saying(shape=said)) == why


def test_a_shape_that_is_no_json_is_told_in_a_sentence() -> None:
    assert read_shape(AgentReport(extras="{")) == "the result's other keys are not JSON that can be read"


# The page


def page(title: str, shape: WorkShape, status: dict[str, CriterionStatus], scored: Scored) -> str:
    chosen = ShapeChoice.TOOL_REVIEW
    facts = ShapeFacts(title=title, spec=scored.scores.spec, fit=35, reasons=scored.as_lines, chosen=chosen)
    return render_shape(facts, shape, status)


def test_the_page_shows_the_shape(golden: Callable[[str, str], None]) -> None:
    shape = WorkShape(
        criteria=(
            ShapeCriterion("An expired token is rejected", command=("pytest", "-k", "a|b")),
            ShapeCriterion("All tests pass"),
            ShapeCriterion("The build is clean").as_seen(),
            ShapeCriterion("The code reads well", type="code review"),
            ShapeCriterion("Nobody uses the old name", type="assumption"),
        ),
        must_not=(
            MustNot("The public API changes", command=("python", "api.py")),
            MustNot("Tokens are logged", seen="reviewers"),
            MustNot("It is slow"),
        ),
        aspects=("API", "Auth"),
        decisions=("One schema for both",),
        conflicts=("Speed against plainness: plainness",),
    )
    status = {
        "criterion-1": CriterionStatus(met=True, verification="execution output"),
        "criterion-2": CriterionStatus(met=True, verification=""),
        "criterion-4": CriterionStatus(met=False, verification="code review"),
    }
    golden("texts/shape.md", page("Add validation to auth", shape, status, score("Add validation to src/auth.ts")))


def test_the_page_of_a_shape_without_anything_says_so(golden: Callable[[str, str], None]) -> None:
    golden("texts/shape-empty.md", page("", WorkShape(criteria=(), must_not=()), {}, score("")))


FORGED = re.compile(r"^(?:#{1,2} .*|- \[x\].*|```.*|~~~.*)$", re.MULTILINE)


@given(texts)
def test_nothing_that_somebody_wrote_forges_a_part_of_the_page(said: str) -> None:
    tricky = f"a\n# {said}\n- [x] {said}|{said}"
    shape = WorkShape(
        criteria=(ShapeCriterion(tricky, type=tricky, command=(tricky,)), ShapeCriterion(tricky)),
        must_not=(MustNot(tricky, command=(tricky,)), MustNot(tricky, seen=tricky)),
        aspects=(tricky,),
        decisions=(tricky,),
        conflicts=(tricky,),
    )
    scored = Scored(scores=score("").scores, reasons=(tricky,) * 5)
    status = {"criterion-1": CriterionStatus(met=False, verification=tricky)}
    drawn = page("x", shape, status, scored)
    assert all_harmless(drawn)
    assert FORGED.findall(drawn) == [
        *("# Shape: x", "## Criteria", "## Must not", "## Verification"),
        *("## Aspects", "## Decisions", "## Conflicts"),
    ]
    rows = [line for line in drawn.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows} == {4}
