"""Workflows whose agents want a verdict they have not earned: the root's base judges every task."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scene import PASSES, PYTHON, Scene, ready

REQUEST = "Add mul() and div() to calc.py. Tests must pass and cover both. Must not change add(). Done when merged."
PRODUCT = "def add(a, b):\n    return a + b\n"
BASE_TEST = """\
import unittest
from calc import add

class Adding(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)
"""
# What a task may add freely: a test. This one mends add() for all tests that run with it.
MENDING_TEST = """\
import unittest
import calc
from calc import mul

calc.add = lambda a, b: a.__add__(b)

class Multiplying(unittest.TestCase):
    def test_multiplies(self):
        self.assertEqual(mul(2, 3), 6)
"""
MUL = PRODUCT + "\n\ndef mul(a, b):\n    return a * b\n"
WRONG = MUL.replace("a + b", "a - b") + "\n\ndef div(a, b):\n    return a / b\n"
DIV_TEST = """\
import unittest
from calc import div

class Dividing(unittest.TestCase):
    def test_divides(self):
        self.assertEqual(div(6, 3), 2)
"""


def plans(*tasks: dict[str, Any]) -> str:
    return f"report(tasks={json.dumps(list(tasks))})\n"


def task(number: int, subject: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - its keys
    return {"id": f"T-{number:03}", "subject": subject, "description": subject, **given}


def working(tmp_path: Path, *, planner: str, developer: str, more: str = "") -> Scene:
    scene = ready(tmp_path, developer=developer)
    scene.repo.write("calc.py", PRODUCT)
    scene.repo.write("tests/test_calc.py", BASE_TEST)
    agents = (
        scene.agent("developer", developer),
        scene.agent("reviewer", PASSES),
        scene.agent("planner", planner),
    )
    scene.configure(*agents, more=more)
    scene.repo.commit("A library")
    return scene


def start(scene: Scene, *args: str, code: int) -> Any:  # noqa: ANN401 - what it answers
    return scene.loop("start", REQUEST, "--unattended", "--json", "--shape", "tool", *args, code=code).json


@pytest.mark.slow
def test_a_test_that_one_task_added_does_not_let_another_cheat(tmp_path: Path) -> None:
    """With the test of the first task all tests pass on wrong code; without it, as the base has them, they do not."""
    developer = f"""
which = context()["task_id"]
if which == "T-001":
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_mul.py").write_text({MENDING_TEST!r})
else:
    Path("calc.py").write_text({WRONG!r})
    Path("tests/test_div.py").write_text({DIV_TEST!r})
report(summary=f"{{which}} is done, all tests pass")
"""
    planner = plans(task(1, "Add mul"), task(2, "Add div", blockedBy=["T-001"]))
    more = "[limits.workflow]\nmax_total_failures = 2\n"
    scene = working(tmp_path, planner=planner, developer=developer, more=more)
    said = start(scene, "--merge", code=5)
    assert (said["outcome"], said["tasks"], said["merged"]) == ("paused", {"done": 1, "total": 2}, False)
    branch = f"loop/{said['loop']}"
    assert scene.file_at(branch, "calc.py") + "\n" == MUL
    assert scene.file_at("main", "calc.py") + "\n" == PRODUCT


SUITE = [PYTHON[0], "-m", "unittest", "discover", "-s", "tests", "-t", "."]  # green before anybody works
HONEST_TEST = MENDING_TEST.replace("calc.add = lambda a, b: a.__add__(b)\n", "")


@pytest.mark.slow
def test_a_task_that_somebody_else_calls_done_and_that_is_not_is_done_all_the_same(tmp_path: Path) -> None:
    """The maker of the first task marks the second as completed; the command of both is green anyway."""
    developer = f"""
