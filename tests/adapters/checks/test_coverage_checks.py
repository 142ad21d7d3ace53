"""Coverage checks as they really run: a command, its report, git's word on what is new, the receipt."""

import asyncio
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.order import REPORT, as_run
from loopwright.adapters.from_settings import command_checks
from loopwright.config.settings import CheckSettings, Settings
from loopwright.kernel.model import CheckResult, Commit, Coverage, Key, LoopId
from loopwright.ports.checks import ChecksRun
from loopwright.testing.clock import ManualClock
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.adapters.checks.projects import Project, project
from tests.repository import Repository

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

# A tool that believes every line ran whose text does not end with `# no`.
TOOL = """\
import pathlib, sys
kind, report = sys.argv[1:3]
files = {f: f.read_text().splitlines() for f in sorted(pathlib.Path().rglob("*.py"))}
ran = {f: [(n, int(not t.endswith("# no"))) for n, t in enumerate(lines, 1) if t.strip()] for f, lines in files.items()}
if kind == "lcov":
    text = "".join(f"SF:{f}\\n" + "".join(f"DA:{n},{h}\\n" for n, h in r) + "end_of_record\\n" for f, r in ran.items())
else:
    rows = {f: "".join(f'<line number="{n}" hits="{h}"/>' for n, h in r) for f, r in ran.items()}
    classes = "".join(f'<class filename="{f}"><lines>{r}</lines></class>' for f, r in rows.items())
    source = f"<sources><source>{pathlib.Path().absolute()}</source></sources>"
    text = f'<coverage line-rate="1">{source}{classes}</coverage>'
pathlib.Path(report).write_text(text)
"""
FORMATS = ("lcov", "cobertura")
BASE = {"src/a.py": "one\ntwo\nthree # no\nfour\n", "tests/test_a.py": "test\n" * 20}


def tool(kind: str = "lcov", code: str = TOOL, **more: float | None) -> CheckSettings:
    spec = CheckSettings(name="coverage", run=(sys.executable, "-c", code, kind, REPORT), report="coverage")
    return replace(spec, **more)  # type: ignore[arg-type]


