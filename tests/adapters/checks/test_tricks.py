"""What an agent may try so that a check passes without the work being done."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Commit, Severity
from loopwright.kernel.trust import Claim, Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.weighing import Failed, Waits, weighed
from tests.adapters.checks.projects import PYTEST, UNITTEST, project
from tests.loops.feedback import params

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

TESTS = """\
import unittest
import product_code


class Sums(unittest.TestCase):
    def test_one(self):
        self.assertEqual(product_code.one(), 1)

    def test_two(self):
        self.assertEqual(product_code.two(), 2)
"""
CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
WRONG = CODE.replace("return 2", "return 3")
MORE = CODE + "\n\ndef three():\n    return 3\n"
PLANTED = "import sys\nprint('planted')\nsys.exit(0)\n"
BASE = {"tests/test_sums.py": TESTS, "product_code.py": CODE}
CHECKS = [pytest.param(PYTEST, id="pytest"), pytest.param(UNITTEST, id="unittest")]


def reported(tmp_path: Path, check: object, files: dict[str, str | None], **more: object) -> ChecksReported:
    made = project(tmp_path, BASE, [check], **more)  # type: ignore[list-item, arg-type]
    return asyncio.run(made.report(made.candidate(files)))


def worst(report: ChecksReported) -> list[tuple[str, str]]:
    return [(f.rule, f.severity.value) for f in report.findings if f.severity.rank <= Severity.HIGH.rank]


@pytest.mark.parametrize("check", CHECKS)
def test_an_honest_change_passes(tmp_path: Path, check: object) -> None:
    report = reported(tmp_path, check, {"product_code.py": MORE})
    (result,) = report.results
    assert (result.passed, result.tests, report.findings) == (True, 2, ())


@pytest.mark.parametrize("check", CHECKS)
def test_a_wrong_change_fails(tmp_path: Path, check: object) -> None:
    (result,) = reported(tmp_path, check, {"product_code.py": WRONG}).results
    assert (result.passed, len(result.failures), result.tests) == (False, 1, 2)
    assert "3 != 2" in result.failures[0].issue
    assert result.failures[0].line > 0


@pytest.mark.parametrize("check", CHECKS)
def test_leaving_the_process_early_with_exit_code_zero_gives_no_report_and_fails(tmp_path: Path, check: object) -> None:
    (result,) = reported(tmp_path, check, {"product_code.py": "import os\nos._exit(0)\n"}).results
    assert not result.passed
    assert result.failures[0].rule == "no-report test"
    assert "wrote no report" in result.failures[0].issue


@pytest.mark.trust
@pytest.mark.parametrize("check", CHECKS)
def test_leaving_by_system_exit_zero_fails(tmp_path: Path, check: object) -> None:
    (result,) = reported(tmp_path, check, {"product_code.py": "import sys\nsys.exit(0)\n"}).results
    assert not result.passed


@pytest.mark.parametrize(
    ("check", "path"),
    [
        pytest.param(UNITTEST, "unittest.py", id="unittest"),
        pytest.param(UNITTEST, "unittest/__init__.py", id="package"),
        pytest.param(PYTEST, "pytest.py", id="pytest"),
        pytest.param(PYTEST, "json.py", id="json"),
        pytest.param(UNITTEST, "sitecustomize.py", id="hook"),
        pytest.param(UNITTEST, "src/usercustomize.py", id="hook-of-the-user"),
        pytest.param(UNITTEST, "tests/sitecustomize/__init__.py", id="hook-among-tests"),
        pytest.param(PYTEST, "more.pth", id="path-file"),
    ],
)
def test_what_stands_in_front_of_the_checks_replaces_nothing_and_is_held_alone(
    tmp_path: Path, check: object, path: str
) -> None:
    report = reported(tmp_path, check, {path: PLANTED, "product_code.py": MORE})
    assert (report.results[0].passed, report.results[0].tests) == (True, 2)
    assert [change.path for change in report.held] == [path]
    assert [(each.severity.value, each.file) for each in report.findings] == [("medium", path)]


def test_wrong_code_with_something_in_front_of_the_checks_fails_for_its_own_sake(tmp_path: Path) -> None:
    report = reported(tmp_path, UNITTEST, {"unittest.py": PLANTED, "product_code.py": WRONG})
    assert not report.results[0].passed
    assert (report.results[0].tests, report.claim) == (2, None)


@pytest.mark.trust
def test_what_stands_in_front_of_the_checks_is_held_though_it_is_named_for_review(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    commit = made.candidate({"random.py": "import os\n", "product_code.py": MORE})
    report = asyncio.run(made.report(commit, trust=Trust(artifacts=("random.py",))))
    assert [change.path for change in report.held] == ["random.py"]


@pytest.mark.trust
@pytest.mark.parametrize("check", CHECKS)
def test_a_deleted_test_file_runs_all_the_same(tmp_path: Path, check: object) -> None:
    report = reported(tmp_path, check, {"tests/test_sums.py": None, "product_code.py": WRONG})
    assert [failure.rule.rpartition("test_")[2] for failure in report.results[0].failures] == ["two"]
    assert report.claim is None


@pytest.mark.trust
def test_a_manifest_is_no_reason_for_what_was_red_before(tmp_path: Path) -> None:
    red = "\n    def test_red(self):\n        self.assertEqual(product_code.{}, 0)\n"
    files = {"tests/test_sums.py": TESTS + red.format("two()"), "pyproject.toml": "[project]\n"}
    made = project(tmp_path, {**BASE, **files}, [UNITTEST])
    newer: dict[str, str | None] = {"pyproject.toml": '[project]\ndependencies = ["more"]\n'}
    asyncio.run(made.report(made.base, preflight=True))
    report = asyncio.run(made.report(made.candidate({"product_code.py": MORE, **newer}), step="s2"))
    assert report.claim is not None
    assert ([each.path for each in report.held], report.claim.failing) == (["pyproject.toml"], ())
    assert [each.rpartition(".")[2] for each in report.claim.before] == ["test_red"]
    report = asyncio.run(made.report(made.candidate({"product_code.py": WRONG, **newer}), step="s3"))
    assert report.claim is not None
    assert report.claim.at_once
    assert "test_red" not in {each.rpartition(".")[2] for each in report.claim.failing} != set()


def test_a_run_that_failed_before_it_counted_is_no_weak_one(tmp_path: Path) -> None:
    counts = "grep -q broken product_code.py && exit 1; grep -q silent product_code.py || echo '# tests 2'"
    made = project(tmp_path, BASE, [CheckSettings(name="test", run=("sh", "-c", counts))])
    rules = []
    for word in ("broken", "silent"):
        commit = made.candidate({"product_code.py": f"{CODE}# {word}\n"})
        report = asyncio.run(made.report(commit, step=word, trust=Trust(in_force=True, base=made.base)))
        rules.append((report.results[0].passed, [each.rule for each in report.findings]))
    assert rules == [(False, []), (True, ["weak"])]


def test_whoever_decides_on_what_is_held_back_sees_the_tests_it_would_let_go(tmp_path: Path) -> None:
    fewer = TESTS.replace("test_two", "look_at_two")
    report = reported(tmp_path, UNITTEST, {"tests/test_sums.py": fewer, "product_code.py": MORE})
    assert (report.results[0].passed, report.claim) == (True, None)
    assert [test.rpartition(".")[2] for test in report.would_drop] == ["test_two"]


THREE = (
    TESTS.replace("test_one", "test_once")
    + "\n    def test_three(self):\n        self.assertEqual(product_code.three(), 3)\n"
)


def test_a_candidate_whose_changed_test_fails_is_a_failed_attempt(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    files: dict[str, str | None] = {"product_code.py": MORE, "tests/test_sums.py": TESTS.replace(", 1)", ", -1)")}
    report = asyncio.run(made.report(made.candidate(files), trust=Trust(in_force=True)))
    assert [each.rule for each in faults_of(report)] == ["test_sums.Sums.test_one"]


@pytest.mark.parametrize(
    ("code", "files", "failing"),
    [
        (MORE, {}, []),
        (MORE.replace("return 3", "return 4"), {}, ["test_sums.Sums.test_three"]),
        (MORE.replace("return 3", "return 4"), {"tests/conftest.py": ""}, ["test_sums.Sums.test_three"]),
    ],
)
def test_tests_that_fail_with_the_code_they_came_with_fail_the_attempt(
    tmp_path: Path, code: str, files: dict[str, str], failing: list[str]
) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    commit = made.candidate({"product_code.py": code, "tests/test_sums.py": THREE, **files})
    report = asyncio.run(made.report(commit, trust=Trust(in_force=True)))
    assert [each.rule for each in faults_of(report)] == failing


@pytest.mark.trust
def test_a_new_package_of_tests_that_needs_its_own_set_up_reaches_a_person(tmp_path: Path) -> None:
    setup = "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n"
    test = "import product_code\n\n\ndef test_three(three):\n    assert product_code.three() == three\n"
    files = {"product_code.py": MORE, "tests/more/conftest.py": setup, "tests/more/test_three.py": test}
    report = reported(tmp_path, PYTEST, files)  # type: ignore[arg-type]
    claim = report.claim
    assert claim is not None
    assert ([each.path for each in claim.changes], claim.failing) == (["tests/more/conftest.py"], ())
    assert [each.rpartition("::")[2] for each in claim.new] == ["test_three"]
    state = FEEDBACK.start(replace(params(), trust=Trust(in_force=True)))
    state, first = weighed(state, report, Commit("c1"), ("Count to three",))
    assert isinstance(first, Failed)
    assert "these new tests fail: " in first.faults[-1].issue
    _, second = weighed(state, report, Commit("c2"), ("Count to three",))
    assert isinstance(second, Waits)


@pytest.mark.trust
def test_tests_that_a_change_hides_run_all_the_same(tmp_path: Path) -> None:
    files = BASE | {"tests/test_more.py": "def test_a():\n    assert [1]\n"}
    made = project(tmp_path, files, [PYTEST])
    hidden = made.candidate({"tests/test_more.py": "def hidden():\n    assert [1]\n"})
    report = asyncio.run(made.report(hidden))
    (result,) = report.results
    assert (result.passed, result.tests, report.nothing_else) == (True, 3, True)


def test_tests_that_the_product_makes_disappear_are_named_and_only_a_person_may_let_them_go(tmp_path: Path) -> None:
    counting = (
        "import pytest, product_code\n@pytest.mark.parametrize('n', product_code.CASES)\ndef test_it(n):\n    pass\n"
    )
    made = project(tmp_path, {"tests/test_cases.py": counting, "product_code.py": "CASES = [1, 2]\n"}, [PYTEST])
    fewer = made.candidate({"product_code.py": "CASES = [1]\n"})
    report = asyncio.run(made.report(fewer))
    assert [failure.issue for failure in report.results[0].failures] == [
        "check 'test': 1 test (tests/test_cases.py::test_it[2]) of the base did not run at all"
    ]
    assert report.claim == Claim(dropped=("tests/test_cases.py::test_it[2]",))
    again = asyncio.run(
        made.report(made.candidate({"product_code.py": "CASES = [1]\n"}), may_drop=report.claim.dropped)
    )
    assert again.results[0].passed


@pytest.mark.trust
@pytest.mark.parametrize("check", CHECKS)
def test_a_skipped_test_does_not_count_as_run(tmp_path: Path, check: object) -> None:
    skipping = TESTS.replace("    def test_two", "    @unittest.skip('later')\n    def test_two")
    report = reported(tmp_path, check, {"tests/test_sums.py": skipping, "product_code.py": WRONG})
    (result,) = report.results
    assert (result.passed, result.tests) == (False, 2)


@pytest.mark.trust
def test_a_skip_at_run_time_from_new_code_is_counted_too(tmp_path: Path) -> None:
    sly = "import unittest\ndef one():\n    return 1\ndef two():\n    raise unittest.SkipTest('no')\n"
    (result,) = reported(tmp_path, PYTEST, {"product_code.py": sly}).results
    assert not result.passed


@pytest.mark.trust
def test_a_report_printed_to_the_output_is_only_output(tmp_path: Path) -> None:
    forged = 'import os\nprint(\'<testsuite tests="9"><testcase name="x"/></testsuite>\', flush=True)\nos._exit(0)\n'
    (result,) = reported(tmp_path, PYTEST, {"product_code.py": forged}).results
    assert (result.passed, result.tests) == (False, None)


def test_a_report_written_by_the_product_code_must_still_count_as_many_tests(tmp_path: Path) -> None:
    forged = """\
