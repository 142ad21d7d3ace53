"""What a person's word beforehand lets go, on the ways people run their tests: in folders, by number, by title."""

import asyncio
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.trust import Claim, Trust
from tests.adapters.checks.projects import project
from tests.interpreter import WARM_PYTHON

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

_PYTHON = shlex.join(WARM_PYTHON)
_IN_BACKEND = ("sh", "-c", f"cd backend && {_PYTHON} -m pytest -q -p no:cacheprovider")
_AT_TOP = ("sh", "-c", f"{_PYTHON} -m pytest -q -p no:cacheprovider tests")
_COUNTED = ("sh", "-c", f"{_PYTHON} -m unittest discover -s tests -t .")

APP = "NAMES = ['a', 'b']\n\n\ndef add(a, b):\n    return a + b\n"
FEWER = APP.replace(", 'b'", "")
OTHER = APP.replace("a + b", "(a + b)")
NAMED = """\
import pytest
from app import NAMES, add


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    assert add(name, "") == name


def test_add():
    assert add(1, 2) == 3
"""
MORE = "from app import add\n\n\ndef test_more():\n    assert add(5, 5) == 10\n"
TOP = "def test_top():\n    assert True\n"
FOLDER = {"backend/app.py": APP, "backend/conftest.py": "", "backend/tests/test_app.py": NAMED}
CASE = """\
import unittest
from app import NAMES, add


class {name}(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""
# What a runner counts hangs on the product.
BY_NAME = CASE + "\n\nfor each in NAMES:\n    setattr({name}, f'test_{{each}}', lambda self: None)\n"
COUNTED = {
    "app.py": APP,
    "tests/__init__.py": "",
    "tests/test_one.py": CASE.format(name="One"),
    "tests/test_two.py": BY_NAME.format(name="Two"),
}


def reported(
    tmp_path: Path,
    commands: tuple[tuple[str, ...], ...],
    base: Mapping[str, str | None],
    changed: dict[str, str | None],
    *allow: str,
) -> ChecksReported:
    specs = [CheckSettings(name=f"test{number}", run=command) for number, command in enumerate(commands)]
    made = project(tmp_path, base, specs)
    trust = Trust(base=made.base, in_force=True, allow=allow)
    return asyncio.run(made.report(made.candidate(changed), trust=trust))


def is_green(report: ChecksReported) -> bool:
    return all(result.passed for result in (*report.results, *report.landing))


@pytest.mark.parametrize(
    ("base", "app", "test", "allow", "green"),
    [
        ({"tests/test_top.py": TOP}, FEWER, NAMED, "tests/**", False),  # tests/test_app.py of another folder
        ({"tests/test_top.py": TOP}, FEWER, NAMED, "backend/tests/**", True),
        ({"backend/tests/test_more.py": MORE}, OTHER, NAMED.replace("test_add", "test_sum"), "backend/tests/**", True),
        ({}, OTHER, NAMED.replace("test_add", "test_sum"), "backend/tests/**", True),  # its only tests
        ({}, APP.replace("a + b", "a - b"), NAMED.replace("test_add", "test_sum"), "backend/tests/**", False),
    ],
)
def test_a_word_is_heard_where_a_check_works_in_a_folder(
    tmp_path: Path, base: Mapping[str, str], app: str, test: str, allow: str, *, green: bool
) -> None:
    commands = (_IN_BACKEND, *((_AT_TOP,) if any(path.startswith("tests/") for path in base) else ()))
    changed: dict[str, str | None] = {"backend/app.py": app, "backend/tests/test_app.py": test}
    assert is_green(reported(tmp_path, commands, {**FOLDER, **base}, changed, allow)) == green


def test_the_only_tests_of_a_check_may_change_where_another_has_others(tmp_path: Path) -> None:
    base = {**FOLDER, "tests/test_top.py": TOP}
    changed: dict[str, str | None] = {
        "backend/app.py": OTHER,
        "backend/tests/test_app.py": NAMED.replace("test_add", "test_sum"),
    }
    assert is_green(reported(tmp_path, (_IN_BACKEND, _AT_TOP), base, changed, "backend/tests/**"))


def test_a_case_may_be_added_among_others_where_a_check_works_in_a_folder(tmp_path: Path) -> None:
    head = "import pytest\n\n\n@pytest.mark.parametrize(('name', 'n'), "
    cases = head + "[('a', [1]), {}('b', [2])])\ndef test_it(name, n):\n    assert n\n"
    base = {"backend/app.py": APP, "backend/tests/test_app.py": cases.format("")}
    changed: dict[str, str | None] = {
        "backend/app.py": OTHER,
        "backend/tests/test_app.py": cases.format("('c', [3]), "),
    }
    assert is_green(reported(tmp_path, (_IN_BACKEND,), base, changed))


PADDED = CASE.format(name="One") + "".join(f"\n    def test_{n}(self):\n        pass\n" for n in range(9))


@pytest.mark.parametrize(
    ("changed", "allow", "green"),
    [
        ({"tests/test_one.py": CASE.format(name="Sums")}, "tests/test_one.py", True),
        ({"tests/test_one.py": "import unittest\n"}, "tests/test_one.py", True),
        ({"tests/test_one.py": None}, "tests/test_one.py", True),
        ({"app.py": FEWER, "tests/test_one.py": CASE.format(name="Sums")}, "tests/test_one.py", False),
        ({"app.py": FEWER, "tests/test_one.py": PADDED.replace("One", "Sums")}, "tests/test_one.py", False),
        (
            {"tests/test_one.py": CASE.format(name="Sums"), "tests/test_two.py": BY_NAME.format(name="B")},
            "tests/**",
            True,
        ),
        ({"tests/test_one.py": None, "tests/test_two.py": None}, "tests/**", False),  # nothing is left
    ],
)
def test_tests_that_are_only_counted_may_change_by_a_persons_word_and_no_others_are_made_up_for(
    tmp_path: Path, changed: dict[str, str | None], allow: str, *, green: bool
) -> None:
    report = reported(tmp_path, (_COUNTED,), COUNTED, {"app.py": OTHER, **changed}, allow)
    assert is_green(report) == green, [failure.issue for each in report.results for failure in each.failures]


def test_the_only_counted_tests_of_a_check_may_change_where_another_has_others(tmp_path: Path) -> None:
    base = {f"backend/{path}": text for path, text in COUNTED.items() if "two" not in path}
    counted = ("sh", "-c", f"cd backend && {_PYTHON} -m unittest discover -s tests -t .")
    changed: dict[str, str | None] = {
        "backend/app.py": OTHER,
        "backend/tests/test_one.py": CASE.format(name="Sums"),
    }
    commands = (counted, _AT_TOP)
    assert is_green(reported(tmp_path, commands, {**base, "tests/test_top.py": TOP}, changed, "backend/tests/**"))


NEEDED = {
    **COUNTED,
    "tests/test_one.py": """\
