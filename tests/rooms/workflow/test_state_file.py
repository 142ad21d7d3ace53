import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from loopwright.errors import ConfigError
from loopwright.loops.workflow.evidence import CriterionStatus
from loopwright.loops.workflow.state_file import (
    StateFile,
    ThoroughReview,
    WaveReview,
    WorkflowStage,
    read_state,
    render_state,
)
from tests.hostile import all_harmless, texts
from tests.sample_values import alternatives

SAMPLE = (Path(__file__).parents[2] / "samples" / "workflow-state.json").read_text(encoding="utf-8")
SEED: dict[str, Any] = json.loads(SAMPLE)
BLOCKED = StateFile(
    stage="review",
    task="original user request",
    spec_score=7,
    fit_score=35,
    shape_chosen="tool-review",
    started_at="2026-02-05T10:00:00Z",
    last_updated="2026-02-05T10:15:00Z",
    recall_surfaced=("auth edge cases", "validation patterns"),
    waves={1: WaveReview(score=8, issues=2, blockers=0), 2: WaveReview(score=7, issues=3, blockers=1)},
    thorough=ThoroughReview(passed=False, blockers_remaining=1),
)
FULL = StateFile(
    stage="complete",
    task="Ajoute l'export «CSV»",
    spec_score=10,
    fit_score=75,
    shape_chosen="tool",
    waves={
        10: WaveReview(
            score=7.5, issues=0, blockers=0, experts=("security", "tests"), timestamp="2026-02-05T10:15:00Z"
        ),
        2: WaveReview(score=8.0, issues=1, blockers=0),
    },
    thorough=ThoroughReview(
        passed=True, blockers_remaining=0, findings_total=4, experts=("data",), timestamp="2026-02-05T10:20:00Z"
    ),
    loop="csv-export-1",
    criteria={"It has a header": CriterionStatus(met=True, verification="exit code 0")},
    others={"exit_signal": True, "team": {"enabled": False}, "version": 9},
)


def changed(*path: str, to: object) -> str:
    """The seed's sample, in the middle of the work, with one value changed."""
    data: Any = json.loads(json.dumps(SEED)) | {"stage": "executing", "shape_chosen": "tool"}
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return json.dumps(data)


def test_a_review_with_a_blocker_is_written_as_the_seed_shows_it(golden: Callable[[str, str], None]) -> None:
    text = render_state(BLOCKED)
    golden("texts/workflow-state.json", text)
    assert text == SAMPLE.replace(SEED["stage"], "review").replace(SEED["shape_chosen"], "tool-review")


def test_more_than_the_seed_has_stands_after_it(golden: Callable[[str, str], None]) -> None:
    golden("texts/workflow-state-full.json", render_state(FULL))


def test_at_the_start_nothing_is_scored() -> None:
    started = StateFile(stage="intent", task="x", started_at="2026-02-05T10:00:00Z", last_updated="")
    assert json.loads(render_state(started)) == {
        "version": 1,
        "stage": "intent",
        "task": "x",
        "spec_score": None,
        "fit_score": None,
        "shape_chosen": None,
        "started_at": "2026-02-05T10:00:00Z",
        "last_updated": "",
        "recall_surfaced": [],
        "reviews": {},
    }
    assert read_state(render_state(started)) == started


@pytest.mark.parametrize(
    "value", list(alternatives(SEED)), ids=lambda value: f"{value['stage']}, {value['shape_chosen']}"
)
def test_the_sample_of_the_seed_is_read_with_each_of_its_words(value: dict[str, Any]) -> None:
    held = read_state(json.dumps(value))
    assert (held.stage, held.shape_chosen) == (value["stage"], value["shape_chosen"])
    assert json.loads(render_state(held)) == value


@pytest.mark.parametrize("stage", get_args(WorkflowStage))
def test_every_stage_is_taken_over(stage: str) -> None:
    assert read_state(changed("stage", to=stage)).stage == stage


def test_what_is_written_is_read_back() -> None:
    assert read_state(render_state(BLOCKED)) == BLOCKED
    held = read_state(render_state(FULL))
    assert list(held.waves) == [2, 10]
    assert held.others == {"exit_signal": True, "team": {"enabled": False}}
    assert render_state(held) == render_state(FULL)


def test_version_stage_and_task_are_enough() -> None:
    assert read_state('{"version": 1, "stage": "shape", "task": "x"}') == StateFile(stage="shape", task="x")


