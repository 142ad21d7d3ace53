"""Which functions tests call, noted by a plug-in of pytest and by our runner of unittest, in processes of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks import call_recorder, unittest_report

CALC = """\
def add(a, b):
    return a + b


def early():
    return 1


def never():
    return add(1, 1)


class Table:
    @property
    def size(self):
        return 1
"""
TEST = """\
import threading
import unittest

import calc

FIRST = calc.early()


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(1, 2), 3)

    def test_size(self):
        thread = threading.Thread(target=lambda: calc.Table().size)
        thread.start()
        thread.join()
"""
ADD, EARLY, SIZE = ["calc.py", 1], ["calc.py", 5], ["calc.py", 14]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "calc.py").write_text(CALC, "utf-8")
    (project / "tests" / "test_calc.py").write_text(TEST, "utf-8")
    return project


def calls(notes: Path) -> tuple[list[object], list[object]]:
    """The functions of the product, called while tests were collected and while they ran."""
    (file,) = notes.glob("calls-*.json")
    held = json.loads(file.read_text("utf-8"))
    of_product = [[row for row in held[name] if row[0] == "calc.py"] for name in ("collected", "called")]
    return of_product[0], of_product[1]


def run_unittest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    report = folder.parent / "report.xml"
    argv = [sys.executable, unittest_report.__file__, f"--report={report}", *words, "discover", "-s", "tests"]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False, text=True)


def run_pytest(folder: Path, notes: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    shutil.copyfile(call_recorder.__file__, notes / f"{call_recorder.MODULE}.py")
    path = os.pathsep.join((str(folder), str(notes)))
    env = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", call_recorder.MODULE, "-p", "no:cacheprovider"]
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, check=False, text=True)


def test_our_runner_of_unittest_notes_what_tests_call(folder: Path, tmp_path: Path) -> None:
    assert run_unittest(folder, f"--record={tmp_path}").returncode == 0
    assert calls(tmp_path) == ([EARLY], [ADD, SIZE])


def test_nothing_is_noted_where_nobody_asks(folder: Path, tmp_path: Path) -> None:
    assert run_unittest(folder).returncode == 0
    assert run_pytest(folder, tmp_path).returncode == 0
    assert list(tmp_path.glob("calls-*.json")) == []


def test_the_plugin_of_pytest_notes_what_tests_call(folder: Path, tmp_path: Path) -> None:
    done = run_pytest(folder, tmp_path, **{call_recorder.VARIABLE: str(tmp_path)})
    assert done.returncode == 0, done.stdout
    assert calls(tmp_path) == ([EARLY], [ADD, SIZE])


def test_a_failing_test_is_noted_and_stays_red(folder: Path, tmp_path: Path) -> None:
    (folder / "calc.py").write_text(CALC.replace("a + b", "a - b"), "utf-8")
    assert run_unittest(folder, f"--record={tmp_path}").returncode == 1
    assert calls(tmp_path) == ([EARLY], [ADD, SIZE])
