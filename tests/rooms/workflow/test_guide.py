import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loopwright.adapters.agents.result import read_result
from loopwright.kernel.model import AgentReport
from loopwright.loops.workflow.advice import read_advice
from loopwright.loops.workflow.aspects import ASPECTS, aspects_of
from loopwright.loops.workflow.plan import plan_problems, plan_remarks, read_tasks
from loopwright.loops.workflow.scoring import fit, read_scores, score, shape_for
from loopwright.loops.workflow.shape import LEAST_RULES, WorkShape, criterion_name, must_not_name, read_shape, shape_of
from loopwright.loops.workflow.ship import Ship, read_ship, verdict_of
from tests.rooms.workflow.reports import saying

PAGES = Path(__file__).parents[3] / "docs" / "guide"
GUIDE = (PAGES / "workflow-scoring.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
PAIRS = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))

_ANSWERS = (PAGES / "agents.md").read_text(encoding="utf-8").partition("## What the roles of a workflow answer")[2]
RESULTS = dict(
    re.findall(r"^The \*\*(\w+)\*\*(?:.(?!^```))*\n\n```json\n(.*?)^```$", _ANSWERS, re.MULTILINE | re.DOTALL)
)


def shown_for(asked: str, answer: str) -> list[tuple[str, str]]:
    return [(given[1], said[1]) for given, said in PAIRS if (given[0], said[0]) == (asked, answer)]


def scored(request: str) -> str:
    seen = score(request)
    points = fit(seen.scores, 0)
    return "\n".join([*seen.as_lines, f"spec {seen.scores.spec}, fit {points}, {shape_for(points)}", ""])


def shaped(request: str) -> str:
    shape = shape_of(request, ())
    hold = [f"{criterion_name(index)}: {each.text}" for index, each in enumerate(shape.criteria, start=1)]
    rules = [f"{must_not_name(index)}: {each.text} ({each.seen})" for index, each in enumerate(shape.must_not, start=1)]
    return "\n".join([*hold, *rules, ""])


def problems(plan: str) -> str:
    tasks = read_tasks(saying(tasks=json.loads(plan)))
    return tasks if isinstance(tasks, str) else "\n".join([*plan_problems(tasks), ""])


def test_every_example_of_the_guide_is_one_of_a_known_kind() -> None:
    assert [(given[0], said[0]) for given, said in PAIRS] == [
        ("request", "scores"),
        ("request", "scores"),
        ("request", "shape"),
        ("plan", "problems"),
    ]


def test_the_guide_scores_as_the_engine_does() -> None:
    assert [said for _, said in shown_for("request", "scores")] == [
        scored(request) for request, _ in shown_for("request", "scores")
    ]


def test_the_guide_shapes_as_the_engine_does() -> None:
    assert [said for _, said in shown_for("request", "shape")] == [
        shaped(request) for request, _ in shown_for("request", "shape")
    ]


def test_the_guide_finds_wrong_in_a_plan_what_the_engine_does() -> None:
    assert [said for _, said in shown_for("plan", "problems")] == [
        problems(plan) for plan, _ in shown_for("plan", "problems")
    ]


def test_every_word_of_the_guide_is_of_its_aspect() -> None:
    rows = dict(re.findall(r"^\| ([A-Z]\w+) \| ([a-z0-9 -]+) \|$", GUIDE, re.MULTILINE))
    assert tuple(rows) == ASPECTS
    lost = {
        (aspect, word)
        for aspect, words in rows.items()
        for word in words.split()
        if aspect not in aspects_of(f"the {word[:-1]}ing now" if word.endswith("-") else word)
    }
    assert lost == set()


def result(role: str) -> AgentReport:
    return read_result(RESULTS[role].encode()).report


@pytest.mark.parametrize(
    ("role", "read"),
    [
        ("scorer", read_scores),
        ("shaper", read_shape),
        ("planner", read_tasks),
        ("panel", read_advice),
        ("gate", read_ship),
    ],
)
def test_what_the_guide_has_a_role_answer_is_taken(role: str, read: Callable[[AgentReport], object]) -> None:
    assert not isinstance(read(result(role)), str)


def test_the_plan_the_shape_and_the_gate_of_the_guide_keep_the_rules() -> None:
    tasks, shape, ship = read_tasks(result("planner")), read_shape(result("shaper")), read_ship(result("gate"))
    assert not isinstance(tasks, str)
    assert (plan_problems(tasks), plan_remarks(tasks)) == ((), ())
    assert isinstance(shape, WorkShape)
    assert len(shape.must_not) >= LEAST_RULES
    assert isinstance(ship, Ship)
    assert verdict_of(ship, shape.criteria[0].type) == "SHIP"
