"""A queue of systems with real git and real processes: one script plays all roles, whatever system it is asked for.

What it writes depends on nothing but what it is asked: a run that was cut off and is done again does the same. What
each run and each deploy was is noted outside of the repository.
"""

import json
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from loopwright.kernel.events import Integrated, Logged
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import read_event
from loopwright.loops.lifecycle.skills import JUDGES
from tests.e2e.kills import recorded
from tests.e2e.scene import CHECK, Scene
from tests.repository import Repository

RUN = ("run", "--any", "--unattended", "--json")
PAPERS = {
    "entry-portal": "DREAM-STATE",
    "requirements": "REQUIREMENTS",
    "spec": "FEATURESPEC",
    "estimation": "ESTIMATE",
    "triage": "TRIAGE",
    "architect": "ARCHITECTURE",
    "architecture-review": "ARCHITECTURE-REVIEW",
    "git-workflow": "GIT",
    "code-verification": "VERIFICATION",
    "code-validation": "VALIDATION",
    "integration-test": "VALIDATION",
    "security-audit": "VALIDATION",
    "perf-analysis": "VALIDATION",
    "document": "README",
    "code-review": "CODE-REVIEW",
    "refactor": "REFACTORING",
    "deploy": "DEPLOY",
    "retrospective": "RETROSPECTIVE",
    "calibration-tracker": "CALIBRATION",
}
AGENT = f"""#!{sys.executable} -IS
import json, os, re, subprocess, time
from pathlib import Path
notes, result = Path(os.environ["NOTES"]), Path(os.environ["LOOP_RESULT"])
role, skill = os.environ["LOOP_ROLE"], os.environ.get("LOOP_SKILL", "")
asked = Path(os.environ["LOOP_CONTEXT"]).read_text()
number = re.search(r"[Pp]art[ -](\\d+)", asked)[1]
with open(notes / "started", "ab", buffering=0) as file:
    file.write((os.environ["LOOP_ID"] + " " + result.parent.name + "\\n").encode())
said = {{"status": "done", "summary": "done", "usage": {{"usd": 0.01, "input_tokens": 10}}}}

def put(path, text):
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text[:4])
    time.sleep(0.01)
    file.write_text(text)

papers = {PAPERS!r}
slow = notes / "slow"
if slow.exists() and slow.read_text() in (skill, role):
    put("half.txt", "half done")
    (notes / "at-it").write_text("")
    time.sleep(600)
forges = notes / "forges"
if forges.exists() and skill == "architect":
    root = forges.read_text()
    tree = subprocess.check_output(["git", "-C", root, "rev-parse", "HEAD^{{tree}}"], text=True).strip()
    ref = "refs/heads/feature/system-part-1"
    me = ["-c", "user.name=kim", "-c", "user.email=kim@example.org"]
    made = ["git", *me, "-C", root, "commit-tree", "-p", ref, "-m", "By hand", tree]
    subprocess.check_call(["git", "-C", root, "update-ref", ref, subprocess.check_output(made, text=True).strip()])
    for file in Path(root).glob("domain-memory/*/systems/sys-001/loop-state.json"):
        file.write_text(file.read_text().replace('"state": "SCAFFOLD"', '"state": "INIT"'))
is_open = (notes / "undecided").exists()
both = [file for file in Path("shop").glob("*.py") if "<<<<<<<" in file.read_text() and not is_open]
for file in both:  # what either side has is kept
    kept = [line for line in file.read_text().splitlines(True) if not re.match("[<=>]{{7}}", line)]
    put(file, "".join(dict.fromkeys(kept)))
if both or (is_open and role == "developer" and Path(f"shop/part{{number}}.py").exists()):
    pass
elif role == "developer":
    put(f"shop/part{{number}}.py", f"def part():\\n    return {{number}}\\n")
elif skill == "test-generation":
    test = f"from shop.part{{number}} import part\\n\\n\\nclass Part(unittest.TestCase):\\n"
    test += f"    def test_part(self):\\n        self.assertEqual(part(), {{number}})\\n"
    put(f"tests/test_part{{number}}.py", "import unittest\\n\\n" + test)
elif skill in papers:
    text = "# Paper\\n\\nWhat was found out.\\n\\n## Integration\\n\\nFine.\\n\\n## Security\\n\\nFine.\\n"
    system = re.search(r"docs/systems/(sys-\\d+)", asked + Path(os.environ["LOOP_BRIEF"]).read_text())[1]
    put(f"docs/systems/{{system}}/{{papers[skill]}}.md", text + "\\n## Performance\\n\\nFine.\\n")
if role in ("reviewer", "critic") or skill in {JUDGES!r}:
    said["verdict"] = "pass"
result.write_text(json.dumps(said))
"""
# Each deploy is noted with the tree that it was given.
DEPLOY = f"""#!{sys.executable} -IS
import sys
from pathlib import Path
parts = ",".join(sorted(path.stem for path in Path("shop").glob("part*.py")))
with open(sys.argv[1], "ab", buffering=0) as file:
    file.write((parts + "\\n").encode())
"""
SHOP_TEST = """\
import unittest
import shop


class Shop(unittest.TestCase):
    def test_it(self):
        self.assertTrue(shop.OPEN)
"""
BUILD = json.dumps([sys.executable, "-m", "compileall", "-q", "shop"])
SETTINGS = f"""\
version = 1
[agents.actor]
kind = "command"
argv = ["./agent.py"]
env = ["NOTES"]
[roles]
default = "actor"
[autonomy]
mode = "autonomous"
[lifecycle]
scaffold = "trust"
[workspace]
product = ["shop/**"]
tests = ["tests/**"]
[deploy]
run = ["./deploy.py", "NOTES/deployed"]
[checks.build]
run = {BUILD}
{CHECK}"""


