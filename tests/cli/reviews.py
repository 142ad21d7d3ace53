"""Scenarios for reviews: what a scripted reviewer finds in an artifact, and what a scripted creator makes of it."""

from pathlib import Path

from tests.cli.projects import CHECK, Sample

# So that somebody notices when what was fixed is broken.
READS = """\
import pathlib
for file in pathlib.Path().rglob("*.py"):
    compile(file.read_text(), str(file), "exec")
"""
PASSES = """\
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass" }
"""


def finding(artifact: str, issue: str, severity: str = "critical") -> str:
    return (
        f'{{ severity = "{severity}", rule = "R-{issue}", file = "{artifact}", line = 1, issue = "{issue}",'
        ' evidence = "x = 1", guidance = "say it better" }'
    )


def blocks(artifact: str, *findings: str, attempt: int | None = None) -> str:
    """A review that finds this; in every attempt, or in one."""
    when = "repeat = true" if attempt is None else f"attempt = {attempt}"
    found = ", ".join(findings or (finding(artifact, "it is bad"),))
    return f"""\
[[step]]
role = "reviewer"
artifact = "{artifact}"
{when}
result = {{ status = "done", verdict = "fail", findings = [{found}] }}
"""


def fixes(artifact: str, content: str = "better\\n") -> str:
    """A creator that changes it in every fix: what changes nothing is not reviewed again."""
    return "".join(
        _fix(artifact, content if number == 1 else f"{content}{number}\\n", number) for number in range(1, 7)
    )


def _fix(artifact: str, content: str, attempt: int) -> str:
    return f"""\
[[step]]
role = "creator"
artifact = "{artifact}"
attempt = {attempt}
repeat = true
edits = [{{ path = "{artifact}", content = "{content}" }}]
result = {{ status = "done", summary = "made it better" }}
"""


def reviewable(path: Path, *steps: str, files: tuple[str, ...] = ("a.py",)) -> Sample:
    """A project with these files, whose reviewer passes what no step says otherwise about."""
    sample = Sample.create(path, "".join(steps) + PASSES)
    for file in files:
        sample.repo.write(file, f"x = 1  # {file}\n")
    sample.repo.write("result.txt", "good")  # so that the check passes
    sample.repo.write("check.py", READS + CHECK)
    sample.repo.commit("Add what is reviewed")
    return sample


def unresolved(artifact: str, issue: str, severity: str = "critical") -> dict[str, object]:
    """The finding as it is answered, but for its identity."""
    return {
        "severity": severity,
        "rule": f"R-{issue}",
        "file": artifact,
        "line": 1,
        "issue": issue,
        "evidence": "x = 1",
        "guidance": "say it better",
        "text": f"{artifact}:1 - {issue}",
        **dict.fromkeys(("requirement", "category", "expected", "actual", "dimension"), ""),
        "score": None,
    }
