"""Ticket sessions that are short, whole and the same every time, to be killed; and what must hold however often."""

import json
import re
import stat
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from loopwright.kernel.codec import encode
from loopwright.kernel.events import Integrated, Started
from loopwright.kernel.record import read_event
from tests.e2e.kills import PRICE
from tests.e2e.scene import CHECK, TEST_ADD, Scene
from tests.e2e.ticketing import QUEUE, files_of, observed
from tests.repository import Repository

# One script for all three roles. It lies in the repository and names no path, so that every run has the same trees.
AGENT = f"""#!{sys.executable} -IS
import json, os
from pathlib import Path
run, role = Path(os.environ["LOOP_RESULT"]).parent.name, os.environ["LOOP_ROLE"]
first = os.environ["LOOP_ATTEMPT"] == "1"
with open(Path(os.environ["NOTES"]) / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + run + "\\n").encode())
result = {{"status": "done", "summary": role + " is done", "usage": {{"usd": {PRICE}, "input_tokens": 10}}}}
if role == "creator":
    sign = "-" if first else "+"
    Path("calc.py").write_text("def add(a, b):\\n    return a " + sign + " b\\n")
elif first:
    wrong = {{"severity": "high", "rule": "sign", "issue": "it subtracts", "evidence": "calc.py:2", "file": "calc.py"}}
    result |= {{"verdict": "fail", "findings": [wrong | {{"requirement": "AC-1", "guidance": "add"}}]}}
else:
    result |= {{"verdict": "pass"}}
Path(os.environ["LOOP_RESULT"]).write_text(json.dumps(result))
"""
SETTINGS = f"""\
version = 1
[agents.actor]
kind = "command"
argv = ["./agent.py"]
env = ["NOTES"]
[roles]
default = "actor"
judge = "actor"
{CHECK}"""
TICKET = """\
---
title: Add add()
---

# Requirements

Numbers can be added.

- [ ] AC-1: Two numbers are added
- [ ] AC-2: The tests pass
"""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z")


def killable_tickets(folder: Path, more: str = "") -> Scene:
    """A ticket in the queue. Its first try subtracts, its second one is right. `more` goes into loop.toml."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("calc.py", "def add(a, b):\n    raise NotImplementedError\n")
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_calc.py", TEST_ADD)
    scene.repo.write(".gitignore", "__pycache__/\n.loop/\n")
    scene.repo.write("loop.toml", SETTINGS + more)
    agent = scene.repo.write("agent.py", AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("A task")
    scene.repo.write(f"{QUEUE}/TICKET-s.md", TICKET)
    return scene


def end_of_session(scene: Scene) -> dict[str, Any]:
    """Everything a session leaves that may not depend on when it was killed. Commits are named by their trees."""
    seen = scene.view()
    whole = {
        "status": seen.row.status,
        "state": _without_times(json.loads(encode(seen.now.state))),
        "outcome": seen.row.outcome and json.loads(seen.row.outcome),
        "flights": [str(flight.key) for flight in seen.now.flights],
        "tokens": seen.now.tokens,
        "reserved": seen.row.reserved,
        "log": [record.kind for record in scene.records() if record.kind not in ("Started", "Interrupted")],
        "person": scene.person() | {"files": {name: repr(data) for name, data in scene.files().items()}},
        "tickets": {where: files_of(scene, where) for where in ("active", "completed")},
        "queue": sorted(path.name for path in (scene.root / QUEUE).rglob("*.md")),
        "observer": {name: _without_restarts(observed(scene, name)) for name in ("iterations", "violations")},
        "workspaces": sorted(path.name for path in (scene.root / ".worktrees").iterdir()),
        "on main": scene.repo.git("log", "--format=%s", "main"),
    }
    text = _TIME.sub("TIME", json.dumps(whole).replace(str(scene.root), "ROOT"))
    for name in set(re.findall(r"\b[0-9a-f]{40}\b", text)):
        text = text.replace(name, _named(scene, name))
    ended: dict[str, Any] = json.loads(re.sub(r"ROOT/.loop/verify/[0-9a-f]+", "CHECKOUT", text))
    return ended


def _without_times(state: dict[str, Any]) -> dict[str, Any]:
    """How long a check took is in its seconds, and by them in its output and its receipt; and it runs once only."""
    for ticket in (*state["past"], state["ticket"]):
        for check in ticket["checks"] or ():
            del check["seconds"], check["output"], check["receipt"], check["reused"]
    return state


def _without_restarts(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A step that was cut off is noted as blocked and started once more; all else is as it was.

    No agent of these sessions is ever blocked otherwise.
    """
    bare = [
        {key: value for key, value in line.items() if key not in ("timestamp", "sequence", "log")}
        for line in lines
        if line.get("iteration", {}).get("status") != "blocked"
    ]
    is_again = [line == before and _is_start(line) for before, line in pairwise(bare)]
    return [line for line, again in zip(bare, [False, *is_again], strict=True) if not again]


def _is_start(line: dict[str, Any]) -> bool:
    return bool(line.get("iteration", {}).get("status") == "started")


def _named(scene: Scene, name: str) -> str:
    is_commit = scene.repo.git("cat-file", "-t", name) == "commit"
    return scene.repo.git("rev-parse", f"{name}^{{tree}}")[:12] if is_commit else name[:12]


def check_the_observer(scene: Scene) -> None:
    """As `check_lines`, with a line for every agent that was started."""
    check_lines(scene)
    started = [line for line in observed(scene, "iterations") if _is_start(line)]
    events = [read_event(record) for record in scene.records()]
    assert len(started) == sum(isinstance(event, Started) and event.action == "RunAgent" for event in events)


def check_lines(scene: Scene) -> None:
    """Every line of the observer's is there once, numbered without a gap, in the order of time."""
    for name in ("iterations", "violations"):
        lines = observed(scene, name)
        assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
        places = [(line["log"]["loop"], line["log"]["seq"], line["log"]["part"]) for line in lines]
        assert len(set(places)) == len(places) > 0
        assert [line["timestamp"] for line in lines] == sorted(line["timestamp"] for line in lines)


def made_files(folder: Path) -> dict[str, bytes]:
    """Every file that is made from the log, with its bytes."""
    found = [path for name in ("tickets", "observer") for path in (folder / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def landings(scene: Scene) -> list[str]:
    """Every landing on record: into which branch."""
    events = [read_event(record) for record in scene.records()]
    return [event.merged_into for event in events if isinstance(event, Integrated)]
