from pathlib import Path

import pytest

from loopwright.kernel.model import Finding, Severity, Verdict
from tests.adapters.tools.program import NOWHERE, Candidate, brief, only, program

CRITICAL, HIGH, MEDIUM, LOW = Severity

CLEAN = '''\
"""A clean file."""


def double(number: int) -> int:
    """Twice the number."""
    return number * 2
'''


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    return Candidate(tmp_path)


@pytest.fixture
def linted(tmp_path: Path) -> Candidate:
    """For what is the same whichever tool looks."""
    return Candidate(tmp_path, tools=only(tmp_path / "tools", "ruff"))


def by_rule(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.rule: finding for finding in findings}


def test_a_clean_file_passes_and_the_summary_says_who_looked(candidate: Candidate) -> None:
    candidate.put("a.py", CLEAN)
    report = candidate.review("a.py")
    assert (report.verdict, report.findings) == (Verdict.PASS, ())
    assert report.summary == "a.py: nothing found; ran: ruff, mypy, bandit."


def test_an_undefined_name_and_an_unresolvable_import_are_critical_and_told_once(candidate: Candidate) -> None:
    candidate.put("a.py", "import nosuchmodule\n\nprint(nosuchmodule, undefined)\n")
    report = candidate.review("a.py")
    assert report.verdict is Verdict.FAIL
    assert [brief(finding) for finding in report.findings] == [
        (CRITICAL, "F821", "a.py", 3),
        (CRITICAL, "unresolved-import", "a.py", 1),
    ]
    assert [finding.evidence for finding in report.findings] == [
        "print(nosuchmodule, undefined)",
        "import nosuchmodule",
    ]
    assert all(finding.guidance for finding in report.findings)


