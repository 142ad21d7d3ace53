from dataclasses import replace

import pytest

from loopwright.adapters.checks.coverage_floor import covered, serves_tests
from loopwright.adapters.checks.coverage_report import FileCoverage
from loopwright.adapters.checks.judgement import Ran, Standard, failures, judge, suspects
from loopwright.adapters.checks.order import strength
from loopwright.adapters.checks.receipts import as_result, read_receipt, standard
from loopwright.adapters.checks.reports import Report
from loopwright.config.settings import CheckSettings
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Coverage, Finding, Severity
from tests.adapters.checks.test_receipts import PASSED

SPEC = CheckSettings(name="coverage", run=("make", "{report}"), report="coverage", floor=80.0, new_code_floor=90.0)
NO_FLOOR = replace(SPEC, floor=None, new_code_floor=None)
HALF = FileCoverage(file="src/half.py", covered=(1, 2, 3), missed=(5, 6, 9))
WHOLE = FileCoverage(file="src/whole.py", covered=(1, 2, 3, 4), missed=())
TESTS = FileCoverage(file="tests/test_a.py", covered=tuple(range(1, 100)), missed=())


def ran(*files: FileCoverage, exit_code: int = 0) -> Ran:
    return Ran(how="exited", exit_code=exit_code, report=Report(tests=None), lines=files)


def measured(*files: FileCoverage, spec: CheckSettings = SPEC, **new: tuple[int, ...]) -> Ran:
    """`new` by the file's stem."""
    return covered(spec, ran(*files), {f"src/{stem}.py": frozenset(lines) for stem, lines in new.items()})


def test_lines_are_counted_over_all_files_but_those_of_tests() -> None:
    assert measured(HALF, WHOLE, TESTS, half=(3, 4, 5, 6), whole=(1,)).coverage == Coverage(
        covered=7, total=10, new_covered=2, new_total=4, floor=80.0, new_code_floor=90.0
    )


def test_too_little_coverage_is_a_finding_that_names_the_worst_files_and_their_lines() -> None:
    worse = FileCoverage(file="src/worse.py", covered=(1,), missed=(2, 3, 4, 5))
    (found,) = measured(HALF, WHOLE, worse).report.failures  # type: ignore[union-attr]
    assert replace(found, fingerprint="") == Finding(
        severity=Severity.HIGH,
        category="tests",
        rule="coverage",
        file="src/worse.py",
        line=2,
        issue="check 'coverage': the tests run 53.33% of the lines, 80% are asked for",
        expected=">= 80% line coverage",
        actual="53.33% line coverage",
        evidence="src/worse.py: 1 of 5 lines run\nsrc/half.py: 3 of 6 lines run",
        guidance="Write tests that make these lines run: src/worse.py:2-5; src/half.py:5-6, 9.",
    )


def test_too_little_coverage_of_new_code_is_a_finding_of_its_own() -> None:
    spec = replace(SPEC, floor=None)
    (found,) = measured(HALF, WHOLE, spec=spec, half=(3, 5), whole=(1, 2)).report.failures  # type: ignore[union-attr]
    assert (found.rule, found.category, found.expected, found.actual, found.file, found.line) == (
        "coverage-new-code",
        "tests",
        ">= 90% coverage of new code",
        "75% coverage of new code",
        "src/half.py",
        5,
    )
    assert found.evidence == "src/half.py: 1 of 2 lines run"
    assert found.guidance == "Write tests that make these lines run: src/half.py:5."


def test_one_shortfall_is_the_same_fault_wherever_it_lies_and_whatever_the_numbers() -> None:
    other = FileCoverage(file="src/other.py", covered=(1,), missed=(2, 3))
    prints = [found.fingerprint for file in (HALF, other) for found in failures(SPEC, measured(file))]
    assert len(set(prints)) == 1
    second = replace(SPEC, name="integration")
    assert failures(second, measured(HALF, spec=second))[0].fingerprint not in prints


def test_exactly_the_floor_is_enough() -> None:
    four = FileCoverage(file="a.py", covered=(1, 2, 3, 4), missed=(5,))
    assert judge(SPEC, measured(four), Standard()).passed
    assert not judge(replace(SPEC, floor=80.01), measured(four, spec=replace(SPEC, floor=80.01)), Standard()).passed


def test_without_new_code_its_floor_asks_for_nothing() -> None:
    spec = replace(SPEC, floor=None)
    assert judge(spec, measured(HALF, spec=spec), Standard()).passed
    assert judge(spec, measured(HALF, spec=spec, half=(4, 7, 8)), Standard()).passed


