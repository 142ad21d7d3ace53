"""Acceptance tests of an examiner: red on the base for the right reason, and never quoted to a maker."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from loopwright.adapters.checks.hidden_tests import conceal
from loopwright.adapters.checks.ids import find_file
from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import describe
from loopwright.kernel.faults import faults_of
from loopwright.kernel.findings import identify
from loopwright.kernel.model import CheckResult, Finding, Key, Severity, Tree
from loopwright.kernel.trust import HiddenTests, Trust
from tests.adapters.checks.projects import PYTEST, UNITTEST, project

pytestmark = pytest.mark.sampled("trust")

CALC = "def add(a, b):\n    return a + b\n\n\ndef last(items):\n    return items[-1]\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass Hidden(unittest.TestCase):\n"
BASE = {"calc.py": CALC, "tests/test_calc.py": f"{HEAD}    def test_add(self):\n        calc.add(1, 2)\n"}
HIDDEN = "tests/test_hidden.py"
PAGE = "`calc.mul(a, b)` returns the product; `calc.add(a, b, *, exact)` too."


def tried(
    folder: Path, body: str, spec: CheckSettings = UNITTEST, *, head: str = HEAD, path: str = HIDDEN
) -> ChecksReported:
    made = project(folder, BASE, [spec])
    hidden = HiddenTests(files=(path,), interface=PAGE, must_fail=True)
    commit = made.candidate({path: head + body})
    return asyncio.run(made.report(commit, trust=Trust(base=made.base, in_force=True), hidden=hidden))


def method(body: str) -> str:
    return f"    def test_it(self):\n        {body}\n"


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("self.assertEqual(calc.add(2, 3), 6)", []),
        ("assert calc.add(2, 3) == 6", []),
        ("self.assertEqual(calc.mul(2, 3), 6)", []),
        ("self.assertEqual(calc.add(2, 3, exact=True), 5)", []),
        ("self.assertEqual(calc.div(6, 3), 2)", ["fails-otherwise"]),
        ("self.assertEqual(calc.last([]), None)", ["fails-otherwise"]),
        ("try:\n            calc.last([])\n        except IndexError:\n            assert False", []),
        ("self.assertEqual(calc.add(2, 3), 5)", ["passes-on-base"]),
        ("self.skipTest('later')", ["passes-on-base"]),
    ],
    ids=["assertion", "assert", "name", "argument", "name not on the page", "error", "crash", "green", "skipped"],
)
def test_a_test_has_to_fail_by_an_assertion_or_a_name_of_the_page(
    tmp_path: Path, spec: CheckSettings, body: str, rules: list[str]
) -> None:
    report = tried(tmp_path, method(body), spec)
    assert [each.rule for each in report.findings] == rules
    assert [each.file for each in report.hidden] == ([HIDDEN] if rules != ["passes-on-base"] else [])


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
@pytest.mark.parametrize(
    ("head", "rules"),
    [
        (HEAD.replace("import calc", "from calc import mul"), []),
        (HEAD.replace("import calc", "import other"), ["fails-otherwise"]),
        (HEAD.replace("import calc", "import )"), ["fails-otherwise"]),
    ],
    ids=["name of the page", "another name", "syntax"],
)
def test_a_module_that_does_not_load_fails_for_what_it_lacks(
    tmp_path: Path, spec: CheckSettings, head: str, rules: list[str]
) -> None:
    report = tried(tmp_path, method("self.assertEqual(mul(2, 3), 6)"), spec, head=head)
    assert [each.rule for each in report.findings] == rules


def test_a_fixture_that_is_not_there_is_no_assertion(tmp_path: Path) -> None:
    report = tried(tmp_path, "def test_it(absent):\n    assert absent\n", PYTEST, head="")
    assert [each.rule for each in report.findings] == ["fails-otherwise"]


def test_a_file_of_tests_that_no_check_collects_is_told(tmp_path: Path) -> None:
    report = tried(tmp_path, "", head="", path="tests/deep/test_hidden.py")
    assert [each.rule for each in report.findings] == ["not-collected"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_check_whose_ids_name_no_files_is_told(tmp_path: Path) -> None:
    calls = "import test from 'node:test';\nimport assert from 'node:assert';\ntest('is one', () => assert(%s));\n"
    made = project(tmp_path, {"test/a.test.mjs": calls % 1}, [CheckSettings(name="test", run=("node", "--test"))])
    path = "test/acceptance.test.mjs"
    commit, trust = made.candidate({path: calls % 0}), Trust(base=made.base, in_force=True)
    report = asyncio.run(made.report(commit, trust=trust, hidden=HiddenTests(files=(path,), must_fail=True)))
    ((rule, issue),) = ((each.rule, each.issue) for each in report.findings)
    assert (rule, "do not name their files" in issue) == ("not-collected", True)


def test_a_check_that_does_not_end_is_told(tmp_path: Path) -> None:
    spec = replace(UNITTEST, timeout=2.0)
    report = tried(tmp_path, method("import signal; signal.pause()"), spec)
    assert "not-finished" in [each.rule for each in report.findings]


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
@pytest.mark.parametrize(
    ("body", "runs"), [("return a * b", True), ("import unittest; raise unittest.SkipTest", False)]
)
def test_a_product_that_skips_acceptance_tests_does_not_pass(
    tmp_path: Path, spec: CheckSettings, body: str, *, runs: bool
) -> None:
    made = project(tmp_path, BASE, [spec])
    test = HEAD + method("self.assertEqual(calc.mul(2, 3), 6)")
    commit = made.candidate({"calc.py": f"{CALC}\n\ndef mul(a, b):\n    {body}\n", HIDDEN: test})
    hidden = HiddenTests(files=(HIDDEN, "tests/test_of_another_task.py"))
    report = asyncio.run(made.report(commit, trust=Trust(base=made.base, in_force=True), hidden=hidden))
    assert ("hidden-not-run" not in [each.rule for each in faults_of(report)]) == runs
    assert [each.file for each in report.hidden] == ([] if runs else [HIDDEN])


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
@pytest.mark.parametrize(("value", "rules"), [("a + b", ["hidden-fails-alone"]), ("a * b", [])])
def test_acceptance_tests_pass_without_the_tests_of_the_maker(
    tmp_path: Path, spec: CheckSettings, value: str, rules: list[str]
) -> None:
    made = project(tmp_path, BASE, [spec])
    body = "calc.mul = lambda a, b: a * b\n        self.assertEqual(calc.mul(2, 2), 4)"
    commit = made.candidate(
        {
            "calc.py": f"{CALC}\n\ndef mul(a, b):\n    return {value}\n",
            "tests/test_a_patch.py": HEAD + method(body),
            HIDDEN: HEAD + method("self.assertEqual(calc.mul(2, 3), 6)"),
        }
    )
    hidden = HiddenTests(files=(HIDDEN,))
    report = asyncio.run(made.report(commit, trust=Trust(base=made.base, in_force=True), hidden=hidden))
    assert all(each.passed for each in report.landing)
    assert [each.rule for each in faults_of(report) if each.rule.startswith("hidden")] == rules
    assert [each.file for each in report.hidden] == ([HIDDEN] if rules else [])


@pytest.mark.parametrize("canary", ["gate", "off"])
@pytest.mark.parametrize(
    ("body", "level"),
    [("self.assertEqual(calc.mul(2, 3), 6)", "shown"), ("calc.mul(2, 3)", "guarded")],
    ids=["asserts", "calls"],
)
def test_tests_of_the_maker_show_nothing_where_those_of_the_examiner_assert_nothing(
    tmp_path: Path, body: str, level: str, canary: Literal["gate", "off"]
) -> None:
    made = project(tmp_path, BASE, [PYTEST])
    made = replace(made, checks=replace(made.checks, canary=canary))
    many = "\n".join(
        f"def test_{number}():\n    assert calc.mul({number}, 2) == {number} * 2\n" for number in range(60)
    )
    commit = made.candidate(
        {
            "calc.py": f"{CALC}\n\ndef mul(a, b):\n    return a * b\n",
            "tests/test_a_maker.py": f"import calc\n\n\n{many}",
            HIDDEN: HEAD + method(body),
        }
    )
    trust, hidden = Trust(base=made.base, in_force=True), HiddenTests(files=(HIDDEN,))
    evidence = asyncio.run(made.report(commit, trust=trust, hidden=hidden)).evidence
    assert evidence
    assert evidence.level == level
    assert [each.by for each in evidence.witnesses if each.by == "examiner"] == ["examiner"] * (level == "shown")
    assert describe(evidence).startswith("shown by" if level == "shown" else "guarded: the acceptance tests")


def test_a_test_is_found_by_its_file_however_it_is_named() -> None:
    files = ("pkg/tests/test_a.py", "web/a.test.js")
    names = ("pkg/tests/test_a.py::T::test_b[1]", "tests.test_a.T.test_b", "test_a.T.test_b", "web/a.test.js > adds")
    assert [find_file(each, files) for each in names] == [files[0]] * 3 + [files[1]]
    assert find_file("tests.test_ab.T.test_b", files) == ""
    others = ("tests/test_red.py::test_a", "tests/test_red.py", "tests.test_red.T.test_a", "tests.test_red.test_a")
    assert [find_file(each, ("app/tests.py",)) for each in others] == [""] * 4
    own = ("app/tests.py::test_a", "tests.T.test_a", "app.tests.test_a", "unittest.loader._FailedTest.app.tests")
    assert [find_file(each, ("app/tests.py",)) for each in own] == ["app/tests.py"] * 4


def _failed(**fields: str) -> Finding:
    return identify(Finding(severity=Severity.HIGH, **fields))  # type: ignore[arg-type]


def test_no_failure_quotes_a_hidden_test_and_each_says_so() -> None:
    own = _failed(rule="tests.test_own.T.test_a", category="tests", issue="1 != 2", evidence="own source")
    test = _failed(rule="tests.test_hidden.T.test_b", category="tests", issue="8 != 15", evidence="secret = 15")
    lint = _failed(rule="lint", category="checks", issue="lint failed", evidence=f"{HIDDEN}:1: secret")
    sign = _failed(rule="sign", issue="it patches", file=HIDDEN, evidence="secret = mock")
    report = ChecksReported(
        key=Key("checks"),
        tree=Tree("t"),
        findings=(sign,),
        results=(CheckResult(name="lint", passed=False, failures=(lint,)),),
        landing=(CheckResult(name="test", passed=False, failures=(own, test)),),
    )
    told = conceal(report, HiddenTests(files=(HIDDEN,)))
    assert "secret" not in str(told)
    assert told.landing[0].failures[0] == own
    assert told.landing[0].failures[1].issue == "8 != 15"
    assert [(each.id, each.file) for each in told.hidden] == [
        ("lint", HIDDEN),
        ("tests.test_hidden.T.test_b", HIDDEN),
        ("sign", HIDDEN),
    ]
    assert conceal(report, HiddenTests()) is report
