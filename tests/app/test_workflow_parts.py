"""What the loop of a task is given, who has to be there for it, and what another tool's state file comes to."""

from __future__ import annotations

import json

import pytest

from loopwright.app.starts.workflow.adoption import taken_from
from loopwright.app.starts.workflow.inner import child_of, roles_needed, roles_of_attempt
from loopwright.config.loop_toml import read_settings
from loopwright.kernel.model import LoopId
from loopwright.loops.workflow.state import TakenOver, TakenWave
from loopwright.loops.workflow.state_file import StateFile, ThoroughReview, WaveReview, WorkflowStage

LOOP = LoopId("write-one-txt-and-two-tx-0ec709")
AGENTS = """\
[agents.one]
kind = "rehearsal"
scenario = "s.toml"
[agents.two]
kind = "rehearsal"
scenario = "s.toml"
[roles]
default = "one"
creator = ["one", "two"]
"""
IN_TICKETS = AGENTS + '[workflow]\ninner = "tickets"\n[tickets]\ncritics = ["critic", "tester"]\n'


def test_a_task_that_is_made_in_a_ticket_session_is_judged_by_the_firm_rules_and_by_every_critic() -> None:
    settings = read_settings(IN_TICKETS, "loop.toml")
    assert json.loads(child_of(settings, LOOP, None)) == {
        "session": "write-one-txt-an-0ec709",
        "creators": ["one", "two"],
        "critics": ["critic", "tester"],
        "judge": False,
        "firm": True,
    }
    assert json.loads(child_of(settings, LOOP, ("creator", "judge")))["judge"]


def test_every_role_of_an_attempt_has_to_be_there() -> None:
    in_tickets = read_settings(IN_TICKETS, "loop.toml")
    assert roles_of_attempt(in_tickets) == ("creator", "critic", "tester")
    assert roles_needed(in_tickets) == ("creator", "critic", "tester", "reviewer")
    otherwise = read_settings(AGENTS, "loop.toml")
    assert roles_of_attempt(otherwise) == roles_needed(otherwise) == ("developer", "reviewer")


def test_every_review_of_another_tool_is_marked_as_its_word() -> None:
    state = StateFile(
        stage="review",
        task="Write it",
        waves={1: WaveReview(score=8, issues=2, blockers=0)},
        thorough=ThoroughReview(passed=True, blockers_remaining=0),
    )
    assert taken_from(state, None) == TakenOver(
        stage="review",
        spec=None,
        fit=None,
        choice="",
        started_at=state.started_at,
        waves=(TakenWave(wave=1, review=WaveReview(score=8, issues=2, blockers=0, taken_over=True)),),
        thorough=ThoroughReview(passed=True, blockers_remaining=0, taken_over=True),
        shape=None,
    )
    assert taken_from(StateFile(stage="shape", task="Write it"), None).thorough is None


@pytest.mark.parametrize(
    ("stage", "spec", "fit", "stands"),
    [("shape", 4, None, True), ("executing", None, 22, True), ("shape", None, None, False), ("intent", 4, 22, False)],
)
def test_scores_stand_where_another_tool_went_on_with_them(
    stage: WorkflowStage, spec: int | None, fit: int | None, *, stands: bool
) -> None:
    state = StateFile(stage=stage, task="Write it", spec_score=spec, fit_score=fit)
    assert taken_from(state, None).scores_stand is stands