import unittest
from app import add


class Sums(unittest.TestCase):
    def same(self, a, b):
        self.assertEqual(a, b)


class One(Sums):
    def test_one(self):
        self.same(add(1, 2), 3)

    def test_two(self):
        self.same(add(0, 2), 2)
""",
    "tests/test_two.py": """\
from app import NAMES, add
from tests.test_one import Sums


class Two(Sums):
    def test_add(self):
        self.same(add(1, 2), 3)


for each in NAMES:
    setattr(Two, f"test_{each}", lambda self: None)
""",
}
ONE = NEEDED["tests/test_one.py"]
LESS = ONE.partition("\n    def test_two")[0]


@pytest.mark.parametrize(
    ("app", "one", "dropped"),
    [
        (OTHER, ONE.replace("0, 2), 2", "2, 0), 2"), None),
        (OTHER, LESS, "1 of 5 that check 'test0' only counts"),
        (FEWER, LESS, "2 of 5 that check 'test0' only counts"),
    ],
)
def test_of_counted_tests_that_others_need_a_person_lets_a_number_go(
    tmp_path: Path, app: str, one: str, dropped: str | None
) -> None:
    report = reported(tmp_path, (_COUNTED,), NEEDED, {"app.py": app, "tests/test_one.py": one}, "tests/test_one.py")
    assert is_green(report) == (dropped is None)
    assert report.claim == (Claim(dropped=(dropped,), by_number=True) if dropped else None)


def test_tests_that_others_load_by_a_made_up_name_are_needed(tmp_path: Path) -> None:
    loads = (
        "import importlib\nfrom app import PARTS\nfor each in PARTS: importlib.import_module('tests.test_' + each)\n"
    )
    base = {**COUNTED, "app.py": f"{APP}PARTS = ['one']\n", "tests/test_two.py": loads + COUNTED["tests/test_two.py"]}
    changed: dict[str, str | None] = {"app.py": f"{FEWER}PARTS = []\n", "tests/test_one.py": None}
    report = reported(tmp_path, (_COUNTED,), base, changed, "tests/test_one.py")
    assert report.claim is not None
    assert (is_green(report), report.claim.by_number) == (False, True)


PATCHING = "import app\napp.add = lambda a, b: a + b\n" + CASE.format(name="One")


def test_an_allowed_test_cannot_patch_the_product_for_others(tmp_path: Path) -> None:
    changed: dict[str, str | None] = {"app.py": APP.replace("a + b", "a - b"), "tests/test_one.py": PATCHING}
    report = reported(tmp_path, (_COUNTED,), COUNTED, changed, "tests/test_one.py")
    assert [result.passed for result in report.results] == [False]


NODE = """\
const test = require('node:test');
const assert = require('node:assert');
const { add, names } = require('../lib/app.js');
test('adds', () => { assert.strictEqual(add(1, 2), 3); });
"""
NODE_APP = "exports.names = ['a', 'b'];\nexports.add = (a, b) => a + b;\n"
NODE_OTHER = "for (const name of names) { test(name, () => {}); }\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("app", "test", "green"),
    [
        (NODE_APP, NODE.replace("'adds'", "'sums'"), True),
        (NODE_APP.replace(", 'b'", ""), NODE.replace("'adds'", "'sums'"), False),
        (NODE_APP.replace(", 'b'", ""), NODE.replace("'adds'", "'b'"), False),  # by the name of the one that is gone
    ],
)
def test_tests_whose_ids_name_no_file_may_change_by_a_persons_word(
    tmp_path: Path, app: str, test: str, *, green: bool
) -> None:
    base = {"lib/app.js": NODE_APP, "test/app.test.js": NODE, "test/more.test.js": NODE + NODE_OTHER}
    changed: dict[str, str | None] = {"lib/app.js": app + "exports.more = 1;\n", "test/app.test.js": test}
    assert is_green(reported(tmp_path, (("node", "--test"),), base, changed, "test/app.test.js")) == green
