import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.errors import CheckNotRunnable
from loopwright.kernel.codec import encode
from loopwright.kernel.model import CheckResult, Key, LoopId
from loopwright.kernel.trust import Trust
from loopwright.ports.checks import ChecksRun
from tests.adapters.checks.projects import PYTEST, STEADY, UNITTEST, project

pytestmark = pytest.mark.unmeasured

GOOD = "def test_one():\n    assert 1 + 1 == 2\n\ndef test_two():\n    assert True or False\n"
BAD = GOOD + "\ndef test_three():\n    assert 1 + 1 == 3\n"


def command(
    name: str, code: str, *, timeout: float = 60, after: tuple[str, ...] = (), paths: tuple[str, ...] = ()
) -> CheckSettings:
    return CheckSettings(name=name, run=(sys.executable, "-c", code), timeout=timeout, after=after, paths=paths)


def test_a_passing_check_counts_its_tests_and_leaves_a_receipt(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": GOOD}, [PYTEST])
        result = await made.only(made.candidate({"a.py": "x = 1\n"}))
        assert (result.passed, result.tests, result.failures, result.reused) == (True, 2, (), False)
        assert await made.store.receipt(result.receipt) is not None
        assert b"2 passed" in await made.store.fetch(result.output)
        assert made.updates

    asyncio.run(story())


def test_the_checkout_of_a_run_is_free_before_the_change_is_broken_on_purpose(tmp_path: Path) -> None:
    async def story() -> None:
        test = (
            "import unittest\nimport a\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        a.one()\n"
        )
        files = {"a.py": "def one():\n    return 1\n", "tests/__init__.py": "", "tests/test_a.py": test}
        made = project(tmp_path, files, [UNITTEST])
        report = await made.report(made.candidate({"a.py": "def one():\n    return 2\n"}))
        assert report.canary is not None
        assert report.canary.said == "noticed"
        assert made.checkouts.beside[-1] == 0

    asyncio.run(story())


def test_a_failing_test_is_a_finding_with_its_id_place_and_text(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": GOOD}, [PYTEST])
        result = await made.only(made.candidate({"tests/test_a.py": BAD}))
        (failure,) = result.failures
        assert not result.passed
        assert (failure.category, failure.rule, failure.severity) == ("tests", "tests/test_a.py::test_three", "high")
        assert failure.issue == "tests/test_a.py::test_three - assert (1 + 1) == 3"
        assert (failure.file, failure.line) == ("tests/test_a.py", 8)
        assert "assert 1 + 1 == 3" in failure.evidence
        assert failure.fingerprint

    asyncio.run(story())


FAILING = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 2)\n"
TELLS_WHERE = "import os; print(os.path.join(os.getcwd(), 'a.py')); raise SystemExit(1)"


@pytest.mark.parametrize("check", [UNITTEST, command("build", TELLS_WHERE)], ids=["report", "output"])
def test_what_a_failure_says_does_not_tell_where_the_checks_ran(tmp_path: Path, check: CheckSettings) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_b.py": STEADY, "tests/__init__.py": ""}, [check])
        result = await made.only(made.candidate({"tests/test_a.py": FAILING}))
        (failure,) = result.failures
        assert str(tmp_path) not in encode(failure)
        assert "a.py" in failure.evidence
        assert "unittest/case.py" not in failure.evidence

    asyncio.run(story())


def test_a_failing_command_without_a_report_is_one_failure_with_command_exit_code_and_last_lines(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        code = "print('\\x1b[31mred'); [print('line', n) for n in range(100)]; raise SystemExit(3)"
        made = project(tmp_path, {"a.py": ""}, [command("build", code)])
        result = await made.only(made.candidate({"a.py": "x = 1\n"}))
        (failure,) = result.failures
        assert "ended with exit code 3" in failure.issue
        assert failure.evidence.splitlines()[2:] == [f"line {n}" for n in range(60, 100)]
        assert len(failure.evidence.encode()) <= 4096
        assert "\x1b" not in failure.evidence

    asyncio.run(story())


def test_output_of_any_size_is_bounded_and_its_end_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        code = "import sys\nfor _ in range(300): sys.stdout.write('x' * 100_000)\nprint('the end'); sys.exit(1)"
        made = project(tmp_path, {"a.py": ""}, [command("build", code)])
        result = await made.only(made.candidate({"a.py": "x = 1\n"}))
        output = await made.store.fetch(result.output)
        assert len(output) < 12_000_000
        assert output.rstrip().endswith(b"the end")
        assert result.failures[0].evidence.endswith("the end")
        assert len(result.failures[0].evidence.encode()) <= 4096

    asyncio.run(story())


def test_a_check_that_hangs_is_a_failure_and_leaves_no_receipt(tmp_path: Path) -> None:
    async def story() -> None:
        hang = command("build", "import time; print('begun', flush=True); time.sleep(600)", timeout=0.5)
        made = project(tmp_path, {"a.py": ""}, [hang])
        result = await made.only(made.candidate({"a.py": "x = 1\n"}))
        assert not result.passed
        assert "was stopped after 0.5 s" in result.failures[0].issue
        assert result.receipt == ""
        assert await made.store.receipts(LoopId("l")) == ()

    asyncio.run(story())


def test_a_missing_program_is_said_and_no_checkout_is_laid(tmp_path: Path) -> None:
    made = project(tmp_path, {"a.py": ""}, [CheckSettings(name="lint", run=("no-such-linter", "."))])
    with pytest.raises(CheckNotRunnable, match=r"'lint' cannot run 'no-such-linter \."):
        asyncio.run(made.only(made.candidate({"a.py": "x = 1\n"})))
    assert made.checkouts.laid == []


def test_a_program_of_the_tree_that_the_candidate_deleted_is_its_failure(tmp_path: Path) -> None:
    made = project(tmp_path, {"run": "#!/bin/sh\nexit 0\n"}, [CheckSettings(name="build", run=("./run",))])
    result = asyncio.run(made.only(made.candidate({"run": None})))
    assert not result.passed
    assert "the candidate has no ./run" in result.failures[0].issue


def test_an_unknown_check_is_refused_by_name(tmp_path: Path) -> None:
    made = project(tmp_path, {"a.py": ""}, [command("build", "")])
    with pytest.raises(CheckNotRunnable, match=r"'tset'.*only build"):
        asyncio.run(made.report(made.base, names=("tset",)))


def test_only_the_named_checks_run(tmp_path: Path) -> None:
    made = project(tmp_path, {"a.py": ""}, [command("build", ""), command("test", "raise SystemExit(1)")])
    report = asyncio.run(made.report(made.candidate({"a.py": "1\n"}), names=("build",)))
    assert [(result.name, result.passed) for result in report.results] == [("build", True)]


def test_what_comes_after_a_failed_check_is_skipped_and_counts_as_failed(tmp_path: Path) -> None:
    specs = [command("test", "", after=("build",)), command("build", "raise SystemExit(1)"), command("lint", "")]
    made = project(tmp_path, {"a.py": ""}, specs)
    report = asyncio.run(made.report(made.candidate({"a.py": "1\n"})))
    by_name = {result.name: result for result in report.results}
    assert [result.name for result in report.results] == ["test", "build", "lint"]
    assert (by_name["test"].passed, by_name["test"].note) == (False, "skipped: build failed")
    assert by_name["test"].failures[0].issue == "check 'test' skipped: build failed"
    assert by_name["lint"].passed


def test_a_later_check_finds_what_the_earlier_one_built_even_if_that_one_has_a_receipt(tmp_path: Path) -> None:
    async def story() -> None:
        build = command("build", "open('built', 'w').close()")
        test = command("test", "import os; os.stat('built')", after=("build",))
        made = project(tmp_path, {"a.py": ""}, [build, test])
        commit = made.candidate({"a.py": "1\n"})
        assert (await made.report(commit, names=("build",))).results[0].passed
        first, second = (await made.report(commit)).results
        assert (first.reused, first.passed) == (True, True)
        assert (second.reused, second.passed) == (False, True)

    asyncio.run(story())


def test_independent_checks_do_not_see_each_others_leavings(tmp_path: Path) -> None:
    code = "import os; assert not os.path.exists('mark'); open('mark', 'w').close()"
    made = project(tmp_path, {"a.py": ""}, [command("one", code), command("two", code)], parallel=1)
    report = asyncio.run(made.report(made.candidate({"a.py": "1\n"})))
    assert [result.passed for result in report.results] == [True, True]


def test_a_check_with_paths_runs_only_if_the_change_touches_them(tmp_path: Path) -> None:
    async def story() -> None:
        spec = command("docs", "raise SystemExit(1)", paths=("docs/**",))
        made = project(tmp_path, {"a.py": ""}, [spec, command("always", "")])
        docs, _always = (await made.report(made.candidate({"a.py": "1\n"}))).results
        assert docs == CheckResult(name="docs", passed=True, note="not touched")
        docs, _always = (await made.report(made.candidate({"docs/a/b.md": "x"}))).results
        assert not docs.passed

    asyncio.run(story())


def test_where_a_change_touches_the_paths_of_no_check_all_of_them_run(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"a.py": ""}, [command("docs", "raise SystemExit(1)", paths=("docs/**",))])
        assert not (await made.only(made.candidate({"a.py": "1\n"}))).passed

    asyncio.run(story())


def test_where_a_changed_file_is_in_the_paths_of_no_check_that_counts_all_of_them_run(tmp_path: Path) -> None:
    def counts(name: str) -> CheckSettings:
        run = (sys.executable, "-m", "pytest", "-q", f"{name}/tests")
        return CheckSettings(name=name, run=run, paths=(f"{name}/**",))

    files = {f"{name}/tests/test_a.py": "def test_a():\n    pass\n" for name in ("web", "api")}
    files |= dict.fromkeys(("web/a.py", "api/a.py", "shared/a.py"), "")
    lint = command("lint", "", paths=("shared/**", "lint/**"))  # it looks at it, and tests nothing
    made = project(tmp_path, files, [lint, counts("web"), counts("api")])
    report = asyncio.run(made.report(made.candidate({"shared/a.py": "1\n"})))
    assert [each.name for each in report.results if each.ran] == ["lint", "web", "api"]


def test_before_anybody_is_paid_every_check_runs_that_some_change_may_call_for(tmp_path: Path) -> None:
    checks = [
        CheckSettings(name="always", run=(sys.executable, "-c", ""), trust="exit-code"),
        CheckSettings(name="docs", run=("no-such-program",), paths=("docs/**",)),
        CheckSettings(name="web", run=("no-such-program",), paths=("web/**",)),  # there is nothing of it yet
    ]

    async def unable(files: dict[str, str], folder: str) -> tuple[str, ...]:
        made = project(tmp_path / folder, files, checks)
        return (await made.report(made.base, preflight=True)).unable

    (said,) = asyncio.run(unable({"a.py": "", "docs/a.md": ""}, "with"))
    assert said.startswith("check 'docs' cannot run")
    assert asyncio.run(unable({"a.py": ""}, "without")) == ()


def test_the_environment_has_nothing_that_steers_python_or_git_or_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "GIT_DIR", "LOOP_SECRET"):
        monkeypatch.setenv(name, "/nowhere")
    code = (
        "import os; e = os.environ; "
        "assert not {'PYTHONHOME', 'GIT_DIR', 'LOOP_SECRET'} & e.keys(), e; "
        "assert e['PYTHONPATH'] == os.getcwd(), e; "
        "assert e['PYTHONDONTWRITEBYTECODE'] == '1' and e['GIT_CEILING_DIRECTORIES']"
    )
    monkeypatch.delenv("GIT_DIR")
    made = project(tmp_path, {"a.py": ""}, [command("env", code)])
    commit = made.candidate({"a.py": "1\n"})
    monkeypatch.setenv("GIT_DIR", str(made.repository.path / ".git"))
    result = asyncio.run(made.only(commit))
    assert result.passed, result.failures


