"""Which tests of the base may be gone, and which of its files the ids of a check mean."""

import asyncio

import pytest

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.checks.drops import Drops, Whereabouts
from loopwright.adapters.checks.ids import Outcomes
from loopwright.adapters.checks.judgement import Standard
from tests.adapters.checks.classes.held import BASE, Files, Held

X = "anything\n"
BOTH = {"tests/test_a.py": X, "backend/tests/test_a.py": X, "backend/tests/test_b.py": X}


def passed(*tests: str) -> Outcomes:
    return tuple((test, "passed") for test in tests)


@pytest.mark.parametrize(
    ("command", "files", "folders"),
    [
        (("pytest", "-q"), {}, {""}),
        (("pytest", "tests", "backend/tests"), {}, {""}),
        (("pytest", "backend/tests"), {"backend/pytest.ini": X}, {"", "backend"}),
        (("sh", "-c", "cd backend && pytest"), {}, {"", "backend"}),
        (("sh", "-c", "cd parts/one && pytest"), {"parts/one/a.py": X}, {"", "parts", "parts/one"}),
        (("make", "-C", "backend", "test"), {"backend/Makefile": "test:\n\tpytest\n"}, {"", "backend"}),
        (("npm", "--prefix", "web", "test"), {"web/package.json": '{"scripts": {"test": "vitest"}}'}, {"", "web"}),
    ],
)
def test_runners_name_tests_from_the_folders_they_work_in(
    command: tuple[str, ...], files: Files, folders: set[str]
) -> None:
    held = Held(base={**BOTH, **files}, candidate={})
    # What other checks do is no matter of this one.
    classifier = Classifier(source=held, commands=(command, ("sh", "-c", "cd tests && pytest")))
    known = asyncio.run(classifier.steering(BASE))
    assert known.folders_of(command, frozenset(held.base)) == folders


@pytest.mark.parametrize(
    ("folders", "test", "files"),
    [
        ({""}, "tests/test_a.py::test_it", {"tests/test_a.py"}),
        ({"", "backend"}, "tests.test_b.Case.test_it", {"backend/tests/test_b.py"}),
        ({"", "backend"}, "tests.test_b.test_it[1.5-A]", {"backend/tests/test_b.py"}),
        ({"", "backend"}, "backend/tests/test_b.py::test_it", {"backend/tests/test_b.py"}),
        ({"", "backend"}, "../tests/test_a.py::test_it", {"tests/test_a.py"}),
        ({"", "backend"}, "tests/test_a.py::test_it", {"tests/test_a.py", "backend/tests/test_a.py"}),
        ({""}, "tests/test_b.py::test_it", {"backend/tests/test_b.py"}),  # nobody knows of the folder
        ({""}, "example.com/calc > TestAdd", set()),
        ({""}, "adds", set()),
    ],
)
def test_an_id_means_every_file_that_its_name_may_be(folders: set[str], test: str, files: set[str]) -> None:
    assert Whereabouts(frozenset(BOTH), frozenset(folders)).of(passed(test))(test) == files


def test_where_one_id_is_of_an_unknown_folder_the_others_may_be_too() -> None:
    one, other = "tests/test_a.py::test_it", "tests/test_b.py::test_it"
    files_of = Whereabouts(frozenset(BOTH), frozenset({""})).of(passed(one, other))
    assert files_of(one) == {"tests/test_a.py", "backend/tests/test_a.py"}


@pytest.mark.parametrize(
    ("allow", "gone"),
    [
        (("tests/**",), set()),
        (("backend/tests/**",), {"tests.test_b.test_it"}),
        (("tests/test_a.py", "backend/**"), {"tests.test_a.test_it", "tests.test_b.test_it"}),
    ],
)
def test_a_word_that_may_be_meant_for_another_file_is_none(allow: tuple[str, ...], gone: set[str]) -> None:
    tests = passed("tests.test_a.test_it", "tests.test_b.test_it", "adds")
    files_of = Whereabouts(frozenset(BOTH), frozenset({"", "backend"})).of(tests)
    assert Drops(files=allow).among(tests, files_of) == gone


@pytest.mark.parametrize(
    ("wanted", "is_none"),
    [
        (Standard(tests=1, ids=passed("a"), may_drop=frozenset("a")), True),
        (Standard(tests=2, ids=passed("a", "b"), may_drop=frozenset("a")), False),
        (Standard(tests=2, ids=passed("a"), may_drop=frozenset("a")), False),  # one more without an id
        (Standard(tests=0), False),  # nobody let go anything
    ],
)
def test_all_tests_may_be_let_go_only_where_others_follow(wanted: Standard, *, is_none: bool) -> None:
    assert (Drops(all=True).leave_none(wanted), Drops().leave_none(wanted)) == (is_none, False)


@pytest.mark.parametrize(
    ("altered", "gone"),
    [
        ((), set()),
        (("tests/test_a.py",), {"adds"}),
        (("backend/tests/test_b.py",), {"tests.test_b.test_it", "adds"}),
        (
            ("tests/test_a.py", "backend/tests/test_a.py"),
            {"tests.test_a.test_it", "adds"},
        ),
    ],
)
def test_what_is_gone_from_an_altered_file_or_names_none_is_examined_apart(
    altered: tuple[str, ...], gone: set[str]
) -> None:
    tests = passed("tests.test_a.test_it", "tests.test_b.test_it", "adds")
    files_of = Whereabouts(frozenset(BOTH), frozenset({"", "backend"})).of(tests)
    assert Drops(altered=frozenset(altered)).among(tests, files_of) == gone
