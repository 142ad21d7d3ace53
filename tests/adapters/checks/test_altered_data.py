"""Data that tests of the base read: where it changes, those who read it are tried as if they had changed."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from tests.adapters.checks.projects import PYTEST, UNITTEST
from tests.adapters.checks.test_altered_tests import CALC, held, reported, rows

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

DATA = "tests/data/cases.json"
CASES = [[1, 2, 3], [0, 4, 4]]
MORE = [*CASES, [5, 6, 11]]
OTHERS = [[1, 2, 3], [5, 5, 10]]
FILE = "tests/test_calc.py"
HEAD = """\
import json
import pathlib
import unittest

import pytest

import calc

DATA = pathlib.Path(__file__).parent / "data"
"""
READ = "json.loads((DATA / 'cases.json').read_text())"
STEADY = "\n\ndef test_steady():\n    pass\n"


def looping(cases: str, arguments: str = "") -> str:
    return f"\n\ndef test_cases({arguments}):\n    for a, b, c in {cases}:\n        assert calc.add(a, b) == c\n"


PARAMETRISED = """
@pytest.mark.parametrize(("a", "b", "c"), {read})
def test_case(a, b, c):
    assert calc.add(a, b) == c
"""
GENERATED = f"""{HEAD}

def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", [0])
        metafunc.module.CASES = {READ}
"""
FIXTURE = f"{HEAD}\n\n@pytest.fixture(scope='session')\ndef cases():\n    return {READ}\n"
IN_UNITTEST = f"""{HEAD.replace("import pytest", "")}

class Calc(unittest.TestCase):
    def test_cases(self):
        for a, b, c in {READ}:
            self.assertEqual(calc.add(a, b), c)
