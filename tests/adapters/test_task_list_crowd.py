"""Ten processes on one list of tasks: five that write as Claude Code does, five of ours, of which two are killed."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loopwright.adapters.task_list import TaskList
from loopwright.loops.task_file import TaskFile
from tests.adapters.task_writers import ROUNDS, task_of
from tests.forks import ROOT

OURS, DOOMED = ("ours-1", "ours-2", "ours-3"), ("doomed-1", "doomed-2")
OTHERS = tuple(f"other-{number}" for number in range(1, 6))

STATUSES = ("pending", "in_progress", "in_progress", "completed")

Notes = dict[str, list[list[Any]]]


def let_loose(folder: Path, notes: Path) -> Notes:
    folder.mkdir()
    notes.mkdir()
    command = [sys.executable, "-m", "tests.adapters.task_writers", str(folder), str(notes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    killed = dict.fromkeys(DOOMED, -signal.SIGKILL)
    assert json.loads(done.stdout) == dict.fromkeys((*OURS, *OTHERS), 0) | killed
    return {file.name: [json.loads(line) for line in file.read_text().splitlines()] for file in notes.iterdir()}


def numbers(noted: Notes, name: str) -> list[int]:
    return [line[1] for line in noted[name] if line[0] == "given"]


def counts(task: TaskFile) -> dict[str, int]:
    metadata: dict[str, int] = json.loads(task.metadata.rest)
    return metadata


@pytest.mark.slow
def test_ten_processes_on_one_list_lose_and_tear_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    noted = let_loose(folder, tmp_path / "notes")
    found = TaskList(folder).look()
    assert found.left == ()
    held = {task.number: task for task in found.tasks}

    given = [number for name in noted for number in numbers(noted, name)]
    assert len(given) == len(set(given))
    for name in (*OURS, *OTHERS):
        mine = numbers(noted, name)
        assert [held[number].status for number in mine] == ["completed"] * ROUNDS
    for name in OURS:
        own = [task for task in found.tasks if task.metadata.loop_id == name]
        assert [task.subject for task in own] == [f"of {name}, {turn}" for turn in range(ROUNDS)]
        assert [task.metadata.stuck_count for task in own] == [3] * ROUNDS
    for name in OTHERS:
        counted = Counter(line[1] for line in noted[name] if line[0] == "counted")
        assert {number: counts(task)[name] for number, task in held.items() if name in counts(task)} == counted
    for name in DOOMED:
        for number, stuck in {line[1]: line[3] for line in noted[name] if line[0] == "put"}.items():
            now = held[number].metadata.stuck_count or 0
            assert now in (stuck, stuck + 1)  # the last may have been written and not noted
            assert held[number].status == STATUSES[now]

    tasks = TaskList(folder)
    for name in DOOMED:  # what the dead left is taken over, and nobody is given their numbers again
        assert tasks.put(task_of(name, number, "completed", 9) for number in numbers(noted, name)).left == ()
    assert int((folder / ".highwatermark").read_text()) >= max(given)
    assert {file.name for file in folder.iterdir() if file.suffix != ".json"} == {".lock", ".highwatermark"}
