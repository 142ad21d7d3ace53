from typing import Any

import pytest

from loopwright.adapters.checks.judgement import Ran, failures
from loopwright.adapters.checks.reports import Report, failed_test
from loopwright.adapters.checks.runnable import cannot_run
from loopwright.config.settings import CheckSettings

CONFTEST = (
    "ImportError while loading conftest '/a/tests/conftest.py'.\ntests/conftest.py:1: in <module>\n    import pytz\n"
)
NO_REPORT = "it wrote no report"


def ended(exit_code: int | None, tail: str = "", **more: Any) -> Ran:  # noqa: ANN401 - handed on
    return Ran(how="exited", exit_code=exit_code, tail=tail, **more)


def check(command: str, **more: Any) -> CheckSettings:  # noqa: ANN401 - handed on
    return CheckSettings(name="test", run=tuple(command.split()), **more)


@pytest.mark.parametrize(
    ("command", "ran", "why"),
    [
        ("python -m pytest", ended(1, "python: No module named pytest", refused=NO_REPORT), "is not installed"),
        ("npm test", ended(127, "sh: 1: jest: not found", refused=NO_REPORT), "is not installed"),
        (
            "make test",
            ended(2, "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127"),
            "is not",
        ),
        ("./x", ended(126, "Permission denied"), "is not installed"),
        ("pytest --no", ended(4, "error: unrecognized arguments", refused=NO_REPORT), "command line"),
        ("pytest nowhere", ended(4, "not found", report=Report(tests=0)), "command line"),
        (
            "pytest",
            ended(4, f"{CONFTEST}E   ModuleNotFoundError: No module named 'pytz'"),
            "cannot import pytz (conftest.py)",
        ),
        ("pytest", ended(4, f"{CONFTEST}E   OSError: a\nE   E: b"), "cannot load conftest.py: E: b; "),
        ("pytest", ended(4, CONFTEST), "cannot load conftest.py: it raised"),
        ("npm run x", ended(1, 'npm error Missing script: "x"'), "command line"),
        ("make x", ended(2, "make: *** No rule to make target 'x'.  Stop."), "command line"),
        ("pytest", ended(5, "no tests ran", report=Report(tests=0)), "found no test"),
        ("jest", ended(1, "No tests found, exiting with code 1", refused=NO_REPORT), "not there"),
        ("cargo test", ended(101, "error: could not find `Cargo.toml`", runner="cargo"), "not there"),
        ("cargo test", ended(0, "", report=Report(tests=0), runner="cargo"), "found no test"),
        ("pytest", ended(0, "bye", refused=NO_REPORT, runner="pytest"), NO_REPORT),
        ("pytest", ended(None, "", refused=NO_REPORT, signal=11), NO_REPORT),
        ("pytest", Ran(how="wall", exit_code=None), "raise `timeout` in [checks.test]"),
        ("./gone", Ran(how="gone", exit_code=None), "not in the tree"),
    ],
)
def test_a_check_that_cannot_run_says_why_and_what_to_do(command: str, ran: Ran, why: str) -> None:
    said = cannot_run(check(command), ran)
    assert why in said
    assert said.startswith(f"check 'test' cannot run: `{command}` ")
    assert said.endswith(ran.tail.splitlines()[-1] if ran.tail else "")


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        ("pytest", ended(0, report=Report(tests=3))),
        ("pytest", ended(1, "command not found", report=Report(tests=3))),
        ("pytest", ended(2, "", report=Report(tests=0, failures=(failed_test("t"),)))),  # a file it could not collect
        ("pytest", ended(0, report=Report(tests=0, outcomes=(("a", "skipped"),)))),
        ("make build", ended(2, "a.c:1: error")),
        ("make build", ended(0)),
        ("make test", ended(2, "a.c:1: error", runner="pytest")),
    ],
)
def test_a_check_that_is_red_or_green_runs(command: str, ran: Ran) -> None:
    assert cannot_run(check(command), ran) == ""


def test_a_build_that_breaks_beside_packages_without_tests_is_not_empty() -> None:
    broken = ended(1, "?   p [no test files]\nFAIL q [build failed]", report=Report(tests=0), runner="go")
    assert failures(check("go test ./...", may_be_empty=True), broken)


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        ("pytest", ended(5, "no tests ran", report=Report(tests=0), runner="pytest")),
        ("cargo test", ended(101, "error: could not find `Cargo.toml`", runner="cargo")),
        ("npm test", ended(254, "npm error enoent ENOENT: no such file or directory, open 'package.json'")),
    ],
)
def test_nothing_to_run_is_no_error_where_the_check_may_be_empty(command: str, ran: Ran) -> None:
    may = check(command, may_be_empty=True)
    assert (cannot_run(may, ran), failures(may, ran)) == ("", ())
    assert cannot_run(check(command), ran)
    assert failures(check(command), ran)


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        (
            "go test ./...",
            ended(1, "pattern ./...: directory prefix . does not contain main module", refused=NO_REPORT),
        ),
        ("pytest -q tests", ended(4, "ERROR: file or directory not found: tests", report=Report(tests=0))),
        ("python -m unittest discover -s tests", ended(1, "ImportError: Start directory is not importable: 'tests'")),
        ("ruff check src", ended(1, "src:1:1: E902 No such file or directory (os error 2)")),
    ],
)
def test_nor_is_that_what_the_command_names_is_still_to_come(command: str, ran: Ran) -> None:
    may = check(command, may_be_empty=True)
    assert (cannot_run(may, ran), failures(may, ran)) == ("", ())
    assert failures(check(command), ran)


@pytest.mark.parametrize(
    ("command", "ran"),
    [
        ("pytest --no tests", ended(4, "error: unrecognized arguments: --no", refused=NO_REPORT)),
        ("python -m pytest tests", ended(1, "python: No module named pytest", refused=NO_REPORT)),
        ("npx jest", ended(127, "sh: 1: jest: not found", refused=NO_REPORT)),
        ("pytest tests", ended(2, "src/a.py: No such file or directory: 'data'", report=Report(tests=0))),
    ],
)
def test_what_is_wrong_otherwise_is_so_where_the_check_may_be_empty(command: str, ran: Ran) -> None:
    assert failures(check(command, may_be_empty=True), ran)


def test_a_red_test_is_red_where_the_check_may_be_empty() -> None:
    red = ended(1, report=Report(tests=1, failures=(failed_test("t"),)))
    assert failures(check("pytest", may_be_empty=True), red)
