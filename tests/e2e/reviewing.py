"""Reviews in a real repository: agents that are processes, artifacts whose marked lines are what is wrong with them."""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.loops import View, view
from loopwright.app.project import Project, open_project
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.review import ReviewRequest, create_review
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive
from loopwright.engine.world import Halt
from loopwright.kernel.actions import Ask
from loopwright.kernel.model import LoopId, Outcome
from tests.e2e.scene import Scene
from tests.repository import Repository

STORY, DESIGN, CODE = "stories/ST-1.yml", "docs/pay-design.md", "src/calc.py"
BAD = "# BUG critical ./ S2 two things in one\n"  # severity, file (`./`: the artifact itself), rule, issue
FINE = "title: a story\n"

# A line `# BUG severity file rule issue` of an artifact is a finding.
REVIEWS = """
artifact = context()["artifacts"][0]

def marked(text):
    bugs = [line.split(" ", 5)[2:] for line in text.splitlines() if line.startswith("# BUG ")]
    return [
        {"severity": severity, "file": artifact if file == "./" else file, "rule": rule, "issue": issue,
         "evidence": "the line says so", "guidance": "take the line out"}
        for severity, file, rule, issue in bugs
    ]

findings = marked(Path(artifact).read_text())
note("reviews", json.dumps({"artifact": artifact, "attempt": attempt, "told": context()["findings"],
                            "brief": Path(os.environ["LOOP_BRIEF"]).read_text(), "diff": context()["diff"]}))
"""
JUDGES = """
grave = [finding for finding in findings if finding["severity"] in ("critical", "high")]
report(verdict="fail" if grave else "pass", findings=findings)
"""
REVIEWER = REVIEWS + JUDGES

# Takes out every line whose issue it was told, in the file or inline; writes down what it saw first.
FIXES = """
told, artifact = context(), context()["artifacts"][0]
beside = Path(told["findings_file"]) if told["findings_file"] else None
text = beside.read_text() if beside else ""
shown = [root / place / beside for place in (".loop/quality", ".")] if beside else []
issues = text + " ".join(finding["issue"] for finding in told["findings"])
note("fixes", json.dumps({"artifact": artifact, "attempt": attempt, "file": text, "told": told["findings"],
                          "brief": Path(os.environ["LOOP_BRIEF"]).read_text(),
                          "for the person": next((path.read_text() for path in shown if path.is_file()), "")}))
lines = Path(artifact).read_text().splitlines(keepends=True)
kept = [line for line in lines if not (line.startswith("# BUG ") and line.split(" ", 5)[5].strip() in issues)]
Path(artifact).write_text("".join(kept))
"""
CREATOR = FIXES + "report(summary='took the lines out')\n"
# It does something, or nobody would look again: the same tree has the same verdict.
TRIES = "with Path(artifact).open('a') as file:\n    file.write(f'# tried {attempt}\\n')\n"
LEAVES_IT = FIXES.replace("# BUG ", "# NONE ") + TRIES + "report(summary='could not')\n"


def reviewed(
    folder: Path, files: dict[str, str], *, reviewer: str = REVIEWER, creator: str = CREATOR, more: str = ""
) -> Scene:
    """A repository with these files, a reviewer and a creator, all committed. There are no checks."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    for name, text in files.items():
        scene.repo.write(name, text)
    roles = '[roles]\nreviewer = "reviewer"\ncreator = "creator"\n'
    tables = (scene.agent("reviewer", reviewer), scene.agent("creator", creator))
    scene.repo.write("loop.toml", "\n".join(["version = 1", *tables, roles, more]))
    scene.repo.commit("What is to be reviewed")
    return scene


def rehearsed(folder: Path, files: dict[str, str], steps: list[dict[str, Any]], *, more: str = "") -> Scene:
    """As `reviewed`, with a rehearsal in both roles. What no step says is left to the default: done, passed."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    for name, text in files.items():
        scene.repo.write(name, text)
    scene.repo.write(
        "scenario.toml", "[default]\nlenient = true\n" + "".join(f"[[step]]\n{_toml(step)}" for step in steps)
    )
    play = '[agents.play]\nkind = "rehearsal"\nscenario = "scenario.toml"\n[roles]\ndefault = "play"\n'
    product = "" if "[workspace]" in more else '\n[workspace]\nproduct = ["**"]\n'
    scene.repo.write("loop.toml", f"version = 1\n{play}{more}{product}")
    scene.repo.commit("What is to be reviewed")
    return scene


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in table.items())