"""
KEPT = f"{HEAD}\nKEPT = []\n\n\ndef cases():\n    KEPT[:] = KEPT or {READ}\n    return KEPT\n"
READERS: dict[str, dict[str, str]] = {
    "a test": {FILE: HEAD + looping(READ)},
    "a module": {FILE: f"{HEAD}\nCASES = {READ}\n{looping('CASES')}"},
    "parameters": {FILE: HEAD + PARAMETRISED.format(read=READ)},
    "a hook": {"tests/conftest.py": GENERATED, FILE: HEAD + looping("CASES", "case")},
    "a shared fixture": {
        "tests/conftest.py": FIXTURE,
        "tests/test_a.py": STEADY.replace("()", "(cases)"),
        FILE: "import calc\n" + looping("cases", "cases"),
    },
    "a conftest": {
        "tests/conftest.py": FIXTURE.replace("\n\n@", f"\nCASES = {READ}\n\n\n@").replace(
            f"return {READ}", "return CASES"
        ),
        FILE: "import calc\n" + looping("cases", "cases"),
    },
    "a helper": {
        "tests/tables.py": f"{HEAD}\nCASES = {READ}\n",
        "tests/test_a.py": "from tables import CASES\n" + STEADY,
        FILE: "import calc\nfrom tables import CASES\n" + looping("CASES"),
    },
    "another test of the file": {FILE: f"{KEPT}\n\ndef test_all():\n    assert cases() is KEPT\n{looping('cases()')}"},
    "one of many tests": {
        FILE: HEAD + looping(READ) + "".join(STEADY.replace("steady", f"steady_{number}") for number in range(50))
    },
    "a test of a project with settings for pytest": {"pytest.ini": "[pytest]\n", FILE: HEAD + looping(READ)},
    "unittest": {FILE: IN_UNITTEST},
}


@pytest.mark.parametrize(
    ("reader", "cases", "expected"),
    [
        *((reader, [], [DATA]) for reader in READERS),
        *((reader, MORE, []) for reader in ("a test", "parameters", "one of many tests", "unittest")),
        ("parameters", OTHERS, []),
        ("parameters", CASES[:1], [DATA]),
    ],
)
def test_data_that_lets_its_readers_look_at_less_is_held_back(
    tmp_path: Path, reader: str, cases: list[list[int]], expected: list[str]
) -> None:
    base = {"calc.py": CALC, DATA: json.dumps(CASES), "tests/test_steady.py": STEADY, **READERS[reader]}
    spec = UNITTEST if reader == "unittest" else PYTEST
    assert held(reported(tmp_path, {DATA: json.dumps(cases)}, base=base, spec=spec)) == expected


@pytest.mark.parametrize(("cases", "expected"), [([], [f"part/{DATA}"]), (MORE, [])])
@pytest.mark.parametrize("reader", ["a test", "a module"])
def test_data_below_the_folder_that_a_check_changes_to_is_tried(
    tmp_path: Path, reader: str, cases: list[list[int]], expected: list[str]
) -> None:
    files = {DATA: json.dumps(CASES), "tests/test_steady.py": STEADY, **READERS[reader]}
    base = {"calc.py": CALC, **{f"part/{path}": text for path, text in files.items()}}
    spec = replace(PYTEST, run=("sh", "-c", f"cd part && PYTHONPATH=..:$PYTHONPATH {shlex.join(PYTEST.run)}"))
    assert held(reported(tmp_path, {f"part/{DATA}": json.dumps(cases)}, base=base, spec=spec)) == expected


LISTING = f"{HEAD}{looping('map(json.loads, map(pathlib.Path.read_text, sorted(DATA.glob(chr(42)))))')}"


@pytest.mark.trust
def test_data_that_is_removed_from_a_folder_that_tests_list_is_held_back(tmp_path: Path) -> None:
    base = {"calc.py": CALC, "tests/data/one.json": "[1, 2, 3]", FILE: LISTING}
    assert held(reported(tmp_path, {"tests/data/one.json": None}, base=base, spec=PYTEST)) == ["tests/data/one.json"]


@pytest.mark.trust
def test_data_that_no_test_opens_lands(tmp_path: Path) -> None:
    base = {"calc.py": CALC, "tests/data/notes.json": "[]", FILE: HEAD + looping("[(1, 2, 3)]")}
    assert held(reported(tmp_path, {"tests/data/notes.json": "{}"}, base=base, spec=PYTEST)) == []


@pytest.mark.trust
def test_data_that_changes_with_the_behaviour_contradicts_the_base(tmp_path: Path) -> None:
    base = {"calc.py": CALC, DATA: json.dumps(CASES), FILE: HEAD + looping(READ)}
    more = json.dumps([[a, b, c + 1] for a, b, c in CASES])
    report = reported(tmp_path, {"calc.py": CALC.replace("a + b", "a + b + 1"), DATA: more}, base=base, spec=PYTEST)
    assert report.claim is not None
    assert ([change.path for change in report.claim.changes], report.claim.failing) == (
        [DATA],
        (f"{FILE}::test_cases",),
    )


POINTS = """\
import json
import pathlib
import time

import calc

rows = [row for path in pathlib.Path("tests").rglob("*.json") for row in json.loads(path.read_text())]
print("TAP version 13\\n# Subtest: table")
for number, (a, b, c) in enumerate(rows, 1):
    print(f"    {'ok' if calc.add(a, b) == c else 'not ok'} {number} - {a} + {b}")
print(f"    1..{len(rows)}\\nok 1 - table # time={time.perf_counter_ns()}ms\\n1..1")
"""


@pytest.mark.parametrize(("cases", "expected"), [(MORE, []), (CASES[:1], [DATA])])
def test_a_point_more_lands_and_a_point_less_is_held_back(
    tmp_path: Path, cases: list[list[int]], expected: list[str]
) -> None:
    base = {"calc.py": CALC, "run.py": POINTS, DATA: json.dumps(CASES)}
    spec = CheckSettings(name="test", run=(sys.executable, "run.py"))
    assert held(reported(tmp_path, {DATA: json.dumps(cases)}, base=base, spec=spec)) == expected


@pytest.mark.trust
@pytest.mark.parametrize(
    ("path", "text"), [(DATA, json.dumps(MORE)), ("tests/tables.py", f"{HEAD}\nCASES = {READ}[:]\n")]
)
def test_tests_of_the_base_whose_data_or_helper_changed_are_named(tmp_path: Path, path: str, text: str) -> None:
    base = {"calc.py": CALC, DATA: json.dumps(CASES), **READERS["a helper"], "tests/test_b.py": STEADY}
    report = reported(tmp_path, {path: text}, base=base, spec=PYTEST)
    assert rows(report) == [("test_steady", "altered"), ("test_cases", "altered")]
