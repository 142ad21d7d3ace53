"""Two keys: an examiner writes acceptance tests that the maker does not see, and only a person lets one go."""

from pathlib import Path
from typing import Any

import pytest

from loopwright.kernel.events import AgentReported, Checkpointed
from tests.e2e.scene import ADD, PASSES, Scene, adding, until

pytestmark = pytest.mark.sampled("trust")

INDEPENDENT = '[trust]\nacceptance = "independent"\n'
HIDDEN = "tests/test_accepted.py"
PAGE = "`calc.mul(a, b)` returns the product of two numbers."
MUL = "\n\ndef mul(a, b):\n    return {}\n"
OWN_TEST = """\
import unittest
from calc import mul

class Own(unittest.TestCase):
    def test_two_and_two(self):
        self.assertEqual(mul(2, 2), 4)
"""
TEST_MUL = """\
import unittest

class Accepted(unittest.TestCase):
    def test_multiplies(self):
        from calc import mul
        secret_expectation = {}
        self.assertEqual(mul(3, 5), secret_expectation)
"""
RESUME = ("resume", "--unattended", "--json")


def writes(path: str, text: str) -> str:
    return f"Path({path!r}).write_text({text!r})\n"


def examines(test: str = TEST_MUL.format(15), page: str = PAGE) -> str:
    return writes(HIDDEN, test) + f"print({test!r})\nreport(summary='tests', interface={page!r})\n"


def makes(value: str) -> str:
    """A maker with a test of its own, which a sum passes as well."""
    return writes("calc.py", ADD + MUL.format(value)) + writes("tests/test_own.py", OWN_TEST)


WRONG_FIRST = "if attempt == 1:\n    value = 'a + b'\nelse:\n    value = 'a * b'\n" + makes("VALUE").replace(
    "return VALUE\\n')", "return VALUE\\n'.replace('VALUE', value))"
)
LOOKS = "note('brief', Path(os.environ['LOOP_BRIEF']).read_text() + Path(os.environ['LOOP_CONTEXT']).read_text())\n"
LOOKS += "note('tree', ' '.join(str(path) for path in Path('.').rglob('*.py')))\n"


# Files that hold the tests, wherever the maker may look. The record of the loop stays: git's objects, and the store.
LOOKS += """
for path in (path for path in root.rglob('*') if path.is_file() and path.parent.name != 'blobs'):
    if b'secret_' + b'expectation' in path.read_bytes() and not path.name.startswith('loop.db'):
        note('leaks', str(path.relative_to(root)))
"""


def staged(folder: Path, developer: str, examiner: str | None, reviewer: str = PASSES) -> Scene:
    scene = adding(folder)
    scene.repo.write("calc.py", ADD)
    roles = [("developer", LOOKS + developer), ("reviewer", reviewer)]
    roles += [("examiner", examiner)] if examiner is not None else []
    scene.configure(*(scene.agent(role, body) for role, body in roles), more=INDEPENDENT)
    scene.repo.commit("A task")
    return scene


def started(scene: Scene, code: int = 0, *more: str) -> Any:  # noqa: ANN401
    return scene.feedback(*more, task="Add mul()", code=code)


def roles_run(scene: Scene) -> list[str]:
    return [line.partition(" ")[0] for line in scene.noted("started")]


def test_wrong_code_that_the_makers_own_tests_pass_does_not_land(tmp_path: Path) -> None:
    scene = staged(tmp_path, WRONG_FIRST + "report(summary='made')\n", examines())
    said = started(scene)
    assert (said["outcome"], said["iterations"]) == ("verified", 2)
    assert roles_run(scene) == ["examiner", "developer", "reviewer", "developer", "reviewer"]
    landed = f"loop/{said['loop']}"
    assert "a * b" in scene.file_at(landed, "calc.py")
    assert "secret_expectation" in scene.file_at(landed, HIDDEN)
    assert "mul(2, 2)" in scene.file_at(landed, "tests/test_own.py")
    by = {each["id"].rpartition(".")[2]: each["by"] for each in said["evidence"]["witnesses"]}
    assert by == {"test_multiplies": "examiner", "test_two_and_two": "maker"}
    briefs = "\n".join(scene.noted("brief"))
    assert PAGE in briefs
    assert "tests.test_accepted.Accepted.test_multiplies - AssertionError: 8 != 15" in briefs
    assert "secret_expectation" not in briefs
    assert not any(HIDDEN in line for line in scene.noted("tree"))
    assert scene.noted("leaks") == []


