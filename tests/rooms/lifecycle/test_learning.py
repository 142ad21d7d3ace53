"""What a system that is complete leaves to others: its contract, and what its estimate was worth."""

from typing import Any

import pytest

from loopwright.kernel.codec import encode
from loopwright.kernel.events import Announced
from loopwright.loops.course import Station
from loopwright.loops.lifecycle import files
from loopwright.loops.lifecycle.calibration import calibration_door, confidence
from tests.rooms.lifecycle.stories import Story, door, held_in, key_of_next, report
from tests.rooms.story_files import fits_schema


def test_contracts_become_final_and_keep_what_others_wrote() -> None:
    story = Story().until(lambda state: state.course.station is Station.DONE)
    held = held_in(story, "sys-002.yaml", {"version": "2.1.0", "provides": {"endpoints": ["POST /orders"]}, "own": 1})
    assert fits_schema("interface", held)
    assert held == {
        "system": "sys-002",
        "name": "Work Order Service",
        "version": "2.1.0",
        "provides": {
            "endpoints": ["POST /orders"],
            "capabilities": ["creation", "assignment"],
            "files": ["src/order.py"],
        },
        "own": 1,
        "commit": story.state.merged,
        "final": True,
    }
    assert held_in(story, "sys-002.yaml")["provides"]["files"] == ["src/order.py"]


def test_contracts_are_written_with_the_event_that_makes_them_final() -> None:
    story = Story().until(lambda state: state.course.station is None and state.step == "interfaces").step()
    assert isinstance(story.last, Announced)
    assert door(story, "sys-002.yaml", story.last) is not None
    assert door(story.step(), "sys-002.yaml", Announced(key=key_of_next(story))) is None


def test_what_was_never_estimated_calibrates_nothing() -> None:
    assert door(Story().done(), "calibration.json") is None


def test_an_estimate_is_held_against_what_was_worked() -> None:
    story = Story(skill=[report()] * 3 + [report(estimate={"hours": 2})]).done()
    theirs = {"system": "sys-001", "date": "2026-01-01", "estimated": 1, "actual": 2, "ratio": 2.0}
    before = {"records": [theirs], "adjustments": {"byComplexity": {"M": 1.1}}}
    held = held_in(story, "calibration.json", before)
    assert fits_schema("calibration", held)
    assert held["records"][0] == theirs
    worked = sum(run.seconds for run in story.held.log.runs if run.skill != "feedback")
    ours = held["records"][1]
    assert (ours["actual"], ours["ratio"]) == (round(worked / 3600, 2), round(round(worked / 3600, 2) / 2, 2))
    assert held["adjustments"]["byComplexity"] == {"M": 1.1}
    assert held["adjustments"]["global"] == round((2.0 + ours["ratio"]) / 2, 2)
    assert held["lastUpdated"] == "2026-02-05"
    assert held["confidence"] == {"samples": 2, "level": "very low", "margin": 50}
    assert held_in(story, "calibration.json", held) == held


def test_of_many_samples_the_newest_count_most() -> None:
    def row(day: int, ratio: float) -> dict[str, object]:
        return {"system": "s", "date": f"2026-01-{day:02}", "estimated": 1, "actual": 1, "ratio": ratio}

    old = {"records": [row(1, 2.0) for _ in range(9)]}
    added = calibration_door("p", "d", {"id": "l", **row(31, 1.0)})
    after: Any = added.change(old)
    assert after | {"records": []} == {
        "domain": "d",
        "records": [],
        "adjustments": {"global": 1.23, "byExecutionMode": {}},
        "lastUpdated": "2026-01-31",
        "confidence": {"samples": 10, "level": "medium", "margin": 20},
    }
    wrong = {"records": [row(1, 2.0) | {"date": "2026-13-45"}]}
    assert [problem.says for problem in added.problems(wrong)] == [
        'expected a date such as 2026-01-31, found the text "2026-13-45"'
    ]


@pytest.mark.parametrize(
    ("samples", "level", "margin"),
    [(0, "none", None), (1, "very low", 50), (3, "low", 30), (6, "medium", 20), (11, "good", 10), (21, "high", 5)],
)
def test_confidence_grows_with_samples(samples: int, level: str, margin: int | None) -> None:
    assert confidence(samples) == {"samples": samples, "level": level, "margin": margin}


def test_a_log_and_its_past_tell_the_same_twice() -> None:
    first, second = Story().done(), Story().done()
    assert encode(first.held.moments.mileposts[0]) == encode(second.held.moments.mileposts[0])
    assert files.render(first.scene()) == files.render(second.scene())
