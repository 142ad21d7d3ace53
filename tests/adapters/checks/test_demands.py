"""Commands that a task brings, run for real on what would land: each can only fail."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import Demand
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import LOOP, STEADY, UNITTEST, Project, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

TEST_OF_A = """\
import unittest

import a


class One(unittest.TestCase):
    def test_one(self):
        self.assertEqual(a.one(), 1)
"""
BASE: dict[str, str | None] = {
    "a.py": "def one():\n    return 1\n",
    "tests/test_a.py": TEST_OF_A,
    "setup.cfg": "[metadata]\nname = one\n",
}
BETTER: dict[str, str | None] = {"a.py": "def one():\n    return 2 - 1\n"}


def runs(name: str, code: str) -> Demand:
    return Demand(name, (sys.executable, "-c", code))


PASSES = runs("T-001", "import a; raise SystemExit(a.one() - 1)")
FAILS = runs("T-002", "print('nearly\\x1b[2J'); raise SystemExit(3)")


def made(tmp_path: Path, **given: str | None) -> Project:
    return project(tmp_path, {**BASE, **given}, [UNITTEST], protected=("setup.cfg",))


def test_what_a_task_brings_runs_besides_the_checks_and_counts_no_test(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        report = await here.report(here.candidate(BETTER), also=(PASSES,))
        (met,) = report.also
        assert (met.name, met.passed, met.failures, met.tests, met.reused) == ("T-001", True, (), None, False)
        assert [result.name for result in report.results] == ["test"]
        assert faults_of(report) == ()
        assert report.canary is not None
        assert report.canary.noticed_by == ("test",)

    asyncio.run(story())


def test_one_that_fails_is_told_with_its_command_its_end_and_its_last_lines(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        report = await here.report(here.candidate(BETTER), also=(PASSES, FAILS))
        assert [(each.name, each.passed) for each in report.also] == [("T-001", True), ("T-002", False)]
        (fault,) = faults_of(report)
        assert (fault.rule, fault.requirement, fault.category) == ("verify T-002", "T-002", "checks")
        assert fault.issue.startswith("verify T-002 failed: `")
        assert fault.issue.endswith("` ended with exit code 3")
        assert fault.evidence.splitlines()[-1] == "nearly"
        assert b"nearly" in await here.store.fetch(report.also[1].output)
        assert (report.canary, report.claim) == (None, None)

    asyncio.run(story())


def test_long_output_is_cut_to_its_last_lines(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        loud = runs("T-003", "[print(n, 'y' * 200) for n in range(99)]\n1/0")
        report = await here.report(here.candidate(BETTER), also=(loud,))
        (fault,) = faults_of(report)
        assert len(fault.evidence.encode()) <= 4096
        assert "ZeroDivisionError" in fault.evidence

    asyncio.run(story())


def test_nothing_is_run_besides_checks_that_fail_nor_before_anybody_is_paid(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        red = await here.report(here.candidate({"a.py": "def one():\n    return 3\n"}), also=(PASSES,))
        assert (red.results[0].passed, red.also) == (False, ())
        first = await here.report(here.base, also=(FAILS,), preflight=True)
        assert (first.results[0].passed, first.also) == (True, ())

    asyncio.run(story())


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("no-such-program-here", "x"), "`no-such-program-here x` cannot be started: the program"),
        (("./no-such-script",), "`./no-such-script` cannot be started: "),
        (("/no/such/program",), "`/no/such/program` cannot be started: the program"),
        ((), "its command cannot start: it names no program"),
        (("",), "cannot be started: it names no program"),
        (("x/" + "y" * 300,), "cannot be started: no program has such a name"),
        (("echo", "a\0b"), "cannot be started: a word of it holds what no program can be given"),
        (("echo", "\ud800"), "cannot be started: a word of it is no text"),
    ],
)
def test_one_that_cannot_be_started_has_failed_and_the_checks_stand(
    tmp_path: Path, argv: tuple[str, ...], why: str
) -> None:
    async def story() -> None:
        here = made(tmp_path)
        report = await here.report(here.candidate(BETTER), also=(Demand("T-001", argv), PASSES))
        assert [each.passed for each in report.also] == [False, True]
        (fault,) = faults_of(report)
        assert (fault.rule, fault.requirement) == ("verify T-001", "T-001")
        assert why in fault.issue
        assert report.also[0].receipt == ""

    asyncio.run(story())


def test_one_that_does_not_end_is_stopped_and_leaves_no_receipt(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        mark = tmp_path / "pid"
        code = f"import os, pathlib, time; pathlib.Path({str(mark)!r}).write_text(str(os.getpid())); time.sleep(600)"
        checks = replace(here.checks, demand_limit=1.5)
        run = replace(here.run(here.candidate(BETTER)), also=(runs("T-001", code),))
        report = await checks.run(run, here.updates.append)
        (fault,) = faults_of(report)
        assert fault.issue.endswith("was stopped after 1.5 s")
        assert report.also[0].receipt == ""
        assert not Path(f"/proc/{mark.read_text()}").exists()

    asyncio.run(story())


def test_what_one_writes_is_seen_by_no_other_and_changes_nothing_that_lands(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        candidate = here.candidate(BETTER)
        alone = await here.report(candidate, step="alone")
        writes = runs("T-001", "open('left', 'w').close(); open('a.py', 'w').write('broken')")
        looks = runs("T-002", "import os, a; raise SystemExit(os.path.exists('left'))")
        here.checks = replace(here.checks, parallel=1)
        report = await here.report(candidate, step="s2", also=(writes, looks))
        assert [each.passed for each in report.also] == [True, True]
        assert (report.tree, report.lands) == (alone.tree, alone.lands)

    asyncio.run(story())


def test_it_sees_what_would_land_new_tests_included_and_not_what_is_held_back(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        held = {"setup.cfg": "[metadata]\nname = other\n"}
        candidate = here.candidate({**BETTER, "tests/test_new.py": STEADY, **held})
        new = runs("T-001", "open('tests/test_new.py').close()")
        named = runs("T-002", "raise SystemExit('other' not in open('setup.cfg').read())")
        report = await here.report(candidate, also=(new, named), trust=Trust(in_force=True))
        assert [each.passed for each in report.also] == [True, False]
        (fault,) = faults_of(report)
        assert fault.guidance == "It ran without what is held back until a person approves: setup.cfg"
        assert report.claim is None
        again = await here.report(
            candidate, step="s2", also=(new, named), trust=Trust(in_force=True), approved=report.held
        )
        assert [each.passed for each in again.also] == [True, True]

    asyncio.run(story())


def test_a_pass_is_reused_on_the_same_tree_and_made_anew_on_another(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        count = tmp_path / "count"
        counts = runs("T-001", f"open({str(count)!r}, 'a').write('x')")
        candidate = here.candidate(BETTER)
        first = await here.report(candidate, step="s1", also=(counts,))
        again = await here.report(candidate, step="s2", also=(counts,))
        assert [each.also[0].reused for each in (first, again)] == [False, True]
        assert again.also[0].name == "T-001"
        other = await here.report(here.candidate({"a.py": "def one():\n    return 3 - 2\n"}), step="s3", also=(counts,))
        assert (other.also[0].reused, count.read_text()) == (False, "xx")

    asyncio.run(story())


def test_a_command_that_several_bring_is_run_once_and_fails_each_of_them(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        count = tmp_path / "count"
        counts = runs("T-001", f"open({str(count)!r}, 'a').write('x'); raise SystemExit(1)")
        report = await here.report(here.candidate(BETTER), also=(counts, PASSES, replace(counts, name="mustNot-1")))
        assert [(each.name, each.passed) for each in report.also] == [
            ("T-001", False),
            ("T-001", True),
            ("mustNot-1", False),
        ]
        told = [(each.rule, each.requirement, each.issue.partition(" failed: ")[0]) for each in faults_of(report)]
        assert told == [("verify T-001", "T-001", "verify T-001"), ("mustNot-1", "mustNot-1", "mustNot-1")]
        assert count.read_text() == "x"

    asyncio.run(story())


def test_a_fail_is_run_again_in_the_next_attempt(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        mark = tmp_path / "mark"
        once = runs("T-001", f"import os; raise SystemExit(not os.path.exists({str(mark)!r}))")
        candidate = here.candidate(BETTER)
        first = await here.report(candidate, step="s1", also=(once,))
        mark.touch()
        same = await here.report(candidate, step="s1", also=(once,))
        after = await here.report(candidate, step="s2", also=(once,))
        assert [each.also[0].passed for each in (first, same, after)] == [False, False, True]

    asyncio.run(story())


def test_a_check_of_the_same_name_and_command_does_not_stand_for_it(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        argv = (sys.executable, "-c", "")
        here.checks = replace(here.checks, specs=(UNITTEST, CheckSettings(name="mustNot-1", run=argv)))
        report = await here.report(here.candidate(BETTER), also=(Demand("mustNot-1", argv),))
        assert report.also[0].reused is False
        assert report.also[0].receipt not in {each.receipt for each in report.results}

    asyncio.run(story())


def test_it_is_run_as_it_is_written(tmp_path: Path) -> None:
    """No runner in it is asked to count, and no word stands for a path."""

    async def story() -> None:
        here = made(tmp_path)
        code = "import sys; raise SystemExit([word[1:3] for word in sys.argv[1:3]] != ['re', 'un'])"
        demand = Demand("../../T 1", (sys.executable, "-c", code, "{report}", "{unittest}", "-m", "pytest"))
        report = await here.report(here.candidate(BETTER), also=(demand,))
        assert [(each.name, each.passed, each.note) for each in report.also] == [("../../T 1", True, "")]
        assert list((tmp_path / "runs").iterdir()) == []

    asyncio.run(story())


def test_it_has_the_environment_of_checks_and_no_more(tmp_path: Path) -> None:
    async def story() -> None:
        here = project(
            tmp_path, BASE, [replace(UNITTEST, env=("OURS",))], environ={**os.environ, "OURS": "1", "LOOP_ID": "x"}
        )
        code = "import os; raise SystemExit('OURS' in os.environ or 'LOOP_ID' in os.environ)"
        report = await here.report(here.candidate(BETTER), also=(runs("T-001", code),))
        assert [each.passed for each in report.also] == [True]

    asyncio.run(story())


def test_on_an_unchanged_tree_it_is_run_as_well(tmp_path: Path) -> None:
    """What a task asks for may be there already."""

    async def story() -> None:
        here = made(tmp_path)
        report = await here.report(here.base, also=(PASSES, FAILS))
        assert [(each.name, each.passed) for each in report.also] == [("T-001", True), ("T-002", False)]

    asyncio.run(story())


def test_its_receipt_is_kept_like_that_of_a_check(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        report = await here.report(here.candidate(BETTER), also=(PASSES,))
        texts = await here.store.receipts(LOOP)
        (kept,) = [text for text in texts if report.also[0].receipt in text]
        assert '"check":"verify T-001"' in kept.replace(": ", ":")

    asyncio.run(story())


TWO: dict[str, str | None] = {"a.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n"}
ASKS_FOR_TWO = runs("T-003", "import a; raise SystemExit(a.two() - 2)")
ASKS_FOR_ONE = replace(PASSES, name="T-004")


def test_one_that_passes_tells_whether_it_was_red_where_its_work_started(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        also = (replace(ASKS_FOR_TWO, start=here.base), replace(ASKS_FOR_ONE, start=here.base), PASSES)
        report = await here.report(here.candidate(TWO), also=also)
        assert [(each.name, each.passed, each.red_before) for each in report.also] == [
            ("T-003", True, True),
            ("T-004", True, False),
            ("T-001", True, None),
        ]
        red = await here.report(here.candidate(BETTER), step="s2", also=(replace(FAILS, start=here.base),))
        assert [(each.passed, each.red_before) for each in red.also] == [(False, None)]

    asyncio.run(story())


def test_before_the_work_starts_demands_are_run_alone_on_the_commit_as_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        also = (replace(ASKS_FOR_TWO, start=here.base), replace(ASKS_FOR_ONE, start=here.base))
        before = await here.report(here.base, also=also, demands_only=True)
        assert (before.results, before.canary, before.same_product) == ((), None, False)
        assert [(each.passed, each.red_before) for each in before.also] == [(False, None), (True, False)]
        later = await here.report(here.candidate(TWO), step="s2", also=also, demands_only=True)
        assert [(each.passed, each.red_before) for each in later.also] == [(True, True), (True, False)]
        missing = replace(ASKS_FOR_TWO, argv=("./no-such-script",), start=here.base)
        assert not (await here.report(here.base, step="s3", also=(missing,), demands_only=True)).also[0].passed

    asyncio.run(story())


def test_where_the_work_starts_a_command_is_run_once_for_all_and_a_flaky_one_is_not_red(tmp_path: Path) -> None:
    async def story() -> None:
        here, log = made(tmp_path), tmp_path / "ran"
        code = f"open({str(log)!r}, 'a').write('x'); import os; raise SystemExit(os.path.getsize({str(log)!r}) == 1)"
        flips = replace(runs("T-005", code), start=here.base)
        first = await here.report(here.base, also=(flips,), demands_only=True)
        again = await here.report(here.base, step="s2", also=(flips,), demands_only=True)
        assert [(each.passed, each.red_before) for each in (*first.also, *again.also)] == [(True, False)] * 2
        assert log.read_text() == "xx"

    asyncio.run(story())


def test_a_program_of_the_persons_environment_is_started_there(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path, **{".gitignore": ".venv/\n"})
        programs = here.repository.path / ".venv" / "bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(sys.executable)
        demand = replace(ASKS_FOR_TWO, argv=(".venv/bin/python", *ASKS_FOR_TWO.argv[1:]), start=here.base)
        report = await here.report(here.candidate(TWO), also=(demand,))
        assert [(each.passed, each.red_before, each.unable) for each in report.also] == [(True, True, "")]

    asyncio.run(story())


@pytest.mark.parametrize(
    ("argv", "is_unable"),
    [
        ((".venv/bin/python", "-m", "pytest"), True),
        (("no-such-program-here",), True),
        ((sys.executable, "-c", "raise SystemExit('No module named pytest')"), True),
        (("./no-such-script",), False),
    ],
    ids=["environment", "program", "runner", "file to be made"],
)
def test_before_the_work_starts_it_is_told_that_a_command_cannot_start(
    tmp_path: Path, argv: tuple[str, ...], *, is_unable: bool
) -> None:
    async def story() -> None:
        here = made(tmp_path)
        also = (Demand("T-001", argv, start=here.base),)
        (found,) = (await here.report(here.base, also=also, demands_only=True)).also
        assert (found.passed, bool(found.unable)) == (False, is_unable)

    asyncio.run(story())


def test_a_command_that_could_not_start_before_was_not_red(tmp_path: Path) -> None:
    async def story() -> None:
        here = made(tmp_path)
        code = "import a, os; raise SystemExit(0 if hasattr(a, 'two') else 'No module named pytest')"
        report = await here.report(here.candidate(TWO), also=(replace(runs("T-001", code), start=here.base),))
        assert [(each.passed, each.red_before) for each in report.also] == [(True, False)]

    asyncio.run(story())


COMMENTED: dict[str, str | None] = {"a.py": 'def one():\n    """One."""\n    return 1  # always\n'}


@pytest.mark.parametrize(
    ("files", "code", "same"),
    [
        (COMMENTED, (), True),
        ({**COMMENTED, "README.md": "One is 1.\n"}, (), True),
        ({"README.md": "One is 1.\n"}, (), True),
        (BETTER, ("a.py",), False),
        ({**COMMENTED, "b.py": "# nothing\n"}, ("b.py",), False),
        ({**COMMENTED, "tests/test_b.py": "import unittest\n"}, ("tests/test_b.py",), True),
        ({"tests/cases.json": "[]\n"}, ("tests/cases.json",), True),
        ({**COMMENTED, "setup.cfg": "[metadata]\nname = two\n"}, ("setup.cfg",), True),
        ({**BETTER, "setup.cfg": "[metadata]\nname = two\n"}, ("a.py", "setup.cfg"), False),
        ({"a.py": "def one(:\n"}, ("a.py",), False),
    ],
)
def test_what_is_no_product_and_comments_leave_the_product_the_same(
    tmp_path: Path,
    files: dict[str, str | None],
    code: tuple[str, ...],
    same: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    async def story() -> None:
        here = made(tmp_path)
        here.checks = replace(here.checks, classifier=replace(here.checks.classifier, product=("*.py",)))
        commit = here.candidate(files)
        report = await here.report(commit)
        assert (report.same_product, report.changed_code) == (same, code)
        assert report.alters_code == (not same)
        approved = await here.report(commit, step="s2", approved=report.held)
        assert approved.same_product == (same and not report.held)

    asyncio.run(story())