def test_wrong_code_waits_where_acceptance_tests_assert_nothing(tmp_path: Path) -> None:
    head, _, _ = TEST_MUL.partition("secret_expectation")
    hollow = f"{head}mul(3, 5)\n"
    scene = staged(tmp_path, makes("a + b") + "report(summary='made')\n", examines(hollow))
    said = started(scene, 4, "--merge")
    (need,) = said["needs"]
    assert "unshown" in str(need), need
    assert "the acceptance tests of the examiner assert nothing, and only tests of the maker tell" in str(need)
    assert roles_run(scene) == ["examiner", "developer", "reviewer"]
    assert "mul" not in scene.file_at("main", "calc.py")


def test_a_person_drops_a_wrong_test_that_the_maker_disputes(tmp_path: Path) -> None:
    disputes = (
        "if attempt == 2 and 'From a person' not in Path(os.environ['LOOP_BRIEF']).read_text():\n"
        "    report(status='needs_clarification', questions=[{'question': 'mul(3, 5) is 15, is it not?'}])\n"
        "    sys.exit(0)\n"
    )
    scene = staged(tmp_path, disputes + makes("a * b") + "report(summary='made')\n", examines(TEST_MUL.format(16)))
    (need,) = started(scene, 4)["needs"]
    assert need["kind"] == "question"
    assert [choice["command"].split()[2] for choice in need["choices"]] == ['"your', "cancel", "keep", "drop"]
    shown = scene.loop("explain").out
    assert ("Add mul()" in shown, "secret_expectation = 16" in shown, "+    return a * b" in shown) == (True,) * 3
    scene.loop("answer", "drop")
    said = scene.loop(*RESUME).json
    assert said["outcome"] == "verified"
    assert [each["by"] for each in said["evidence"]["witnesses"]] == ["maker"]
    assert HIDDEN in said["evidence"]["decisions"][0]
    landed = f"loop/{said['loop']}"
    assert HIDDEN not in scene.repo.git("ls-tree", "-r", "--name-only", landed)
    assert "dropped by" in scene.repo.git("log", "-1", "--format=%B", landed)


def test_acceptance_tests_that_pass_on_the_base_are_repaired_once_and_then_asked_about(tmp_path: Path) -> None:
    green = "import unittest\n\nclass Accepted(unittest.TestCase):\n    def test_nothing(self):\n        pass\n"
    scene = staged(tmp_path, makes("a * b") + "report(summary='made')\n", LOOKS + examines(green))
    (need,) = started(scene, 4)["needs"]
    assert (need["kind"], roles_run(scene)) == ("question", ["examiner", "examiner"])
    assert "tests.test_accepted.Accepted.test_nothing" in need["what"]
    assert "does not fail on the base" in "\n".join(scene.noted("brief"))
    scene.loop("answer", "maker")
    said = scene.loop(*RESUME).json
    assert said["outcome"] == "verified"
    assert len(said["evidence"]["decisions"]) == 1
    assert roles_run(scene)[2:] == ["developer", "reviewer"]
    assert HIDDEN not in scene.repo.git("ls-tree", "-r", "--name-only", f"loop/{said['loop']}")


def test_a_repaired_acceptance_test_is_accepted(tmp_path: Path) -> None:
    green = "import unittest\n\nclass Accepted(unittest.TestCase):\n    def test_nothing(self):\n        pass\n"
    first = f"    {writes(HIDDEN, green)}    report(interface={PAGE!r})\n    sys.exit(0)\n"
    repairs = f"if not context()['findings']:\n{first}"
    scene = staged(tmp_path, makes("a * b") + "report(summary='made')\n", repairs + examines())
    assert started(scene)["outcome"] == "verified"
    assert roles_run(scene) == ["examiner", "examiner", "developer", "reviewer"]


def test_what_an_examiner_changes_besides_new_tests_is_not_taken(tmp_path: Path) -> None:
    meddles = writes("calc.py", "") + writes("tests/test_calc.py", "") + writes("tests/conftest.py", "")
    scene = staged(tmp_path, makes("a * b") + "report(summary='made')\n", meddles + examines())
    assert started(scene)["outcome"] == "verified"
    kept = scene.events(Checkpointed)[0]
    assert kept.paths == (HIDDEN,)
    assert set(kept.dropped) >= {"calc.py", "tests/test_calc.py"}


def test_without_an_examiner_nobody_is_paid_and_a_person_is_asked(tmp_path: Path) -> None:
    scene = staged(tmp_path, makes("a * b") + "report(summary='made')\n", examiner=None)
    (need,) = started(scene, 4)["needs"]
    assert ("[roles]" in need["what"], roles_run(scene)) == (True, [])
    scene.loop("answer", "maker")
    assert scene.loop(*RESUME).json["outcome"] == "verified"


def test_the_start_says_that_hidden_tests_are_not_protected(tmp_path: Path) -> None:
    scene = staged(tmp_path, makes("a * b") + "report(summary='made')\n", examines())
    said = scene.loop("feedback", "Add mul()", "--unattended")
    assert said.err.count("No sandbox: the examiner's tests") == 1