def shop(folder: Path, needs: Mapping[int, Iterable[int]]) -> Scene:
    """A queue of parts, each with the numbers of those that it depends on."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("shop/__init__.py", "OPEN = True\n")
    scene.repo.write("tests/__init__.py", "")
    scene.repo.write("tests/test_shop.py", SHOP_TEST)
    scene.repo.write(".gitignore", "__pycache__/\n")
    scene.repo.write("loop.toml", SETTINGS.replace("NOTES/", f"{scene.notes}/"))
    for name, text in (("agent.py", AGENT), ("deploy.py", DEPLOY)):
        file = scene.repo.write(name, text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    scene.repo.commit("A shop")
    for number, others in needs.items():
        waits = [word for each in others for word in ("--depends-on", f"sys-{each:03d}")]
        scene.loop("queue", "add", f"Part {number}", *waits)
    return scene


def approve_all(scene: Scene, *, but: Iterable[str] = ()) -> list[str]:
    """A person who says yes to every gate that is open; those that were answered meanwhile are nobody's fault."""
    said = []
    for gate in scene.loop("gates", "--json").json["gates"]:
        if gate["status"] == "pending" and gate["name"] not in but:
            name = f"{gate['name']}@{gate['id']}"
            scene.loop("approve", name, "--loop", gate["loop"], code=None)
            said.append(gate["name"])
    return said


def statuses(scene: Scene) -> dict[str, str]:
    return {each["id"]: each["status"] for each in scene.loop("queue", "list", "--json").json["systems"]}


# --- what must hold at the end --------------------------------------------------------------------------------------


def check_built_once(scene: Scene, needs: Mapping[int, Iterable[int]]) -> None:
    """Every system is complete, by one loop, begun after those that it needs, merged once, deployed once."""
    logs = logs_of(scene)
    systems = {each["id"]: each for each in json.loads(queue_file(scene).read_text())["systems"]}
    assert {each["status"] for each in systems.values()} == {"complete"}
    for number, others in needs.items():
        for other in others:
            assert systems[f"sys-{other:03d}"]["completedAt"] <= systems[f"sys-{number:03d}"]["startedAt"]
    assert sorted(path.stem for path in (scene.root / "shop").glob("part*.py")) == [f"part{each}" for each in needs]
    deployed = [line.split(",") for line in scene.noted("deployed")]
    assert len(deployed) == len(needs), deployed
    assert len(pulls(scene)) == len(needs)
    roots = [loop for loop in logs if loop.startswith("system-") and loop.count("-") == 1]
    assert len(roots) == len(needs), roots
    for loop in roots:
        check_landings(scene, logs[loop])
    assert scene.repo.git("status", "--porcelain", "--", "shop", "tests") == ""


def logs_of(scene: Scene) -> dict[LoopId, list[Logged]]:
    logs: dict[LoopId, list[Logged]] = {}
    for record in recorded(scene):
        logs.setdefault(record.loop, []).append(read_event(record))
    return logs


def check_landings(scene: Scene, log: list[Logged]) -> None:
    """No landing was made twice: each commit that the log names is the one commit of its step on the target."""
    landed = [event.landed for event in log if isinstance(event, Integrated)]
    messages = scene.repo.git("log", "--format=%H %s", "main").splitlines()
    assert len(set(messages)) == len(messages)
    assert set(landed) <= {line.partition(" ")[0] for line in messages}


def pulls(scene: Scene) -> list[Path]:
    return sorted((scene.root / ".loop" / "pulls").glob("*.json"))


def queue_file(scene: Scene) -> Path:
    return scene.root / "domain-memory" / "repo" / "system-queue.json"