import os, sys
path = next(word for word in sys.argv if "report" in word and "=" in word).partition("=")[2]
open(path, "w").write('<testsuite><testcase classname="a" name="b"/></testsuite>')
os._exit(0)
"""
    (result,) = reported(tmp_path, PYTEST, {"product_code.py": forged}).results
    assert (result.passed, result.tests) == (False, 1)
    assert result.failures[0].rule == "ids-gone test"


@pytest.mark.trust
def test_a_report_left_in_the_tree_is_not_the_report(tmp_path: Path) -> None:
    lying = '<testsuite><testcase classname="a" name="b"/><testcase classname="a" name="c"/></testsuite>'
    files: dict[str, str | None] = dict.fromkeys(("report", "report.xml", "{report}"), lying)
    (result,) = reported(tmp_path, PYTEST, {**files, "product_code.py": "import os\nos._exit(0)\n"}).results
    assert not result.passed


@pytest.mark.trust
def test_protected_tests_cannot_be_loosened(tmp_path: Path) -> None:
    loosened = TESTS.replace("        self.assertEqual(product_code.two(), 2)", "        assert True")
    files: dict[str, str | None] = {"tests/test_sums.py": loosened, "product_code.py": WRONG}
    report = reported(tmp_path, UNITTEST, files, protected=("tests/**",))
    assert (report.results[0].passed, worst(report)) == (False, [])


@pytest.mark.trust
def test_a_check_configuration_that_filters_tests_out_does_not_run(tmp_path: Path) -> None:
    report = reported(tmp_path, PYTEST, {"pytest.ini": "[pytest]\naddopts = -k one\n", "product_code.py": WRONG})
    assert [(f.rule, f.severity) for f in report.findings] == [("steers-checks", "medium")]
    assert (report.results[0].passed, report.results[0].tests) == (False, 2)


def test_an_approved_check_configuration_is_told_with_low_severity(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [PYTEST])
    commit = made.candidate({"pytest.ini": "[pytest]\n", "product_code.py": MORE})
    held = asyncio.run(made.report(commit)).held
    report = asyncio.run(made.report(commit, step="s2", approved=held))
    assert [(f.rule, f.severity) for f in report.findings] == [("steers-checks", "low")]


@pytest.mark.trust
def test_a_conftest_that_turns_failures_into_passes_does_not_run(tmp_path: Path) -> None:
    hook = """\
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
    report = reported(tmp_path, PYTEST, {"conftest.py": hook, "product_code.py": WRONG})
    assert [(f.rule, f.severity) for f in report.findings] == [("steers-checks", "medium")]
    assert not report.results[0].passed


