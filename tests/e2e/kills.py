"""A run that is short, whole and the same every time, to be killed; and what must hold however often it was."""

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loopwright.adapters.clock import SystemClock
from loopwright.adapters.sqlite.store import SqliteStore
from loopwright.app.project import Project
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentFailed, AgentReported, Checkpointed, Integrated
from loopwright.kernel.record import Record, read_event
from tests.e2e.scene import CHECK, TEST_ADD, Scene
from tests.forks import forks
from tests.repository import Repository

FEEDBACK = ("feedback", "Add add()", "--merge", "--unattended", "--json")
RESUME = ("resume", "--unattended", "--json")
PRICE = 0.01  # USD that each run of an agent reports
PATIENCE = 30.0  # seconds within which everything a killed controller had started is gone

# One script for both roles. It lies in the repository and names no path, so that every run has the same trees.
# It takes a moment between half a file and a whole one: that is where some of the kills must hit.
AGENT = f"""#!{sys.executable} -IS
import json, os, time
from pathlib import Path
run = Path(os.environ["LOOP_RESULT"]).parent.name
with open(Path(os.environ["NOTES"]) / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + run + "\\n").encode())
result = {{"status": "done", "summary": "done", "usage": {{"usd": {PRICE}, "input_tokens": 10}}}}
if os.environ["LOOP_ROLE"] == "developer":
    Path("calc.py").write_text("def add(a, b):")
time.sleep(0.08)
if os.environ["LOOP_ROLE"] == "developer":
    sign = "-" if os.environ["LOOP_ATTEMPT"] == "1" else "+"
    Path("calc.py").write_text("def add(a, b):\\n    return a " + sign + " b\\n")
else:
    result["verdict"] = "pass"
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
{CHECK}"""


def killable(folder: Path) -> Scene:
    """The first iteration fails its test, the second is verified and merged."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("calc.py", "def add(a, b):\n    raise NotImplementedError\n")
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_calc.py", TEST_ADD)
    scene.repo.write(".gitignore", "__pycache__/\n")
    scene.repo.write("loop.toml", SETTINGS)
    agent = scene.repo.write("agent.py", AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("A task")
    return scene


def moments(appends: int) -> list[tuple[int, str]]:
    """Just before every append, where something was done that nobody has recorded, and just after it."""
    return [(at, when) for at in range(1, appends + 1) for when in ("before", "after")]


def some_of(cases: Sequence[Any], *, every: int = 27) -> list[Any]:
    """The first, the last and some between them; the rest is for those who ask for all (`./run kills`)."""
    chosen = {0, len(cases) - 1, *range(0, len(cases), every)}
    plain = [each if isinstance(each, tuple) else (each,) for each in cases]
    return [pytest.param(*case, marks=() if at in chosen else pytest.mark.kills) for at, case in enumerate(plain)]


def notes_of(scene: Scene) -> dict[str, str]:
    """The environment by which agents know where to write down that they started."""
    return {"NOTES": str(scene.notes)}


def run_and_die(scene: Scene, what: str, at: int | str, when: str) -> subprocess.CompletedProcess[str]:
    """A controller of its own that drives `what` and dies at that append."""
    env = {**os.environ, **notes_of(scene)}
    return forks().run("tests.e2e.dying", [str(scene.root), what, str(at), when], cwd=scene.root, env=env, timeout=100)


@dataclass(slots=True)
class Witness:
    """Sees what was recorded and what had been started whenever a controller is gone."""

    scene: Scene
    _reported: frozenset[tuple[str, str]] = frozenset()
    _seen: int = 0  # lines of `started` that belong to earlier controllers

    def controller_is_gone(self) -> None:
        """Killed or not: none of its agent runs was a repetition of one whose report was recorded."""
        gone(self.scene)
        fresh = [(line.partition(" ")[0], key_of(line)) for line in self.scene.noted("started")[self._seen :]]
        assert not self._reported & set(fresh), f"run again after the report was recorded: {fresh}"
        assert len(set(fresh)) == len(fresh), f"run twice by one controller: {fresh}"
        self._seen += len(fresh)
        events = [(record.loop, read_event(record)) for record in recorded(self.scene)]
        self._reported = frozenset((loop, str(event.key)) for loop, event in events if isinstance(event, AgentReported))


def key_of(line: str) -> str:
    """The key of a run from the name of its folder, which begins with the number of the event that started it."""
    return line.partition(" ")[2].partition("-")[2]


def recorded(scene: Scene) -> tuple[Record, ...]:
    """Every log as a killed controller left it, read from a copy: to recover the file is for the next controller."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (scene.root / ".loop").glob("loop.db*"):
            shutil.copy(file, folder)
        copy = Path(folder) / "loop.db"
        return asyncio.run(_read(copy)) if copy.exists() else ()