def test_an_import_that_the_project_declares_is_only_not_installed_here(candidate: Candidate) -> None:
    candidate.put("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = ["PyNoSuchModule>=1"]\n')
    candidate.put("a.py", "import nosuchmodule\n\nprint(nosuchmodule)\n")
    report = candidate.review("a.py")
    assert report.verdict is Verdict.PASS
    assert [brief(finding) for finding in report.findings] == [(LOW, "import-not-installed", "a.py", 1)]


def test_broken_syntax_is_one_critical_finding_whoever_saw_it(candidate: Candidate) -> None:
    candidate.put("a.py", "def (:\n")
    report = candidate.review("a.py")
    assert [brief(finding) for finding in report.findings] == [(CRITICAL, "syntax-error", "a.py", 1)]


def test_a_wrong_type_is_high(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools=only(tmp_path / "tools", "mypy"))
    candidate.put("a.py", "def double(number: int) -> str:\n    return number * 2\n\n\nprint(double(2))\n")
    found = by_rule(candidate.review("a.py").findings)
    assert brief(found["return-value"]) == (HIGH, "return-value", "a.py", 2)
    assert found["return-value"].evidence == "return number * 2"


def test_an_unused_import_is_medium_with_the_tools_own_fix_as_advice(linted: Candidate) -> None:
    linted.put("a.py", "import os\n")
    report = linted.review("a.py")
    found = by_rule(report.findings)["F401"]
    assert (report.verdict, brief(found)) == (Verdict.PASS, (MEDIUM, "F401", "a.py", 1))
    assert found.guidance.startswith("Remove unused import: `os`.")


def test_what_bandit_finds_is_a_step_worse_than_bandit_says(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools=only(tmp_path / "tools", "bandit"))
    code = "import hashlib\nimport pickle\n\n\ndef f(data: bytes) -> object:\n    print(hashlib.md5(data))\n"
    candidate.put("a.py", code + "    return pickle.loads(data)\n")
    found = by_rule(candidate.review("a.py").findings)
    assert {rule: found[rule].severity for rule in ("B324", "B301", "B403")} == {
        "B324": CRITICAL,
        "B301": HIGH,
        "B403": MEDIUM,
    }
    assert found["B301"].evidence == "return pickle.loads(data)"


def test_only_the_artifact_is_judged_not_what_it_imports(candidate: Candidate) -> None:
    candidate.put("bad.py", "import os\n\n\ndef f() -> int:\n    return 'x'\n")
    candidate.put("a.py", "import bad\n\nprint(bad.f())\n")
    assert candidate.review("a.py").findings == ()


def test_a_folder_is_judged_with_everything_in_it(candidate: Candidate) -> None:
    candidate.put("src/p/__init__.py", "")
    candidate.put("src/p/a.py", "import os\n")
    candidate.put("src/p/b.py", "from p.a import os\n\nprint(os, undefined)\n")
    candidate.put("other.py", "import os\n")
    found = candidate.review("src").findings
    assert {(finding.rule, finding.file) for finding in found} >= {("F401", "src/p/a.py"), ("F821", "src/p/b.py")}
    assert not [finding for finding in found if finding.file == "other.py"]


def test_the_projects_own_configuration_of_its_tools_holds(candidate: Candidate) -> None:
    candidate.put("pyproject.toml", '[tool.ruff.lint]\nselect = ["E501"]\n[tool.bandit]\nskips = ["B404"]\n')
    candidate.put("a.py", "import os\nimport subprocess\n")
    assert candidate.review("a.py").findings == ()


def test_two_files_of_one_name_do_not_stop_the_type_check(candidate: Candidate) -> None:
    candidate.put("one/main.py", "def f() -> int:\n    return 'x'\n")
    candidate.put("two/main.py", CLEAN)
    found = candidate.review(".").findings
    assert [brief(finding) for finding in found] == [(HIGH, "return-value", "one/main.py", 2)]


def test_a_hostile_file_name_is_a_file_name(candidate: Candidate) -> None:
    names = ["-x.py", "@x.py", "a b;$(touch pwned).py", "--config=evil.py", "ünï.py"]
    for name in names:
        candidate.put(name, "import os\nprint(undefined)\n")
    found = candidate.run("review", {"artifacts": names, "gate": "code"}).findings
    rules = {name: {finding.rule for finding in found if finding.file == name} for name in names}
    assert {finding.file for finding in found} == set(names)
    assert all(of_one >= {"F821", "F401"} for of_one in rules.values()), rules
    assert not (candidate.folder / "pwned").exists()


@pytest.mark.parametrize("artifact", ["../secret.py", "/etc/passwd", "link.py", "gone.py", "folder-link"])
def test_what_is_not_in_the_candidate_is_not_judged_and_does_not_pass(candidate: Candidate, artifact: str) -> None:
    (candidate.base / "secret.py").write_text("import os\n")
    (candidate.folder / "link.py").symlink_to(candidate.base / "secret.py")
    (candidate.folder / "folder-link").symlink_to(candidate.base)
    report = candidate.review(artifact)
    assert report.verdict is Verdict.FAIL
    assert [brief(finding) for finding in report.findings] == [(HIGH, "not-judged", "", 0)]


# Tools that are not there, or that break


def test_without_any_tool_nothing_passes(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools=NOWHERE)
    candidate.put("a.py", CLEAN)
    report = candidate.review("a.py")
    (finding,) = report.findings
    assert (report.verdict, brief(finding)) == (Verdict.FAIL, (HIGH, "not-judged", "", 0))
    assert finding.evidence == "gate code; files: a.py; looked for: ruff, mypy, bandit"
    assert "pip install 'loopwright[tools]'" in finding.guidance
    assert report.summary == ("a.py: 1 finding; ran: nothing; not found: ruff, mypy, bandit; not judged: a.py.")


def test_a_language_without_a_tool_does_not_pass(candidate: Candidate) -> None:
    candidate.put("main.rs", "fn main() {}\n")
    report = candidate.review("main.rs")
    assert report.verdict is Verdict.FAIL
    assert report.findings[0].evidence == "gate code; files: main.rs; looked for: nothing fits files of this kind"


def test_files_that_no_tool_judged_are_named(candidate: Candidate) -> None:
    candidate.put("x/a.py", CLEAN)
    candidate.put("x/main.rs", "fn main() {}\n")
    candidate.put("x/app.js", "let a = 1\n")
    report = candidate.review("x")
    assert report.verdict is Verdict.PASS
    assert report.summary == (
        "x: nothing found; ran: ruff, mypy, bandit; not found: eslint; not judged: x/app.js, x/main.rs."
    )


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print('[{]')", "its output is not JSON"),
        ("print('{}')", "its output has no list of violations"),
        ("print('[1]')", "its output has no list of violations"),
        ("raise SystemExit(2)", "it ended with exit code 2"),
        ("import os; os.kill(os.getpid(), 9)", "it ended with exit code -9"),
        ("print('[' * 1_000_000)", "its output is not JSON"),
    ],
)
def test_a_tool_that_breaks_has_passed_nothing(tmp_path: Path, code: str, why: str) -> None:
    candidate = Candidate(tmp_path, tools=program(tmp_path / "bin", "ruff", code))
    candidate.put("a.py", CLEAN)
    report = candidate.review("a.py")
    (finding,) = report.findings
    assert (report.verdict, brief(finding)) == (Verdict.FAIL, (HIGH, "ruff-failed", "", 0))
    assert why in finding.issue
    assert finding.evidence
    assert finding.guidance


