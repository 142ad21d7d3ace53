"""Workflows with real git and real processes, made of a seed: tasks that conflict, fail and poison each other.

One script plays all roles. What each task is about lies in `plot.json` beside it, so that no run depends on when it
takes place: a run that was cut off and is done again does the same.
"""

import json
import random
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopwright.app.project import Project
from loopwright.kernel.events import Checkpointed, Combined, Integrated
from loopwright.kernel.record import read_event
from tests.e2e.kills import gone, recorded
from tests.e2e.scene import CHECK, Scene
from tests.repository import Repository

REQUEST = "Add every word to its file in src/, at most 6 of them; done when all tests pass and the words are there."
START = ("start", REQUEST, "--unattended", "--json", "--shape", "tool")
ROLES = ("scorer", "shaper", "planner", "panel", "gate")

AGENT = f"""#!{sys.executable} -IS
import json, os, re, time
from pathlib import Path
role, result = os.environ["LOOP_ROLE"], Path(os.environ["LOOP_RESULT"])
with open(Path(os.environ["NOTES"]) / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + result.parent.name + "\\n").encode())
plot = json.loads((Path(os.environ["NOTES"]) / "plot.json").read_text())
said = {{"status": "done", "summary": "done", "usage": {{"usd": 0.01, "input_tokens": 10}}}}

def put(path, word):
    file = Path(path)
    file.parent.mkdir(exist_ok=True)
    words = file.read_text().splitlines() if file.exists() else []
    file.write_text("".join(f"{{each}}\\n" for each in [*(w for w in words if w not in (word, "broken")), word]))

if role == "developer":
    task = Path(os.environ["LOOP_CONTEXT"]).read_text()
    work = plot["works"][int(re.search(r"\\[\\[work (\\d+)\\]\\]", task)[1]) - 1]
    for path in work["paths"]:
        put(path, work["word"])
    time.sleep(plot["pause"])
    there = {{word for path in Path("src").glob("*.txt") for word in path.read_text().split()}}
    for one, other in plot["poison"]:
        if {{one, other}} <= there:
            put("src/cures.txt", f"cure-{{one}}-{{other}}")
    if int(os.environ["LOOP_ATTEMPT"]) <= work["fails"]:
        with open(work["paths"][0], "a") as file:
            file.write("broken\\n")
elif role == "planner":
    said["tasks"] = [work["task"] for work in plot["works"]]
elif role == "scorer":
    said["scores"] = dict.fromkeys(("outcome", "scope", "constraints", "success", "done"), 2)
elif role == "shaper":
    said["shape"] = {{"criteria": ["Every word is in its file."], "mustNot": ["It is slow.", "It is long."]}}
elif role == "panel":
    said["advice"] = {{"consensus": "Leave out what is broken."}}
else:
    said["verdict"] = "pass"
    if role == "gate":
        said["ship"] = {{"confidence": 90, "reversibility": "2B"}}
result.write_text(json.dumps(said))
"""
TEST = """\
import json
import unittest

from src.words import there_are

POISON = {poison}


class Words(unittest.TestCase):
    def test_nothing_is_broken_and_nothing_is_poisoned(self):
        there = there_are()
        self.assertNotIn("broken", there)
        for one, other in POISON:
            if {{one, other}} <= there:
                self.assertIn(f"cure-{{one}}-{{other}}", there)
"""
# The product reads its words itself: files that a test reads are the test's, and stay as they landed.
WORDS = """\
from pathlib import Path


def there_are():
    return {word for path in Path(__file__).parent.glob("*.txt") for word in path.read_text().split()}
"""
SETTINGS = """\
version = 1
[agents.actor]
kind = "command"
argv = ["./agent.py"]
env = ["NOTES"]
[roles]
default = "actor"
{roles}
[limits]
parallel = {parallel}
[workspace]
product = ["src/**"]
tests = ["tests/**"]
"""


def plot_of(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)  # noqa: S311 - the same each time is the point
    many = chance.randint(3, 6)
    works = [_work(chance, number) for number in range(1, many + 1)]
    words = [work["word"] for work in works]
    pairs = [[one, other] for at, one in enumerate(words) for other in words[at + 1 :]]
    return {
        "works": works,
        "poison": [pair for pair in pairs if chance.random() < 0.15],
        "pause": 0.02,
        "parallel": chance.randint(1, 3),
        "roles": [role for role in ROLES if role == "planner" or chance.random() < 0.4],
        "kill": [chance.uniform(0.1, 4.0), chance.uniform(0.1, 4.0)],
    }


def _work(chance: random.Random, number: int) -> dict[str, Any]:
    shared = ["src/shared.txt"] if chance.random() < 0.5 else []
    waits_for = [str(each) for each in range(1, number) if chance.random() < 1 / number]
    return task_of(number, [f"src/f{number}.txt", *shared], waits_for, fails=chance.choice((0, 0, 0, 1)))


def task_of(number: int, paths: list[str], waits_for: Sequence[str] = (), *, fails: int = 0) -> dict[str, Any]:
    """It tells of its first file only: what else it changes, others may change at the same time."""
    word = f"w{number}"
    return {
        "word": word,
        "paths": paths,
        "fails": fails,
        "task": {
            "id": str(number),
            "subject": f"Write {word}",
            "description": f"[[work {number}]]",
            "verify": ["grep", "-qx", word, paths[0]],
            "blockedBy": list(waits_for),
            "files": paths[:1],
        },
    }


def workflow_scene(folder: Path, plot: dict[str, Any]) -> Scene:
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    (scene.notes / "plot.json").write_text(json.dumps(plot))
    scene.repo.write("src/main.txt", "main\n")
    scene.repo.write("src/words.py", WORDS)
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_words.py", TEST.format(poison=plot["poison"]))
    scene.repo.write(".gitignore", "__pycache__/\n")
    roles = "".join(f'{role} = "actor"\n' for role in plot["roles"])
    scene.repo.write("loop.toml", SETTINGS.format(roles=roles, parallel=plot["parallel"]) + CHECK)
    agent = scene.repo.write("agent.py", AGENT)
    agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("A request")
    return scene


# --- what must hold at the end ---------------------------------------------------------------------------------------


def check_work(scene: Scene, plot: dict[str, Any], branch: str) -> None:
    """The branch holds every task, and each task's command passes on it."""
    held = scene.root.parent / "landed"
    scene.repo.git("worktree", "add", "--quiet", "--detach", str(held), branch)
    for work in plot["works"]:
        for path in work["paths"]:
            assert work["word"] in (held / path).read_text().splitlines(), f"{work['word']} is not in {path}"
    words = {word for path in (held / "src").glob("*.txt") for word in path.read_text().split()}
    assert "broken" not in words
    assert {f"cure-{one}-{other}" for one, other in plot["poison"]} <= words


def check_history(scene: Scene) -> None:
    """No commit is lost, none is damaged, and no log was changed."""
    gone(scene)
    events = [read_event(record) for record in recorded(scene)]
    named = {event.commit for event in events if isinstance(event, Checkpointed | Combined | Integrated)}
    kept = scene.repo.git("rev-list", "--glob=refs/loopwright", "--branches").splitlines()
    assert named <= set(kept)
    said = scene.repo.git("fsck", "--full")
    assert not [line for line in said.splitlines() if not line.startswith("dangling")]

    async def verify(project: Project) -> None:
        for row in await project.store.rows():
            await project.store.verify(row.id)
            assert (row.reserved, row.status in ("complete", "cancelled")) == (0.0, True), row

    scene.project(verify)
