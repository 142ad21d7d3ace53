"""How much of a check the landing run makes, and by which words a command runs a part of its tests."""

import sys
from dataclasses import replace

import pytest

from loopwright.adapters.checks.candidate import Candidate
from loopwright.adapters.checks.landing_scope import scoped_to
from loopwright.adapters.checks.single_test import choose_files, choose_tests
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Change, Tree
from loopwright.kernel.trust import Classed, FileClass

PYTEST = CheckSettings(name="test", run=("pytest", "-q", "tests"))
LINT = CheckSettings(name="lint", run=("ruff", "check"))
COLLECTED = {"tests/test_a.py": "import calc", "tests/unit/test_b.py": "from calc import (\n    add,\n)"}


def changed(path: str, how: str = "changed", kind: FileClass = FileClass.TEST, judged: bytes | None = None) -> Classed:
    return Classed(change=Change(path=path, how=how), kind=kind, judged=judged)  # type: ignore[arg-type]


def candidate(*classed: Classed, held: tuple[Classed, ...] = ()) -> Candidate:
    tree = Tree("t")
    return Candidate(
        base=tree,
        measure=tree,
        judging=tree,
        landing=tree,
        whole=tree,
        classed=classed,
        gated=held,
        held=held,
        waiting=(),
        start=tree,
        made=classed,
    )


A, B, NEW = changed("tests/test_a.py"), changed("tests/unit/test_b.py"), changed("tests/test_new.py", "added")
CODE = changed("src/a.py", kind=FileClass.PRODUCT)


@pytest.mark.parametrize(
    ("classed", "files"),
    [
        ((A,), ("tests/test_a.py",)),
        ((CODE, A, NEW), ("tests/test_a.py", "tests/test_new.py")),
        ((B, replace(A, change=replace(A.change, how="removed"))), ("tests/unit/test_b.py",)),
    ],
)
def test_only_files_of_tests_that_differ_run_again(classed: tuple[Classed, ...], files: tuple[str, ...]) -> None:
    (scoped,) = scoped_to((PYTEST,), candidate(*classed), COLLECTED)
    assert scoped == replace(PYTEST, run=("pytest", *files, "-q"))


@pytest.mark.parametrize("text", ["from tests.test_a import help", "from tests import (\n    test_a,\n)"])
def test_the_whole_suite_runs_where_other_tests_import_a_file_that_differs(text: str) -> None:
    collected = {**COLLECTED, "tests/unit/test_b.py": text}
    assert scoped_to((PYTEST,), candidate(A), collected) == ()
    assert scoped_to((PYTEST,), candidate(A, B), collected) != ()


@pytest.mark.parametrize(
    "classed",
    [
        (CODE,),
        (A, changed("tests/helpers.py")),
        (A, changed("tests/data.json", "added")),
        (A, changed("other/test_new.py", "added")),  # beside no test that the command collects
        (changed("tests/test_c.py"),),  # not collected from the base
        (A, changed("src/a.py", kind=FileClass.PRODUCT, judged=b"")),  # tests inside a file of the product
        (changed("tests/test_a.py", "removed"),),
    ],
)
def test_the_whole_suite_runs_where_anything_else_differs(classed: tuple[Classed, ...]) -> None:
    assert scoped_to((PYTEST,), candidate(*classed), COLLECTED) == ()


def test_a_check_that_cannot_choose_runs_as_it_is() -> None:
    run = ("pytest", "tests/test_a.py", "-q")
    assert scoped_to((PYTEST, LINT), candidate(A), COLLECTED) == (replace(PYTEST, run=run), LINT)
    assert scoped_to((LINT,), candidate(A), COLLECTED) == ()


def test_a_file_that_is_held_back_excuses_no_missing_test() -> None:
    assert candidate(A, B, NEW, CODE).altered_tests == {"tests/test_a.py", "tests/unit/test_b.py"}
    assert candidate(A, B, held=(A,)).altered_tests == {"tests/unit/test_b.py"}


IDS = ("tests/test_a.py::test_x", "tests/test_b.py::T::test_y")


@pytest.mark.parametrize(
    ("argv", "tests", "chosen"),
    [
        ("pytest -q", IDS, f"pytest {' '.join(IDS)} -q"),
        ("python3 -m pytest tests -k slow --cov", IDS[:1], f"python3 -m pytest {IDS[0]} -k slow --cov"),
        ("uv run pytest -n 2 --cov", IDS[:1], f"uv run pytest {IDS[0]} -n 2 --cov"),
        ("pytest -q", ("a.B.c",), ""),
        ("make test", IDS, ""),
        ("npx jest", ("a > b",), ""),
        ("cargo test", ("a::b",), ""),
    ],
)
def test_ids_stand_in_front_of_the_options(argv: str, tests: tuple[str, ...], chosen: str) -> None:
    assert choose_tests(tuple(argv.split()), tests) == tuple(chosen.split())


def test_unittest_runs_ids_from_the_folders_of_its_discovery() -> None:
    ours = (sys.executable, "{unittest}", "--report={report}", "run")
    unittest = (sys.executable, "-m", "unittest")
    assert choose_tests((*unittest, "discover", "-s", "t", "-p", "x*.py"), ("a.B.c", "d.E.f")) == (
        *(*ours, "-s", "t", "a.B.c", "d.E.f"),
    )
    assert choose_tests(unittest, ("a.B.c",)) == (*ours, "a.B.c")
    assert choose_tests((*ours, "a"), ("a.B.c",)) == ()


@pytest.mark.parametrize(
    ("argv", "files", "chosen"),
    [
        ("pytest -q tests", ("tests/test_a.py",), "pytest tests/test_a.py -q"),
        ("coverage run -m pytest", ("a.py", "b.py"), "coverage run -m pytest a.py b.py"),
        ("pytest -q", (), ""),
        ("python3 -m unittest", ("tests/test_a.py",), ""),
        ("tox", ("tests/test_a.py",), ""),
    ],
)
def test_files_are_chosen_for_pytest_alone(argv: str, files: tuple[str, ...], chosen: str) -> None:
    assert choose_files(tuple(argv.split()), files) == tuple(chosen.split())
