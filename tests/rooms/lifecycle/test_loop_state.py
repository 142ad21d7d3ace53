"""`loop-state.json`: as it is written, as it is read, and what a person may change in it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopwright.errors import ConfigError
from loopwright.kernel.events import AgentReported, SkillSkipped, StateEdited
from loopwright.kernel.model import AgentReport, AgentStatus, Question
from loopwright.kernel.shapes import Problem
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.loop_state import FailureRead, GateRead, StateEdit, edit_of, read_loop_state
from loopwright.loops.lifecycle.loop_state_view import render_loop_state, status_lines
from loopwright.loops.lifecycle.state import Earlier
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import SCHEMA, TYPE_ERROR, Story, decided, planned, red, report, risky
from tests.rooms.story_files import fits_schema

SAMPLE = Path(__file__).parent.parent.parent / "samples" / "loop-state.json"


def rendered(story: Story) -> str:
    return render_loop_state(story.state, story.held.moments, story.held.log)


def data(story: Story) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(rendered(story))
    assert fits_schema("loop-state", held)
    return held


def lines(story: Story) -> tuple[str, ...]:
    return status_lines(story.state, story.held.moments)


ADOPTED = Earlier(
    stage=Stage.IMPLEMENT,
    done=("capability 1", "capability 2"),
    current="work-order-assignment",
    remaining=("status-transitions", "completion-flow"),
    failures=(
        Failure(
            number=1,
            stage=Stage.VERIFY,
            sort="types",
            error="Type error in WorkOrder model",
            fix="Fixed type definition",
            resolved=True,
        ),
    ),
    retries=1,
    total=1,
    approvals=(("database", "dba@company.com"),),
    activity="2024-01-17T10:30:00Z",
)


# Written


def test_a_whole_life_is_written_field_by_field(golden: Callable[[str, str], None]) -> None:
    told = report(deliverables=["docs/a.md", " ", 3], references=["docs/b.md"])
    story = Story(
        skill=[told],
        check=[red("")] * 3 + [red("typecheck", TYPE_ERROR)],
        look=[risky(SCHEMA)],
        gate=[decided(approved=True, by="dba@company.com", reason="looked at")],
    )
    golden("texts/lifecycle-loop-state.json", rendered(story.done()))
    assert data(story)["state"] == "COMPLETE"


def test_the_five_lines_of_a_system_that_another_tool_began(golden: Callable[[str, str], None]) -> None:
    story = Story(planned(earlier=ADOPTED, capabilities=()))
    golden("texts/lifecycle-status.txt", "\n".join(lines(story)) + "\n")
    held = data(story)
    assert held["capabilities"] == {
        "total": 5,
        "completed": 2,
        "current": "work-order-assignment",
        "remaining": ["status-transitions", "completion-flow"],
    }
    assert held["stages"]["SCAFFOLD"] == {"status": "complete"}
    assert held["failures"]["history"][0]["resolution"] == "Fixed type definition"


def test_what_was_blocked_elsewhere_is_blocked_here() -> None:
    earlier = Earlier(
        stage=Stage.BLOCKED,
        blocked="no access",
        failures=(Failure(number=1, stage=Stage.TEST, sort="tests", error="red"),),
    )
    story = Story(planned(earlier=earlier))
    held = data(story)
    assert (held["state"], held["blockedReason"]) == ("BLOCKED", "no access")
    assert held["stages"]["TEST"] == {
        "status": "failed",
        "startedAt": "2026-02-05T10:00:00Z",
        "error": "no access",
    }
    assert lines(story)[2] == "Failures: 1 (1 open)"


def test_a_system_that_names_no_capability_is_one_and_has_no_gates_yet() -> None:
    story = Story(planned(capabilities=(), mode="autonomous"))
    assert data(story)["capabilities"] == {"total": 1, "completed": 0, "current": None, "remaining": []}
    assert lines(story) == (
        "System: Work Order Service (sys-002)",
        "State: INIT",
        "Failures: 0",
        "Gates: none",
        "Last activity: 2026-02-05T10:00:00Z",
    )


def test_a_question_shows_it_as_blocked_with_what_is_asked() -> None:
    asks = AgentReport(status=AgentStatus.NEEDS_CLARIFICATION, questions=(Question(question="Which orders?"),))
    story = Story(skill=[lambda action: AgentReported(key=action.key, report=asks, role="skill")]).step()
    held = data(story)
    assert (held["state"], held["blockedReason"]) == ("BLOCKED", "Ambiguous requirement discovered: Which orders?")
    assert held["skillsLog"][0]["status"] == "in-progress"


def test_stages_restart_for_each_capability() -> None:
    story = Story().until(lambda state: state.done == ("creation",))
    held = data(story)
    assert held["stages"]["IMPLEMENT"] == {"status": "in-progress", "startedAt": held["stateEnteredAt"]}
    assert held["stages"]["VERIFY"] == {"status": "pending"}
    assert held["skillExecution"]["TEST"]["completed"] == []
    assert held["skillExecution"]["SCAFFOLD"]["completed"] == held["skillExecution"]["SCAFFOLD"]["required"]


def test_gates_are_pending_then_requested_then_decided() -> None:
    story = Story(look=[risky(SCHEMA)] * 20).at_gate()
    asked = data(story)["gates"]["database"]
    assert (asked["required"], asked["status"]) == (True, "requested")
    assert lines(story)[3] == "Gates: database requested"
    story.said(StateEdited(subject="gate-timeout", value="", by="engine")).to(Stage.BLOCKED)
    assert data(story)["gates"]["database"]["status"] == "requested"
    story.replies["ask"] = [decided(approved=False)]
    assert data(story)["blockedReason"] == "The gate database was not decided in time"


def test_a_rejected_gate_is_history_and_asks_for_the_work_again() -> None:
    story = Story(look=[risky()] * 2 + [risky(SCHEMA)] * 9, gate=[decided(approved=False, by="dba", reason="no index")])
    story.at_gate().step()
    held = data(story)
    assert held["gates"]["database"]["status"] == "rejected"
    assert "approvedBy" not in held["gates"]["database"]
    assert held["failures"]["history"][0]["stage"] == "gate-rejection"
    assert lines(story)[3] == "Gates: database ✗, security pending"


def test_what_was_skipped_and_where_it_is_deployed_is_on_record() -> None:
    story = Story(planned(deploy=()))
    story.said(SkillSkipped(skill="git-workflow", reason="no git", by="someone"))
    assert data(story)["prerequisites"] == {
        "git": {"status": "skipped", "prompted": False},
        "deploy": {"status": "pending", "prompted": False},
    }
    story.to(Stage.BLOCKED)
    story.said(SkillSkipped(skill="deploy", reason="a library", by="someone"))
    held = data(story)
    assert held["prerequisites"]["deploy"] == {"status": "skipped", "prompted": True}
    assert held["skillExecution"]["SHIP"] == {
        "required": ["deploy", "git-workflow"],
        "completed": [],
        "skipped": ["deploy"],
    }
    assert held["skillExecution"]["SCAFFOLD"]["skipped"] == ["git-workflow"]


def test_nothing_in_it_steers_a_terminal() -> None:
    story = Story()
    story.said(SkillSkipped(skill="triage", reason="a\x1b[2Jb ünlaut", by="someone"))
    assert "\x1b" not in rendered(story)


# Read


def test_the_sample_of_another_tool_is_read() -> None:
    held = read_loop_state(SAMPLE.read_text())
    assert (held.system, held.name, held.issue) == ("sys-002", "Work Order Service", 123)
    assert (held.state, held.completed, held.total) == (Stage.IMPLEMENT, 2, 5)
    assert (held.current, held.remaining) == ("work-order-assignment", ("status-transitions", "completion-flow"))
    assert held.gates == {
        "architecture": GateRead(required=False, status="not-applicable"),
        "security": GateRead(required=True, status="pending"),
        "database": GateRead(required=True, status="approved", by="dba@company.com"),
        "deploy": GateRead(required=True, status="pending"),
    }
    assert held.history == (
        FailureRead(
            stage="VERIFY",
            error="Type error in WorkOrder model",
            timestamp="2024-01-17T10:15:00Z",
            capability="work-order-creation",
            resolution="Fixed type definition",
            resolved_at="2024-01-17T10:25:00Z",
        ),
    )
    assert set(held.others) == {"stages", "checkpoints"}


def test_what_we_write_we_read() -> None:
    assert read_loop_state(rendered(Story().to(Stage.TEST))).state is Stage.TEST


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("systemId", "sys-1", "loop-state.json: systemId: expected an id such as sys-001"),
        ("branch", "main", "loop-state.json: branch: expected a branch such as feature/orders"),
        ("worktree", "work", "loop-state.json: worktree: expected a folder such as .worktrees/orders"),
        ("capabilities", {"total": 0}, "loop-state.json: capabilities.total: expected a whole number, at least 1"),
        ("gates", {"security": {"required": True}}, "loop-state.json: gates.security: status is missing"),
        ("stages", {"INIT": {"status": "done"}}, "loop-state.json: stages.INIT.status: expected one of"),
        ("updatedAt", None, "loop-state.json: updatedAt is missing"),
        ("state", "SLEEPING", "loop-state.json: state: expected one of INIT"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(key: str, value: object, says: str) -> None:
    held = json.loads(SAMPLE.read_text()) | {key: value}
    assert fits_schema("loop-state", held) is False
    with pytest.raises(ConfigError) as error:
        read_loop_state(json.dumps(held))
    assert str(error.value).startswith(says)


@pytest.mark.parametrize("content", ['{"systemId": "sys-001", "systemId": "sys-002"}', "{", '{"a": NaN}'])
def test_what_is_no_json_or_says_something_twice_is_refused(content: str) -> None:
    with pytest.raises(ConfigError, match="expected JSON"):
        read_loop_state(content)


# Edited


def test_a_person_may_set_the_state() -> None:
    ours = rendered(Story().to(Stage.TEST))
    theirs = json.loads(ours) | {"state": "IMPLEMENT"}
    assert edit_of(ours, json.dumps(theirs)) == StateEdit("IMPLEMENT")


def test_another_layout_is_no_edit() -> None:
    ours = rendered(Story())
    assert edit_of(ours, json.dumps(json.loads(ours))) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"branch": "feature/x", "state": "TEST"},
            Problem("only `state` may be edited; put this back as it was", ("branch",)),
        ),
        ({"mine": 1}, Problem("only `state` may be edited; put this back as it was", ("mine",))),
        ({"state": "LATER"}, Problem(f"expected one of {', '.join(Stage)}", ("state",))),
    ],
)
def test_any_other_edit_is_refused_with_its_key(change: dict[str, object], problem: Problem) -> None:
    ours = rendered(Story())
    assert edit_of(ours, json.dumps(json.loads(ours) | change)) == problem


def test_an_edit_that_is_no_json_is_refused() -> None:
    ours = rendered(Story())
    assert edit_of(ours, "[]") == Problem("expected a JSON object")
    found = edit_of(ours, "{")
    assert isinstance(found, Problem)
    assert found.says.startswith("expected JSON")


def test_a_capability_is_open_again_when_a_person_sets_it_back_to_its_verification() -> None:
    story = Story(planned(capabilities=("creation",))).to(Stage.VALIDATE)
    story.said(StateEdited(subject="state", value='"VERIFY"', by="someone"))
    assert (story.state.phase, story.state.done, story.state.current) == (Stage.VERIFY, (), "creation")
    assert data(story)["stages"]["VERIFY"]["status"] == "in-progress"
