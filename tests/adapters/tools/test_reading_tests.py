"""The gate of tests, and suppressions in a change."""

from pathlib import Path

import pytest

from loopwright.adapters.tools.python_tests import read_tests
from loopwright.adapters.tools.suppressions import added_suppressions
from loopwright.kernel.model import Severity, Verdict
from tests.adapters.tools.program import Candidate, brief

CRITICAL, HIGH, MEDIUM, LOW = Severity


def rules(folder: Path, code: str) -> list[str]:
    (folder / "test_a.py").write_text(code)
    return [finding.rule for finding in read_tests(folder, ("test_a.py",)).findings]


@pytest.mark.parametrize(
    "code",
    [
        "def test_a():\n    f()\n",
        "def test_a():\n    pass\n",
        "async def test_a(tmp_path):\n    tmp_path.mkdir()\n",
        "class TestA:\n    def test_a(self):\n        self.run()\n",
        "def test_a():\n    test_a()\n",
    ],
)
def test_a_test_that_checks_nothing_is_found(tmp_path: Path, code: str) -> None:
    assert rules(tmp_path, code) == ["test-without-assertion"]


@pytest.mark.parametrize(
    "code",
    [
        "def test_a():\n    assert f()\n",
        "def test_a():\n    with pytest.raises(ValueError):\n        f()\n",
        "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n",
        "def test_a(golden):\n    golden('x', f())\n",
        "def same(a):\n    assert a\n\n\ndef test_a():\n    same(1)\n",
        "def test_a():\n    mock.assert_called_once()\n",
        "def test_a():\n    _check_all(1)\n",
        "def test_a():\n    raise NotImplementedError\n",
        "def helper():\n    pass\n",
        "def (:\n",
    ],
)
def test_a_test_that_may_check_something_is_left_alone(tmp_path: Path, code: str) -> None:
    assert rules(tmp_path, code) == []


@pytest.mark.parametrize(
    ("skip", "found"),
    [
        ("@pytest.mark.skip\n", True),
        ("@pytest.mark.skip()\n", True),
        ("@pytest.mark.skip(reason='')\n", True),
        ("@pytest.mark.skip(reason='slow disk')\n", False),
        ("@pytest.mark.skip('slow disk')\n", False),
        ("@unittest.skipIf(x)\n", True),
        ("@unittest.skipIf(x, 'no x')\n", False),
        ("@pytest.mark.skipif(x, reason='no x')\n", False),
        ("", False),
    ],
)
def test_a_skip_needs_a_reason(tmp_path: Path, skip: str, found: bool) -> None:  # noqa: FBT001  a table
    assert rules(tmp_path, f"{skip}def test_a():\n    assert 1\n") == (["skip-without-reason"] if found else [])
    assert rules(tmp_path, "def test_a():\n    pytest.skip()\n    assert 1\n") == ["skip-without-reason"]


def test_the_gate_of_tests_lints_and_reads_them_and_runs_nothing(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path)
    candidate.put("test_a.py", "import os\n\n\ndef test_a() -> None:\n    print(1)\n")
    report = candidate.review("test_a.py", gate="test", depth="comprehensive")
    assert report.verdict is Verdict.FAIL
    assert [brief(finding) for finding in report.findings] == [
        (HIGH, "test-without-assertion", "test_a.py", 4),
        (MEDIUM, "F401", "test_a.py", 1),
    ]
    assert report.summary == "test_a.py: 2 findings; ran: ruff, mypy, test reading."


# Suppressions


def change(text: str, file: str = "a.py", before: str = "") -> str:
    removed = "".join(f"-{line}\n" for line in before.splitlines())
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,0 +1,9 @@\n{removed}{added}"


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # noqa",
        "x = 1  #noqa: F401",
        "# ruff: noqa",
        "x = 1  # type: ignore[assignment]",
        "x = 1  # nosec",
        "if x:  # pragma: no cover",
        "x = 1  # pyright: ignore",
        "# mypy: ignore-errors",
        "# mypy: ignore_errors",
        "# mypy: strict, ignore_errors = True",
        '# mypy: disable_error_code="attr-defined"',
        "# mypy: allow-untyped-defs",
        "# mypy: follow_imports=skip",
        "# ruff: disable[E501]",
        "# flake8: noqa",
        "# pyright: basic",
        "# pyright: reportMissingImports=false",
        "# pyre-ignore[16]: why",
        "# pragma: no mutate",
        "# nosemgrep",
        "// biome-ignore lint/x: y",
        "// deno-lint-ignore-file",
        "/* eslint no-console: 0 */",
        "/* istanbul ignore next */",
        "// @ts-nocheck",
        "//nolint:errcheck",
        "# pylint: disable=all",
        "# eslint-disable is not for Python but // eslint-disable-next-line is meant",
        "/* eslint-disable */",
        "// @ts-ignore",
    ],
)
def test_a_suppression_that_a_change_adds_is_high(tmp_path: Path, line: str) -> None:
    file = "a.ts" if "//" in line or "/*" in line else "a.py"
    (finding,) = added_suppressions(change(f"y = 2\n{line}\n", file), tmp_path)
    assert (brief(finding), finding.evidence) == ((HIGH, "suppression", file, 2), line)


@pytest.mark.parametrize("line", ["# mypy: strict", "# pyright: strict", "x = eslint", "# knows", "// lint the rest"])
def test_what_asks_for_more_is_no_suppression(tmp_path: Path, line: str) -> None:
    assert added_suppressions(change(f"y = 2\n{line}\n", "a.ts" if "//" in line else "a.py"), tmp_path) == ()


def test_what_was_there_before_or_is_only_spoken_of_is_no_suppression(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('RULE = "# noqa"\nx = 1\n')
    assert added_suppressions(change('RULE = "# noqa"\n'), tmp_path) == ()
    assert added_suppressions(change("    x = 1  # noqa", "b.py", before="x = 1  # noqa"), tmp_path) == ()
    assert added_suppressions(change("use `# noqa` with care", "README.md"), tmp_path) == ()
    assert added_suppressions(change("", before="x = 1  # noqa"), tmp_path) == ()


def test_a_comment_is_told_from_a_string_by_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('RULE = "# noqa"\nx = undefined  # noqa\n')
    (finding,) = added_suppressions(change('RULE = "# noqa"\nx = undefined  # noqa\n'), tmp_path)
    assert finding.line == 2


def test_a_review_blocks_a_suppression_that_hides_what_was_found(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path)
    line = "print(undefined)  # type: ignore # noqa"
    candidate.put("a.py", f"{line}\n")
    assert candidate.review("a.py", diff=change(line), attempt=1).verdict is Verdict.PASS  # it is the person's own
    report = candidate.review("a.py", diff=change(line), attempt=2)
    assert (report.verdict, [brief(finding) for finding in report.findings]) == (
        Verdict.FAIL,
        [(HIGH, "suppression", "a.py", 1)],
    )
