"""The files of a system: where they lie, when they are there, and what they say."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from loopwright.kernel.events import CancelRequested, SkillSkipped, Started, StateEdited
from loopwright.kernel.record import Record
from loopwright.loops.course import Station
from loopwright.loops.lifecycle import files
from loopwright.loops.lifecycle.blocked_message import blocked_page
from loopwright.loops.lifecycle.failures import Failure
from loopwright.loops.lifecycle.past import folded
from loopwright.loops.lifecycle.state import Earlier
from loopwright.loops.lifecycle.states import Stage
from tests.rooms.lifecycle.stories import (
    BEGAN,
    LOOP,
    SCHEMA,
    TYPE_ERROR,
    Story,
    decided,
    door,
    held_in,
    key_of_next,
    planned,
    red,
    report,
    risky,
    stuck,
)
from tests.rooms.story_files import fits_schema

ROOT = "domain-memory/workshop"
OWN, LAST_ACTIVE = f"{ROOT}/systems/sys-002/loop-state.json", f"{ROOT}/loop-state.json"
COPY = ".loop/lifecycle/orders-1/loop-state.json"
BLOCKED = f"{ROOT}/blocked/sys-002.md"


def journey(story: Story) -> list[dict[str, Any]]:
    lines = [noted.data for each in files.notes(story.scene()).values() for noted in each]
    place = {"sequence": 1, "log": {"loop": "orders-1", "seq": 1, "part": 0}}
    assert all(fits_schema("journey-log", line | place) for line in lines)
    return lines


def told(story: Story, category: str) -> list[tuple[str, str, str]]:
    return [
        (each["action"], each["subject"], each["status"]) for each in journey(story) if each["category"] == category
    ]


# Where it stands


def test_where_it_stands_is_written_for_the_system_and_for_the_domain() -> None:
    made = files.render(Story().scene())
    assert set(made) == {OWN, LAST_ACTIVE, BLOCKED}
    assert made[OWN] == made[LAST_ACTIVE]
    assert made[BLOCKED] is None
    assert files.state_paths(Story().state) == (OWN, LAST_ACTIVE)
    assert files.edited(LOOP, Story().state) == {OWN: COPY, LAST_ACTIVE: COPY.replace("loop-state", "last-active")}


def test_a_complete_system_is_archived_and_another_ones_file_is_left_alone() -> None:
    story = Story().done()
    made = files.render(story.scene(story.last))
    assert (made[OWN], made[LAST_ACTIVE]) == (None, None)
    assert made[f"{ROOT}/archive/sys-002/loop-state.json"]
    assert LAST_ACTIVE not in files.render(story.scene())


def test_a_cancelled_system_is_archived_as_it_was() -> None:
    story = Story().to(Stage.SCAFFOLD).said(CancelRequested(by="someone"))
    story.until(lambda state: state.course.station is Station.DONE)
    kept = json.loads(files.render(story.scene())[f"{ROOT}/archive/sys-002/loop-state.json"] or "")
    assert (kept["state"], kept["stages"]["COMPLETE"]["status"]) == ("SCAFFOLD", "pending")
    assert told(story, "system")[-1] == ("end", "Work Order Service", "cancelled")


# Blocked


def test_a_blocked_system_says_why_and_what_was_tried(golden: Callable[[str, str], None]) -> None:
    story = stuck()
    story.replies |= {"diagnose": [report(summary="the model | has no type")], "fix": [report(summary="typed it")]}
    story.to(Stage.BLOCKED)
    golden("texts/lifecycle-blocked.md", files.render(story.scene())[BLOCKED] or "")
    story.replies = {}
    story.step()
    assert files.render(story.scene())[BLOCKED] is None


def test_what_blocks_without_a_failure_has_no_table_of_tries() -> None:
    story = Story(planned(deploy=())).to(Stage.BLOCKED)
    assert "| attempt |" not in blocked_page(story.state)


# The journey


def test_the_journey_of_a_whole_life(golden: Callable[[str, str], None]) -> None:
    story = Story(
        planned(capabilities=("creation",)),
        check=[red("")] * 3 + [red("typecheck", TYPE_ERROR)],
        look=[risky()] * 2 + [risky(SCHEMA)],
        gate=[decided(approved=True, by="dba@company.com")],
    )
    story.said(BEGAN).said(SkillSkipped(skill="triage", reason="one system only", by="someone")).done()
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in journey(story))
    golden("texts/lifecycle-journey.jsonl", lines + "\n")


def test_of_an_event_only_its_own_lines_are_added() -> None:
    story = Story()
    assert [len(each) for each in files.notes(story.scene(story.last)).values()] == [1]
    story.noted(Started(key=key_of_next(story), action="RunAgent"))
    assert files.notes(story.scene(story.last)) == {}


def test_what_a_person_decides_is_on_the_way() -> None:
    story = stuck().to(Stage.BLOCKED)
    assert told(story, "decision")[-1] == ("ESCALATE", "VERIFY", "taken")
    assert told(story, "system")[-1] == ("block", "Work Order Service", "blocked")
    story.said(StateEdited(subject="state", value='"IMPLEMENT"', by="someone"))
    assert told(story, "decision")[-1] == ("edit", "state", "taken")
    assert told(story, "phase")[-1] == ("transition", "BLOCKED → IMPLEMENT", "entered")
    assert journey(story)[-1]["reason"] == "the word of someone"


def test_a_record_that_this_version_cannot_read_only_moves_the_time() -> None:
    story = Story()
    record = Record(loop=LOOP, seq=2, at=story.at, kind="FromTheFuture", data="{}")
    past = folded(story.past, record, story.state)
    assert (past.seq, past.moments.updated, past.journey) == (2, story.at, story.held.journey)


# Failures


def test_a_failure_is_logged_with_what_became_of_it() -> None:
    story = stuck().to(Stage.BLOCKED)
    story.replies = {}
    others = {"timestamp": "t", "system": "sys-001", "stage": "TEST", "error": "theirs", "mine": 1}
    rows = held_in(story, "failure-log.json", [others])
    assert fits_schema("failure-log", rows)
    assert rows[0] == others
    assert [row["resolution"] for row in rows[1:]] == [None, None, None]
    assert [row["wasEscalated"] for row in rows[1:]] == [False, False, True]
    assert rows[1] == {
        "id": "orders-1-1",
        "timestamp": "2026-02-05T11:34:00Z",
        "system": "sys-002",
        "stage": "VERIFY",
        "error": "src/order.py:12 - Type error in WorkOrder model",
        "errorType": "types",
        "file": "src/order.py",
        "line": 12,
        "retries": 0,
        "resolution": None,
        "resolutionTime": None,
        "wasEscalated": False,
    }
    later = held_in(story.done(), "failure-log.json", rows)
    assert [row.get("resolution") for row in later] == [None, "done", "done", "it passed when it was done again"]
    assert held_in(story, "failure-log.json", later) == later


def test_the_log_of_failures_is_written_only_when_one_comes_or_goes() -> None:
    story = Story(check=[red("build", TYPE_ERROR)]).until(lambda state: state.failure is not None)
    assert door(story, "failure-log.json", story.last) is not None  # type: ignore[arg-type]  # the last event
    story.step()
    assert door(story, "failure-log.json", story.last) is None  # type: ignore[arg-type]  # the last event


def test_failures_that_another_tool_counted_are_not_told_again() -> None:
    known = Failure(number=1, stage=Stage.TEST, sort="tests", error="theirs", resolved=True)
    story = Story(
        planned(earlier=Earlier(stage=Stage.IMPLEMENT, current="a", failures=(known,), total=1)),
        check=[red("build", TYPE_ERROR)],
    )
    story.until(lambda state: state.failure is not None)
    assert [row["error"] for row in held_in(story, "failure-log.json")] == [
        "src/order.py:12 - Type error in WorkOrder model"
    ]


@pytest.mark.parametrize("name", ["failure-log.json", "calibration.json", "sys-002.yaml"])
def test_what_others_wrote_in_another_shape_is_a_problem(name: str) -> None:
    story = Story(skill=[report()] * 3 + [report(estimate={"hours": 2})], check=[red("build", TYPE_ERROR)]).done()
    found = door(story, name)
    assert found is not None
    assert list(found.problems("text")) != []