_EMPTY = """\
import unittest


class Nothing(unittest.TestCase):
    def test_nothing(self):
        self.assertTrue(True)
"""
_THREE = CODE + "\n\ndef three():\n    return 4\n"


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("tests", "said"),
    [
        (_EMPTY, "untested-change"),
        (_EMPTY.replace("unittest\n\n", "unittest\nimport product_code\n", 1), "untested-change"),
        (TESTS.replace("product_code.two(), 2", "product_code.three(), 4"), "noticed"),
    ],
    ids=["which tests nothing", "which only loads it", "which runs it"],
)
def test_where_the_base_has_no_test_it_is_a_new_one_that_has_to_notice(
    tmp_path: Path, check: CheckSettings, tests: str, said: str
) -> None:
    made = project(tmp_path, {"product_code.py": CODE, "tests/__init__.py": ""}, [replace(check, may_be_empty=True)])
    added = made.candidate({"product_code.py": _THREE, "tests/test_new.py": tests})
    report = asyncio.run(made.report(added))
    assert [result.passed for result in (*report.results, *report.landing)] == [True, True]
    assert report.canary is not None
    assert report.canary.said == said
    assert ("by new tests alone" in report.canary.sentence) is (said == "noticed")


_VACUOUS = {"tests/test_new.py": _EMPTY}


