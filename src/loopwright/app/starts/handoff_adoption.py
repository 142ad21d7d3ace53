"""Going on with a story that another tool began: a quality loop at the gate its `handoff.yml` has reached."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.doors import update_door
from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.artifacts import find_targets, landed_in
from loopwright.app.starts.door import Adopter, PointedAt
from loopwright.app.starts.review import ReviewRequest, create_planned, plan_review
from loopwright.app.starts.stories import FILE_NAME, handoff_path, read_handoff
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.loops.kind import Data, Door
from loopwright.loops.quality import handoff
from loopwright.loops.quality.files import handoff_path as handoff_file
from loopwright.loops.quality.handoff_rules import PHASES
from loopwright.loops.quality.state import Gate

_GATES = (Gate.PLAN, Gate.TEST, Gate.CODE, Gate.QUALITY)  # by how many phases are complete
_COMPLETE = "complete"


async def adopt_handoff(project: Project, settings: Settings, request: PointedAt) -> View:
    """The story's next review, not yet driven. The file is only read; what it holds goes to our own handoff."""
    data = read_handoff(request.path)
    if data is None:
        raise UsageError(f"{request.path}: there is no such file")
    story, gate = str(data["story_id"]), _gate(data, request.path)
    ours = handoff_path(project.root, story)
    if ours.exists():
        raise UsageError(f"{ours} is there already, so story {story} is known here; go on with `loop review`")
    wanted = _wanted(project, request, data, gate)
    plan = plan_review(project, settings, wanted, request.cwd if request.artifact else project.root)
    target = replace(plan.targets[0], story=story, known=handoff.known(data, landed_in(project)), tier=_tier(data))
    adopted = json.dumps(data)
    loop = await create_planned(project, settings, wanted, replace(plan, targets=(target,)), adopted=adopted)
    begin = Door(
        path=handoff_file(story), change=lambda held: data if held is None else held, problems=handoff.problems
    )
    update_door(project.root, begin)
    return loop


def _gate(data: Data, file: Path) -> Gate:
    """Where the story goes on: at the first phase that is not complete."""
    done = data["completed_phases"]
    count = len(done) if isinstance(done, list) else 0
    if count >= len(PHASES) or data["current_phase"] == _COMPLETE:
        raise UsageError(f"{file}: every phase of story {data['story_id']} is complete; there is nothing to review")
    return _GATES[count]


def _tier(data: Data) -> str:
    return str(data.get("tier") or handoff.USUAL_TIER)


def _wanted(project: Project, request: PointedAt, data: Data, gate: Gate) -> ReviewRequest:
    named = (request.artifact,) if request.artifact else _named(data, gate)
    found = request.artifact or next((path for path in named if _is_here(project, path, gate)), "")
    if not found:
        raise UsageError(
            f"{request.path} names nothing for the {gate} gate that is in {project.root};"
            " say with --artifact PATH what is to be reviewed"
        )
    return ReviewRequest(paths=(found,), gate=gate, task=request.task)


def _named(data: Data, gate: Gate) -> tuple[str, ...]:
    """What the handoff names for the gate, the likeliest first."""
    summary, key = ("test_summary", "test_files") if gate is Gate.TEST else ("code_summary", "files_modified")
    made = () if gate is Gate.PLAN else _texts(_inner(data, summary).get(key))
    known = handoff.known(data)
    own = tuple(each.finding.file for each in known if each.gate == gate)
    return tuple(path for path in (*made, *own, *(each.finding.file for each in known)) if path)


def _is_here(project: Project, path: str, gate: Gate) -> bool:
    """A handoff is somebody else's file: what it names may be anywhere, and only what can be reviewed counts."""
    try:
        find_targets(project, project.root, (path,), gate, by_file=False)
    except UsageError:
        return False
    return True


def _inner(data: Data, key: str) -> Data:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _found(path: Path) -> Path | None:
    file = path / FILE_NAME if path.is_dir() else path
    return file if file.suffix in (".yml", ".yaml") and file.is_file() else None


ADOPTER = Adopter(named=f"a {FILE_NAME}", finds=_found, takes=("task", "artifact"), adopt=adopt_handoff)
