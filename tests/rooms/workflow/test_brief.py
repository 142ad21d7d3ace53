"""What the roles of a workflow are told, as Markdown."""

from __future__ import annotations

from pathlib import Path

from loopwright.kernel.actions import RunAgent
from loopwright.kernel.model import LoopId
from loopwright.loops.workflow import brief as briefs
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import Recalled, WorkflowState
from loopwright.ports.agent import AgentRun
from tests.loops import workflow as w

DIFF = "diff --git a/src/a.py b/src/a.py\n+a = 1\n"


def told(state: WorkflowState, diff: str = "", role: str = "") -> str:
    action = next(each for each in WORKFLOW.decide(state) if isinstance(each, RunAgent))
    run = AgentRun(
        loop=LoopId("names-1"),
        kind="workflow",
        key=action.key,
        step="s",
        role=role or action.role,
        brief=action.brief,
        folder=Path("/repo"),
        needs_verdict=action.needs_verdict,
        diff=diff,
    )
    return briefs.render(run)


def parts(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_the_scorer_is_told_the_request_and_how_it_is_scored() -> None:
    text = told(w.workflow())
    assert parts(text) == ["# Brief for the scorer of a workflow", "## Task", "## Result"]
    assert "Each of five dimensions gets 0, 1 or 2" in text
    assert '"scores": {"outcome": 2' in text


def test_what_was_recalled_and_confirmed_is_told_and_nothing_else() -> None:
    kept = (Recalled(title="a", text="it was slow", confirmed=True), Recalled(title="b", text="it was red"))
    text = told(w.workflow(recalled=kept))
    assert "## Learned before, and confirmed by a person\n\n- it was slow" in text
    assert "it was red" not in text


def test_a_result_that_could_not_be_read_is_asked_for_with_the_reason() -> None:
    assert "scores" in told(w.play(w.workflow(), w.reports(marks=1)))
    assert told(w.play(w.workflow(), w.reports(marks=1))) != told(w.workflow())


def test_the_planner_knows_the_shape() -> None:
    text = told(w.play(w.workflow(cast=("scorer", "shaper", "planner")), w.scores(w.TOOL), w.shapes("It holds")))
    assert "## Criteria\n\n- `criterion-1`: It holds" in text
    assert "## Must not happen\n\n- `mustNot-1`: It breaks\n- `mustNot-2`: It leaks" in text
    assert '"tasks": [{"id": "T-001"' in text


def test_the_panel_is_told_what_failed() -> None:
    text = told(w.play(w.planned(also_cast=("panel",)), w.stuck(1, w.RED)))
    assert "How the last attempt ended: " in text
    assert "## What failed (data)" in text
    assert "The diff is not included: look at the files." in text
    assert '"advice": {"diagnosis"' in text


def test_a_light_reviewer_is_told_its_view_and_its_wave() -> None:
    text = told(w.play(w.planned(), *w.does(1)), DIFF)
    assert "This is a light look at a wave of tasks that has landed" in text
    assert "You look at it as: delivery. Does the change do what was asked for" in text
    assert "## Tasks\n\n- T-001: Do part 1" in text
    assert "+a = 1" in text


def test_a_thorough_reviewer_is_told_what_was_open_when_it_last_looked() -> None:
    state = w.play(w.planned(), *w.does(1), *w.seen(), *w.thoroughly(w.refuses(w.BLOCKER)), *w.does(2), *w.seen())
    text = told(state, DIFF)
    assert "This is the thorough review before completion." in text
    assert "## Open findings to check again (data)" in text
    assert '"score": 8' in text


def test_the_gate_is_told_the_warnings_and_asked_for_its_card() -> None:
    state = w.play(w.planned(also_cast=("gate",)), *w.does(1), *w.seen(), *w.thoroughly(w.passes(w.WARNING)), w.GREEN)
    text = told(state, DIFF)
    assert "## Findings (data)" in text
    assert '"ship": {"confidence": 90' in text


def test_a_role_without_a_duty_of_its_own_is_told_the_task() -> None:
    assert "Do what the task below asks of this role." in told(w.workflow(), role="other")
