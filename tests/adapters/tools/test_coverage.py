import sys
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import AgentReport, Finding, Severity, Verdict
from tests.adapters.tools.program import Candidate, brief, program

CRITICAL, HIGH, MEDIUM, LOW = Severity

CODE = '''\
"""Two functions."""


def used(number: int) -> int:
    """Is run by the test."""
    if number > 100:
        return 0
    return number


def unused(number: int) -> int:
    """Is not."""
    total = number
    total += 1
    return total
'''
TEST = "import calc\n\n\ndef test_used() -> None:\n    assert calc.used(1) == 1\n"


def bare(base: Path) -> Candidate:
    """With a Python that has coverage and pytest, and no other tool."""
    code = f"import os, sys\nos.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    return Candidate(base, tools=program(base / "bin", "python3", code))


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    candidate = bare(tmp_path)
    candidate.put("calc.py", CODE)
    candidate.put("test_calc.py", TEST)
    return candidate


def about_coverage(report: AgentReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.category == "coverage"]


def measured(candidate: Candidate, artifact: str = "calc.py") -> list[Finding]:
    return about_coverage(candidate.review(artifact, depth="comprehensive"))


def test_functions_that_no_test_runs_are_named_with_their_lines(candidate: Candidate) -> None:
    report = candidate.review("calc.py", depth="comprehensive")
    assert report.verdict is Verdict.FAIL
    found = about_coverage(report)
    assert [brief(finding) for finding in found] == [
        (HIGH, "uncovered used", "calc.py", 4),
        (HIGH, "uncovered unused", "calc.py", 11),
    ]
    assert [finding.issue for finding in found] == [
        "No test runs `used` at line 7 (50 % of the file is covered)",
        "No test runs `unused` at lines 13-15 (50 % of the file is covered)",
    ]
    assert [finding.evidence for finding in found] == [
        "line 7 never ran: return 0",
        "line 13 never ran: total = number",
    ]


def test_a_quick_review_runs_no_tests(candidate: Candidate) -> None:
    candidate.put("test_calc.py", "import pathlib\n\npathlib.Path('ran').touch()\n")
    assert about_coverage(candidate.review("calc.py", depth="quick")) == []
    assert not (candidate.folder / "ran").exists()


def test_above_the_floor_what_is_left_is_medium(candidate: Candidate) -> None:
    candidate.put("test_calc.py", TEST + "    assert calc.unused(1) == 2\n")
    report = candidate.review("calc.py", depth="comprehensive")
    assert report.verdict is Verdict.PASS
    assert [brief(finding) for finding in about_coverage(report)] == [(MEDIUM, "uncovered used", "calc.py", 4)]


def test_a_file_that_no_test_imports_is_wholly_uncovered(candidate: Candidate) -> None:
    candidate.put("lonely.py", CODE)
    candidate.put("empty.py", '"""Nothing but words."""\n')
    assert [brief(finding) for finding in measured(candidate, ".") if finding.file != "calc.py"] == [
        (HIGH, "uncovered-file", "lonely.py", 0)
    ]


def test_what_the_project_leaves_out_of_its_coverage_is_left_out(candidate: Candidate) -> None:
    candidate.put("lonely.py", CODE)
    candidate.put("pyproject.toml", '[tool.coverage.run]\nomit = ["other.py", "lonely.py"]\nparallel = true\n')
    assert {finding.file for finding in measured(candidate, ".")} == {"calc.py"}


def test_the_candidates_code_is_measured_not_an_installed_one(tmp_path: Path) -> None:
    candidate = bare(tmp_path)
    candidate.put("src/calc.py", CODE)
    candidate.put("tests/test_calc.py", TEST)
    assert [finding.rule for finding in measured(candidate, "src")] == ["uncovered used", "uncovered unused"]


def test_without_tests_nothing_is_covered(tmp_path: Path) -> None:
    candidate = bare(tmp_path)
    candidate.put("calc.py", CODE)
    assert [brief(finding) for finding in measured(candidate)] == [(HIGH, "uncovered-file", "calc.py", 0)]


