"""One controller per loop, and what is left when one is told to stop."""

import os
import signal
from pathlib import Path

from tests.e2e.kills import of_steps
from tests.e2e.scene import WRITES_ADD, Scene, ready, until

WAITS = "note('waiting', str(os.getpid()))\nopen(notes / 'door').read()\n"


def waiting(folder: Path) -> Scene:
    """Its developer works until somebody opens the door."""
    scene = ready(folder, developer=WAITS + WRITES_ADD)
    os.mkfifo(scene.notes / "door")
    return scene


def test_a_second_controller_is_told_who_the_first_is(tmp_path: Path) -> None:
    scene = waiting(tmp_path)
    with scene.begin("feedback", "Add add()", "--unattended", "--json") as first:
        until(lambda: scene.noted("waiting"), "the developer works")
        for words in (("resume",), ("resume", "--loop", scene.row().id)):
            second = scene.loop(*words, "--json", code=75)
            assert f"pid {first.pid}" in second.json["error"]
        (scene.notes / "door").write_text("")
        out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert scene.noted("started") == ["developer 4-implement-1.1", "reviewer 8-review-1.1"], out


def test_a_controller_that_is_told_to_end_stops_its_step_first_and_can_be_resumed(tmp_path: Path) -> None:
    scene = waiting(tmp_path)
    with scene.begin("feedback", "Add add()", "--unattended") as first:
        until(lambda: scene.noted("waiting"), "the developer works")
        first.send_signal(signal.SIGTERM)
        _, err = first.communicate(timeout=60)
    assert first.returncode == 143
    assert f"loop resume --loop {scene.row().id}" in err
    assert of_steps(scene.root) == []
    with scene.begin("resume", "--unattended", "--json") as second:
        until(lambda: len(scene.noted("waiting")) == 2, "the developer works again")
        (scene.notes / "door").write_text("")
        out, err = second.communicate(timeout=60)
    assert (second.returncode, '"verified"' in out) == (0, True), err
