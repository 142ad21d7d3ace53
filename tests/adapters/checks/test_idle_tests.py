"""Where the work is about tests, each new one has to notice when the product functions that it calls are stubs."""

import asyncio
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.faults import faults_of
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import PYTEST, UNITTEST, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

CALC = "def add(a, b):\n    return a + b\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
TEST_ADD = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
FILE = "tests/test_calc.py"
LOOKS = "\n    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
NEEDS_A_VALUE = "\n    def test_value(self):\n        self.assertIsInstance(calc.add(0, 0), int)\n"
CALLS = "\n    def test_idle(self):\n        calc.add(0, 0)\n"
SWALLOWS = """
    def test_idle(self):
        try:
            self.assertEqual(calc.add(1, 2), 4)
        except BaseException:
            pass
"""
TOUCHES_NOTHING = "\n    def test_idle(self):\n        self.assertEqual(1 + 1, 2)\n"


def rules(path: Path, new: str, spec: CheckSettings = UNITTEST, *, tries: bool = True) -> list[tuple[str, bool]]:
    made = project(path, {"calc.py": CALC, FILE: HEAD + TEST_ADD}, [spec])
    trust, commit = Trust(base=made.base, in_force=True), made.candidate({FILE: HEAD + TEST_ADD + new})
    report = asyncio.run(made.report(commit, trust=trust, tries_new_tests=tries))
    return [(each.rule, "test_idle" in each.issue) for each in faults_of(report)]


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
@pytest.mark.parametrize("new", [CALLS + LOOKS, SWALLOWS, TOUCHES_NOTHING])
def test_a_new_test_that_notices_no_stub_is_a_finding(tmp_path: Path, new: str, spec: CheckSettings) -> None:
    assert rules(tmp_path, new, spec) == [("idle-tests", True)]


@pytest.mark.parametrize("new", [LOOKS + NEEDS_A_VALUE, ""])
def test_new_tests_that_notice_one_are_none(tmp_path: Path, new: str) -> None:
    assert rules(tmp_path, new) == []


def test_other_work_does_not_try_them(tmp_path: Path) -> None:
    assert rules(tmp_path, SWALLOWS, tries=False) == []
