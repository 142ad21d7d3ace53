"""A small repository for workflows on the command line: two tasks, scripted agents, a check that takes no time."""

import json
import sys
import time
from pathlib import Path

from tests.cli.projects import Done, Sample

# Every text in the tree has to begin with "good".
CHECK = """\
import pathlib, sys
bad = [file.name for file in pathlib.Path(".").glob("*.txt") if not file.read_text().startswith("good")]
print("bad:", bad)
sys.exit(1 if bad else 0)
"""
# Specific enough for the rules: what, where, what not, how it is seen, when it is over.
CLEAR = """\
Write one.txt and two.txt within 1 day

- one.txt must begin with "good" and two.txt must begin with "good"
- It must not change check.py
- Success: the tests pass and both files are there
- Done when the change is merged into main
"""
TWO_TASKS = """\
[[step]]
role = "planner"
repeat = true
[step.result]
status = "done"
summary = "two tasks"
[[step.result.tasks]]
id = "T-001"
subject = "Write one.txt"
verify = ["test", "-f", "one.txt"]
files = ["one.txt"]
[[step.result.tasks]]
id = "T-002"
subject = "Write two.txt"
verify = ["test", "-f", "two.txt"]
blockedBy = ["T-001"]
files = ["two.txt"]
"""
FIRST = """\
[[step]]
role = "developer"
task = "T-001"
edits = [{ path = "one.txt", content = "good one" }]
result = { status = "done", usage = { usd = 0.5 } }
"""
SECOND = """\
[[step]]
role = "developer"
task = "T-002"
edits = [{ path = "two.txt", content = "good two" }]
result = { status = "done", usage = { usd = 0.5 } }
"""
CONTENT = """\
[[step]]
role = "reviewer"
repeat = true
result = { status = "done", verdict = "pass", score = 8 }
"""
BOTH = TWO_TASKS + FIRST + SECOND + CONTENT
NEVER_GOOD = (
    TWO_TASKS
    + """\
[[step]]
role = "developer"
task = "T-001"
repeat = true
edits = [{ path = "one.txt", content = "bad one" }]
result = { status = "done" }
"""
    + CONTENT
)


def configured(*roles: str, limits: str = "") -> str:
    named = "\n".join(f'{role} = "script"' for role in roles)
    return f"""\
version = 1
[agents.script]
kind = "rehearsal"
scenario = "scenario.toml"
[roles]
default = "script"
{named}
[checks.test]
run = [{json.dumps(sys.executable)}, "check.py"]
trust = "exit-code"
[workspace]
product = ["**"]
protected = ["check.py", "loop.toml", "scenario.toml"]
{limits}
"""


def sample(path: Path, scenario: str = BOTH, *roles: str, limits: str = "") -> Sample:
    made = Sample.create(path / "repo", scenario, configured(*(roles or ("planner",)), limits=limits))
    made.repo.write("check.py", CHECK)
    made.repo.commit("The check")
    return made


def started(made: Sample, *argv: str, request: str = CLEAR, **environ: str) -> Done:
    return made.loop("start", request, "--unattended", "--json", *argv, **environ)


def learned(made: Sample) -> None:
    """Something that was learned here yesterday about writing such texts."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86_400))
    lesson = {
        "ts": moment,
        "context": "Write one.txt",
        "discovery": "one.txt must begin with good",
        "confidence": 0.9,
        "applies_to": ["one.txt"],
    }
    made.repo.write(".loop/learnings/discoveries.jsonl", json.dumps(lesson) + "\n")
