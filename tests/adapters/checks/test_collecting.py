"""Tests compared by id, in real projects: what the base collected is there, ran and passed."""

import asyncio
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.judgement import Ran, Standard, judge
from loopwright.adapters.checks.reports import Report
from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Change, CheckResult
from tests.adapters.checks.projects import PYTEST, Project, project
from tests.interpreter import WARM_PYTHON

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

PLAIN_UNITTEST = CheckSettings(name="test", run=(*WARM_PYTHON, "-m", "unittest", "discover", "-s", "tests"))
TWO = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n"
OTHER = TWO.replace("test_b(self): pass", "test_c(self): self.assertTrue(1)")
NODE_TEST = "const {test} = require('node:test');\ntest('adds', () => {});\ntest('more', () => {});\n"


def judged(
    tmp_path: Path, spec: CheckSettings, base: dict[str, str | None], change: dict[str, str | None]
) -> CheckResult:
    made = project(tmp_path, base, [spec])
    return asyncio.run(made.only(made.candidate(change), approved=True))


def reported(
    tmp_path: Path, spec: CheckSettings, base: dict[str, str | None], change: dict[str, str | None]
) -> ChecksReported:
    made = project(tmp_path, base, [spec])
    return asyncio.run(made.report(made.candidate({"a.py": "x = 1\n", **change})))


def paths(changes: tuple[Change, ...]) -> list[str]:
    return [change.path for change in changes]


def rules(result: CheckResult) -> list[str]:
    return [failure.rule for failure in result.failures]


def test_a_hand_written_unittest_is_counted_by_id(tmp_path: Path) -> None:
    change: dict[str, str | None] = {"tests/test_a.py": f"{OTHER}    def test_d(self): self.assertTrue(2)\n"}
    report = reported(tmp_path, PLAIN_UNITTEST, {"tests/test_a.py": TWO}, change)
    assert (paths(report.held), report.would_drop) == (["tests/test_a.py"], ("test_a.T.test_b",))


def test_empty_new_tests_do_not_make_up_for_one_that_is_skipped_now(tmp_path: Path) -> None:
    quits = "import unittest\nraise unittest.SkipTest('not here')\n"
    files: dict[str, str | None] = {"tests/test_a.py": "import calc\n" + TWO, "calc.py": ""}
    change: dict[str, str | None] = {"calc.py": quits, "tests/test_b.py": TWO, "tests/test_c.py": TWO}
    spec = replace(PLAIN_UNITTEST, run=(*WARM_PYTHON, "-m", "unittest", "discover", "-s", "tests", "-t", "."))
    files["tests/__init__.py"] = ""
    result = judged(tmp_path, spec, files, change)
    assert (result.passed, "ids-gone test" in rules(result)) == (False, True)


def test_a_test_that_is_skipped_now_is_named(tmp_path: Path) -> None:
    skips = TWO.replace("    def test_b", "    @unittest.skip('x')\n    def test_b")
    report = reported(tmp_path, PLAIN_UNITTEST, {"tests/test_a.py": TWO}, {"tests/test_a.py": skips})
    assert (paths(report.held), report.would_drop) == (["tests/test_a.py"], ("test_a.T.test_b",))


def test_a_test_that_was_skipped_or_failed_before_may_stay_so(tmp_path: Path) -> None:
    before = TWO.replace("test_a(self): pass", "test_a(self): self.skipTest('x')").replace(
        "test_b(self): pass", "test_b(self): self.fail()"
    )
    forgiving = replace(PLAIN_UNITTEST, baseline=True)
    result = judged(tmp_path, forgiving, {"tests/test_a.py": before}, {"a.py": ""})
    assert (result.passed, result.known) == (True, ("test_a.T.test_b",))


def test_a_test_that_fails_on_the_base_must_be_green_unless_forgiven(tmp_path: Path) -> None:
    before = TWO.replace("test_b(self): pass", "test_b(self): self.fail()")
    result = judged(tmp_path, PLAIN_UNITTEST, {"tests/test_a.py": before}, {"a.py": ""})
    assert (result.passed, rules(result)) == (False, ["test_a.T.test_b"])


UNSTEADY = """\
import random, pytest
@pytest.mark.parametrize("x", [object(), random.random()], ids=repr)
def test_a(x): pass
def test_b(): pass
"""


def test_ids_that_differ_from_run_to_run_are_no_finding_and_the_base_is_collected_twice_once(tmp_path: Path) -> None:
    async def story(made: Project) -> None:
        assert (await made.only(made.candidate({"a.py": "1"}))).passed
        assert (await made.only(made.candidate({"a.py": "2"}), step="s2")).passed
        assert made.checkouts.laid.count(made.base) == 1  # its second collection was in the same checkout
        without = UNSTEADY.replace("test_b(): pass", "test_c(): assert 1")
        gone = await made.report(made.candidate({"a.py": "3", "tests/test_a.py": without}), step="s3")
        assert (paths(gone.held), "tests/test_a.py::test_b" in gone.would_drop) == (["tests/test_a.py"], True)

    asyncio.run(story(project(tmp_path, {"tests/test_a.py": UNSTEADY}, [PYTEST])))


