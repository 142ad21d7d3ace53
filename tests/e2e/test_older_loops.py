"""Loops that the version before left behind, finished, waiting and in mid-flight, are shown and go on."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.projects import loop

OLDER = Path(__file__).parents[1] / "golden" / "older"
WAITING = {"feedback": 3, "quality": 3, "batch": 3, "tickets": 2}  # attempts that each had made


def unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(OLDER / f"{name}.zip") as packed:
        packed.extractall(folder / name)
    return folder / name


def shown(root: Path) -> Any:  # noqa: ANN401 - JSON
    return loop(root, "status", "--json").data["loops"][0]


def test_a_finished_one_is_told_as_it_ended(tmp_path: Path) -> None:
    root = unpacked("verified", tmp_path)
    seen = shown(root)
    assert (seen["status"], seen["outcome"], seen["state"]) == ("complete", "verified", "DONE")
    assert "IMPLEMENTATION_VERIFIED" in loop(root, "log").out
    before = next((root / ".loop" / "feedback").glob("*/progress.json")).read_text()
    assert loop(root, "render").code == 0
    assert json.loads(next((root / ".loop" / "feedback").glob("*/progress.json")).read_text()) == json.loads(before)


@pytest.mark.parametrize("name", WAITING)
def test_one_that_waits_for_a_person_takes_the_answer_and_goes_on(name: str, tmp_path: Path) -> None:
    root = unpacked(name, tmp_path)
    before = shown(root)
    assert (before["kind"], before["status"], before["attempt"]) == (name, "waiting", WAITING[name])
    assert loop(root, "explain").code == 0
    assert loop(root, "doctor").out.count("fix") == 0
    assert loop(root, "answer", "continue", "1").code == 0
    done = loop(root, "resume", "--unattended", "--json")
    assert (done.code, done.data["outcome"]) == (4, "escalated")
    assert shown(root)["attempt"] == WAITING[name] + 1


def test_one_that_was_killed_in_mid_flight_goes_on_with_the_same_try(tmp_path: Path) -> None:
    """What it changes is no product by any word of the person's: it is asked about, and then verified."""
    root = unpacked("midflight", tmp_path)
    assert (shown(root)["status"], shown(root)["attempt"]) == ("interrupted", 2)
    waits = loop(root, "resume", "--unattended", "--json")
    assert (waits.code, [need["what"] for need in waits.data["needs"]]) == (4, ["protected"])
    assert loop(root, "log").out.count("implement-2.1") > 1
    assert loop(root, "approve", f"protected@{waits.data['needs'][0]['id']}").code == 0
    done = loop(root, "resume", "--unattended", "--json")
    assert (done.code, done.data["outcome"], done.data["iterations"]) == (0, "verified", 3)