def test_what_has_no_value_is_as_good_as_absent() -> None:
    absent = dict.fromkeys(("spec_score", "fit_score", "shape_chosen", "reviews", "criteriaStatus", "loop"))
    assert read_state(json.dumps({"version": 1, "stage": "shape", "task": "x", **absent})) == StateFile(
        stage="shape", task="x"
    )
    reviews = {"wave_1": None, "thorough": None, "wave_x": 3}
    assert read_state(changed("reviews", to=reviews)).waves == {}
    assert read_state(changed("reviews", to=reviews)).thorough is None


def test_reviews_may_say_less_than_the_seeds() -> None:
    held = read_state(changed("reviews", to={"wave_3": {"score": 7.5}, "thorough": {"passed": True}}))
    assert held.waves == {3: WaveReview(score=7.5, issues=0, blockers=0)}
    assert held.thorough == ThoroughReview(passed=True, blockers_remaining=0)


def test_criteria_are_read_with_what_they_rest_on() -> None:
    held = read_state(changed("criteriaStatus", to={"a": {"met": True, "verification": "seen"}, "b": {"met": False}}))
    assert held.criteria == {
        "a": CriterionStatus(met=True, verification="seen"),
        "b": CriterionStatus(met=False, verification=""),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "s.json: expected JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"stage": "PLAN", "stage": "SHIP"}', "s.json: expected JSON: the key 'stage' is there twice in one object"),
        ("[" * 100_000, "s.json: expected JSON: maximum recursion depth exceeded"),
        ('{"version": 1' + "0" * 400 + "}", "s.json: expected JSON: 10000000000000000000… has more than 300 digits"),
        ('{"version": 1, "x": NaN}', "s.json: expected JSON: Out of range float values are not JSON compliant"),
        (r'{"task": "\ud800"}', "s.json: expected JSON: 'utf-8' codec can't encode character '\\ud800'"),
        ("[]", "s.json: expected a JSON object with version, stage and task, found a list"),
        ("{}", "s.json: version is missing; give it 1"),
        ('{"version": 1, "stage": "shape"}', "s.json: task is missing; give it text that is not empty"),
        (changed("version", to=2), "s.json: version: expected 1, found the number 2"),
        (changed("version", to=True), "s.json: version: expected 1, found true"),
        (changed("stage", to="done"), "s.json: stage: expected one of intent, shape, decompose, planning, executing,"),
        (changed("task", to=""), "s.json: task: expected text that is not empty, found an empty text"),
        (changed("spec_score", to=11), "s.json: spec_score: expected a whole number, at most 10, found the number 11"),
        (changed("fit_score", to=76), "s.json: fit_score: expected a whole number, at most 75, found the number 76"),
        (changed("shape_chosen", to="big"), "s.json: shape_chosen: expected one of colleague, tool-review, tool,"),
        (changed("recall_surfaced", to=[1]), "s.json: recall_surfaced[0]: expected text, found the number 1"),
        (changed("reviews", to=[]), "s.json: reviews: expected an object, found a list"),
        (changed("reviews", "wave_1", to=8), "s.json: reviews.wave_1: expected an object, found the number 8"),
        (changed("reviews", "wave_1", "score", to=11), "s.json: reviews.wave_1.score: expected a number from 0 to 10,"),
        (changed("reviews", "wave_1", "issues", to="2"), "s.json: reviews.wave_1.issues: expected a whole number,"),
        (
            changed("reviews", "thorough", "passed", to=True),
            "s.json: reviews.thorough.passed: expected false: blockers",
        ),
        (changed("criteriaStatus", to={"a b": {}}), "s.json: criteriaStatus.'a b': met is missing; give it true or"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_state(text, "s.json")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


@given(said=texts)
def test_it_is_always_json_with_nothing_invisible_and_loses_nothing(said: str) -> None:
    file = StateFile(
        stage="review",
        task=said or "x",
        recall_surfaced=(said,),
        thorough=ThoroughReview(passed=False, blockers_remaining=1, experts=(said,)),
        loop=said,
        criteria={said: CriterionStatus(met=False, verification=said)},
        others={"note": said},
    )
    text = render_state(file)
    assert all_harmless(text)
    assert json.loads(text.encode())["task"] == (said or "x")
    if "\ud800" not in said:
        assert read_state(text) == file