def test_cases_whose_names_change_from_run_to_run_are_counted(tmp_path: Path) -> None:
    test = "@pytest.mark.parametrize('x', [object() for _ in range(a.CASES)], ids=id)\ndef test_a(x): pass\n"

    async def story(made: Project) -> None:
        assert (await made.only(made.candidate({"b.py": "1"}))).passed
        fewer = await made.only(made.candidate({"a.py": "CASES = 11\n"}), step="s2")
        assert (fewer.passed, fewer.gone) == (False, ("tests/test_a.py::test_a[…]",))

    files = {"tests/test_a.py": f"import pytest, a\n{test}", "a.py": "CASES = 12\n"}
    asyncio.run(story(project(tmp_path, files, [PYTEST])))


def test_a_case_that_the_product_makes_is_missed_where_another_one_comes(tmp_path: Path) -> None:
    made_by_product = "import pytest, a\n@pytest.mark.parametrize('name', sorted(a.NAMES))\ndef test_a(name): pass\n"

    async def story(made: Project) -> None:
        found = await made.only(made.candidate({"a.py": "NAMES = {'add': 1, 'mul': 2}\n"}))
        assert (found.passed, found.gone) == (False, ("tests/test_a.py::test_a[sub]",))

    files = {"tests/test_a.py": made_by_product, "a.py": "NAMES = {'add': 1, 'sub': 2}\n"}
    asyncio.run(story(project(tmp_path, files, [PYTEST])))


def test_receipts_keep_the_ids_in_a_blob(tmp_path: Path) -> None:
    async def story(made: Project) -> None:
        report = await made.report(made.candidate({"a.py": "", "tests/test_b.py": OTHER}))
        told = await made.store.receipt(report.landing[0].receipt) or ""
        name = told.partition('"ids":"')[2].partition('"')[0]
        assert b"test_b.T.test_c" in await made.store.fetch(name)  # type: ignore[arg-type]

    asyncio.run(story(project(tmp_path, {"tests/test_a.py": TWO}, [PLAIN_UNITTEST])))


def test_what_was_let_go_is_no_finding() -> None:
    spec = CheckSettings(name="test", run=("pytest",))
    ran = Ran(how="exited", exit_code=0, runner="pytest", report=Report(tests=1, outcomes=(("a", "passed"),)))
    base = Standard(tests=2, ids=(("a", "passed"), ("b", "passed")))
    assert not judge(spec, ran, base).passed
    assert judge(spec, ran, replace(base, may_drop=frozenset({"b"}))).passed


def test_where_no_ids_are_known_the_number_is_the_measure() -> None:
    spec = CheckSettings(name="test", run=("make", "test"))
    three = Ran(how="exited", exit_code=0, report=Report(tests=3))
    assert judge(spec, three, Standard(tests=3)).passed
    assert [f.rule for f in judge(spec, three, Standard(tests=4)).failures] == ["fewer-tests test"]
    silent = Ran(how="exited", exit_code=0)
    assert [f.issue for f in judge(spec, silent, Standard(tests=4)).failures] == [
        "check 'test' ran no tests, 4 on the base"
    ]


def test_a_target_of_make_is_counted_through_what_it_starts(tmp_path: Path) -> None:
    recipe = f"test:\n\t{sys.executable} -m pytest -q -p no:cacheprovider tests\n"
    spec = CheckSettings(name="test", run=("make", "test"))
    change: dict[str, str | None] = {"tests/test_a.py": "def test_b(): assert 1\n"}
    report = reported(tmp_path, spec, {"Makefile": recipe, "tests/test_a.py": "def test_a(): pass\n"}, change)
    assert (report.results[0].tests, report.would_drop) == (1, ("tests/test_a.py::test_a",))


def test_the_last_line_of_a_script_counts(tmp_path: Path) -> None:
    spec = CheckSettings(name="test", run=("sh", "all.sh"))
    files: dict[str, str | None] = {"all.sh": "cat said\n", "said": "12 passed in 0.1s\n"}
    result = judged(tmp_path, spec, files, {"said": "11 passed in 0.1s\n"})
    assert (result.tests, rules(result)) == (11, ["fewer-tests test"])


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed here")
@pytest.mark.parametrize("run", [("node", "--test", "a.test.js"), ("sh", "-c", "node --test a.test.js")])
def test_the_runner_of_node_is_counted_by_id(tmp_path: Path, run: tuple[str, ...]) -> None:
    spec = CheckSettings(name="test", run=run)
    change: dict[str, str | None] = {"a.test.js": NODE_TEST.replace("more", "else")}
    report = reported(tmp_path, spec, {"a.test.js": NODE_TEST}, change)
    assert (report.results[0].tests, paths(report.held), report.would_drop) == (2, ["a.test.js"], ("more",))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed here")
@pytest.mark.parametrize("run", [("node", "--test"), ("sh", "-c", "node --test")])
def test_a_file_that_node_cannot_load_fails_by_the_error_and_its_place(tmp_path: Path, run: tuple[str, ...]) -> None:
    added: dict[str, str | None] = {"b.test.js": "\nnottest('k', () => {});\n"}
    spec = CheckSettings(name="test", run=run)
    (failure,) = reported(tmp_path, spec, {"a.test.js": NODE_TEST}, added).landing[0].failures
    assert failure.issue == "b.test.js - ReferenceError: nottest is not defined"
    assert failure.evidence.startswith("b.test.js:2\n")
