"""Going on with a workflow that another tool began, from its `workflow-state.json`. The file is only read."""

from __future__ import annotations

from pathlib import Path

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.starts.door import Adopter, PointedAt
from loopwright.app.starts.workflow.creation import WorkflowRequest, create_workflow
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.loops.workflow.state import Recalled, TakenOver
from loopwright.loops.workflow.state_file import read_state

FILE = "workflow-state.json"
_OVER = ("complete", "cancelled")


async def adopt_workflow(project: Project, settings: Settings, found: PointedAt) -> View:
    try:
        text = found.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{found.path} cannot be read: {error}") from error
    state = read_state(text, str(found.path))
    if state.stage in _OVER:
        raise UsageError(f"{found.path} is of a loop that has ended ({state.stage}); there is nothing to go on with")
    asked = WorkflowRequest(
        request=found.task or state.task,
        recalled=tuple(Recalled(title=title, text=title) for title in state.recall_surfaced),
        taken_over=TakenOver(
            stage=state.stage,
            spec=state.spec_score,
            fit=state.fit_score,
            choice=state.shape_chosen or "",
        ),
    )
    return await create_workflow(project, settings, asked)


def _found(path: Path) -> Path | None:
    file = path / FILE if path.is_dir() else path
    return file if file.name == FILE and file.is_file() else None


ADOPTER = Adopter(named=f"a {FILE}", finds=_found, takes=("task",), adopt=adopt_workflow)
