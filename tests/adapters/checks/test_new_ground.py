"""Where the base has nothing to test yet, and where the tests of a change are still to be written."""

import asyncio
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Commit
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.weighing import Passed, weighed
from tests.adapters.checks.projects import Project, project
from tests.interpreter import WARM_PYTHON
from tests.loops.feedback import params

pytestmark = pytest.mark.unmeasured

BUILD = CheckSettings(name="build", run=(*WARM_PYTHON, "-m", "compileall", "-q", "src"))
TESTS = CheckSettings(name="test", run=(*WARM_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"))
README = {"README.md": "To be.\n"}
CODE = {"src/sums.py": "def one():\n    return 1\n"}
TESTED = "import sys\n\nsys.path.insert(0, 'src')\nimport sums\n\n\ndef test_one():\n    assert sums.one() == 1\n"
WORKING = {**CODE, "tests/test_sums.py": TESTED}
MORE: dict[str, str | None] = {"src/sums.py": CODE["src/sums.py"] + "\n\ndef two():\n    return 2\n"}


def reported(made: Project, files: dict[str, str | None], *flags: str, **more: object) -> ChecksReported:
    trust = Trust(base=made.base, in_force=True, **dict.fromkeys(flags, True))  # type: ignore[arg-type]
    step = " ".join(("s", *flags))
    return asyncio.run(made.report(made.candidate(files), step=step, trust=trust, **more))


def preflight(made: Project, *flags: str) -> ChecksReported:
    trust = Trust(base=made.base, in_force=True, **dict.fromkeys(flags, True))  # type: ignore[arg-type]
    return asyncio.run(made.report(made.base, step="before", trust=trust, preflight=True))


def test_a_base_without_anything_is_no_error_on_new_ground_alone(tmp_path: Path) -> None:
    made = project(tmp_path, README, [BUILD, TESTS])
    found = preflight(made, "new_ground").results
    assert [(result.passed, result.was_empty) for result in found] == [(True, False), (True, True)]
    assert preflight(made, "new_ground").unable == ()
    assert preflight(made).unable


def test_nor_is_a_runner_whose_manifest_is_still_to_come(tmp_path: Path) -> None:
    """It counts nothing then, and is not weak for that; one that passes without a word is."""
    command = ("sh", "-c", "test -e manifest || { echo go.mod file not found; exit 1; }")
    made = project(tmp_path, README, [CheckSettings(name="test", run=command)])
    assert preflight(made, "new_ground").unable == ()
    there = project(tmp_path / "there", {"manifest": ""}, [CheckSettings(name="test", run=command)])
    assert "no check that ran here counts tests" in preflight(there, "new_ground").unable[0]


def test_code_before_its_tests_passes_only_where_they_are_to_come(tmp_path: Path) -> None:
    made = project(tmp_path, README, [BUILD, TESTS])
    early = reported(made, dict(CODE), "new_ground", "tests_to_come")
    assert (faults_of(early), early.canary, early.claim) == ((), None, None)
    assert [result.passed for result in early.results] == [True, True]
    # What passed so is on record now, and yet stands for nobody who needs tests.
    late = reported(made, dict(CODE), "new_ground")
    assert [(result.name, result.passed) for result in late.results] == [("build", True), ("test", False)]


def test_tests_that_come_land_on_new_ground_and_the_verdict_rests_on_them(tmp_path: Path) -> None:
    made = project(tmp_path, README, [BUILD, TESTS])
    report = reported(made, dict(WORKING), "new_ground")
    assert ([result.tests for result in report.landing], report.canary and report.canary.said) == ([None, 1], "noticed")
    state, said = weighed(FEEDBACK.start(params()), report, Commit("c"), ())
    assert (said, state.course.tests_of_agents) == (Passed(), 1)


def test_tests_of_the_base_do_not_vanish_on_new_ground(tmp_path: Path) -> None:
    made_of = "import sys\n\nsys.path.insert(0, 'src')\nimport sums\n\n\nfor each in sums.CASES:\n"
    made_of += "    globals()[f'test_{each}'] = lambda: None\n"
    made = project(tmp_path, {"src/sums.py": "CASES = (1, 2)\n", "tests/test_sums.py": made_of}, [TESTS])
    report = reported(made, {"src/sums.py": "CASES = ()\n"}, "new_ground", "tests_to_come")
    assert [each.rule for result in report.results for each in result.failures] == ["ids-gone test"]


def test_a_build_of_new_code_that_calls_itself_empty_is_red(tmp_path: Path) -> None:
    run = ("sh", "-c", "test ! -e src || { cat src/*; exit 1; }")
    made = project(tmp_path, README, [CheckSettings(name="build", run=run)])
    report = reported(made, {"src/a.py": "# go.mod file not found\n"}, "new_ground", "tests_to_come")
    assert [result.passed for result in report.results] == [False]


def test_a_function_without_a_test_passes_where_its_tests_are_to_come(tmp_path: Path) -> None:
    made = project(tmp_path, WORKING, [BUILD, TESTS])
    early, late = reported(made, MORE, "tests_to_come"), reported(made, MORE)
    assert early.canary is not None
    assert late.canary is not None
    assert (early.canary.said, early.canary.how, late.canary.said) == ("noticed", "reads", "untested-change")


def test_a_file_that_no_test_loads_is_not_shown_where_its_tests_are_to_come(tmp_path: Path) -> None:
    made = project(tmp_path, WORKING, [TESTS])
    report = reported(made, {"src/other.py": "def two():\n    return 2\n"}, "tests_to_come")
    assert report.canary is not None
    assert report.canary.said == "not-shown"
    assert "still to be written" in report.canary.sentence


def test_checks_that_read_another_tree_are_found_out_though_tests_are_to_come(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sums.py").write_text(CODE["src/sums.py"])
    base = {**CODE, "tests/test_sums.py": TESTED.replace("'src'", f"{str(elsewhere)!r}")}
    made = project(tmp_path, base, [TESTS])
    report = reported(made, MORE, "tests_to_come")
    assert report.canary is not None
    assert report.canary.said == "unread"


def test_a_build_alone_is_not_weak_where_tests_are_to_come(tmp_path: Path) -> None:
    made = project(tmp_path, WORKING, [BUILD, TESTS])
    early = reported(made, MORE, "tests_to_come", names=("build",))
    assert (faults_of(early), early.canary) == ((), None)
    assert [each.rule for each in reported(made, MORE, names=("build",)).findings] == ["weak"]