@pytest.mark.slow
def test_killed_after_the_examiner_ran_it_goes_on_with_the_same_tests(tmp_path: Path) -> None:
    hangs = "import signal\nif len((notes / 'started').read_text().splitlines()) == 2:\n    signal.pause()\n"
    scene = staged(tmp_path, hangs + makes("a * b") + "report(summary='made')\n", examines())
    process = scene.begin("feedback", "Add mul()", "--unattended", "--json")
    until(lambda: len(scene.noted("started")) == 2, "the developer is at work")
    process.kill()
    process.communicate()
    said = scene.loop(*RESUME).json
    assert said["outcome"] == "verified"
    assert roles_run(scene) == ["examiner", "developer", "developer", "reviewer"]
    assert next(each.report.interface for each in scene.events(AgentReported)) == PAGE
    assert scene.noted("leaks") == []
    assert "secret_expectation" in scene.file_at(f"loop/{said['loop']}", HIDDEN)


REQUEST = """\
Add mul(a, b) to calc.py within 1 day

- mul(3, 5) must return 15 and mul(2, 2) must return 4
- It must not change add()
- Success: the tests pass and mul() is there
- Done when the change is on its branch
"""


@pytest.mark.slow
def test_each_task_of_a_workflow_has_acceptance_tests_of_its_own(tmp_path: Path) -> None:
    scene = adding(tmp_path)
    scene.repo.write("calc.py", ADD)
    plans = "report(tasks=[{'id': 'T-001', 'subject': 'Add mul()', 'files': ['calc.py']}])\n"
    bodies = {
        "planner": plans,
        "examiner": examines(),
        "developer": LOOKS + WRONG_FIRST + "report(summary='made')\n",
        "reviewer": "report(verdict='pass', score=8)\n",
    }
    scene.configure(*(scene.agent(role, body) for role, body in bodies.items()), more=INDEPENDENT)
    scene.repo.commit("A task")
    said = scene.loop("start", REQUEST, "--unattended", "--json").json
    assert (said["outcome"], roles_run(scene).count("examiner")) == ("complete", 1)
    landed = f"loop/{said['loop']}"
    assert ("a * b" in scene.file_at(landed, "calc.py"), scene.file_at(landed, HIDDEN) != "") == (True, True)
    assert "examiner" in {each["by"] for each in said["evidence"]["witnesses"]}
    assert "secret_expectation" not in "\n".join(scene.noted("brief"))


@pytest.mark.slow
def test_a_person_drops_a_wrong_test_where_the_maker_of_a_task_leaves_its_work_as_it_is(tmp_path: Path) -> None:
    scene = adding(tmp_path)
    scene.repo.write("calc.py", ADD)
    bodies = {
        "planner": "report(tasks=[{'id': 'T-001', 'subject': 'Add mul()', 'files': ['calc.py']}])\n",
        "examiner": examines(TEST_MUL.format(16)),
        "developer": makes("a * b") + "report(summary='made')\n",
        "reviewer": "report(verdict='pass', score=8)\n",
    }
    scene.configure(*(scene.agent(role, body) for role, body in bodies.items()), more=INDEPENDENT)
    scene.repo.commit("A task")
    (need,) = scene.loop("start", REQUEST, "--unattended", "--json", code=4).json["needs"]
    assert (need["kind"], roles_run(scene).count("developer")) == ("question", 2)
    assert [choice["command"].split()[2] for choice in need["choices"]] == ["keep", "drop", "cancel"]
    scene.loop("answer", "drop")
    said = scene.loop(*RESUME).json
    assert (said["outcome"], "a * b" in scene.file_at(f"loop/{said['loop']}", "calc.py")) == ("complete", True)
    assert HIDDEN in said["evidence"]["decisions"][0]


@pytest.mark.slow
def test_a_task_of_a_workflow_without_an_examiner_asks_a_person(tmp_path: Path) -> None:
    scene = adding(tmp_path)
    scene.repo.write("calc.py", ADD)
    bodies = {
        "planner": "report(tasks=[{'id': 'T-001', 'subject': 'Add mul()', 'files': ['calc.py']}])\n",
        "developer": makes("a * b") + "report(summary='made')\n",
        "reviewer": "report(verdict='pass', score=8)\n",
    }
    scene.configure(*(scene.agent(role, body) for role, body in bodies.items()), more=INDEPENDENT)
    scene.repo.commit("A task")
    (need,) = scene.loop("start", REQUEST, "--unattended", "--json", code=4).json["needs"]
    assert (need["kind"], len(need["path"]), "developer" in roles_run(scene)) == ("question", 2, False)
    scene.loop("answer", "maker")
    said = scene.loop(*RESUME).json
    assert (said["outcome"], len(said["evidence"]["decisions"])) == ("complete", 1)