def test_a_tool_that_floods_is_cut_off(tmp_path: Path) -> None:
    code = "import sys\nfor _ in range(40): sys.stdout.write('x' * (1 << 20))"
    candidate = Candidate(tmp_path, tools=program(tmp_path / "bin", "ruff", code))
    candidate.put("a.py", CLEAN)
    assert [finding.rule for finding in candidate.review("a.py").findings] == ["ruff-failed"]


def test_an_older_mypy_without_json_is_understood(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "if '--output=json' in sys.argv:\n"
        "    sys.exit(sys.stderr.write('mypy: error: unrecognized arguments: --output=json') and 2)\n"
        "print('a.py:4: error: Incompatible return value type  [return-value]\\na.py:5: note: hm'); sys.exit(1)"
    )
    candidate = Candidate(tmp_path, tools=program(tmp_path / "bin", "mypy", code))
    candidate.put("a.py", CLEAN)
    assert [brief(finding) for finding in candidate.review("a.py").findings] == [(HIGH, "return-value", "a.py", 4)]


SEEN = "import sys; print('\\n'.join(a for a in sys.argv if 'python-exec' in a), file=open('seen', 'w'))"


def test_imports_are_looked_up_in_the_repositorys_own_environment(tmp_path: Path) -> None:
    program(tmp_path / ".venv" / "bin", "python", "")
    program(tmp_path / ".venv" / "bin", "mypy", SEEN)
    candidate = Candidate(tmp_path)
    candidate.put("a.py", CLEAN)
    candidate.review("a.py")
    assert candidate.text("seen") == f"--python-executable={tmp_path}/.venv/bin/python\n"


@pytest.mark.parametrize("active", [True, False])
def test_else_in_an_environment_that_is_active_and_not_in_any_python(tmp_path: Path, active: bool) -> None:  # noqa: FBT001
    program(tmp_path / "env" / "bin", "python3", "")
    if active:
        (tmp_path / "env" / "pyvenv.cfg").touch()
    candidate = Candidate(tmp_path, tools=program(tmp_path / "env" / "bin", "mypy", SEEN))
    candidate.put("a.py", CLEAN)
    candidate.review("a.py")
    assert candidate.text("seen") == (f"--python-executable={tmp_path}/env/bin/python3\n" if active else "\n")


def test_terminal_escapes_in_the_code_come_out_visible(linted: Candidate) -> None:
    linted.put("a.py", "x = undefined  # \x1b[2J\u202e\n")
    found = by_rule(linted.review("a.py").findings)["F821"]
    assert found.evidence == "x = undefined  # \\x1b[2J\\u202e"


def test_a_thousand_findings_fit_into_a_result(linted: Candidate) -> None:
    linted.put("a.py", "".join(f"print(name_{number})\n" for number in range(1000)))
    report = linted.review("a.py")
    assert len(report.findings) == 200
    assert report.summary.endswith("800 more findings are left out, the least severe.")


def test_tests_are_not_blamed_for_asserting(candidate: Candidate) -> None:
    candidate.put("tests/test_a.py", "def test_one() -> None:\n    assert 1 + 1 == 2\n")
    assert candidate.review("tests").findings == ()


def test_without_an_artifact_what_the_change_touches_is_judged(linted: Candidate) -> None:
    linted.put("a.py", "import os\n")
    linted.put("b.py", "import os\n")
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+import os\n"
    report = linted.run("review", {"artifacts": [], "diff": diff})
    assert [finding.file for finding in report.findings] == ["a.py"]
