"""Reviews that are short, whole and the same every time, to be killed; and what must hold however often they were."""

import json
import re
import stat
import sys
from pathlib import Path
from typing import Any

from loopwright.app.loops import view
from loopwright.app.project import Project
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Checkpointed, Combined, Integrated
from loopwright.kernel.record import read_event
from loopwright.ports.store import LoopRow
from tests.e2e.kills import PRICE
from tests.e2e.scene import Scene
from tests.repository import Repository

# One script for both roles. It lies in the repository and names no path, so that every run has the same trees.
# A creator that does not find its findings beside the artifact fails, and then nothing ends as it should.
AGENT = f"""#!{sys.executable} -IS
import json, os
from pathlib import Path
run = Path(os.environ["LOOP_RESULT"]).parent.name
with open(Path(os.environ["NOTES"]) / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + run + "\\n").encode())
told = json.loads(Path(os.environ["LOOP_CONTEXT"]).read_text())
artifact, patience = Path(told["artifacts"][0]), 0
text = artifact.read_text()
result = {{"status": "done", "summary": "done", "usage": {{"usd": {PRICE}, "input_tokens": 10}}}}
if os.environ["LOOP_ROLE"] == "reviewer":
    fault = {{"severity": "critical", "file": str(artifact), "rule": "S2", "issue": "it is wrong", "evidence": "wrong"}}
    bad = [fault | {{"guidance": "make it right", "line": 2}}] if "wrong" in text else []
    result |= {{"verdict": "fail" if bad else "pass", "findings": bad}}
else:
    assert "it is wrong" in Path(told["findings_file"]).read_text()
    if "hard" not in text or int(os.environ["LOOP_ATTEMPT"]) > 1:
        artifact.write_text(text.replace("wrong", "right"))
    else:
        artifact.write_text(text + "# tried\\n")
Path(os.environ["LOOP_RESULT"]).write_text(json.dumps(result))
"""
SETTINGS = """\
version = 1
[agents.actor]
kind = "command"
argv = ["./agent.py"]
env = ["NOTES"]
[roles]
default = "actor"
[limits]
parallel = 2
"""
STORIES = {"a": "all is right\n", "b": "it is wrong\n", "c": "it is wrong and hard\n"}


def killable_stories(folder: Path) -> Scene:
    """Three stories: one passes at once, one after its first fix, one only after its second."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    for name, text in STORIES.items():
        scene.repo.write(f"stories/{name}.yml", f"id: ST-{name}\ntitle: {text}")
    scene.repo.write("loop.toml", SETTINGS)
    agent = scene.repo.write("agent.py", AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("Stories")
    return scene


# --- what must hold at the end --------------------------------------------------------------------------------


def end_of_reviews(scene: Scene) -> dict[str, object]:
    """Everything reviews leave that may not depend on when they were killed. Commits are named by their trees."""
    rows: tuple[LoopRow, ...] = scene.project(lambda project: project.store.rows())
    text = json.dumps(
        {
            "loops": {_name(row): _loop(scene, row) for row in rows},
            "person": scene.person() | {"files": {name: repr(data) for name, data in scene.files().items()}},
            "handoffs": {
                str(p.parent.name): p.read_text() for p in (scene.root / ".loop/stories").rglob("handoff.yml")
            },
            "on main": scene.repo.git("log", "--format=%s", "main"),
            "workspaces": sorted(path.name for path in (scene.root / ".worktrees").iterdir()),
        },
        sort_keys=True,
    )
    for row in rows:
        text = text.replace(row.id, f"LOOP {_name(row)}")
    text = text.replace(str(scene.root), "ROOT")
    for name in set(re.findall(r"\b[0-9a-f]{40}\b", text)):
        # YAML quotes what could be a number, which is a matter of the digits.
        text = text.replace(f'\\"{name}\\"', name).replace(name, _tree(scene, name))
    ended: dict[str, object] = json.loads(text)
    return ended


def _name(row: LoopRow) -> str:
    return str(json.loads(row.params).get("artifact", "batch"))


def _loop(scene: Scene, row: LoopRow) -> dict[str, Any]:
    now = scene.project(lambda project: view(project, row.id)).now
    return {
        "status": row.status,
        "state": json.loads(encode(now.state)),
        "outcome": row.outcome and json.loads(row.outcome),
        "flights": [str(flight.key) for flight in now.flights],
        "tokens": now.tokens,
        "reserved": row.reserved,
    }


def _tree(scene: Scene, name: str) -> str:
    is_commit = scene.repo.git("cat-file", "-t", name) == "commit"
    return scene.repo.git("rev-parse", f"{name}^{{tree}}")[:12] if is_commit else name[:12]


def landings(scene: Scene) -> list[tuple[str, str]]:
    """Every landing on record: of what, and into which branch."""
    found = [(record.loop, read_event(record)) for record in _records(scene)]
    names = {row.id: _name(row) for row in scene.project(lambda project: project.store.rows())}
    return [(names[loop], event.merged_into) for loop, event in found if isinstance(event, Integrated)]


def check_no_review_is_lost(scene: Scene) -> None:
    events = [read_event(record) for record in _records(scene)]
    named = {event.commit for event in events if isinstance(event, Checkpointed | Combined | Integrated)}
    assert named <= set(scene.repo.git("rev-list", "--all").splitlines())
    said = scene.repo.git("fsck", "--full")
    assert not [line for line in said.splitlines() if not line.startswith("dangling")]

    async def verify(project: Project) -> None:
        for row in await project.store.rows():
            await project.store.verify(row.id)

    scene.project(verify)
    root = next(row for row in scene.project(lambda project: project.store.rows()) if row.parent is None)
    least = PRICE * len(scene.noted("started"))
    assert (root.reserved, root.spent >= least - 1e-9) == (0.0, True), f"{root.spent} spent, at least {least} used"


def _records(scene: Scene) -> list[Any]:
    async def all_of(project: Project) -> list[Any]:
        rows = await project.store.rows()
        return [record for row in rows for record in await project.store.read(row.id)]

    records: list[Any] = scene.project(all_of)
    return records