def _value(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            return json.dumps(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """How a drive came back, and the sentences that were said meanwhile."""

    loop: LoopId
    halt: Halt
    said: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        assert self.halt.outcome is not None, self.halt
        return self.halt.outcome

    @property
    def ask(self) -> Ask:
        asked = self.halt.waiting[0].what
        assert isinstance(asked, Ask)
        return asked


def review(scene: Scene, *paths: str, **request: Any) -> Reviewed:  # noqa: ANN401 - the fields of a request
    """What `loop review` does, in this process."""

    async def new(project: Project) -> View:
        wanted = ReviewRequest(paths=paths, **request)
        return await create_review(project, settings_of(project), wanted, scene.root)

    return _driven(scene, new)


def go_on(scene: Scene, loop: LoopId, *answer: str) -> Reviewed:
    """What `loop answer` and `loop resume` do; the answer is given by the real command."""
    if answer:
        scene.loop("answer", *answer, "--loop", loop)

    async def known(_project: Project) -> LoopId:
        return loop

    return _driven(scene, known)


def _driven(scene: Scene, choose: Callable[[Project], Any]) -> Reviewed:
    async def whole() -> Reviewed:
        project = open_project(scene.root, os.environ)
        said: list[str] = []
        try:
            loop = await choose(project)
            ready = await make_ready(project, loop, said.append)
            world = build_world(project, ready, people=Nobody(), observer=ready.publisher)
            return Reviewed(loop=ready.seen.row.id, halt=await drive(world, ready.seen.opened), said=tuple(said))
        finally:
            await project.store.close()

    return asyncio.run(whole())


def state_of(scene: Scene, loop: LoopId) -> Any:  # noqa: ANN401 - of whatever machine
    return scene.project(lambda project: view(project, loop)).now.state


def lines_of(scene: Scene, loop: LoopId) -> tuple[str, ...]:
    """What `loop explain` says of where the loop stands."""
    lines: tuple[str, ...] = scene.project(lambda project: view(project, loop)).standpoint.lines
    return lines


def handoff(scene: Scene, story: str) -> Any:  # noqa: ANN401 - whatever the file holds
    return yaml.safe_load((scene.root / ".loop" / "stories" / story / "handoff.yml").read_text())


def on_file(scene: Scene, story: str) -> list[tuple[str, str, str, bool]]:
    """The findings of a handoff: gate, severity, issue, resolved."""
    found = handoff(scene, story)["quality_findings"]
    return [(each["gate"], each["severity"], each["issue"], each["resolved"]) for each in found]


def seen(scene: Scene, name: str) -> list[dict[str, Any]]:
    """What the agents wrote down, one entry per run."""
    return [json.loads(line) for line in scene.noted(name)]


def ever_committed(scene: Scene) -> set[str]:
    """Every path of every commit that any ref reaches."""
    names = scene.repo.git("log", "--all", "--pretty=format:", "--name-only", "-m", "--root").splitlines()
    return {name for name in names if name}


def evidence(scene: Scene, loop: LoopId) -> list[str]:
    """The refs under which is kept what was not taken."""
    kept = f"refs/loopwright/{loop}/evidence*"
    return scene.repo.git("for-each-ref", "--format=%(refname)", kept, f"refs/loopwright/{loop}/evidence/").splitlines()