def rules(result: CheckResult) -> list[str]:
    return [finding.rule for finding in result.failures]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_the_report_says_is_in_the_result(tmp_path: Path, kind: str) -> None:
    made = project(tmp_path, BASE, [tool(kind, floor=60.0, new_code_floor=50.0)], protected=("tests/**",))
    result = asyncio.run(made.only(made.candidate({"src/a.py": "one\ntwo\nthree # no\nfour\nfive\nsix # no\n"})))
    assert (result.passed, result.tests, result.coverage) == (
        True,
        None,
        Coverage(covered=4, total=6, new_covered=1, new_total=2, floor=60.0, new_code_floor=50.0),
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_both_floors_are_held_up(tmp_path: Path, kind: str) -> None:
    made = project(tmp_path, BASE, [tool(kind, floor=75.0, new_code_floor=100.0)], protected=("tests/**",))
    result = asyncio.run(made.only(made.candidate({"src/a.py": "one\ntwo\nthree # no\nfour # no\n"})))
    assert (result.passed, rules(result)) == (False, ["coverage", "coverage-new-code"])
    assert [(found.actual, found.file, found.line) for found in result.failures] == [
        ("50% line coverage", "src/a.py", 3),
        ("0% coverage of new code", "src/a.py", 4),
    ]
    assert all(found.fingerprint for found in result.failures)


def test_a_line_that_only_moved_down_is_not_new(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [tool(new_code_floor=100.0)], protected=("tests/**",))
    result = asyncio.run(made.only(made.candidate({"src/a.py": "zero\n" + str(BASE["src/a.py"])})))
    assert result.passed
    assert result.coverage == Coverage(covered=4, total=5, new_covered=1, new_total=1, new_code_floor=100.0)


def test_lines_of_new_tests_and_of_protected_files_are_not_new_code(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [tool(new_code_floor=100.0)], protected=("tests/**", "gen/**"))
    change: dict[str, str | None] = {"tests/test_b.py": "b # no\n", "gen/b.py": "b # no\n", "src/test_c.py": "c # no\n"}
    result = asyncio.run(made.only(made.candidate(change)))
    assert result.passed
    assert result.coverage == Coverage(covered=3, total=4, new_code_floor=100.0)
    assert result.note == ""


def test_new_code_is_measured_on_the_tree_that_ran(tmp_path: Path) -> None:
    async def story() -> None:
        base = {**BASE, "guarded/a.py": "one\n"}
        made = project(tmp_path, base, [tool(new_code_floor=100.0)], protected=("tests/**", "guarded/**"))
        commit = made.candidate({"guarded/a.py": "one\ntwo # no\n", "src/b.py": "b\n"})
        report = await made.report(commit)
        (held,) = report.landing or report.results
        assert held.coverage == Coverage(covered=5, total=6, new_covered=1, new_total=1, new_code_floor=100.0)
        (shown,) = (await made.report(commit, approved=report.held)).results
        assert shown.coverage is not None
        assert (shown.coverage.total, shown.coverage.new_total) == (7, 1)

    asyncio.run(story())


NO_REPORTS = {
    "none": "",
    "empty": "open(sys.argv[2], 'w').close()",
    "nonsense": "open(sys.argv[2], 'w').write('all is well')",
    "of no line": "open(sys.argv[2], 'w').write('SF:src/a.py\\nend_of_record\\n')",
    "of no file": "open(sys.argv[2], 'w').write('SF:other.py\\nDA:1,1\\nend_of_record\\n')",
    "of tests": "open(sys.argv[2], 'w').write('SF:tests/test_a.py\\nDA:1,1\\nend_of_record\\n')",
}


@pytest.mark.parametrize("code", NO_REPORTS.values(), ids=NO_REPORTS)
def test_a_report_that_says_nothing_fails_even_without_a_floor(tmp_path: Path, code: str) -> None:
    made = project(tmp_path, BASE, [tool(code=f"import sys\n{code}")])
    result = asyncio.run(made.only(made.candidate({"src/a.py": "one\n"})))
    assert (result.passed, rules(result), result.coverage) == (False, ["no-report coverage"], None)


def test_a_report_does_not_excuse_a_command_that_fails(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [tool(code=f"{TOOL}sys.exit(3)")])
    result = asyncio.run(made.only(made.candidate({"src/a.py": "one\n"})))
    assert (result.passed, result.coverage) == (False, Coverage(covered=1, total=1, new_total=0))
    assert "ended with exit code 3" in result.failures[0].issue


def test_a_changed_file_that_no_report_has_is_noted(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [tool(code=TOOL.replace('rglob("*.py")', 'glob("src/a.py")'))])
    result = asyncio.run(made.only(made.candidate({"src/b.py": "b\n", "src/empty.py": "", "README": "b\n"})))
    assert result.note == "changed, but not in the coverage report: src/b.py"


# --- receipts and the base ------------------------------------------------------------------------


def respec(made: Project, specs: Iterable[CheckSettings]) -> None:
    made.checks = replace(made.checks, specs=tuple(specs))


def test_a_reused_result_has_its_coverage_too(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, BASE, [tool(floor=10.0)])
        commit = made.candidate({"src/b.py": "b # no\n"})
        first = await made.only(commit)
        again = await made.only(commit, step="s2")
        assert first.coverage is not None
        assert again == replace(first, reused=True, seconds=0.0)

    asyncio.run(story())


def test_a_result_does_not_outlive_its_floors(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, BASE, [tool(floor=10.0)])
        commit = made.candidate({"src/b.py": "b # no\n"})
        assert (await made.only(commit)).passed
        respec(made, [tool(floor=90.0)])
        raised = await made.only(commit, step="s2")
        assert (raised.reused, raised.passed) == (False, False)

    asyncio.run(story())


def test_a_result_does_not_outlive_its_base_because_other_lines_are_new(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, BASE, [tool()])
        commit = made.candidate({"src/b.py": "b # no\n"})
        assert (await made.only(commit)).coverage == Coverage(covered=3, total=5, new_total=1)
        made.base = commit
        moved = await made.only(commit, step="s2")
        assert (moved.reused, moved.coverage) == (False, Coverage(covered=3, total=5))

    asyncio.run(story())


def test_the_base_is_measured_anew_when_a_floor_is_raised(tmp_path: Path) -> None:
    async def story() -> None:
        made = project(tmp_path, BASE, [replace(tool(floor=70.0), baseline=True)])
        worse = await made.only(made.candidate({"src/b.py": "b # no\n"}))
        assert (worse.passed, worse.known) == (False, ())
        respec(made, [replace(tool(floor=90.0), baseline=True)])
        better = await made.only(made.candidate({"src/b.py": "b\n"}), step="s2")
        assert (better.passed, better.known) == (True, ("coverage",))

    asyncio.run(story())


def test_a_project_below_its_floor_may_go_on_if_it_gets_no_worse(tmp_path: Path) -> None:
    async def story() -> None:
        spec = replace(tool(floor=90.0), baseline=True)
        made = project(tmp_path, BASE, [spec])
        better = await made.only(made.candidate({"src/b.py": "b\n"}))
        assert (better.passed, better.known, made.checkouts.laid.count(made.base)) == (True, ("coverage",), 1)
        worse = await made.only(made.candidate({"src/b.py": "b # no\n"}), step="s2")
        assert (worse.passed, rules(worse), made.checkouts.laid.count(made.base)) == (False, ["coverage"], 1)

    asyncio.run(story())


def test_too_little_coverage_is_measured_once_and_not_taken_for_a_flaky_test(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    code = f"{TOOL}with open({str(counter)!r}, 'a') as file: file.write('x')"
    made = project(tmp_path, BASE, [tool(code=code, floor=90.0)])
    result = asyncio.run(made.only(made.candidate({"src/b.py": "b\n"})))
    assert (result.passed, result.flaky, counter.read_text()) == (False, (), "x")


def test_the_settings_of_a_check_become_its_spec() -> None:
    check = CheckSettings(name="coverage", run=("x", REPORT), report="coverage", floor=80.0, new_code_floor=90.0)
    spec = as_run(check)
    assert (spec.report, spec.floor, spec.new_code_floor) == ("coverage", 80.0, 90.0)


# --- the real tool, in real checkouts -------------------------------------------------------------

CODE = "def half(n):\n    if n % 2:\n        raise ValueError(n)\n    return n // 2\n"
MORE = "\n\ndef third(n):\n    return n // 3\n\n\ndef fourth(n):\n    return n // 4\n"
TEST = "import unittest\nfrom app import code\n\n\nclass T(unittest.TestCase):\n"
ONE = "    def test_half(self):\n        self.assertEqual(code.half(4), 2)\n"
TWO = "\n    def test_third(self):\n        self.assertEqual(code.third(9), 3)\n"
SCRIPT = """\
import subprocess, sys
python, report, kind = sys.argv[1:4]
tests = ["-m", "unittest", "discover", "-q", "-s", "tests", "-t", "."]
subprocess.run([python, "-m", "coverage", "run", "--source=.", *tests], check=True)
subprocess.run([python, "-m", "coverage", kind, "-q", "-o", report], check=True)
"""
COMMENTED = MORE.replace("fourth(n):", "fourth(n):  # pragma: no cover")


@pytest.mark.parametrize("kind", ["xml", "lcov"])
def test_coverage_py_is_understood(repo: Repository, kind: str) -> None:
    result = with_more(repo, kind, MORE)
    assert result.coverage == Coverage(
        covered=6, total=8, new_covered=3, new_total=4, floor=75.0, new_code_floor=90.0
    ), result.failures
    (found,) = result.failures
    assert (found.rule, found.actual) == ("coverage-new-code", "75% coverage of new code")
    assert (found.file, found.line) == ("app/code.py", 12)
    assert found.guidance == "Write tests that make these lines run: app/code.py:12."


def test_new_code_that_a_comment_leaves_out_counts_as_not_run(repo: Repository) -> None:
    result = with_more(repo, "xml", COMMENTED)
    assert result.coverage is not None
    assert (result.coverage.new_covered, result.coverage.new_total) == (2, 4)
    assert [(found.rule, found.line) for found in result.failures] == [("coverage-new-code", 11)]
    assert result.note == "new lines that a comment leaves out of the measure count as not run: app/code.py:11-12"


def with_more(repo: Repository, kind: str, more: str) -> CheckResult:
    run = (sys.executable, "-c", SCRIPT, sys.executable, REPORT, kind)
    check = CheckSettings(name="coverage", run=run, report="coverage", floor=75.0, new_code_floor=90.0)
    repo.write("app/__init__.py", "")
    repo.write("app/code.py", CODE)
    repo.write("tests/__init__.py", "")
    repo.write("tests/test_code.py", TEST + ONE)
    base = Commit(repo.commit("base"))
    repo.write("app/code.py", CODE + more)
    repo.write("tests/test_more.py", TEST + TWO)
    commit = Commit(repo.commit("more"))

    async def story() -> CheckResult:
        clock = ManualClock()
        store = MemoryStore(Memory(), clock)
        checks = command_checks(Settings(checks=(check,)), store, clock, root=repo.path, environ=os.environ)
        wanted = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s1", commit=commit, base=base)
        (result,) = (await checks.run(wanted, lambda _: None)).landing
        return result

    return asyncio.run(story())