def test_sixty_failing_tests_keep_fifty_and_count_the_rest(tmp_path: Path) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(60))\ndef test_many(n):\n    assert n < 0\n"
    made = project(tmp_path, {"tests/test_a.py": GOOD}, [PYTEST])
    result = asyncio.run(made.only(made.candidate({"tests/test_b.py": many})))
    assert (len(result.failures), result.note) == (50, "10 more failures are not shown")


def test_a_cancelled_run_cancels_its_checks(tmp_path: Path) -> None:
    async def story() -> None:
        hang = command("build", "import time; print('begun', flush=True); time.sleep(600)")
        made = project(tmp_path, {"a.py": ""}, [hang])
        begun = asyncio.Event()
        run = ChecksRun(
            loop=LoopId("l"),
            key=Key.parse("k"),
            step="s",
            commit=made.candidate({"a.py": "1\n"}),
            base=made.base,
        )
        task = asyncio.create_task(made.checks.run(run, lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert list((tmp_path / "runs").iterdir()) == []
        assert not list((tmp_path / "verify").glob("checkout-*"))

    asyncio.run(story())


def test_two_configured_checks_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    specs = [command("a", "", after=("b",)), command("b", "", after=("a",))]
    made = project(tmp_path, {"a.py": ""}, specs)
    with pytest.raises(CheckNotRunnable, match="a and b wait for each other"):
        asyncio.run(made.report(made.base))


def test_protected_tests_run_as_they_are_in_the_base(tmp_path: Path) -> None:
    async def story() -> None:
        files = {
            "tests/test_a.py": "import a\ndef test_a():\n    assert a.x == 1\n",
            "a.py": "x = 1\n",
            "conftest.py": "",
        }
        made = project(tmp_path, files, [PYTEST], protected=("tests/**",))
        cheat = made.candidate({"a.py": "x = 2\n", "tests/test_a.py": "def test_a():\n    pass\n"})
        report = await made.report(cheat)
        assert [failure.rule for failure in report.results[0].failures] == ["tests/test_a.py::test_a"]

    asyncio.run(story())


def test_each_approved_change_is_let_in_by_itself(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"setup.cfg": "[a]\n", "tox.ini": "[b]\n", "a.py": "x = 1\n"}, [PYTEST])
        commit = made.candidate({"setup.cfg": "[c]\n", "tox.ini": "[d]\n", "a.py": "x = 2\n"})
        trust = Trust(base=made.base)
        gated = (await made.checks.examine(commit, trust)).gated
        assert {change.path for change in gated} == {"setup.cfg", "tox.ini"}
        let_in = next(change for change in gated if change.path == "tox.ini")
        seen = await made.checks.examine(commit, trust, (let_in,))
        assert [change.path for change in seen.held] == ["setup.cfg"]
        texts = await made.checks.outfit.source.texts(seen.lands, ("setup.cfg", "tox.ini", "a.py"), limit=100)
        assert texts == {"setup.cfg": "[a]", "tox.ini": "[d]", "a.py": "x = 2"}
        other = replace(let_in, blob=next(change.blob for change in gated if change is not let_in))
        assert (await made.checks.examine(commit, trust, (other,))).held == gated

    asyncio.run(story())


def test_with_a_baseline_only_new_failures_count(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, {"tests/test_a.py": BAD}, [replace(PYTEST, baseline=True)])
        same = await made.only(made.candidate({"a.py": "1\n"}))
        assert (same.passed, same.known) == (True, ("tests/test_a.py::test_three",))
        worse = await made.only(made.candidate({"tests/test_b.py": "def test_new():\n    assert 0\n"}), step="s2")
        assert (worse.passed, worse.known) == (False, ("tests/test_a.py::test_three",))
        assert [failure.rule for failure in worse.failures] == ["tests/test_b.py::test_new"]

    asyncio.run(story())
