import asyncio
from dataclasses import replace

import pytest

from loopwright.adapters.checks.canary.answers import Before, answered, answering, is_red, tried
from loopwright.adapters.checks.canary.look import Noticed
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.checks.reports import Report
from loopwright.adapters.checks.runners.table import Pace
from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Finding, Severity

GREEN = Before(
    frozenset({"tests/test_a.py::T::test_x", "tests.test_b.T.test_y", "suite renders"}), frozenset({"was red"})
)


def check(name: str, *run: str, trusted: bool = False) -> CheckSettings:
    return CheckSettings(name=name, run=run, report="junit", trust="exit-code" if trusted else "")


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
    assert is_red((failing,), 1, GREEN, ended_well=False)


@pytest.mark.parametrize(
    "failing", ["src.pkg.a", "tests/test_a.py::T::test_new", "unittest.loader._FailedTest.test_c", "was red"]
)
def test_what_was_not_green_before_is_no_red(failing: str) -> None:
    assert not is_red((failing,), 1, GREEN, ended_well=False)


def test_a_runner_with_other_names_for_files_that_do_not_load() -> None:
    assert is_red(("suite failed to run",), 3, GREEN, ended_well=False, by_module=False)
    assert is_red((), 0, GREEN, ended_well=False, by_module=False)  # nothing could be built
    assert not is_red(("was red",), 3, GREEN, ended_well=False, by_module=False)
    assert not is_red((), 3, GREEN, ended_well=False, by_module=False)  # the linter behind the tests


def test_a_run_that_gave_no_report_is_red_when_it_ended_badly() -> None:
    pytest_ = check("test", "pytest")
    for ran, red in (
        (Ran(how="exited", exit_code=4), True),
        (Ran(how="wall", exit_code=None), True),
        (Ran(how="exited", exit_code=0), False),
    ):
        assert answered(pytest_, ran, GREEN).red is red


def ran(*failing: str, exit_code: int, runner: str = "pytest", issue: str = "failed") -> Ran:
    found = [Finding(severity=Severity.HIGH, category="tests", rule=each, issue=issue) for each in failing]
    report = Report(tests=1, failures=tuple(found))
    return Ran(how="exited", exit_code=exit_code, report=report, seconds=2.0, runner=runner)


NO_TEST = ran("src.pkg.a", exit_code=2)
MORE = ran("src.pkg.a", "tests.test_a", exit_code=2)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({"first": ran("tests.test_a", exit_code=1)}, Noticed(red=True, seconds=2.0)),
        ({"first": ran(exit_code=0)}, Noticed(red=False, seconds=2.0)),
        ({"first": NO_TEST, "twentieth": MORE}, Noticed(red=True, seconds=4.0)),
        ({"first": NO_TEST, "twentieth": NO_TEST, "never": MORE}, Noticed(red=True, seconds=6.0)),
        ({"first": replace(NO_TEST, runner="unittest"), "never": MORE}, Noticed(red=True, seconds=4.0)),
        (
            {"first": ran("was red", exit_code=2, runner="")},
            Noticed(red=False, seconds=2.0, uncounted=1),
        ),  # nobody could ask it to stop
    ],
)
def test_what_fails_first_and_was_no_test_hides_no_red(runs: dict[str, Ran], said: Noticed) -> None:
    asked: list[str] = []

    async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
        asked.append(pace.stop)
        return runs[pace.stop]

    assert asyncio.run(tried(check("test", "./test"), start, GREEN, seconds=1.0)) == said
    assert asked == list(runs)


def test_what_hangs_on_a_broken_tree_is_not_waited_for() -> None:
    waited: list[float] = []

    async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
        waited.append(spec.timeout)
        return Ran(how="wall", exit_code=None)

    for seconds in (1.0, 100.0, 1000.0):
        assert asyncio.run(tried(check("test", "./test"), start, GREEN, seconds=seconds)).red
    assert waited == [60, 300, 600]


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        (replace(ran("tests.test_a", exit_code=1), tail="BaseException: broken on purpose: a.py: f"), 1),
        (ran("tests.test_a", exit_code=1, issue="BaseException: broken on purpose: a.py: f"), 1),
        (Ran(how="exited", exit_code=4, tail="SyntaxError: )]} broken on purpose", runner="pytest"), 1),
        (Ran(how="wall", exit_code=None, runner="pytest"), 1),
        (ran("tests.test_a", exit_code=1), 2),  # it may fail for want of the other tests
        (Ran(how="exited", exit_code=4, tail="usage", runner="pytest"), 2),
        (Ran(how="exited", exit_code=5, report=Report(tests=0), runner="pytest"), 2),
    ],
)
def test_a_part_that_is_red_is_enough_where_it_tells_of_what_was_broken(part: Ran, asked: int) -> None:
    commands: list[tuple[str, ...]] = []

    async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
        commands.append(spec.run)
        return part if "tests/test_a.py" in spec.run else ran("tests.test_a", exit_code=1)

    likely = "tests/test_a.py"
    said = asyncio.run(tried(check("test", "pytest", "-q", "tests"), start, GREEN, seconds=1.0, likely=likely))
    assert said.red
    assert commands == [("pytest", "tests/test_a.py", "-q"), ("pytest", "-q", "tests")][:asked]


def test_broken_files_without_tests_are_not_looked_through_for_any() -> None:
    """Where doctests are asked for they would be the first to fail, which tells nothing."""
    paces: list[Pace] = []

    async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
        paces.append(pace)
        return ran(exit_code=0, runner="pytest")

    broken = ("shop/__init__.py", "shop/test_a.py")
    asyncio.run(tried(check("test", "pytest"), start, GREEN, seconds=1.0, broken=broken))
    assert [pace.without for pace in paces] == [("shop/__init__.py",)]


def test_too_many_of_them_are_not_named() -> None:
    asked: list[Pace] = []

    async def start(spec: CheckSettings, *, pace: Pace) -> Ran:
        asked.append(pace)
        return ran(exit_code=0, runner="pytest")

    broken = tuple(f"shop/part{number}.py" for number in range(10_000))
    asyncio.run(tried(check("test", "pytest"), start, GREEN, seconds=1.0, broken=broken))
    assert asked[0].without == ()
