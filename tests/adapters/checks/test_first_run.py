from dataclasses import replace

import pytest

from loopwright.adapters.checks.first_run import (
    FirstRun,
    describe_failure,
    first_run,
    left_out,
    not_run,
    said_of,
    what_to_do,
)
from loopwright.adapters.checks.judgement import Ran, Standard, failures, judge, mark
from loopwright.adapters.checks.reports import Report
from loopwright.adapters.checks.runnable import cannot_run
from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.model import CheckResult, Finding, Severity

COUNTING = CheckSettings(name="test", run=("python", "-m", "pytest", "--junitxml={report}"), report="junit")
WEAK = CheckSettings(name="lint", run=("npm", "run", "lint"))
AGAIN = "let `loop setup --force` look again for what is here"
FAILED = Finding(severity=Severity.HIGH, issue="it is 3", rule="tests/test_a.py::test_b", category="tests")


def seen(
    check: CheckSettings, ran: Ran, install: str = "pip install -e '.[tests]'", *, same_on_base: bool = False
) -> FirstRun:
    """As the engine would have judged this run on the base."""
    known = frozenset(map(mark, failures(check, ran))) if same_on_base else frozenset[str]()
    judged = judge(check, ran, Standard(failing=known))
    tests = ran.report.tests if ran.report else None
    result = CheckResult(
        name=check.name,
        passed=judged.passed,
        failures=judged.failures,
        tests=tests,
        seconds=ran.seconds,
        unable=cannot_run(check, ran),
    )
    return first_run(check, result, install)


def exited(code: int, tail: str = "", *, report: Report | None = None, refused: str = "") -> Ran:
    return Ran(how="exited", exit_code=code, seconds=1.25, tail=tail, report=report, refused=refused)


def test_a_check_that_passes_is_told_with_its_tests_and_its_time() -> None:
    run = seen(COUNTING, exited(0, report=Report(tests=784)))
    assert (run.word, run.runs, said_of(run)) == ("ok", True, "ok, 784 tests, 1.2 s")


def test_tests_that_fail_are_red_and_named() -> None:
    run = seen(COUNTING, exited(1, report=Report(tests=2, failures=(FAILED,))))
    assert (run.word, run.runs) == ("red", True)
    assert said_of(run) == "red on the base, 2 tests, 1.2 s: tests/test_a.py::test_b"


def test_tests_that_could_not_be_collected_say_why_and_are_forgiven_by_no_baseline() -> None:
    missed = replace(FAILED, rule="t.a", issue="t.a - collection failure", evidence="E   AttributeError: no 'test'")
    broken = exited(2, report=Report(tests=1, failures=(missed,)))
    for check in (COUNTING, replace(COUNTING, baseline=True)):
        run = seen(check, broken, same_on_base=True)
        assert (run.word, run.failing[0]) == ("red", "t.a")
        assert said_of(run) == (
            "red on the base, 1 test, 1.2 s: t.a; check 'test' failed: `python -m pytest --junitxml={report}` ended"
            " with exit code 2; AttributeError: no 'test'; its tests did not all run, which `baseline = true` does not"
            " forgive: mend what stops them, or leave that file out in `run` of [checks.test] (`--ignore=FILE`)"
        )


def test_of_many_failing_tests_three_are_named() -> None:
    many = tuple(replace(FAILED, rule=f"t{number}") for number in range(5))
    assert said_of(seen(COUNTING, exited(1, report=Report(tests=9, failures=many)))).endswith("t0; t1; t2 and 2 more")


def test_what_the_baseline_forgives_is_said() -> None:
    run = first_run(COUNTING, CheckResult(name="test", passed=True, known=("a",), tests=3))
    assert said_of(run) == "ok, 3 tests, 0.0 s, 1 forgiven by baseline"


def test_a_collection_error_with_a_report_is_red_and_not_unrunnable() -> None:
    assert seen(COUNTING, exited(2, report=Report(tests=1, failures=(FAILED,)))).word == "red"


@pytest.mark.parametrize(
    ("check", "ran", "parts"),
    [
        (
            COUNTING,
            exited(1, "/usr/bin/python: No module named pytest", refused="it wrote no report"),
            (
                "`python -m pytest --junitxml={report}` ended with exit code 1: what it starts is not installed here",
                "it said '/usr/bin/python: No module named pytest'",
                "install pytest (run `pip install -e '.[tests]'`); after that `loop setup --force` finds it",
            ),
        ),
        (
            COUNTING,
            exited(4, "pytest: error: unrecognized arguments: --cov=a", refused="it wrote no report"),
            ("exit code 4", "arguments: --cov=a", "install pytest-cov (run `pip install -e '.[tests]'`)"),
        ),
        (COUNTING, exited(5, report=Report(tests=0)), ("it found no test", "say in `run` where the tests are")),
        (
            WEAK,
            exited(1, "npm error Missing script: lint"),
            (
                "`npm run lint` ended with exit code 1",
                "Missing script: lint",
                "correct `run`; it said 'npm error Missing script: lint'; let `loop setup --force` look again",
            ),
        ),
    ],
)
def test_a_check_that_cannot_run_is_one_sentence_with_command_last_line_and_what_to_do(
    check: CheckSettings, ran: Ran, parts: tuple[str, ...]
) -> None:
    run = seen(check, ran)
    assert (run.word, run.runs) == ("cannot run", False)
    assert describe_failure(run).startswith(f"check {check.name!r} cannot run: ")
    assert [part for part in parts if part not in describe_failure(run)] == []


