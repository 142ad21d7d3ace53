"""A feedback loop with two plain functions as agents, in a repository made on the spot.

Run it with `python examples/polite.py`. The developer's first try is impolite, so the reviewer
sends it back; the second one passes the review and the checks. The test that comes with it fails
without the change, so it shows that the task is done.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from loopwright import Check, Feedback, Outcome, run

CODE = "def greet(name):\n    return '{}' + name\n"
TEST = """import unittest
from greeting import greet

class Greeting(unittest.TestCase):
    def test_names_the_person(self):
        self.assertIn("Ann", greet("Ann"))
"""
POLITE = """
    def test_is_polite(self):
        self.assertTrue(greet("Ann").startswith("Dear "))
"""


def developer(context: dict[str, Any]) -> dict[str, Any]:
    word = "oi " if context["attempt"] == 1 else "Dear "
    workspace = Path(context["workspace"])
    (workspace / "greeting.py").write_text(CODE.format(word))
    (workspace / "test_greeting.py").write_text(TEST + POLITE)
    return {"status": "done", "summary": f"greets with {word.strip()!r}"}


def reviewer(context: dict[str, Any]) -> dict[str, Any]:
    code = (Path(context["workspace"]) / "greeting.py").read_text()
    if "Dear" in code:
        return {"status": "done", "verdict": "pass"}
    finding = {"severity": "high", "file": "greeting.py", "issue": "the greeting is rude", "evidence": code}
    return {"status": "done", "verdict": "fail", "findings": [finding]}


def sample_repository(folder: Path) -> Path:
    (folder / "greeting.py").write_text(CODE.format(""))
    (folder / "test_greeting.py").write_text(TEST)
    git = ["git", "-C", str(folder), "-c", "user.name=Example", "-c", "user.email=example@localhost"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "A greeting"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


def main() -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(
            Feedback(task="Make greet() polite", max_iterations=3),
            agents={"developer": developer, "reviewer": reviewer},
            checks=[Check("test", [sys.executable, "-m", "unittest", "-q"])],
            root=sample_repository(Path(folder)),
        )
    print(f"{outcome.ending.value} after {outcome.attempts} iterations on branch {outcome.branch}")
    return outcome


if __name__ == "__main__":
    main()
