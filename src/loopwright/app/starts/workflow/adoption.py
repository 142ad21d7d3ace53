"""Going on with a workflow that another tool began, from its `workflow-state.json`. The file is only read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from loopwright.app.loops import View
from loopwright.app.project import Project
from loopwright.app.publication import write_at_once
from loopwright.app.starts.door import AdoptedCommand, Adopter, PointedAt, Told
from loopwright.app.starts.workflow.creation import WorkflowRequest, create_alone, kept_in
from loopwright.app.starts.workflow.task_list import with_its_tasks
from loopwright.config.plain_file import read_plain_file
from loopwright.config.settings import Settings
from loopwright.errors import ConfigError, UsageError
from loopwright.loops.workflow.beginning import AT_WORK, commands_taken_over
from loopwright.loops.workflow.shape import WorkShape
from loopwright.loops.workflow.shape_text import read_shape_page
from loopwright.loops.workflow.state import Recalled, TakenOver, TakenWave
from loopwright.loops.workflow.state_file import StateFile, read_state

FILE = "workflow-state.json"
_OVER = ("complete", "cancelled")
_SHAPE_FILE = "SHAPE.md"  # where the state file is, or in `shape/` there
_LARGEST = 1 << 20  # bytes of the state file
_LARGEST_SHAPE = 1 << 18


async def adopt_workflow(project: Project, settings: Settings, found: PointedAt) -> View:
    """Raises `NeedsPerson` while another workflow is unfinished here."""
    text = read_plain_file(found.path, str(found.path), _LARGEST)
    state = read_state(text, str(found.path))
    if state.stage in _OVER:
        raise UsageError(f"{found.path} is of a loop that has ended ({state.stage}); there is nothing to go on with")
    page = _page(found.path.parent)
    asked = WorkflowRequest(
        request=found.task or state.task,
        recalled=tuple(Recalled(title=title, text=title) for title in state.recall_surfaced),
        originals=((FILE, text), *(((_SHAPE_FILE, page[1]),) if page else ())),
    )
    taken = taken_from(state, _shape(*page) if page and state.stage != "intent" else None)
    asked = with_its_tasks(project, asked, taken) if state.stage in AT_WORK else replace(asked, taken_over=taken)
    seen = await create_alone(project, settings, asked)
    await write_at_once(project, seen, stay=_in_project(project, (found.path, *(page[:1] if page else ()))))
    return seen


def _in_project(project: Project, read: tuple[Path, ...]) -> tuple[Path, ...]:
    """As the project names them, however they were pointed at."""
    root = project.root.resolve()
    every = (path.resolve() for path in read)
    return tuple(project.root / path.relative_to(root) for path in every if path.is_relative_to(root))


def taken_from(state: StateFile, shape: WorkShape | None) -> TakenOver:
    """Its reviews are another tool's word, and are marked as that."""
    return TakenOver(
        stage=state.stage,
        spec=state.spec_score,
        fit=state.fit_score,
        choice=state.shape_chosen or "",
        started_at=state.started_at,
        waves=tuple(TakenWave(wave=wave, review=replace(seen, taken_over=True)) for wave, seen in state.waves.items()),
        thorough=replace(state.thorough, taken_over=True) if state.thorough else None,
        shape=shape,
        scores_stand=state.stage != "intent" and (state.spec_score, state.fit_score) != (None, None),
    )


def _page(folder: Path) -> tuple[Path, str] | None:
    """As it lies beside the file; None where it does not."""
    for path in (folder / "shape" / _SHAPE_FILE, folder / _SHAPE_FILE):
        with suppress(FileNotFoundError):
            return path, read_plain_file(path, str(path), _LARGEST_SHAPE, follow=False)
    return None


def _shape(path: Path, page: str) -> WorkShape:
    """Raises `ConfigError` for one that cannot be worked by."""
    shape = read_shape_page(page)
    if isinstance(shape, str):
        raise ConfigError(str(path), "", f"{shape}; mend the file or move it away, then adopt again")
    return shape


def _told(view: View) -> Told:
    state = view.now.state
    commands = tuple(AdoptedCommand(of=of, argv=argv) for of, argv in commands_taken_over(state.plan.taken_over))
    return Told(kept=kept_in(view.row.id), remarks=state.remarks, commands=commands)


def _found(path: Path) -> Path | None:
    file = path / FILE if path.is_dir() else path
    return file if file.name == FILE and file.is_file() else None


ADOPTER = Adopter(named=f"a {FILE}", finds=_found, takes=("task",), adopt=adopt_workflow, told=_told)