@pytest.mark.parametrize(
    ("files", "waits"),
    [
        pytest.param({"Makefile": "all:\n", **_VACUOUS}, True, id="a build file, and a test"),
        pytest.param({"Makefile": "all:\n", **_VACUOUS, "README.md": "More.\n"}, False, id="and a text"),
        pytest.param({"Makefile": "all:\n", "product_code.py": MORE}, False, id="and product"),
        pytest.param({"Makefile": "all:\n"}, True, id="a build file alone"),
        pytest.param({"tests/conftest.py": "", **_VACUOUS}, False, id="set-up of tests, and a test"),
    ],
)
def test_tests_alone_are_nothing_worth_landing_without_what_they_came_with(
    tmp_path: Path, files: dict[str, str | None], *, waits: bool
) -> None:
    report = reported(tmp_path, UNITTEST, files)
    assert (all(result.passed for result in report.results), bool(report.held)) == (True, True)
    assert report.nothing_else is waits


@pytest.mark.parametrize("more", [{}, {"README.md": "More.\n"}], ids=["alone", "and a text"])
def test_where_the_base_has_no_test_and_the_code_is_held_back_no_new_test_is_enough(
    tmp_path: Path, more: dict[str, str | None]
) -> None:
    made = project(tmp_path, {"README.md": "To be.\n", "tests/__init__.py": ""}, [replace(UNITTEST, may_be_empty=True)])
    made.checks = replace(made.checks, classifier=replace(made.checks.classifier, product=()))
    commit = made.candidate({"product_code.py": WRONG, **_VACUOUS, **more})
    report = asyncio.run(made.report(commit))
    assert ([each.path for each in report.held], report.nothing_else) == (["product_code.py"], True)
    approved = asyncio.run(made.report(commit, step="s2", approved=report.held))
    assert approved.canary is not None
    assert (approved.held, approved.canary.said) == ((), "untested-change")
    right = made.candidate({"product_code.py": CODE, "tests/test_new.py": TESTS, **more})
    seen = asyncio.run(made.checks.examine(right, Trust(base=made.base)))
    approved = asyncio.run(made.report(right, step="s3", approved=seen.gated))
    assert approved.canary is not None
    assert (approved.held, approved.canary.said) == ((), "noticed")
