"""Phases that share one collection, in pytest and in our runner of unittest, in processes of their own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loopwright.adapters.checks import trial_phases, unittest_report
from loopwright.adapters.checks.canary.hollow import StubForm, hollowed
from loopwright.adapters.checks.junit import read_junit

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
ADD, SIZE = ["calc.py", "1"], ["calc.py", "14"]
PLAIN: Mapping[str, object] = {"records": False, "reads": [], "stubs": {}}
RECORDING: Mapping[str, object] = {**PLAIN, "records": True}
READING: Mapping[str, object] = {**PLAIN, "reads": ["tests/table.txt", "tests/test_calc.py"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (project / "calc.py").write_text(CALC, "utf-8")
    (project / "tests" / "test_calc.py").write_text(TEST, "utf-8")
    return project


def stubbing(folder: Path, form: StubForm, *names: str, path: str = "calc.py") -> Mapping[str, object]:
    text = hollowed((folder / path).read_bytes(), frozenset(names), path, form)
    assert text is not None
    return {**PLAIN, "stubs": {path: {"text": text.decode("latin-1"), "names": names}}}


def notes_of(folder: Path) -> Path:
    return folder.parent / "notes"


def write_plan(folder: Path, phases: tuple[Mapping[str, object], ...]) -> None:
    (notes_of(folder) / trial_phases.PLAN).write_text(json.dumps({"root": str(folder), "phases": phases}), "utf-8")


def run_unittest(folder: Path, *phases: Mapping[str, object]) -> subprocess.CompletedProcess[str]:
    write_plan(folder, phases)
    words = (f"--report={folder.parent / 'report'}", f"--phases={notes_of(folder)}", "discover", "-s", "tests")
    argv = [sys.executable, unittest_report.__file__, *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False, text=True)


def run_pytest(
    folder: Path, *phases: Mapping[str, object], words: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    notes = notes_of(folder)
    write_plan(folder, phases)
    shutil.copyfile(trial_phases.__file__, notes / f"{trial_phases.MODULE}.py")
    path = os.pathsep.join((str(folder), str(notes)))
    more = {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", trial_phases.VARIABLE: str(notes)}
    argv = [sys.executable, "-m", "pytest", "-q", "-p", trial_phases.MODULE, "-p", "no:cacheprovider"]
    argv += [f"--junitxml={folder.parent / 'report'}", *words]
    return subprocess.run(argv, cwd=folder, env={**os.environ, **more}, capture_output=True, check=False, text=True)


both = pytest.mark.parametrize("run", [run_unittest, run_pytest], ids=["unittest", "pytest"])
Run = Callable[..., subprocess.CompletedProcess[str]]


def calls(folder: Path) -> list[object]:
    """The functions of the product that were recorded."""
    return [row for row in notes(folder) if row[0] == "calc.py"]


def notes(folder: Path) -> list[list[str]]:
    (file,) = notes_of(folder).glob("notes-*.json")
    return list(json.loads(file.read_text("utf-8")))


def outcomes(folder: Path) -> list[dict[str, str]]:
    """How the tests came out, by their own names, in each phase."""
    files = sorted(notes_of(folder).glob("phase-*"))
    reports = [read_junit(file.read_bytes(), lambda _: False, nodes=False) for file in files]
    return [{test.rpartition(".")[2]: how for test, how in report.outcomes} for report in reports]


@both
def test_functions_that_tests_call_are_recorded(folder: Path, run: Run) -> None:
    run(folder, RECORDING)
    assert calls(folder) == [ADD, SIZE]
    assert outcomes(folder) == [{"test_add": "passed", "test_size": "passed"}]


@both
def test_calls_of_a_failing_test_are_recorded(folder: Path, run: Run) -> None:
    (folder / "calc.py").write_text(CALC.replace("a + b", "a - b"), "utf-8")
    run(folder, RECORDING)
    assert calls(folder) == [ADD, SIZE]
    assert outcomes(folder)[0]["test_add"] == "failed"


TEST_READS = """\
import os
import threading
import unittest

TABLE = os.path.join(os.path.dirname(__file__), "table.txt")


def read():
    with open(os.open(TABLE, os.O_RDONLY)) as file:
        return file.read()


class First(unittest.TestCase):
    def test_here(self):
        self.assertEqual(read(), "")

    def test_in_a_thread(self):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()

    def test_not(self):
        self.assertRaises(ValueError, open, "a\\0b")
"""


@both
def test_tests_that_open_a_file_are_noted(folder: Path, run: Run) -> None:
    (folder / "tests" / "table.txt").touch()
    (folder / "tests" / "test_calc.py").write_text(TEST_READS, "utf-8")
    run(folder, READING)
    found = {user.replace("::", ".").rpartition(".")[2] for path, user in notes(folder) if path == "tests/table.txt"}
    assert found == {"test_here", "test_in_a_thread"}


@both
def test_modules_that_open_a_file_while_they_are_loaded_are_noted(folder: Path, run: Run) -> None:
    (folder / "tests" / "table.txt").touch()
    (folder / "tests" / "test_calc.py").write_text(TEST_READS + "\n\nread()\n", "utf-8")
    run(folder, READING)
    assert ["tests/table.txt", "tests/test_calc.py"] in notes(folder)


@both
def test_every_phase_has_its_own_stubs(folder: Path, run: Run) -> None:
    forms: tuple[StubForm, ...] = ("raise", "none", "object")
    run(folder, *(stubbing(folder, form, "add") for form in forms), PLAIN)
    assert [each["test_add"] for each in outcomes(folder)] == ["failed", "failed", "failed", "passed"]
    assert [each["test_size"] for each in outcomes(folder)] == ["passed"] * 4


@both
def test_a_function_called_while_tests_are_collected_was_called_before_it_is_stubbed(folder: Path, run: Run) -> None:
    run(folder, stubbing(folder, "raise", "early"))
    assert outcomes(folder) == [{"test_add": "passed", "test_size": "passed"}]


@both
def test_a_file_that_cannot_be_loaded_fails_alone_in_every_phase(folder: Path, run: Run) -> None:
    (folder / "tests" / "test_other.py").write_text("import nowhere\n", "utf-8")
    run(folder, PLAIN, PLAIN)
    for phase in outcomes(folder):
        assert (phase.pop("test_add"), phase.pop("test_size"), *phase.values()) == ("passed", "passed", "failed")
    assert len(outcomes(folder)) == len((PLAIN, PLAIN))


KINDS = """\
import asyncio