@pytest.mark.parametrize(
    ("code", "tail", "word"),
    [
        (1, "src/a.py:1: error", "red"),
        (127, "", "cannot run"),
        (126, "", "cannot run"),
        (1, "sh: 1: eslint: not found", "cannot run"),
        (1, "bash: line 1: eslint: command not found", "cannot run"),
        (1, "Error: Cannot find module 'tape'", "cannot run"),
        (1, "Error: Cannot find module './lib/broken'", "red"),
        (2, "make: *** No rule to make target 'lint'.  Stop.", "cannot run"),
        (101, "error: no such command: `clippy`", "cannot run"),
        (3, "nox > Error while collecting sessions.\nnox > Sessions not found: tests", "cannot run"),
        (101, "error: failed to get `serde` as a dependency", "cannot run"),
    ],
)
def test_an_exit_code_is_told_apart_by_what_was_printed(code: int, tail: str, word: str) -> None:
    assert seen(WEAK, exited(code, tail)).word == word


def test_a_module_that_is_missing_is_told_apart_from_one_that_the_code_misses() -> None:
    check = CheckSettings(name="lint", run=("python3", "-m", "mypy", "."))
    assert seen(check, exited(1, "/usr/bin/python3: No module named mypy")).word == "cannot run"
    assert seen(check, exited(1, "ModuleNotFoundError: No module named 'other'")).word == "red"


def test_a_check_that_takes_too_long_is_slow_and_not_wrong() -> None:
    run = seen(COUNTING, Ran(how="wall", exit_code=None, seconds=600.0))
    assert (run.word, run.runs) == ("slow", True)
    assert "was stopped after 600 s" in said_of(run)
    assert "raise `timeout` in [checks.test]" in said_of(run)


def test_what_comes_after_a_failure_is_skipped() -> None:
    result = CheckResult(name="lint", passed=False, note="skipped: build failed")
    assert (first_run(WEAK, result).word, said_of(first_run(WEAK, result))) == ("skipped", "skipped: build failed")


def test_of_what_it_said_the_line_that_names_what_is_missing_is_told() -> None:
    said = "make: .venv/bin/python: No such file or directory"
    run = FirstRun(check=WEAK, word="cannot run", last=(said, "make: *** [Makefile:2: test] Error 127"))
    assert f"it said {said!r}" in describe_failure(run)


def test_a_program_that_is_not_there_is_told_with_how_to_get_it() -> None:
    said = str(CheckNotRunnable("lint", "npm run lint", "the program 'npm' was not found"))
    assert describe_failure(not_run(said, WEAK)) == (
        f"{said.replace('cannot run', 'cannot run:')};"
        " install npm, or let `loop setup --force` look again for what is here"
    )
    assert said_of(not_run(said, WEAK)) == "cannot run: the program 'npm' was not found"


def test_what_is_left_out_is_told_in_short_as_it_would_be_configured() -> None:
    run = replace(seen(WEAK, exited(127, "sh: 1: eslint: not found"), "npm ci"), check=WEAK)
    assert said_of(run) == "cannot run: what it starts is not installed here"
    assert left_out(run) == (
        "Left out: check 'lint': `npm run lint` cannot run, what it starts is not installed here;"
        f" run `npm ci`, or {AGAIN}"
    )


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("npm error code ENOTFOUND", "it asks the network for packages: run `cargo fetch` once where there is one"),
        ("thread 'main' panicked", ""),
        ("sh: 1: eslint: not found", f"run `cargo fetch`, or {AGAIN}"),
        ("the program 'npm' was not found", f"install npm, or {AGAIN}"),
        ('npm error Missing script: "lint"', AGAIN),
        ("ERR_PNPM_NO_SCRIPT  Missing script: lint", AGAIN),
        ('error Command "lint" not found.', AGAIN),
        ('Usage Error: Couldn\'t find a script named "lint".', AGAIN),
        ('error: Script not found "lint"', AGAIN),
        ("make: *** No rule to make target 'lint'.  Stop.", AGAIN),
    ],
)
def test_advice_fits_what_was_said(said: str, advice: str) -> None:
    assert what_to_do(said, "cargo fetch") == advice


def test_where_no_installation_would_help_what_is_missing_is_named() -> None:
    assert what_to_do("sh: 1: run-s: not found") == f"install run-s, or {AGAIN}"
    assert what_to_do("Error: Cannot find module 'tape'") == f"install what the project needs, or {AGAIN}"