async def _read(file: Path) -> tuple[Record, ...]:
    store = SqliteStore.open(file, SystemClock())
    try:
        return tuple([record for row in await store.rows() for record in await store.read(row.id)])
    finally:
        await store.close()


# --- what must hold at the end -----------------------------------------------------------------------


def end_state(scene: Scene) -> dict[str, object]:
    """Everything a run leaves that may not depend on when it was killed. Commits are named by their trees."""
    seen = scene.view()
    progress = scene.root / ".loop" / "feedback" / seen.row.id / "progress.json"
    whole = {
        "status": seen.row.status,
        "state": json.loads(encode(seen.now.state)),
        "outcome": json.loads(seen.row.outcome),
        "flights": len(seen.now.flights),
        "tokens": seen.now.tokens,
        "reserved": seen.row.reserved,
        "person": scene.person() | {"files": {name: repr(data) for name, data in scene.files().items()}},
        "progress": json.loads(progress.read_text()),
        "workspaces": sorted(path.name for path in (scene.root / ".worktrees").iterdir()),
    }
    text = json.dumps(whole).replace(seen.row.id, "LOOP").replace(str(scene.root), "ROOT")
    for name in set(re.findall(r"\b[0-9a-f]{40}\b", text)):
        text = text.replace(name, _named(scene, name))
    state: dict[str, object] = json.loads(re.sub(r"ROOT/.loop/verify/[0-9a-f]+", "CHECKOUT", text))
    return state


def _named(scene: Scene, name: str) -> str:
    is_commit = scene.repo.git("cat-file", "-t", name) == "commit"
    return scene.repo.git("rev-parse", f"{name}^{{tree}}")[:12] if is_commit else name[:12]


def check_nothing_is_lost(scene: Scene) -> None:
    records = scene.records()
    events = [read_event(record) for record in records]
    named = {event.commit for event in events if isinstance(event, Checkpointed | Integrated)}
    assert named <= set(scene.repo.git("rev-list", "--all").splitlines())
    said = scene.repo.git("fsck", "--full")
    assert not [line for line in said.splitlines() if not line.startswith("dangling")]
    check_the_money(scene, records)

    async def verify(project: Project) -> None:
        await project.store.verify(records[0].loop)

    scene.project(verify)


def check_the_money(scene: Scene, records: tuple[Record, ...]) -> None:
    """Nothing stays reserved; what was reported is paid, and so is every run that was cut off."""
    row, events = scene.row(), [read_event(record) for record in records]
    paid = sum(e.usage.usd or 0.0 for e in events if isinstance(e, AgentReported | AgentFailed))
    least = max(paid, PRICE * len(scene.noted("started")))
    assert (row.reserved, row.spent >= least - 1e-9) == (0.0, True), f"{row.spent} spent, at least {least} used"
    assert abs(sum(record.spend for record in records) - row.spent) < 1e-9


def gone(scene: Scene) -> None:
    """Wait until no process of any step of this repository is left; fail when one stays."""
    until = time.monotonic() + PATIENCE
    while left := of_steps(scene.root):
        assert time.monotonic() < until, f"still alive: {left}"
        time.sleep(0.01)


def of_steps(root: Path) -> list[str]:
    """Processes that carry the mark of a step of this repository, or supervise one."""
    own, found = os.fsencode(os.path.realpath(root)), []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            marked = b"LOOP_ROOT=" + own in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if marked or (b"--root" in words and own in words):
            found.append(f"{folder.name}: {words!r}")
    return found