def outer(start):
    step = 1

    def inner(value):
        return value + start + step

    return inner


def count():
    yield 1


async def wait():
    return 1


class Box:
    def __init__(self):
        self.held = 1

    @property
    def item(self):
        return self.held

    @item.setter
    def item(self, value):
        self.held = value

    def name(self):
        return super().__repr__()


CLOSED = outer(1)
"""
TEST_KINDS = """\
import asyncio

import kinds


def test_inner():
    assert kinds.outer(1)(1) == 3


def test_closed():
    assert kinds.CLOSED(1) == 3


def test_count():
    assert list(kinds.count()) == [1]


def test_wait():
    assert asyncio.run(kinds.wait()) == 1


def test_item():
    box = kinds.Box()
    box.item = 2
    assert box.item == 2


def test_name():
    assert "Box" in kinds.Box().name()


def test_late():
    import late
    assert late.late() == 1
"""


@pytest.mark.parametrize(
    ("name", "red"),
    [
        ("outer.inner", {"test_inner", "test_closed"}),
        ("outer", {"test_inner"}),
        ("count", {"test_count"}),
        ("wait", {"test_wait"}),
        ("Box.item", {"test_item"}),
        ("Box.name", {"test_name"}),
        ("late", {"test_late"}),
    ],
)
@pytest.mark.parametrize("form", ["raise", "object"])
def test_functions_of_every_kind_are_stubbed(folder: Path, name: str, red: set[str], form: StubForm) -> None:
    (folder / "kinds.py").write_text(KINDS, "utf-8")
    (folder / "late.py").write_text("def late():\n    return 1\n", "utf-8")
    (folder / "tests" / "test_kinds.py").write_text(TEST_KINDS, "utf-8")
    path = "late.py" if name == "late" else "kinds.py"
    run_pytest(folder, stubbing(folder, form, name, path=path), words=("tests/test_kinds.py",))
    (found,) = outcomes(folder)
    assert {test for test, how in found.items() if how == "failed"} == red


def test_phases_do_not_see_what_others_left_in_memory(folder: Path) -> None:
    test = "import calc\n\ndef test_first():\n    calc.seen = getattr(calc, 'seen', 0) + 1\n    assert calc.seen == 1\n"
    (folder / "tests" / "test_calc.py").write_text(test, "utf-8")
    run_pytest(folder, PLAIN, PLAIN)
    assert outcomes(folder) == [{"test_first": "passed"}] * 2


@pytest.mark.parametrize("words", [("-x",), ("--maxfail=1",), ("-p", "xdist", "-n", "2")])
def test_options_that_stop_or_spread_a_run_are_switched_off(folder: Path, words: tuple[str, ...]) -> None:
    run_pytest(folder, stubbing(folder, "raise", "add", "Table.size"), words=words)
    assert outcomes(folder) == [{"test_add": "failed", "test_size": "passed"}]


def test_only_the_first_process_cleans_up_and_nobody_summarizes(folder: Path) -> None:
    hooks = "def pytest_sessionfinish():\n    print('cleaned')\n\ndef pytest_terminal_summary():\n    print('told')\n"
    (folder / "tests" / "conftest.py").write_text(hooks, "utf-8")
    said = run_pytest(folder, PLAIN, PLAIN).stdout
    assert (said.count("cleaned"), said.count("told")) == (1, 0)
    assert outcomes(folder) == [{"test_add": "passed", "test_size": "passed"}] * 2


def test_a_phase_that_ends_without_a_report_leaves_the_others_theirs(folder: Path) -> None:
    text = TEST.replace("self.assertEqual(calc.add(1, 2), 3)", "calc.add(1, 2) is None and __import__('os')._exit(0)")
    (folder / "tests" / "test_calc.py").write_text(text, "utf-8")
    run_pytest(folder, stubbing(folder, "none", "add"), PLAIN)
    assert [file.name for file in notes_of(folder).glob("phase-*")] == ["phase-1"]


@pytest.mark.slow
@both
def test_a_test_that_never_ends_with_a_stub_fails(folder: Path, run: Run) -> None:
    with (folder / "tests" / "test_calc.py").open("a", encoding="utf-8") as file:
        file.write("\n    def test_waits(self):\n        while calc.add(1, 1) is None:\n            pass\n")
    run(folder, stubbing(folder, "none", "add"), PLAIN)
    assert [each["test_waits"] for each in outcomes(folder)] == ["failed", "passed"]
