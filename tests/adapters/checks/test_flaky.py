import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.sequence import flips
from loopwright.adapters.checks.single_test import alone, plain_command
from loopwright.config.settings import CheckSettings
from tests.adapters.checks.projects import PYTEST, STEADY, UNITTEST, project

pytestmark = pytest.mark.unmeasured

# Fails in its first run and in every third one after it, on whatever commit.
FLIPPING = """\
import pathlib
import unittest


class Flips(unittest.TestCase):
    def test_flips(self):
        file = pathlib.Path({counter!r})
        count = int(file.read_text()) if file.exists() else 0
        file.write_text(str(count + 1))
        self.assertNotEqual(count % 3, 0)
"""
CHECKS = [pytest.param(PYTEST, id="pytest"), pytest.param(UNITTEST, id="unittest")]


def in_turn(*outcomes: str | None) -> tuple[list[int], object]:
    turns: list[int] = []

    async def run(test: str, turn: int) -> str | None:
        turns.append(turn)
        return outcomes[turn]

    return turns, run


@pytest.mark.parametrize(
    ("candidate", "base", "on_base", "is_flaky"),
    [
        (["failed"], [], None, False),
        (["passed"], ["passed", "passed"], "passed", False),
        (["passed"], ["failed"], "passed", True),
        (["passed"], ["passed"], "failed", True),
        (["passed"], ["passed", "failed"], None, True),
        (["passed"], ["failed", "failed"], "failed", False),
        (["passed"], [None], "passed", False),
        (["passed"], ["skipped"], "failed", False),
        ([None], [], "failed", False),
    ],
)
def test_flaky_means_it_flips_on_the_candidate_and_on_the_base(
    candidate: Sequence[str | None],
    base: Sequence[str | None],
    on_base: str | None,
    is_flaky: bool,  # noqa: FBT001 - a column of the table
) -> None:
    asked, on_candidate = in_turn(*candidate)
    _, on_base_alone = in_turn(*base)
    found = asyncio.run(flips("t", candidate=on_candidate, base=on_base_alone, on_base=on_base))  # type: ignore[arg-type]
    assert found is is_flaky
    assert asked == [0]


@pytest.mark.parametrize("check", CHECKS)
def test_a_test_that_flips_on_the_base_too_is_flaky_and_does_not_block(tmp_path: Path, check: CheckSettings) -> None:
    async def story() -> None:
        flipping = FLIPPING.format(counter=str(tmp_path / "counter"))
        made = project(tmp_path, {"tests/test_a.py": flipping, "tests/test_b.py": STEADY}, [check])
        (tmp_path / "counter").unlink(missing_ok=True)
        result = await made.only(made.candidate({"a.py": "1\n"}))
        assert (result.passed, len(result.flaky), result.failures, result.tests) == (True, 1, (), 2)
        assert "test_flips" in result.flaky[0]
        again = await made.only(made.candidate({"a.py": "1\n"}), step="s2")
        assert (again.reused, again.flaky) == (True, result.flaky)

    asyncio.run(story())


def test_a_flaky_test_fails_where_the_check_says_so(tmp_path: Path) -> None:
    flipping = FLIPPING.format(counter=str(tmp_path / "counter"))
    made = project(tmp_path, {"tests/test_a.py": flipping}, [replace(UNITTEST, flaky="fail")])
    result = asyncio.run(made.only(made.candidate({"a.py": "1\n"})))
    assert (result.passed, len(result.flaky), len(result.failures)) == (False, 1, 1)


def test_a_test_that_flips_only_with_the_candidate_is_a_failure(tmp_path: Path) -> None:
    flipping = FLIPPING.format(counter=str(tmp_path / "counter"))
    made = project(tmp_path, {"tests/test_a.py": STEADY}, [PYTEST])
    result = asyncio.run(made.only(made.candidate({"tests/test_new.py": flipping})))
    assert (result.passed, result.flaky) == (False, ())
    assert [failure.rule for failure in result.failures] == ["tests/test_new.py::Flips::test_flips"]


def test_how_one_test_is_run_alone() -> None:
    node = "tests/test_a.py::A::test_b[x]"
    assert alone(("pytest", "-q", "-k", "slow", "tests", "--junitxml={report}"), node) == (
        *("pytest", node, "-q", "-k", "slow", "--junitxml={report}"),
    )
    assert alone(("python3", "-m", "pytest", "tests/unit"), node) == ("python3", "-m", "pytest", node)
    script = ("python3", "/x/unittest_report.py", "--report={report}")
    assert alone((*script, "discover", "-s", "tests", "-p", "x*.py"), "a.B.c") == (
        *script,
        "run",
        "-s",
        "tests",
        "a.B.c",
    )
    assert alone(("cargo", "test"), "a::b") == ("cargo", "test")
    assert alone(("pytest",), "not-a-node-id") == ("pytest",)


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("pytest testing/benchmark.py", "pytest"),
        ("python -m pytest -q -o addopts= tests", "python -m pytest -o addopts="),
        ("pytest -k fast -n 4", "pytest"),
        ("pytest --ignore=bench --tb short", "pytest"),
        ("pytest -q --tb short -o addopts=", None),
        ("make test", None),
        ("python -m unittest discover -s tests", None),
    ],
)
def test_the_plain_command_has_no_word_that_names_a_part(command: str, plain: str | None) -> None:
    assert plain_command(tuple(command.split())) == (None if plain is None else tuple(plain.split()))
