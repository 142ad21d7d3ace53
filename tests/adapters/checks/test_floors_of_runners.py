"""A runner that fails because its tests cover too little: the new tests count, and nothing else is let through."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.judgement import FLOOR, Ran, failures
from loopwright.adapters.checks.reports import Report
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import PYTEST, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

# As pytest-cov does it, without measuring: each function of the product wants a test.
CONFTEST = """\
import pathlib


def pytest_sessionfinish(session):
    if pathlib.Path("app.py").read_text().count("def ") > session.testscollected:
        session.exitstatus = 1
        print("FAIL Required test coverage of 100% not reached. Total coverage: 50.00%")
"""
ONE = "def one():\n    return 1\n"
TWO = "\n\ndef two():\n    return 2\n"
TEST = "import app\n\n\ndef test_one():\n    assert app.one() == 1\n"
NEW_TEST = "\n\ndef test_two():\n    assert app.two() == 2\n"
BASE = {"conftest.py": CONFTEST, "app.py": ONE, "tests/test_app.py": TEST}


def reported(tmp_path: Path, files: dict[str, str | None]) -> ChecksReported:
    made = project(tmp_path, BASE, [PYTEST])
    return asyncio.run(made.report(made.candidate(files), trust=Trust(base=made.base, in_force=True)))


def test_new_code_with_its_new_test_passes(tmp_path: Path) -> None:
    report = reported(tmp_path, {"app.py": ONE + TWO, "tests/test_app.py": TEST + NEW_TEST})
    assert [result.passed for result in (*report.results, *report.landing)] == [True, True]
    assert report.results[0].note == "what it covers is measured with the new tests"


@pytest.mark.parametrize("more", [{}, {"tests/test_other.py": ""}], ids=["no test", "an empty one"])
def test_new_code_without_one_does_not(tmp_path: Path, more: dict[str, str | None]) -> None:
    report = reported(tmp_path, {"app.py": ONE + TWO, **more})
    (red,) = (each for result in (*report.results, *report.landing) for each in result.failures)
    assert red.rule == f"{FLOOR} test"
    assert "cover too little (Required test coverage of 100% not reached" in red.issue


@pytest.mark.parametrize("more", [{}, {"tests/test_app.py": TEST + NEW_TEST}], ids=["no test", "with its test"])
def test_a_base_below_it_is_forgiven_where_that_was_asked_for(tmp_path: Path, more: dict[str, str | None]) -> None:
    below = {**BASE, "app.py": ONE + "\n\ndef never():\n    return 0\n"}
    made = project(tmp_path, below, [replace(PYTEST, baseline=True)])
    candidate = made.candidate({"app.py": f"{below['app.py']}{TWO}", **more})
    report = asyncio.run(made.report(candidate, trust=Trust(base=made.base, in_force=True)))
    assert [result.passed for result in (*report.results, *report.landing)] == [True] * (1 + len(more))


def test_a_test_that_fails_is_not_excused_by_it(tmp_path: Path) -> None:
    wrong = ONE.replace("1", "3") + TWO
    report = reported(tmp_path, {"app.py": wrong, "tests/test_app.py": TEST + NEW_TEST})
    assert [result.passed for result in report.results] == [False]


@pytest.mark.parametrize(
    "said",
    [
        "FAIL Required test coverage of 100% not reached. Total coverage: 90.00%",
        "ERROR: Coverage failure: total of 66 is less than fail-under=100",
        "ERROR: Coverage for lines (97.5%) does not meet global threshold (100%)",
        'Jest: "global" coverage threshold for branches (100%) not met: 50%',
    ],
)
def test_floors_are_known_by_what_runners_say(said: str) -> None:
    ran = Ran(how="exited", exit_code=1, report=Report(tests=3), tail=f"3 passed\n{said}\n")
    assert [each.rule for each in failures(PYTEST, ran)] == [f"{FLOOR} test"]
    assert [each.rule for each in failures(PYTEST, Ran(how="exited", exit_code=1, tail=said))] == ["test"]
