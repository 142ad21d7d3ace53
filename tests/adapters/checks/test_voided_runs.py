"""A check that writes into a dependency folder runs again, with those it builds on, on a copy of the folder."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.execution import until_unchanged
from loopwright.adapters.checks.judgement import Ran
from loopwright.adapters.git.preparation import Preparation
from loopwright.adapters.git.verification import VerificationCheckouts
from loopwright.config.settings import CheckSettings
from loopwright.errors import DependenciesChanged, NeedsPerson
from loopwright.kernel.model import Demand
from tests.adapters.checks.projects import Project, project

MAKES = "import os; os.makedirs('node_modules/dep'); open('node_modules/dep/a.js', 'w').write('made')"


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def told(place: Path, code: str = "") -> tuple[str, ...]:
    return python(f"import os; open({str(place)!r}, 'a').write('x');{code}")


def shared(tmp_path: Path, *checks: CheckSettings) -> Project:
    made = project(tmp_path, {"a.py": "", ".gitignore": "node_modules/\n"}, checks)
    preparation = Preparation(setup=(python(MAKES),))
    checkouts = VerificationCheckouts(made.repository.path, env=os.environ, preparation=preparation)
    return replace(made, checks=replace(made.checks, outfit=replace(made.checks.outfit, checkouts=checkouts)))


WRITES = "open('node_modules/dep/a.js', 'a').write('.'); print(open('node_modules/dep/a.js').read()); exit(1)"


def test_a_check_that_writes_into_a_dependency_folder_runs_again_after_those_it_builds_on(tmp_path: Path) -> None:
    built, tested = tmp_path / "built", tmp_path / "tested"
    made = shared(
        tmp_path,
        CheckSettings(name="build", run=told(built)),
        CheckSettings(name="test", run=told(tested, WRITES), after=("build",)),
    )
    report = asyncio.run(made.report(made.candidate({"a.py": "1\n"})))
    assert [result.passed for result in report.results] == [True, False]
    assert report.results[1].failures[0].evidence.endswith("\nmade.")
    assert (built.read_text(), tested.read_text()) == ("xx", "xx")


def test_a_command_of_a_task_that_writes_into_a_dependency_folder_runs_again(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    made = shared(tmp_path, CheckSettings(name="test", run=python("pass"), trust="exit-code"))
    demand = Demand("T-001", told(ran, WRITES.replace("exit(1)", "exit(0)")))
    report = asyncio.run(made.report(made.candidate({"a.py": "1\n"}), also=(demand,)))
    assert ([result.passed for result in report.also], ran.read_text()) == ([True], "xx")


def test_dependency_folders_that_never_stay_as_they_are_need_a_person() -> None:
    runs: list[str] = []

    async def run() -> Ran:
        runs.append("x")
        raise DependenciesChanged

    with pytest.raises(NeedsPerson, match="link = false"):
        asyncio.run(until_unchanged(run))
    assert len(runs) == 3
