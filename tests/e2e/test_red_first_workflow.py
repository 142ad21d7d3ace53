"""A workflow of three tasks: each is asked for what shows it, a person once for all."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.test_red_first_stories import (
    CALC,
    CONFIG,
    DEARER,
    FILE,
    HEAD,
    MORE_TESTS,
    NUMERALS,
    OTHER_ADD,
    PRICE,
    PRICE_TEST,
    TEST_ADD,
    TEST_NUMERALS,
    TESTS_ONLY,
    level_of,
    sample,
    step,
)

pytestmark = pytest.mark.unmeasured

REQUEST = (
    "Add mul, triple price() in price.py, let add() take numerals. Tests must pass. Must not print. Done when merged."
)


def operation(name: str, sign: str, value: int) -> dict[str, str]:
    """A new module with a test of its own."""
    test = f"import unittest\n\nfrom {name} import {name}\n\n\nclass Case(unittest.TestCase):\n"
    test += f"    def test_{name}(self):\n        self.assertEqual({name}(6, 3), {value})\n"
    return {f"{name}.py": f"def {name}(a, b):\n    return a {sign} b\n", f"tests/test_{name}.py": test}


def planner(*subjects: str) -> str:
    tasks = (
        f'{{ id = "T-{number:03}", subject = {json.dumps(subject)}, description = {json.dumps(subject)} }}'
        for number, subject in enumerate(subjects, start=1)
    )
    return f'[[step]]\nrole = "planner"\nrepeat = true\nresult = {{ status = "done", tasks = [{", ".join(tasks)}] }}\n'


def of_task(number: int, made: str) -> str:
    return made.replace('role = "developer"\n', f'role = "developer"\ntask = "T-{number:03}"\n')


def test_a_workflow_asks_a_maker_for_a_test_and_a_person_once_about_a_test_of_the_base(tmp_path: Path) -> None:
    dearer = {"price.py": DEARER, "tests/test_price.py": PRICE_TEST.replace("price(2), 4", "price(2), 6")}
    made = sample(
        tmp_path,
        planner("Add mul", "Triple the price", "Let add take numerals"),
        of_task(1, step(operation("mul", "*", 18))),
        of_task(2, step(dearer, repeat=True)),
        of_task(3, step({"calc.py": NUMERALS})),
        of_task(3, step({FILE: HEAD + TEST_ADD + TEST_NUMERALS})),
        config=CONFIG.replace('default = "script"', 'default = "script"\nplanner = "script"'),
    )
    done = made.loop("start", REQUEST, "--shape", "tool", "--merge", "--unattended", "--json")
    (need,) = done.data["needs"]
    assert (done.code, done.data["tasks"], need["what"]) == (4, {"done": 2, "total": 3}, "protected")
    (gate,) = made.loop("gates", "--json").data["gates"]
    assert (gate["failing"], gate["ids_dropped"]) == (["test_price.Price.test_price"], [])
    assert made.loop("approve", f"protected@{need['id']}", "--loop", need["loop"]).code == 0
    after = made.loop("resume", "--unattended", "--json")
    assert (after.code, after.data["outcome"], after.data["merged"], level_of(after)) == (0, "complete", True, "shown")
    assert {each["id"]: each["fails_on_base"] for each in after.data["evidence"]["witnesses"]} == {
        "test_mul.Case.test_mul": "missing-name",
        "test_price.Price.test_price": "assertion",
        "test_calc.Calc.test_numerals": "assertion",
    }
    assert after.data["evidence"]["altered_tests"] == [
        {"id": "test_price.Price.test_price", "how": "altered", "confirmed": True}
    ]
    attempts = [each["attempts"] for each in made.loop("plan", "--json").data["tasks"]]
    bodies = made.repo.git("log", "--format=%B%x00", "--grep=^T-00", "main").split("\0")[:-1]
    assert ["Evidence: shown by " in each for each in bodies] == [True] * 3
    assert all(each in bodies[0] for each in after.data["evidence"]["decisions"])
    gates = made.loop("gates", "--json").data["gates"]
    assert (attempts, {each["id"]: each["status"] for each in gates}) == ([1, 1, 1], {need["id"]: "approved"})


def test_a_task_about_code_that_changes_tests_alone_is_not_done(tmp_path: Path) -> None:
    made = sample(
        tmp_path,
        planner("Add mul", "Let add take numerals"),
        of_task(1, step(operation("mul", "*", 18))),
        of_task(2, step(TESTS_ONLY, repeat=True)),
        config=CONFIG.replace('default = "script"', 'default = "script"\nplanner = "script"'),
    )
    done = made.loop("start", REQUEST, "--shape", "tool", "--merge", "--unattended", "--json")
    assert (done.data["tasks"], done.data["merged"]) == ({"done": 1, "total": 2}, False)


def test_a_task_that_an_earlier_one_has_done_is_done_and_nobody_is_asked_to_make_it(tmp_path: Path) -> None:
    verify = json.dumps([sys.executable, "-m", "unittest", "tests.test_mul"])
    has = f'subject = "Have mul", blockedBy = ["T-001"], verify = {verify}'
    made = sample(
        tmp_path,
        planner("Add mul", "Have mul").replace('subject = "Have mul"', has),
        of_task(1, step(operation("mul", "*", 18))),
        of_task(2, step({"again.py": PRICE}, repeat=True)),
        config=CONFIG.replace('default = "script"', 'default = "script"\nplanner = "script"'),
    )
    done = made.loop("start", REQUEST, "--shape", "tool", "--merge", "--unattended", "--json")
    assert (done.code, done.data["tasks"], level_of(done)) == (0, {"done": 2, "total": 2}, "shown")
    assert "again.py" not in made.repo.git("ls-tree", "--name-only", "main").splitlines()


@pytest.mark.parametrize(("product", "needs"), [(CALC, []), (OTHER_ADD, ["unshown"])], ids=["tests alone", "product"])
def test_a_workflow_asks_about_a_task_about_tests_that_changes_the_product(
    tmp_path: Path, product: str, needs: list[str]
) -> None:
    made = sample(
        tmp_path,
        planner("Add mul", "Test the sum").replace(
            'subject = "Test the sum"', 'about = "tests", blockedBy = ["T-001"], subject = "Test the sum"'
        ),
        of_task(1, step(operation("mul", "*", 18))),
        of_task(2, step({"calc.py": product, **MORE_TESTS})),
        of_task(2, step({}, repeat=True)),
        config=CONFIG.replace('default = "script"', 'default = "script"\nplanner = "script"'),
    )
    done = made.loop("start", REQUEST, "--shape", "tool", "--merge", "--unattended", "--json")
    assert (done.data["tasks"], [each["what"] for each in done.data["needs"]]) == ({"done": 2, "total": 2}, needs)
