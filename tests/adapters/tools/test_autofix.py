from pathlib import Path
from typing import Any

import pytest

from loopwright.kernel.model import AgentStatus
from loopwright.kernel.yaml_writer import write_yaml
from tests.adapters.tools.program import NOWHERE, Candidate

UNTIDY = "import os\nimport sys\n\nx = 'a' 'b'\nprint(undefined, x == None, sys)\n"
TIDY = UNTIDY.removeprefix("import os\n")


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    candidate = Candidate(tmp_path)
    candidate.put("a.py", UNTIDY)
    return candidate


def finding(rule: str, file: str = "a.py", line: int = 1) -> dict[str, Any]:
    return {"severity": "medium", "rule": rule, "file": file, "line": line, "issue": f"{rule} is broken"}


def fixed(candidate: Candidate, *findings: dict[str, Any], artifact: str = "a.py") -> str:
    report = candidate.run("autofix", {"artifacts": [artifact], "findings": list(findings)})
    assert report.status is AgentStatus.DONE
    return report.summary


def test_a_lint_finding_is_fixed_and_nothing_else_is_touched(candidate: Candidate) -> None:
    candidate.put("b.py", UNTIDY)
    summary = fixed(candidate, finding("F401"), finding("F821", line=5), finding("return-value"))
    assert summary == "fixed 1 of 3: F401 in a.py; cannot fix: F821, return-value"
    assert (candidate.text("a.py"), candidate.text("b.py")) == (TIDY, UNTIDY)


def test_the_findings_come_from_the_file_beside_the_artifact_which_is_then_gone(candidate: Candidate) -> None:
    held = [{"severity": "P2", "check": "F401", "dimension": "", "issue": "unused", "guidance": "remove it"}]
    text = write_yaml({"story_id": "a", "verdict": "BLOCKED", "round": 1, "findings": held})
    candidate.put("a.quality.yml", text)
    context = {"artifacts": ["a.py"], "findings": [], "findings_file": "a.quality.yml"}
    assert candidate.run("autofix", context).summary == "fixed 1 of 1: F401 in a.py"
    assert candidate.text("a.py") == TIDY
    assert not (candidate.folder / "a.quality.yml").exists()


def test_the_findings_in_the_file_may_name_other_files(candidate: Candidate) -> None:
    candidate.put("b.py", UNTIDY)
    candidate.put("a.quality.yml", write_yaml({"findings": [{"check": "F401", "file": "b.py"}]}))
    context = {"artifacts": ["a.py"], "findings_file": "a.quality.yml"}
    assert candidate.run("autofix", context).summary == "fixed 1 of 1: F401 in b.py"
    assert (candidate.text("a.py"), candidate.text("b.py")) == (UNTIDY, TIDY)


@pytest.mark.parametrize("text", ["findings: &a []\n", "- 1\n", "findings: x\n", "", None])
def test_a_file_that_cannot_be_read_fails_the_run_in_one_sentence(candidate: Candidate, text: str | None) -> None:
    if text is not None:
        candidate.put("a.quality.yml", text)
    done = candidate.start("autofix", {"artifacts": ["a.py"], "findings_file": "a.quality.yml"})
    assert done.returncode == 1
    assert done.stderr.startswith("a.quality.yml")
    assert len(done.stderr.splitlines()) == 1


def test_each_file_is_fixed_by_the_rules_that_were_named_for_it(candidate: Candidate) -> None:
    candidate.put("b.py", "import os\n\ny = f'x'\n")
    assert fixed(candidate, finding("F401"), finding("F541", "b.py")) == "fixed 2 of 2: F401 in a.py, F541 in b.py"
    assert (candidate.text("a.py"), candidate.text("b.py")) == (TIDY, "import os\n\ny = 'x'\n")


def test_a_fix_that_ruff_calls_unsafe_is_not_made(candidate: Candidate) -> None:
    assert fixed(candidate, finding("E711", line=5)) == "fixed 0 of 1: nothing; cannot fix: E711"
    assert candidate.text("a.py") == UNTIDY


def test_what_need_not_be_fixed_is_mended_as_well(candidate: Candidate) -> None:
    context = {"artifacts": ["a.py"], "findings": [finding("return-value")], "observations": [finding("F401")]}
    assert candidate.run("autofix", context).summary == "fixed 1 of 2: F401 in a.py; cannot fix: return-value"
    assert candidate.text("a.py") == TIDY


@pytest.mark.parametrize(
    ("rule", "attempt", "status"),
    [("E711", 1, AgentStatus.BLOCKED), ("E711", 2, AgentStatus.DONE), ("F401", 1, AgentStatus.DONE)],
    ids=["nothing", "nothing in the last fix there is", "something"],
)
def test_whoever_can_mend_nothing_says_so_the_first_time(
    candidate: Candidate, rule: str, attempt: int, status: AgentStatus
) -> None:
    context = {"artifacts": ["a.py"], "findings": [finding(rule)], "attempt": attempt, "limit": 3}
    assert candidate.run("autofix", context).status is status


def test_nothing_to_fix_is_done_too(candidate: Candidate) -> None:
    assert fixed(candidate) == "nothing to fix: no findings were handed over"
    assert fixed(candidate, finding("S3", "s.yml"), finding("B602")) == "fixed 0 of 2: nothing; cannot fix: B602, S3"


def test_a_finding_without_a_file_is_about_the_artifact(candidate: Candidate) -> None:
    assert fixed(candidate, finding("F401", "")) == "fixed 1 of 1: F401 in a.py"


@pytest.mark.parametrize("name", ["-x.py", "@x.py", "--select=ALL.py"])
def test_a_hostile_name_is_a_file_name(candidate: Candidate, name: str) -> None:
    candidate.put(name, UNTIDY)
    assert fixed(candidate, finding("F401", name)) == f"fixed 1 of 1: F401 in {name}"
    assert candidate.text(name) == TIDY


@pytest.mark.parametrize("name", ["../outside.py", "link.py", "/etc/hosts"])
def test_nothing_outside_the_workspace_is_touched(candidate: Candidate, name: str) -> None:
    outside = candidate.base / "outside.py"
    outside.write_text(UNTIDY)
    (candidate.folder / "link.py").symlink_to(outside)
    assert fixed(candidate, finding("F401", name)) == "fixed 0 of 1: nothing; cannot fix: F401"
    assert outside.read_text() == UNTIDY


@pytest.mark.parametrize("rule", ["F401,ALL", "ALL", "--unsafe-fixes", "F"])
def test_a_rule_is_one_rule(candidate: Candidate, rule: str) -> None:
    assert fixed(candidate, finding(rule)) == f"fixed 0 of 1: nothing; cannot fix: {rule}"
    assert candidate.text("a.py") == UNTIDY


def test_without_ruff_it_says_so(tmp_path: Path) -> None:
    candidate = Candidate(tmp_path, tools=NOWHERE)
    candidate.put("a.py", UNTIDY)
    assert fixed(candidate, finding("F401")).startswith("fixed 0 of 1: ruff was not found; install it with `pip")
