import re
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks import unittest_report
from loopwright.adapters.checks.junit import read_junit
from loopwright.adapters.checks.reports import Report

TESTS = """\
import unittest


class All(unittest.TestCase):
    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual("<&\\x00\\u202e\\ud800>", 'b')

    def test_breaks(self):
        raise KeyError("k")

    @unittest.skip("later")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertLess(n, 1)
"""
OUTCOMES = {
    "test_all.All.test_breaks": "failed",
    "test_all.All.test_expected": "skipped",
    "test_all.All.test_fails": "failed",
    "test_all.All.test_parts": "failed",
    "test_all.All.test_passes": "passed",
    "test_all.All.test_skipped": "skipped",
    "test_all.All.test_unexpected": "failed",
}


def run(folder: Path, *words: str) -> tuple[int, Report]:
    report = folder.parent / "report.xml"
    argv = [sys.executable, unittest_report.__file__, "--report", str(report), *words]
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False)
    return done.returncode, read_junit(report.read_bytes(), lambda path: (folder / path).is_file())


def project(tmp_path: Path, files: dict[str, str]) -> Path:
    folder = tmp_path / "project"
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_every_outcome_is_reported_by_its_id(tmp_path: Path) -> None:
    code, report = run(project(tmp_path, {"tests/test_all.py": TESTS}), "discover", "-s", "tests")
    assert code == 1
    assert dict(sorted(report.outcomes)) == OUTCOMES
    by_rule = {failure.rule: failure for failure in report.failures}
    broken = by_rule["test_all.All.test_breaks"]
    assert (broken.issue, broken.file, broken.line) == (
        "test_all.All.test_breaks - KeyError: 'k'",
        "tests/test_all.py",
        12,
    )


def test_one_test_is_run_alone(tmp_path: Path) -> None:
    folder = project(tmp_path, {"tests/test_all.py": TESTS})
    code, report = run(folder, "run", "-s", "tests", "test_all.All.test_passes")
    assert (code, report.outcomes) == (0, (("test_all.All.test_passes", "passed"),))


def test_a_package_of_tests_is_found_from_the_top(tmp_path: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_a.py": "from code_here import x\n" + TESTS, "code_here.py": "x = 1\n"}
    code, report = run(project(tmp_path, files), "discover", "-s", "tests", "-t", ".")
    assert (code, len(report.outcomes)) == (1, 7)
    assert report.outcome("tests.test_a.All.test_passes") == "passed"


def test_a_module_that_cannot_be_imported_is_a_failure(tmp_path: Path) -> None:
    code, report = run(project(tmp_path, {"tests/test_a.py": "import nowhere\n"}), "discover", "-s", "tests")
    assert (code, len(report.failures)) == (1, 1)


def test_no_tests_are_no_success_for_whoever_reads_the_report(tmp_path: Path) -> None:
    _, report = run(project(tmp_path, {"tests/readme": ""}), "discover", "-s", "tests")
    assert report.tests == 0


def test_modules_in_the_folder_do_not_replace_those_of_the_runner(tmp_path: Path) -> None:
    trap = "raise SystemExit(0)\n"
    names = ("unittest.py", "argparse.py", "traceback.py", "time.py", "re.py", "sitecustomize.py")
    traps = {f"{folder}{name}": trap for name in names for folder in ("", "tests/")}
    code, report = run(project(tmp_path, {"tests/test_all.py": TESTS, **traps}), "discover", "-s", "tests")
    assert (code, len(report.outcomes)) == (1, 7)


def test_modules_beside_the_runner_are_nothing_to_the_tests(tmp_path: Path) -> None:
    text = "import importlib.util\n" + TESTS.replace(
        "pass\n", "self.assertIsNone(importlib.util.find_spec('sarif'))\n", 1
    )
    _, report = run(project(tmp_path, {"tests/test_all.py": text}), "discover", "-s", "tests")
    assert report.outcome("test_all.All.test_passes") == "passed"


@pytest.mark.parametrize(
    "words",
    [
        ("discover", "-s", "tests"),
        ("discover", "tests", "test_*.py", "."),
        ("-v", "tests.test_a"),
        ("tests.test_a.A.test_passes",),
        ("discover", "-s", "tests", "-k", "passes"),
        ("tests.nothing",),
        ("--nonsense",),
        (),
    ],
)
def test_it_does_what_unittest_does_with_the_same_words(tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = project(tmp_path, {"tests/__init__.py": "", "tests/test_a.py": TESTS.replace("All", "A")})
    report = tmp_path / "report.xml"
    plain = [sys.executable, "-m", "unittest", *words]
    ours = [sys.executable, unittest_report.__file__, f"--report={report}", "unittest", *words]
    one, other = (
        subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False) for argv in (plain, ours)
    )
    assert (one.returncode, _without_time(one.stderr)) == (other.returncode, _without_time(other.stderr))
    assert report.exists() is (words != ("--nonsense",))


def _without_time(text: str) -> str:
    return re.sub(r"in [\d.]+s", "in", text)


def test_it_stops_at_the_first_failure_when_it_is_asked_to(tmp_path: Path) -> None:
    folder = project(tmp_path, {"test_all.py": TESTS})
    _, report = run(folder, "discover", "-f")
    assert [how for _, how in report.outcomes].count("failed") == 1


def test_two_tests_of_one_id_are_two(tmp_path: Path) -> None:
    shared = "import unittest\nclass Shared(unittest.TestCase):\n    def test_it(self): pass\n"
    files = {
        "shared.py": shared,
        "test_a.py": "from shared import Shared\n",
        "test_b.py": "from shared import Shared\n",
    }
    code, report = run(project(tmp_path, files), "discover")
    assert (code, report.outcomes) == (0, (("shared.Shared.test_it", "passed"),) * 2)


@pytest.mark.parametrize(
    "bends",
    [
        "unittest.TestCase.assertEqual = lambda *a, **k: None",
        "unittest.TestCase.assertRaises = lambda *a, **k: None",
        "unittest.TestResult.addFailure = unittest.TestResult.addError",
    ],
)
def test_what_tests_judge_with_may_not_be_replaced_while_they_run(tmp_path: Path, bends: str) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    test = "class All(unittest.TestCase):\n    def test_passes(self):\n        self.assertEqual([1], [1])\n"
    (folder / "test_all.py").write_text(f"import unittest\n\nunittest.TestCase.assertMore = print\n\n\n{test}")
    assert run(folder, "discover")[0] == 0  # what is added replaces nothing
    (folder / "test_all.py").write_text(f"import unittest\n\n{bends}\n\n\n{test}")
    code, report = run(folder, "discover")
    assert code == 1
    assert [each.issue.rpartition(" - ")[2] for each in report.failures] == [
        f"{bends.split(' ', maxsplit=1)[0].removeprefix('unittest.')} was replaced while the tests ran"
    ]