which = context()["task_id"]
if which == "T-001":
    (file,) = root.glob(".loop/workflow/*/tasks/2.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {{"status": "completed"}}))
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_mul.py").write_text({HONEST_TEST!r})
else:
    Path("calc.py").write_text({WRONG.replace("a - b", "a + b")!r})
    Path("tests/test_div.py").write_text({DIV_TEST!r})
note("made", which)
report(summary=which)
"""
    planner = plans(task(1, "Add mul", verify=SUITE), task(2, "Add div", blockedBy=["T-001"], verify=SUITE))
    scene = working(tmp_path, planner=planner, developer=developer)
    said = start(scene, code=0)
    assert (said["outcome"], said["tasks"]) == ("complete", {"done": 2, "total": 2})
    assert scene.noted("made") == ["T-001", "T-002"]
    assert "def div" in scene.file_at(f"loop/{said['loop']}", "calc.py")


@pytest.mark.slow
@pytest.mark.parametrize("verify", [SUITE, ["true"]], ids=["the whole suite", "true"])
def test_a_task_that_nobody_worked_on_is_not_done_by_a_command_that_was_green_anyway(
    tmp_path: Path, verify: list[str]
) -> None:
    developer = f"""
if context()["task_id"] == "T-001":
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_mul.py").write_text({HONEST_TEST!r})
report(summary="div is there already")
"""
    planner = plans(task(1, "Add mul", verify=verify), task(2, "Add div", blockedBy=["T-001"], verify=verify))
    scene = working(tmp_path, planner=planner, developer=developer)
    said = start(scene, "--merge", code=4)
    assert (said["outcome"], said["tasks"], said["merged"]) == ("blocked", {"done": 1, "total": 2}, False)
    (need,) = said["needs"]
    assert "the maker of T-002 changed nothing, and its command passed before the task started" in need["why"]
    assert scene.file_at("main", "calc.py") + "\n" == PRODUCT


@pytest.mark.slow
def test_a_plan_that_names_a_landed_test_releases_nothing(tmp_path: Path) -> None:
    """Both tasks are planned to change one test file; the second breaks mul() and bends the test of it there."""
    both = HONEST_TEST + DIV_TEST.replace("import unittest\n", "")
    bent = both.replace("self.assertEqual(mul(2, 3), 6)", "mul(2, 3)")
    broken = MUL.replace("a * b", "a") + "\n\ndef div(a, b):\n    return a / b\n"
    developer = f"""
if context()["task_id"] == "T-001":
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_ops.py").write_text({HONEST_TEST!r})
else:
    Path("calc.py").write_text({broken!r})
    Path("tests/test_ops.py").write_text({bent!r})
report(summary="all tests pass")
"""
    files = ["calc.py", "tests/test_ops.py"]
    planner = plans(task(1, "Add mul", files=files), task(2, "Add div", blockedBy=["T-001"], files=files))
    more = "[limits.workflow]\nmax_total_failures = 1\n"
    scene = working(tmp_path, planner=planner, developer=developer, more=more)
    said = start(scene, "--merge", code=5)
    assert (said["outcome"], said["tasks"], said["merged"]) == ("paused", {"done": 1, "total": 2}, False)
    assert scene.file_at(f"loop/{said['loop']}", "calc.py") + "\n" == MUL


@pytest.mark.slow
def test_what_one_task_landed_another_cannot_undo_by_bending_its_tests(tmp_path: Path) -> None:
    """The second task makes mul() wrong and rewrites the test that came with it; the test is as it landed."""
    honest = MENDING_TEST.replace("calc.add = lambda a, b: a.__add__(b)\n", "")
    bent = honest.replace("self.assertEqual(mul(2, 3), 6)", "mul(2, 3)")
    broken = MUL.replace("a * b", "a") + "\n\ndef div(a, b):\n    return a / b\n"
    developer = f"""
if context()["task_id"] == "T-001":
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_mul.py").write_text({honest!r})
else:
    Path("calc.py").write_text({broken!r})
    Path("tests/test_mul.py").write_text({bent!r})
    Path("tests/test_div.py").write_text({DIV_TEST!r})
report(summary="all tests pass")
"""
    planner = plans(task(1, "Add mul"), task(2, "Add div", blockedBy=["T-001"]))
    more = "[limits.workflow]\nmax_total_failures = 1\n"
    scene = working(tmp_path, planner=planner, developer=developer, more=more)
    said = start(scene, "--merge", code=5)
    assert (said["outcome"], said["tasks"], said["merged"]) == ("paused", {"done": 1, "total": 2}, False)
    assert scene.file_at(f"loop/{said['loop']}", "calc.py") + "\n" == MUL


@pytest.mark.slow
@pytest.mark.trust
def test_a_guard_that_a_task_rewrote_guards_as_the_base_has_it(tmp_path: Path) -> None:
    guard = "import pathlib, sys\nsys.exit('eval(' in pathlib.Path('calc.py').read_text())\n"
    developer = f"""
if context()["task_id"] == "T-001":
    Path("tools/guard.py").write_text("import sys\\nsys.exit(0)\\n")
    Path("calc.py").write_text({MUL!r})
    Path("tests/test_mul.py").write_text({MENDING_TEST!r}.replace("calc.add = lambda a, b: a.__add__(b)", ""))
else:
    Path("calc.py").write_text({MUL!r} + "\\n\\ndef div(a, b):\\n    return eval('a / b')\\n")
    Path("tests/test_div.py").write_text({DIV_TEST!r})
report(summary="done")
"""
    planner = plans(task(1, "Add mul"), task(2, "Add div", blockedBy=["T-001"]))
    shaper = f"""
report(shape={{"criteria": ["both are there"], "mustNot": ["tokens are logged",
    {{"text": "eval in the product", "command": [{PYTHON[0]!r}, "tools/guard.py"]}}]}})
"""
    scene = working(tmp_path, planner=planner, developer=developer)
    scene.repo.write("tools/guard.py", guard)
    agents = (
        scene.agent("developer", developer),
        scene.agent("reviewer", PASSES),
        scene.agent("planner", planner),
        scene.agent("shaper", shaper),
    )
    scene.configure(*agents, more='[workspace]\nproduct = ["calc.py", "tools/**"]\ntests = ["tests/**"]\n')
    scene.repo.commit("A guard")
    said = start(scene, code=4)
    assert (said["outcome"], said["tasks"]["done"]) == ("blocked", 1)
    assert "mustNot-2 became true: eval in the product" in said["needs"][0]["why"]
