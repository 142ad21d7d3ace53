"""What code under test does to the files that judge it, in its own run and for the next one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks.runner import CommandChecks
from loopwright.adapters.checks.watched_files import stamped, touched, watched, would_steer
from loopwright.adapters.from_settings import command_checks
from loopwright.config.settings import CheckSettings, Settings, WorkspaceSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.model import Commit, Key, LoopId
from loopwright.kernel.trust import Trust
from loopwright.ports.checks import ChecksRun
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.adapters.checks.projects import PYTEST, UNITTEST, project
from tests.repository import Repository

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

CODE = "def one():\n    return 1\n"
TESTS = """\
import unittest
import app


class A(unittest.TestCase):
    def test_one(self):
        self.assertEqual(app.one(), 1)
"""
BASE = {
    "app.py": CODE,
    "tests/test_app.py": TESTS,
    "tests/data.txt": "1\n",
    "tests/__init__.py": "",
    "notes/seen.txt": "",
}
WRITES = "import pathlib\nfor each in pathlib.Path('.').glob({pattern!r}):\n    each.write_text({text})\n"


def bent(tmp_path: Path, base: dict[str, str], files: dict[str, str]) -> list[str]:
    made = project(tmp_path, base, [UNITTEST])
    (result,) = asyncio.run(made.report(made.candidate({**files}))).results
    return [each.evidence for each in result.failures if each.rule == "judge-bent test"]


@pytest.mark.parametrize(
    ("pattern", "text", "told"),
    [
        ("*/te*_app.py", "each.read_text() + '# more\\n'", "tests/test_app.py"),
        ("*/te*_app.py", "each.read_text()", "tests/test_app.py"),  # as it was: but who knows in between
        ("*/d*.txt", "'2'", "tests/data.txt"),
    ],
)
def test_a_run_that_writes_what_judges_it_does_not_pass(tmp_path: Path, pattern: str, text: str, told: str) -> None:
    assert bent(tmp_path, BASE, {"app.py": WRITES.format(pattern=pattern, text=text) + CODE}) == [told]


def test_a_file_is_watched_that_only_a_run_on_the_base_showed_to_hold_tests(tmp_path: Path) -> None:
    made_up = "import app\nglobals()['te' + 'st_one'] = lambda: None if app.one() == 1 else exit(1)\n"
    config = "[pytest]\npython_files = check_*.py\ntestpaths = checks\n"
    made = project(tmp_path, {"app.py": CODE, "checks/check_app.py": made_up, "pytest.ini": config}, [PYTEST])
    writes = WRITES.format(pattern="ch*/ch*_app.py", text="each.read_text()")

    async def story() -> ChecksReported:
        await made.report(made.base, preflight=True)
        return await made.report(made.candidate({"app.py": writes + CODE}))

    (result,) = asyncio.run(story()).results
    assert [each.evidence for each in result.failures if each.rule == "judge-bent test"] == ["checks/check_app.py"]


def test_a_test_that_was_added_to_judges_as_the_base_has_it_and_is_watched_there(tmp_path: Path) -> None:
    more = f"{TESTS}\n    def test_more(self):\n        self.assertTrue(app)\n"
    writes = WRITES.format(pattern="*/te*_app.py", text="each.read_text().replace('(), 1', '(), 2')")
    made = {"app.py": writes + CODE.replace("return 1", "return 2"), "tests/test_app.py": more}
    assert bent(tmp_path, BASE, made) == ["tests/test_app.py"]


def test_a_set_up_of_a_runner_that_appears_is_told(tmp_path: Path) -> None:
    plants = "import pathlib\n(pathlib.Path('te' + 'sts') / ('conf' + 'test.py')).write_text('')\n"
    assert bent(tmp_path, BASE, {"app.py": plants + CODE}) == ["tests/conftest.py"]


@pytest.mark.parametrize("pattern", ["notes/*.txt", "*/no-such"])
def test_other_files_may_be_written(tmp_path: Path, pattern: str) -> None:
    files = {"app.py": WRITES.format(pattern=pattern, text="each.read_text()") + CODE}
    assert bent(tmp_path, BASE, files) == []


def test_what_the_base_writes_too_is_its_way(tmp_path: Path) -> None:
    writes = WRITES.format(pattern="*/d*.txt", text="'2'") + TESTS
    assert bent(tmp_path, {**BASE, "tests/test_app.py": writes}, {"app.py": f"{CODE}\n\nTWO = 2\n"}) == []


def test_a_test_that_the_candidate_added_to_may_be_put_into_form(tmp_path: Path) -> None:
    formatter = CheckSettings(
        name="test",
        run=(
            sys.executable,
            "-c",
            WRITES.format(pattern="tests/test_app.py", text="each.read_text().rstrip() + '\\n'"),
        ),
        trust="exit-code",
    )
    made = project(tmp_path, BASE, [formatter, PYTEST])
    more = f"{TESTS}\n    def test_more(self):\n        self.assertTrue(app)\n\n\n"
    said = asyncio.run(made.report(made.candidate({"app.py": f"{CODE}\n\nTWO = 2\n", "tests/test_app.py": more})))
    assert all(result.passed for result in said.landing), said.landing


def test_files_are_known_by_stamps(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    before = stamped(tmp_path, frozenset({"a.txt", "no.txt"}))
    assert touched(before, stamped(tmp_path, frozenset({"a.txt", "no.txt"}))) == ()
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "pytest.ini").write_text("")
    assert touched(before, stamped(tmp_path, frozenset({"a.txt", "no.txt"}))) == ("a.txt", "pytest.ini")


def test_what_managers_and_builds_write_in_the_course_of_their_work_is_not_watched() -> None:
    named = frozenset({"Cargo.lock", "configure", "Makefile", "check.sh", "tests/a.py"})
    paths = {*named, "examples/a.out", "src/a.py", "README.md"}
    assert watched(paths, named) == {"Makefile", "check.sh", "tests/a.py", "examples/a.out"}


@pytest.mark.parametrize(
    "path", ["conftest.py", "test_x.py", "unittest.py", "GNUmakefile", ".npmrc", "a/sitecustomize.py"]
)
def test_these_names_have_a_say_in_what_runs_next(path: str) -> None:
    assert would_steer(path)


@pytest.mark.parametrize(
    "path", [".coverage", "coverage.xml", "build/a.o", ".pytest_cache/x", "out/report.html", "dist/a.js"]
)
def test_what_tools_keep_has_none(path: str) -> None:
    assert not would_steer(path)


def verified(tmp_path: Path, specs: tuple[CheckSettings, ...], base: dict[str, str], code: str) -> ChecksReported:
    """Through the real checkouts."""
    repository = Repository.create(tmp_path / "repo")
    for path, text in base.items():
        repository.write(path, text)
    begun = Commit(repository.commit("Begin"))
    repository.write("app.py", code)
    done = Commit(repository.commit("Done"))
    clock = ManualClock()
    settings = Settings(checks=specs, workspace=WorkspaceSettings(product=("**",)))
    checks: CommandChecks = command_checks(
        settings, MemoryStore(Memory(), clock), clock, root=repository.path, environ=dict(os.environ)
    )
    trust = Trust(in_force=True, base=begun)
    run = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s1", commit=done, base=begun, trust=trust)
    return asyncio.run(checks.run(run, lambda _: None))


SEES = """\
import pathlib, sys
wanted = [word.split("=") for word in sys.argv[1:]]
sys.exit(not all(pathlib.Path(path).exists() is bool(int(there)) for path, there in wanted))
"""
LEAVES = """\
import atexit, pathlib
for name in (".coverage", "te" + "sts/te" + "st_left.py", "GNUmakefile", "unit" + "te" + "st.py"):
    atexit.register(pathlib.Path(name).write_text, "")
"""


def test_between_checks_what_tests_left_to_steer_the_next_is_taken_away_and_what_was_built_stays(
    tmp_path: Path,
) -> None:
    build = CheckSettings(
        name="build",
        run=(sys.executable, "-c", "import pathlib; pathlib.Path('tests/test_built.bin').write_text('b')"),
        trust="exit-code",
    )
    test = CheckSettings(name="test", run=(sys.executable, "-m", "unittest"), after=("build",))
    wanted = ("tests/test_built.bin=1", ".coverage=1", "tests/test_left.py=0", "GNUmakefile=0", "unittest.py=0")
    after = CheckSettings(name="after", run=(sys.executable, "-c", SEES, *wanted), after=("test",), trust="exit-code")
    said = verified(tmp_path, (build, test, after), BASE, LEAVES + CODE)
    assert {result.name: result.passed for result in said.results} == {"build": True, "test": True, "after": True}