def test_tests_that_fail_are_told_beside_what_they_cover(candidate: Candidate) -> None:
    candidate.put("test_calc.py", TEST.replace("== 1", "== 2"))
    failing, *rest = measured(candidate)
    assert brief(failing) == (HIGH, "tests-failing", "", 0)
    assert "assert 1 == 2" in failing.evidence
    assert [finding.rule for finding in rest] == ["uncovered used", "uncovered unused"]


def test_tests_that_cannot_run_are_told_instead_of_coverage(candidate: Candidate) -> None:
    candidate.put("test_calc.py", "import nosuchmodule\n")
    (broken,) = measured(candidate)
    assert brief(broken) == (HIGH, "tests-broken", "", 0)
    assert "No module named 'nosuchmodule'" in broken.evidence


def test_without_pytest_the_tests_of_unittest_are_run(tmp_path: Path) -> None:
    """The repository's own interpreter has `coverage` and no pytest."""
    code = "import os, sys\nif '-I' in sys.argv:\n    print('{\"coverage\": true, \"pytest\": false}')\nelse:\n"
    code += f"    os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    program(tmp_path / ".venv" / "bin", "python", code)
    candidate = Candidate(tmp_path)
    candidate.put("calc.py", CODE)
    test = "import unittest\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n"
    candidate.put(
        "test_calc.py", test + "    def test_used(self) -> None:\n        self.assertEqual(calc.used(1), 1)\n"
    )
    found = [finding for finding in measured(candidate) if finding.rule != "tests-broken"]
    assert [finding.rule for finding in found] == ["uncovered used", "uncovered unused"]


def test_a_repository_whose_own_python_has_no_coverage_is_not_tested_with_another(tmp_path: Path) -> None:
    program(tmp_path / ".venv" / "bin", "python", 'print(\'{"coverage": false, "pytest": true}\')')
    candidate = Candidate(tmp_path)
    candidate.put("calc.py", CODE)
    report = candidate.review("calc.py", depth="comprehensive")
    assert about_coverage(report) == []
    assert f"not found: coverage in {tmp_path}/.venv/bin/python" in report.summary


def test_product_code_does_not_learn_where_the_result_goes(candidate: Candidate) -> None:
    candidate.put("test_calc.py", TEST + "    import os\n\n    assert not [n for n in os.environ if 'LOOP_' in n]\n")
    assert [finding.rule for finding in measured(candidate)] == ["uncovered used", "uncovered unused"]


# A check of the person's own


LCOV = "TN:\nSF:calc.py\nDA:4,1\nDA:6,1\nDA:7,0\nDA:8,3\nDA:11,1\nDA:13,1\nDA:14,1\nDA:15,1\nend_of_record\n"


def checked(tmp_path: Path, code: str, floor: float | None = None) -> Candidate:
    run = (sys.executable, "-c", code, "{report}")
    candidate = Candidate(tmp_path, (CheckSettings(name="coverage", run=run, report="coverage", floor=floor),))
    candidate.put("calc.py", CODE)
    return candidate


@pytest.mark.parametrize(("floor", "severity"), [(None, MEDIUM), (95.0, HIGH), (50.0, MEDIUM)])
def test_a_configured_check_is_run_instead_with_its_own_floor(
    tmp_path: Path, floor: float | None, severity: Severity
) -> None:
    candidate = checked(tmp_path, f"import sys; open(sys.argv[1], 'w').write({LCOV!r})", floor)
    assert [brief(finding) for finding in measured(candidate)] == [(severity, "uncovered used", "calc.py", 4)]


@pytest.mark.parametrize(
    ("code", "why"),
    [("print('oops')", "it wrote no report"), ("import sys; open(sys.argv[1], 'w').write('?')", "neither Cobertura")],
)
def test_a_coverage_check_without_a_report_has_passed_nothing(tmp_path: Path, code: str, why: str) -> None:
    found = checked(tmp_path, code).review("calc.py", depth="comprehensive").findings
    assert [brief(finding) for finding in found] == [(HIGH, "check coverage-failed", "", 0)]
    assert why in found[0].issue
