"""Checks of the person's own in place of a tool, and tools of other languages."""

import json
import sys
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.model import Severity, Verdict
from tests.adapters.tools.program import Candidate, brief, program

CRITICAL, HIGH, MEDIUM, LOW = Severity


def sarif(*results: tuple[str, str, str, int]) -> str:
    found = [
        {
            "ruleId": rule,
            "level": level,
            "message": {"text": f"{rule} is broken"},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}},
            ],
        }
        for rule, level, file, line in results
    ]
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": found}]})


def check(name: str, text: str, *, timeout: float = 60.0) -> CheckSettings:
    code = f"import sys; open(sys.argv[1], 'w').write({text!r})"
    return CheckSettings(name=name, run=(sys.executable, "-c", code, "{report}"), report="sarif", timeout=timeout)


def test_a_check_stands_in_for_the_tool_of_its_kind(tmp_path: Path) -> None:
    said = sarif(("X1", "error", "a.py", 1), ("X2", "warning", "b.py", 1))
    candidate = Candidate(tmp_path, (check("lint", said),))
    candidate.put("a.py", "import os\n")
    candidate.put("b.py", "import os\n")
    report = candidate.review("a.py")
    assert report.summary == "a.py: 1 finding; ran: check lint, mypy, bandit."
    (finding,) = report.findings
    assert brief(finding) == (HIGH, "X1", "a.py", 1)
    assert (finding.issue, finding.evidence) == ("X1 is broken", "import os")
    assert finding.guidance


@pytest.mark.parametrize(
    ("name", "rule", "level", "severity"),
    [
        ("lint", "E501", "error", LOW),
        ("lint", "F401", "error", MEDIUM),
        ("lint", "F821", "error", CRITICAL),
        ("lint", "no-undef", "error", HIGH),
        ("security", "B602", "error", CRITICAL),
        ("security", "B301", "warning", HIGH),
        ("typecheck", "arg-type", "error", HIGH),
        ("complexity", "C901", "warning", MEDIUM),
    ],
)
def test_how_bad_a_result_of_a_check_is(tmp_path: Path, name: str, rule: str, level: str, severity: Severity) -> None:
    candidate = Candidate(tmp_path, (check(name, sarif((rule, level, "a.rs", 1))),))
    candidate.put("a.rs", "fn main() {}\n")
    assert [brief(finding) for finding in candidate.review("a.rs").findings] == [(severity, rule, "a.rs", 1)]


def test_the_real_ruff_by_a_sarif_check_says_what_ruff_says(tmp_path: Path) -> None:
    run = ("ruff", "check", "--no-cache", "--select=F", "--output-format=sarif", "--output-file={report}")
    candidate = Candidate(tmp_path, (CheckSettings(name="lint", run=run, report="sarif"),))
    candidate.put("pkg/a.py", "import os\nprint(undefined)\n")
    found = candidate.review("pkg").findings
    assert [brief(finding) for finding in found] == [
        (CRITICAL, "F821", "pkg/a.py", 2),
        (MEDIUM, "F401", "pkg/a.py", 1),
    ]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (("no-such-program",), "it wrote no report (it cannot be started"),
        ((sys.executable, "-c", "print(1)"), "it wrote no report (it ended with exit code 0)"),
        ((sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write('{}')", "{report}"), "not a SARIF 2.1.0 log"),
        ((sys.executable, "-c", "while True: pass"), "it was stopped after 0.5 s"),
    ],
)
def test_a_check_without_a_report_has_passed_nothing(tmp_path: Path, run: tuple[str, ...], why: str) -> None:
    candidate = Candidate(tmp_path, (CheckSettings(name="security", run=run, report="sarif", timeout=0.5),))
    candidate.put("a.py", '"""Clean."""\n')
    report = candidate.review("a.py")
    (finding,) = report.findings
    assert (report.verdict, brief(finding)) == (Verdict.FAIL, (HIGH, "check security-failed", "", 0))
    assert why in finding.issue
    assert "[checks.security]" in finding.guidance


def test_checks_of_other_kinds_stay_out(tmp_path: Path) -> None:
    other = CheckSettings(name="lint", run=("false",), report="none")
    candidate = Candidate(tmp_path, (other, CheckSettings(name="perf", run=("false",), report="sarif")))
    candidate.put("a.py", '"""Clean."""\n')
    assert candidate.review("a.py").summary == "a.py: nothing found; ran: ruff, mypy, bandit."


# JavaScript and TypeScript


def test_eslint_is_run_where_the_project_has_it(tmp_path: Path) -> None:
    messages = [
        {"ruleId": "no-unused-vars", "severity": 2, "message": "'a' is never used.", "line": 1},
        {"ruleId": "semi", "severity": 1, "message": "Missing semicolon.", "line": 1},
        {"ruleId": None, "fatal": True, "severity": 2, "message": "Parsing error", "line": 2},
    ]
    said = [{"filePath": str(tmp_path / "candidate" / "app.js"), "messages": messages}]
    program(tmp_path / "node_modules" / ".bin", "eslint", f"print({json.dumps(said)!r}); raise SystemExit(1)")
    candidate = Candidate(tmp_path)
    candidate.put("app.js", "let a = 1\nlet\n")
    report = candidate.review("app.js")
    assert [brief(finding) for finding in report.findings] == [
        (CRITICAL, "syntax-error", "app.js", 2),
        (MEDIUM, "no-unused-vars", "app.js", 1),
        (LOW, "semi", "app.js", 1),
    ]
    assert report.summary == "app.js: 3 findings; ran: eslint."


def test_tsc_judges_the_project_and_the_artifact_is_picked_out(tmp_path: Path) -> None:
    said = "app.ts(1,5): error TS2322: Type 'string' is not assignable.\nother.ts(1,1): error TS1: x\n"
    program(tmp_path / "node_modules" / ".bin", "tsc", f"print({said!r}); raise SystemExit(2)")
    candidate = Candidate(tmp_path)
    candidate.put("app.ts", "const a: number = 'x'\n")
    assert candidate.review("app.ts").summary.startswith("app.ts: 1 finding; ran: nothing; not found: eslint, tsconfig")
    candidate.put("tsconfig.json", "{}")
    report = candidate.review("app.ts")
    assert [brief(finding) for finding in report.findings] == [(HIGH, "TS2322", "app.ts", 1)]
    assert report.findings[0].evidence == "const a: number = 'x'"


@pytest.mark.parametrize("tool", ["eslint", "tsc"])
def test_a_script_tool_that_breaks_has_passed_nothing(tmp_path: Path, tool: str) -> None:
    program(tmp_path / "node_modules" / ".bin", tool, "print('oops'); raise SystemExit(2)")
    candidate = Candidate(tmp_path)
    candidate.put("tsconfig.json", "{}")
    candidate.put("app.ts", "const a = 1\n")
    assert [finding.rule for finding in candidate.review("app.ts").findings] == [f"{tool}-failed"]
