import asyncio
from dataclasses import replace

import pytest

from loopwright.adapters.checks.canary.answers import answering, count_tests, is_red, run_until_red
from loopwright.adapters.checks.ids import Outcomes
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.reports import Report
from loopwright.adapters.checks.runners.table import Pace
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import CheckResult, Finding, Severity

BEFORE: Outcomes = (
    ("tests/test_a.py::T::test_x", "passed"),
    ("tests.test_b.T.test_y", "passed"),
    ("suite renders", "passed"),
    ("was red", "failed"),
)


def check(name: str, *run: str, trusted: bool = False) -> CheckSettings:
    return CheckSettings(name=name, run=run, report="junit", trust="exit-code" if trusted else "")


def ran(*failing: str, exit_code: int = 1, tests: int = 1, runner: str = "pytest", issue: str = "failed") -> Ran:
    found = [Finding(severity=Severity.HIGH, category="tests", rule=each, issue=issue) for each in failing]
    return Ran(how="exited", exit_code=exit_code, report=Report(tests=tests, failures=tuple(found)), runner=runner)


def test_checks_that_counted_tests_are_known_by_name() -> None:
    results = tuple(
        CheckResult(name=name, passed=True, tests=tests) for name, tests in (("a", 2), ("b", 0), ("c", None))
    )
    assert count_tests(results) == {"a"}


def test_only_checks_that_counted_tests_answer() -> None:
    checks = (check("test", "pytest"), check("build", "make", trusted=True), check("smoke", "./smoke", trusted=True))
    assert answering(checks, frozenset({"test"})) == (("test",), True)


def test_where_none_counts_those_answer_that_a_person_trusts_and_that_run_something() -> None:
    checks = (
        *(check(name, "./x", trusted=True) for name in ("smoke", "lint", "build", "typecheck")),
        check("style", "python3", "-m", "ruff", trusted=True),
        check("compiles", "python3", "-m", "compileall", ".", trusted=True),
        check("unsaid", "./y"),
    )
    assert answering(checks, frozenset()) == (("smoke",), False)


@pytest.mark.parametrize(
    "failing",
    [
        "tests/test_a.py::T::test_x",
        "tests.test_a",  # as pytest names what it cannot collect
        "unittest.loader._FailedTest.tests.test_b",
        "setUpClass (tests.test_b.T)",
    ],
)
def test_a_test_that_was_green_or_the_module_it_is_in(failing: str) -> None:
    assert is_red(check("test", "pytest"), ran(failing), BEFORE)


@pytest.mark.parametrize(
    "failing", ["src.pkg.a", "tests/test_a.py::T::test_new", "unittest.loader._FailedTest.test_c", "was red"]
)
def test_what_was_not_green_before_is_no_red(failing: str) -> None:
    assert not is_red(check("test", "pytest"), ran(failing), BEFORE)


def test_a_runner_with_other_names_for_files_that_do_not_load() -> None:
    jest = check("test", "jest")
    assert is_red(jest, ran("suite failed to run", tests=3, runner="jest"), BEFORE)
    assert is_red(jest, ran(tests=0, runner="jest"), BEFORE)  # nothing could be built
    assert not is_red(jest, ran("was red", tests=3, runner="jest"), BEFORE)
    assert not is_red(jest, ran(tests=3, runner="jest"), BEFORE)  # the linter behind the tests


def test_a_run_that_gave_no_report_is_red_when_it_ended_badly() -> None:
    for each, red in (
        (Ran(how="exited", exit_code=4), True),
        (Ran(how="wall", exit_code=None), True),
        (Ran(how="exited", exit_code=0), False),
    ):
        assert is_red(check("test", "pytest"), each, BEFORE) is red


NO_TEST = ran("src.pkg.a", exit_code=2)
MORE = ran("src.pkg.a", "tests.test_a", exit_code=2)


@pytest.mark.parametrize(
    ("runs", "red"),
    [
        ([ran("tests.test_a")], True),
        ([ran(exit_code=0)], False),
        ([NO_TEST, MORE], True),
        ([NO_TEST, NO_TEST], False),
        ([ran("was red", exit_code=2, runner="")], False),  # nobody could ask it to stop
    ],
)
def test_what_fails_first_and_was_no_test_hides_no_red(runs: list[Ran], *, red: bool) -> None:
    paces: list[bool] = []

    async def run(spec: CheckSettings, pace: Pace) -> Ran:
        paces.append(pace.stops_early)
        return runs[len(paces) - 1]

    spec = check("test", "./test")
    last = asyncio.run(run_until_red(spec, run, BEFORE, seconds=1.0))
    assert (last, is_red(spec, last, BEFORE)) == (runs[-1], red)
    assert paces == [True, False][: len(runs)]


def test_what_hangs_on_a_broken_tree_is_not_waited_for() -> None:
    waited: list[float] = []

    async def run(spec: CheckSettings, pace: Pace) -> Ran:
        waited.append(spec.timeout)
        return Ran(how="wall", exit_code=None)

    for seconds in (1.0, 100.0, 1000.0):
        asyncio.run(run_until_red(check("test", "./test"), run, BEFORE, seconds=seconds))
    assert waited == [60, 300, 600]


@pytest.mark.parametrize(
    ("part", "count"),
    [
        (replace(ran("tests.test_a"), tail="BaseException: broken on purpose: a.py: f"), 1),
        (ran("tests.test_a", issue="BaseException: broken on purpose: a.py: f"), 1),
        (Ran(how="exited", exit_code=4, tail="SyntaxError: )]} broken on purpose", runner="pytest"), 1),
        (Ran(how="wall", exit_code=None, runner="pytest"), 1),
        (ran("tests.test_a"), 2),  # it may fail for want of the other tests
        (Ran(how="exited", exit_code=4, tail="usage", runner="pytest"), 2),
        (Ran(how="exited", exit_code=5, report=Report(tests=0), runner="pytest"), 2),
    ],
)
def test_a_part_that_is_red_is_enough_where_it_tells_of_what_was_broken(part: Ran, count: int) -> None:
    commands: list[tuple[str, ...]] = []

    async def run(spec: CheckSettings, pace: Pace) -> Ran:
        commands.append(spec.run)
        return part if "tests/test_a.py" in spec.run else ran("tests.test_a")

    spec = check("test", "pytest", "-q", "tests")
    last = asyncio.run(run_until_red(spec, run, BEFORE, seconds=1.0, likely="tests/test_a.py"))
    assert is_red(spec, last, BEFORE)
    assert commands == [("pytest", "tests/test_a.py", "-q"), ("pytest", "-q", "tests")][:count]
