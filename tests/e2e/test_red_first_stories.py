"""Done means that something which failed before passes now: whole runs of the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.projects import Done, Sample
from tests.repository import Repository

pytestmark = pytest.mark.unmeasured

CONFIG = f"""\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
[checks.test]
run = [{json.dumps(sys.executable)}, "-X", "pycache_prefix", "-m", "unittest", "discover", "-s", "tests"]
[workspace]
product = ["calc.py"]
tests = ["tests/**"]
protected = ["loop.toml", "scenario.toml"]
"""
CALC = "def add(a, b):\n    return a + b\n"
MUL = CALC + "\n\ndef mul(a, b):\n    return a * b\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
TEST_ADD = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
TEST_MUL = "\n    def test_mul(self):\n        self.assertEqual(calc.mul(2, 3), 6)\n"
FILE = "tests/test_calc.py"
REVIEW = '[[step]]\nrole = "reviewer"\nrepeat = true\nresult = { status = "done", verdict = "pass" }\n'


def step(files: dict[str, str], *, repeat: bool = False, **result: Any) -> str:  # noqa: ANN401 - of a result
    edits = ", ".join(f"{{ path = {json.dumps(path)}, content = {json.dumps(text)} }}" for path, text in files.items())
    told = {"status": "done", "summary": "made it", **result}
    fields = ", ".join(f"{name} = {json.dumps(value)}" for name, value in told.items())
    again = "repeat = true\n" if repeat else ""
    return f'[[step]]\nrole = "developer"\n{again}edits = [{edits}]\nresult = {{ {fields} }}\n'


def sample(path: Path, *steps: str, config: str = CONFIG) -> Sample:
    repo = Repository.create(path / "repo")
    for name, text in {
        "calc.py": CALC,
        FILE: HEAD + TEST_ADD,
        "loop.toml": config,
        "scenario.toml": "".join((*steps, REVIEW)),
    }.items():
        repo.write(name, text)
    repo.commit("Set up")
    return Sample(repo)


def level_of(done: Done) -> str:
    return str(done.data["evidence"]["level"])


def test_a_test_in_an_existing_file_shows_the_change_and_it_is_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": MUL, FILE: HEAD + TEST_ADD + TEST_MUL}))
    done = made.loop("feedback", "Add mul", "--merge", "--json")
    assert (done.code, done.data["outcome"], done.data["merged"], done.data["iterations"]) == (0, "verified", True, 1)
    assert done.data["evidence"]["witnesses"] == [
        {"id": "test_calc.Calc.test_mul", "check": "test", "fails_on_base": "missing-name", "by": "maker"}
    ]
    assert (level_of(done), done.data["held_back"]) == ("shown", [])
    assert "test_mul" in made.repo.git("show", f"main:{FILE}")
    assert "Evidence: shown by test_calc.Calc.test_mul" in made.repo.git("log", "-1", "--format=%B", "main")
    assert [each["evidence"] for each in made.loop("receipts", "--json").data["evidence"]] == [done.data["evidence"]]
    assert "shown by test_calc.Calc.test_mul" in made.loop("receipts").out


SWAPPED = CALC.replace("a + b", "b + a")
REFACTORED = (step({"calc.py": SWAPPED}), step({}, repeat=True, no_test="it only swaps the summands"))


def test_a_merge_that_no_test_shows_waits_for_a_person_and_is_merged_by_their_word(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED)
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--json")
    (need,) = done.data["needs"]
    assert (done.code, level_of(done), need["what"]) == (4, "guarded", "unshown")
    assert "it only swaps the summands" in need["why"]
    assert made.loop("approve", f"unshown@{need['id']}").code == 0
    after = made.loop("resume", "--unattended", "--json")
    assert (after.code, after.data["outcome"], after.data["merged"]) == (0, "verified", True)


def test_a_change_that_no_test_shows_ends_on_its_branch_where_nothing_is_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED)
    done = made.loop("feedback", "Swap the summands", "--json")
    assert (done.code, done.data["outcome"], level_of(done), done.data["iterations"]) == (0, "verified", "guarded", 2)


def test_a_change_that_keeps_behaviour_needs_no_test(tmp_path: Path) -> None:
    made = sample(tmp_path, step({"calc.py": SWAPPED}))
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--keeps-behaviour", "--json")
    assert (done.code, done.data["merged"], level_of(done), done.data["iterations"]) == (0, True, "guarded", 1)


def test_a_changed_setting_lets_an_unshown_change_be_merged(tmp_path: Path) -> None:
    made = sample(tmp_path, *REFACTORED, config=CONFIG + '[trust]\nunshown = "land"\n')
    done = made.loop("feedback", "Swap the summands", "--merge", "--unattended", "--json")
    assert (done.code, done.data["merged"], level_of(done)) == (0, True, "guarded")


def test_a_wrong_fix_whose_own_test_fails_never_lands(tmp_path: Path) -> None:
    wrong = MUL.replace("a * b", "a + b")
    made = sample(tmp_path, step({"calc.py": wrong, FILE: HEAD + TEST_ADD + TEST_MUL}), step({}, repeat=True))
    done = made.loop("feedback", "Add mul", "--merge", "--unattended", "--max-iterations", "2", "--json")
    assert (done.code, done.data["merged"]) == (4, False)
    assert "test_mul" not in made.repo.git("show", f"main:{FILE}")


def test_the_next_loop_names_tests_that_were_altered_without_a_persons_word(tmp_path: Path) -> None:
    altered = TEST_ADD.replace("calc.add(2, 3), 5)", "calc.add(2, 3), 5)\n        self.assertEqual(calc.add(0, 1), 1)")
    again = MUL.replace("return a * b", "return b * a")
    steps = (step({"calc.py": MUL, FILE: HEAD + altered + TEST_MUL}), step({"calc.py": again}))
    made = sample(tmp_path, *steps, step({}, repeat=True, no_test="none can"))
    first = made.loop("feedback", "Add mul", "--merge", "--json")
    assert [each["id"] for each in first.data["evidence"]["altered_tests"]] == ["test_calc.Calc.test_add"]
    named = f"Loop {first.data['loop']} altered tests"
    assert named not in first.err
    second = made.loop("feedback", "Swap the factors")
    assert (named in second.err, "test_calc.Calc.test_add" in second.err) == (True, True)
