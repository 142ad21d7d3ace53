"""Where hardly a test is left: all of the base are moved, rewritten or held back, or none of them passes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.kernel.events import ChecksReported
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import PYTEST, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

BASE = {
    "app.py": "def one():\n    return 1\n",
    "tests/test_app.py": "import app\n\n\ndef test_one():\n    assert app.one() == 1\n",
}
REWRITTEN = "import app\n\n\ndef test_it():\n    assert app.one() + 1 == 2\n"
WRONG: dict[str, str | None] = {"app.py": "def one():\n    return 2\n"}


def allowed(tmp_path: Path, files: dict[str, str | None]) -> ChecksReported:
    made = project(tmp_path, BASE, [PYTEST])
    trust = Trust(base=made.base, in_force=True, allow=("tests/**",))
    return asyncio.run(made.report(made.candidate(files), trust=trust))


@pytest.mark.parametrize("text", [BASE["tests/test_app.py"], REWRITTEN])
def test_the_only_tests_may_go_elsewhere_by_a_persons_word(tmp_path: Path, text: str) -> None:
    report = allowed(tmp_path, {"tests/test_app.py": None, "tests/test_other.py": text})
    assert all(result.passed for result in (*report.results, *report.landing))


def test_what_only_moved_was_not_written_by_an_agent(tmp_path: Path) -> None:
    moved: dict[str, str | None] = {"tests/test_app.py": None, "tests/test_other.py": BASE["tests/test_app.py"]}
    assert allowed(tmp_path, {**moved, "tests/test_new.py": REWRITTEN}).written == ("tests/test_new.py",)


def test_they_judge_from_there(tmp_path: Path) -> None:
    moved: dict[str, str | None] = {"tests/test_app.py": None, "tests/test_other.py": BASE["tests/test_app.py"]}
    report = allowed(tmp_path, {**moved, **WRONG})
    assert [result.passed for result in report.results] == [False]


def test_without_any_left_nothing_lands(tmp_path: Path) -> None:
    report = allowed(tmp_path, {"tests/test_app.py": None, **WRONG})
    assert not all(result.passed for result in (*report.results, *report.landing))


CASES = """\
import pytest
import app


@pytest.mark.parametrize(("numbers", "name"), [([1], "a"), {more}([1, 1], "b")])
def test_all(numbers, name):
    assert app.one() in numbers
"""


@pytest.mark.parametrize(("more", "came"), [("([2, 1], 'c'), ", [True, True]), ("([2], 'c'), ", [True, False])])
def test_a_case_may_be_added_among_others_though_the_later_get_other_numbers(
    tmp_path: Path, more: str, came: list[bool]
) -> None:
    made = project(tmp_path, {**BASE, "tests/test_app.py": CASES.format(more="")}, [PYTEST])
    files: dict[str, str | None] = {
        "app.py": f"{BASE['app.py']}\n\nTWO = 2\n",
        "tests/test_app.py": CASES.format(more=more),
    }
    report = asyncio.run(made.report(made.candidate(files), trust=Trust(base=made.base, in_force=True)))
    assert [result.passed for result in (*report.results, *report.landing)] == came


def test_where_no_test_passes_none_has_noticed_the_change(tmp_path: Path) -> None:
    base = {**BASE, "tests/test_app.py": "def test_one():\n    assert open('no-such-file')\n"}
    made = project(tmp_path, base, [replace(PYTEST, baseline=True)])
    report = asyncio.run(made.report(made.candidate(WRONG), trust=Trust(base=made.base, in_force=True)))
    assert all(result.passed for result in report.results)
    assert report.canary is not None
    assert (report.canary.said, "No test passes here" in report.canary.sentence) == ("untested-change", True)


def test_a_new_test_beside_a_changed_one_notices_the_change(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [PYTEST])
    changed = BASE["tests/test_app.py"].replace("app.one() == 1", "app.one() < 2")
    new = "\n\ndef test_two():\n    assert app.two() == 2\n"
    files = {"app.py": f"{BASE['app.py']}\n\ndef two():\n    return 2\n", "tests/test_app.py": changed + new}
    report = asyncio.run(made.report(made.candidate({**files}), trust=Trust(base=made.base, in_force=True)))
    assert report.canary is not None
    assert (report.canary.said, report.canary.where, report.held) == ("noticed", "landing", ())
