"""A run that changes what it judges: what lands would not be what was checked."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks.judgement import Rewriting
from loopwright.adapters.checks.watched_files import FilesOfTree
from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import CheckResult, Tree
from tests.adapters.checks.projects import UNITTEST, LaidFolder, Project, project
from tests.repository import Repository

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

CORE = "def one():\n    return 1\n"
WRONG = "def one():\n    return 2\n"
ABOUT = "NAME = 'app'\n"
HEALS = """\
import pathlib

core = pathlib.Path('app/core.py')
text = core.read_text()
core.write_text(text.replace('return 2', 'return 1'))
"""
PLANTS = f"""\
import pathlib

at = pathlib.Path('app/core')
at.mkdir(exist_ok=True)
(at / '__init__.py').write_text({CORE!r})
"""
TESTS = """\
import pathlib
import unittest
import app.about
from app import core


class Core(unittest.TestCase):
    def test_one(self):
        self.assertEqual(core.one(), 1)
"""
BASE = {
    "app/__init__.py": "",
    "app/core.py": CORE,
    "app/about.py": ABOUT,
    "app/data.txt": "old\n",
    "tests/__init__.py": "",
    "tests/test_core.py": TESTS,
    "tests/seen.txt": "old\n",
}
WRITES_DATA = "import pathlib\npathlib.Path('{path}').write_text({text!r})\n"


def told(result: CheckResult) -> list[tuple[str, str]]:
    return [(each.issue, each.evidence) for each in result.failures if each.rule.startswith("rewritten")]


def only(made: Project, files: dict[str, str | None]) -> list[tuple[str, str]]:
    return told(asyncio.run(made.only(made.candidate(files))))


CHANGED = "check 'test' changed app/core.py while it ran: what lands would not be what was checked"
PUT_BACK = "check 'test' wrote and put back app/core.py while it ran: what lands would not be what was checked"


def test_wrong_code_that_is_healed_while_it_is_tested_does_not_pass(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    assert only(made, {"app/core.py": WRONG, "app/about.py": HEALS}) == [(CHANGED, "app/core.py")]


@pytest.mark.parametrize(
    ("after", "issue"),
    [
        ("import os\nos.utime(core, ns=(1, core.stat().st_mtime_ns - 10**9))\n", CHANGED),
        ("import atexit\natexit.register(core.write_text, text)\n", PUT_BACK),
    ],
)
def test_neither_a_time_that_is_set_back_nor_a_text_that_is_hides_it(tmp_path: Path, after: str, issue: str) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    assert only(made, {"app/core.py": WRONG, "app/about.py": HEALS + after}) == [(issue, "app/core.py")]


def test_a_package_in_front_of_a_module_and_a_removed_file_that_is_made_anew_are_no_better(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    plants = PLANTS
    (said,) = only(made, {"app/core.py": WRONG, "app/about.py": plants})
    assert said[1] == "app/core/__init__.py"
    makes = f"import pathlib\npathlib.Path('app/core.py').write_text({CORE!r})\n"
    assert only(made, {"app/core.py": None, "app/about.py": makes}) == [(CHANGED, "app/core.py")]


def test_the_same_red_is_red_again_and_no_later_attempt_finds_it_green(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    commit = made.candidate({"app/core.py": WRONG, "app/about.py": HEALS})

    async def story() -> list[bool]:
        return [(await made.only(commit, step=step)).passed for step in ("s1", "s1", "s2")]

    assert asyncio.run(story()) == [False, False, False]


@pytest.mark.parametrize("text", ["new\n", "old\n"])
def test_what_the_base_writes_too_is_its_way_whatever_comes_out(tmp_path: Path, text: str) -> None:
    """On the base a generator may come to what is there already."""
    base = {**BASE, "tests/test_core.py": WRITES_DATA.format(path="app/data.txt", text=text) + TESTS}
    made = project(tmp_path, base, [UNITTEST])
    result = asyncio.run(made.only(made.candidate({"app/data.txt": "another\n", "app/about.py": f"{ABOUT}TWO = 2\n"})))
    assert result.passed, result.failures


def test_data_of_tests_that_new_tests_write_stop_nobody(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    more = TESTS.replace("import unittest\n", "import unittest\npathlib.Path('tests/new.txt').write_text('2')\n")
    files: dict[str, str | None] = {
        "app/core.py": f"{CORE}\n\nTWO = 2\n",
        "tests/test_more.py": more,
        "tests/new.txt": "1\n",
    }
    result = asyncio.run(made.only(made.candidate(files)))
    assert result.passed, result.failures


FORMATS = """\
import pathlib
for each in pathlib.Path('app').glob('?*e.py'):
    text = each.read_text()
    if text != text.rstrip() + '\\n':
        each.write_text(text.rstrip() + '\\n')
"""


def formatted(tmp_path: Path, core: str) -> ChecksReported:
    formatter = CheckSettings(name="format", run=(sys.executable, "-c", FORMATS), trust="exit-code")
    made = project(tmp_path, BASE, [formatter, UNITTEST])
    return asyncio.run(made.report(made.candidate({"app/core.py": core})))


def test_of_a_formatter_that_mends_what_it_finds_the_maker_is_told_to_do_it(tmp_path: Path) -> None:
    said = {result.name: told(result) for result in formatted(tmp_path, f"{CORE}\n\nTWO = 2\n\n\n").results}
    issue = CHANGED.replace("'test'", "'format'")
    assert said == {"format": [(issue, "app/core.py")], "test": []}


def test_a_formatter_that_finds_nothing_to_mend_passes(tmp_path: Path) -> None:
    assert all(result.passed for result in formatted(tmp_path, f"{CORE}\n\nTWO = 2\n").results)


def test_files_are_told_apart_by_what_was_done_to_them(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo")
    names = ("same.py", "anew.py", "other.py", "gone.py", "linked.py", "test.txt")
    for name in names:
        repository.write(name, f"{name}\n")
    tree = Tree(repository.git("rev-parse", f"{repository.commit('Begin')}^{{tree}}").strip())
    folder = repository.path
    seen = FilesOfTree.seen(LaidFolder(folder, tree, repository), frozenset({*names, "made.py"}))
    (folder / "anew.py").write_text("anew.py\n")
    (folder / "other.py").write_text("OTHER.py\n")
    (folder / "gone.py").unlink()
    (folder / "made.py").write_text("made")
    (folder / "test.txt").write_text("none of the product")
    os.link(folder / "linked.py", tmp_path / "archive.py")
    others = ("gone.py", "made.py", "other.py")
    assert asyncio.run(seen.after(lambda path: path.endswith(".py"))) == Rewriting(
        written=tuple(sorted((*others, "anew.py"))), rewritten=others, put_back=("anew.py", "linked.py")
    )
