"""A batch of reviews with two plain functions as agents, in a repository made on the spot.

Run it with `python examples/review.py`. One note passes at once, one is mended and passes at its second
review, and one is beyond the creator: it waits for a person, with what is wrong in a file beside it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from loopwright import Outcome, Quality, run

NOTES = {"bread.md": "Bake it for an hour.\n", "soup.md": "TODO\n", "cake.md": "Ask grandmother.\n"}


def reviewer(context: dict[str, Any]) -> dict[str, Any]:
    (name,) = context["artifacts"]
    text = (Path(context["workspace"]) / name).read_text()
    if "for an hour" in text:
        return {"status": "done", "verdict": "pass"}
    finding = {
        "severity": "critical",
        "rule": "says-how-long",
        "file": name,
        "issue": "it does not say for how long",
        "evidence": text,
        "guidance": "say for how long",
    }
    return {"status": "done", "verdict": "fail", "findings": [finding]}


def creator(context: dict[str, Any]) -> dict[str, Any]:
    """In a batch the findings are in a file beside the artifact, and nowhere else."""
    (name,) = context["artifacts"]
    workspace = Path(context["workspace"])
    findings, note = (workspace / context["findings_file"]).read_text(), workspace / name
    if "say for how long" in findings and "TODO" in note.read_text():
        note.write_text("Boil it for an hour.\n")
        return {"status": "done", "summary": "said for how long"}
    return {"status": "done", "summary": "only grandmother knows"}


def sample_repository(folder: Path) -> Path:
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=Example", "-c", "user.email=example@localhost"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "Recipes"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


def main() -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(
            Quality(artifacts=sorted(NOTES), batch=True, gate="design", max_attempts=2),
            agents={"reviewer": reviewer, "creator": creator},
            root=sample_repository(Path(folder)),
        )
    for part in outcome.parts:
        print(f"{part.name}: {part.ending.value} after {part.attempts} review{'s' if part.attempts > 1 else ''}")
    print(f"{outcome.ending.value}; what passed is on branch {outcome.branch}")
    return outcome


if __name__ == "__main__":
    main()
