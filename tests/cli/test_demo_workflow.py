"""`loop demo --workflow`: the example of the seed with real git and real tests, to its end and at one moment of it."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from loopwright.cli.loops.start_demo import REQUEST
from loopwright.cli.sample import make_project
from tests.cli.projects import command, loop
from tests.cli.test_looking import Golden
from tests.test_schemas import mistakes

SEED = """\
**Status:** Wave 2 of 4 | Iteration 3 | Cost: $2.50/$25

## ✅ Completed (Wave 1)
- [x] T-001: Add ValidationError import to auth.ts
- [x] T-002: Add ValidationError import to api.ts

## 🔄 In Progress (Wave 2)
- [ ] T-003: Create validation schema (assigned to subagent)
- [ ] T-004: Implement validateToken

## ⏳ Pending (Wave 3+)
- [ ] T-005: Implement validateUser (blocked by T-003)
"""
METRICS = """\
## 📊 Metrics
- Tasks: 2/6 complete
- Stuck count: 0
- Counsel consulted: No
"""


@pytest.mark.slow
def test_the_demo_in_waves_ends_complete_and_leaves_what_it_speaks_of(tmp_path: Path) -> None:
    done = loop(tmp_path, "demo", "--workflow", "--at", "demo")
    folder = tmp_path / "demo"
    assert done.code == 0, done.err
    assert "│ Subjective: ~90% · Type 2B · 5pt" in done.out
    assert "What you saw\n" in done.out
    assert "Evidence: shown by " in done.out
    state = json.loads((folder / ".loop" / "workflow-state.json").read_text())
    assert mistakes("workflow-state", state) == []
    assert (state["stage"], state["spec_score"], state["fit_score"]) == ("complete", 7, 35)
    first, thorough = state["reviews"]["wave_1"], state["reviews"]["thorough"]
    assert (first["score"], first["issues"], first["blockers"]) == (8, 2, 0)
    assert (thorough["passed"], thorough["blockers_remaining"]) == (True, 0)
    progress = (folder / ".loop" / "PROGRESS.md").read_text()
    assert "- Tasks: 7/7 complete\n- Stuck count: 1\n- Counsel consulted: Yes\n" in progress
    plan = loop(folder, "plan", "--json").data
    assert [(task["id"], task["wave"], task["attempts"], task["origin"]) for task in plan["tasks"]] == [
        ("T-001", 1, 1, "plan"),
        ("T-002", 1, 1, "plan"),
        ("T-003", 2, 1, "plan"),
        ("T-004", 2, 1, "plan"),
        ("T-005", 3, 2, "plan"),
        ("T-006", 4, 1, "plan"),
        ("T-007", 5, 1, "finding"),
    ]
    (brief,) = [
        text
        for file in (folder / ".loop" / "runs").rglob("*-implement-2.1/brief.md")
        if "T-005" in (text := file.read_text())
    ]
    assert "Refuse what is no mapping, then look every field up with get." in brief
    lessons = (folder / ".loop" / "learnings" / "discoveries.jsonl").read_text()
    assert "look every field up with get" in lessons


@pytest.mark.slow
@pytest.mark.kills
def test_the_demo_in_waves_as_data(tmp_path: Path) -> None:
    done = loop(tmp_path, "demo", "--workflow", "--json", TMPDIR=str(tmp_path))
    assert done.code == 0, done.err
    assert mistakes("demo", done.data) == []
    answer = {key: done.data[key] for key in ("outcome", "merged_into", "tasks", "waves", "shape")}
    tasks = {"done": 7, "total": 7}
    assert answer == {"outcome": "complete", "merged_into": "main", "tasks": tasks, "waves": 5, "shape": "tool"}
    assert "<loop-complete>" in done.err


@pytest.mark.slow
def test_at_the_moment_the_seed_shows_the_files_are_as_the_seed_shows_them(tmp_path: Path, golden: Golden) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    make_project(folder, os.environ, "demo_workflow")
    stops_there(folder)
    progress = (folder / ".loop" / "PROGRESS.md").read_text()
    seeds = progress.replace(".py", ".ts")
    assert seeds.startswith("# Loop Progress: Add validation to auth\n\n")
    assert SEED in seeds
    assert METRICS in seeds
    golden("cli/workflow-progress.md", progress)
    state = (folder / ".loop" / "workflow-state.json").read_text()
    assert mistakes("workflow-state", json.loads(state)) == []
    times = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-02-05T10:00:00Z", state)
    golden("cli/workflow-state.json", re.sub(r"(add-validation-to-auth-h)-[0-9a-f]{6}", r"\1-1", times))


def stops_there(folder: Path) -> None:
    """One at a time, and whoever makes the third task never ends: then nothing moves any more."""
    config, script = folder / "loop.toml", folder / "scenario.toml"
    config.write_text(config.read_text().replace("parallel = 2", "parallel = 1"))
    text = script.read_text()
    slow = 'role = "developer"\ntask = "T-003"\n'
    assert slow in text
    script.write_text(text.replace(slow + 'sleep = "0.2s"\n', slow + 'fault = "hang"\n'))
    process = subprocess.Popen(
        command("start", REQUEST, "--shape", "tool", "--unattended"),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr as told:
        seen = next(line for line in told if "loop of T-003 goes on" in line)
        process.terminate()
        told.read()
    assert process.wait() == 143, seen