def test_without_a_floor_only_the_exit_code_and_a_report_count() -> None:
    assert judge(NO_FLOOR, measured(HALF, spec=NO_FLOOR, half=(5,)), Standard()).passed
    failed = covered(NO_FLOOR, ran(HALF, exit_code=1), {})
    judged = judge(NO_FLOOR, failed, Standard())
    assert [finding.rule for finding in judged.failures] == ["coverage"]
    assert "ended with exit code 1" in judged.failures[0].issue
    assert failed.coverage is not None


def test_a_report_of_nothing_but_tests_is_no_report() -> None:
    silent = measured(TESTS)
    judged = judge(SPEC, silent, Standard())
    assert (judged.passed, [finding.rule for finding in judged.failures]) == (False, ["no-report coverage"])
    assert "no line of this tree's code" in judged.failures[0].issue


def test_a_long_list_of_files_and_lines_is_bounded() -> None:
    files = [FileCoverage(file=f"src/{n}.py", covered=(), missed=tuple(range(1, 9000, 2))) for n in range(50)]
    (found,) = failures(replace(SPEC, new_code_floor=None), measured(*files))
    assert len(found.guidance) < 2000
    assert found.guidance.endswith("; and 45 more files.")
    assert found.guidance.count("src/") == 5
    assert ", …; src/1.py:1, 3," in found.guidance


def test_a_changed_file_that_the_report_leaves_out_is_told() -> None:
    report = measured(HALF, half=(1,), unseen=(1, 2)).report
    assert report is not None
    assert report.note == "changed, but not in the coverage report: src/unseen.py"


def test_a_name_that_could_steer_a_terminal_is_written_out() -> None:
    (found,) = failures(SPEC, measured(replace(HALF, file="src/\x1b[2Ja.py")))
    assert found.file == "src/\\x1b[2Ja.py"
    assert "\x1b" not in encode(found)


@pytest.mark.parametrize(
    "path",
    [
        *("tests/test_a.py", "tests/__init__.py", "test/a.rb", "pkg/tests/data.py", "conftest.py", "src/conftest.py"),
        *("src/test_a.py", "a_test.go", "lib/a_spec.rb", "web/a.test.tsx", "web/a.spec.js", "web/__tests__/a.js"),
        *("src/main/OrderTest.java", "OrderTests.cs", "OrderSpec.scala", "spec/models/a.rb"),
    ],
)
def test_code_that_serves_tests_is_known_by_its_name(path: str) -> None:
    assert serves_tests(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/a.py",
        "spec.py",
        "src/test.py",
        "latest.py",
        "contest/a.py",
        "src/testing/a.py",
        "protest_a.py",
        "a_test/b.go",
    ],
)
def test_other_code_is_not_taken_for_a_test(path: str) -> None:
    assert not serves_tests(path)


# --- against the base -----------------------------------------------------------------------------


FORGIVING = replace(SPEC, baseline=True, new_code_floor=None)


def test_what_the_base_lacks_too_is_forgiven_as_long_as_it_gets_no_worse() -> None:
    on_base = frozenset({"coverage"})
    now = measured(HALF, spec=FORGIVING)  # 50 %
    verdicts = [judge(FORGIVING, now, Standard(failing=on_base, percent=p)).passed for p in (40.0, 50.0, 50.01, None)]
    assert verdicts == [True, True, False, False]
    assert judge(FORGIVING, now, Standard(failing=on_base, percent=50.0)).known == ("coverage",)


def test_new_code_is_never_forgiven() -> None:
    spec = replace(SPEC, baseline=True, floor=None)
    now = measured(HALF, spec=spec, half=(5,))
    assert not judge(spec, now, Standard(failing=frozenset({"coverage-new-code"}), percent=0.0)).passed


def test_forgiven_coverage_does_not_excuse_a_command_that_failed() -> None:
    failed = covered(FORGIVING, ran(HALF, exit_code=1), {})
    judged = judge(FORGIVING, failed, Standard(failing=frozenset({"coverage"}), percent=50.0))
    assert (judged.passed, judged.known) == (False, ("coverage",))
    assert "ended with exit code 1" in judged.failures[0].issue


def test_too_little_coverage_is_no_flaky_test() -> None:
    assert suspects(SPEC, measured(HALF), Standard()) == ()


def test_a_receipt_keeps_the_coverage_and_gives_it_back() -> None:
    coverage = Coverage(covered=1, total=2, new_covered=0, new_total=1, floor=80.0)
    held = read_receipt(encode(replace(PASSED, coverage=coverage)))
    assert held is not None
    assert as_result(held).coverage == coverage
    assert (standard(held).percent, standard(PASSED).percent) == (50.0, None)


def test_a_coverage_check_is_not_weak() -> None:
    assert strength(SPEC) == "counting"
