"""Starting workflows: new ones from a request, and what is known before any agent is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from loopwright.adapters.files import locked_file, made, write_whole
from loopwright.app.creation import create_loop, new_id
from loopwright.app.layout import STATE_FOLDER
from loopwright.app.loops import Listed, View, listing
from loopwright.app.preconditions import FreeSpace, check_cast, check_ground, refuse_independent
from loopwright.app.project import Project
from loopwright.app.starts.door import Start
from loopwright.app.starts.workflow.inner import INNER, child_of, roles_needed
from loopwright.config.settings import OF_A_REQUEST, LimitSettings, Settings
from loopwright.errors import AlreadyRunning, NeedsPerson, UsageError
from loopwright.kernel.trust import Trust
from loopwright.loops.workflow.kind import Workflow
from loopwright.loops.workflow.limits import WorkflowLimits
from loopwright.loops.workflow.scoring import ShapeChoice
from loopwright.loops.workflow.state import Recalled, TakenOver, WorkflowParams

NAME = "workflow"
_LOCK = "start.lock"
SHAPES = tuple(each.value for each in ShapeChoice if each is not ShapeChoice.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRequest:
    request: str
    max_iterations: int | Literal["settings"] | None = "settings"  # None: unlimited
    budget: float | Literal["settings"] | None = "settings"  # None: no limit
    merge: bool | None = None
    shape: str = ""
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed
    keeps_behaviour: bool = False
    about: str = ""
    recalled: tuple[Recalled, ...] = ()
    attended: bool = False
    list_id: str = ""
    list_shift: int = 0
    session_only: bool = False
    taken_over: TakenOver | None = None
    originals: tuple[tuple[str, str], ...] = ()  # name and text of the files that it is taken over from


async def create_workflow(
    project: Project,
    settings: Settings,
    asked: WorkflowRequest,
    *,
    roles: tuple[str, ...] | None = None,
    free: FreeSpace | None = None,
) -> View:
    """A new workflow, not yet driven. Refuses what could not end well, before anything is made.

    It is pinned to the settings as they are: what the person said instead is its own, and another edit of the file does
    not undo it.
    """
    check_ground(project, settings, merge=bool(_merges(settings, asked)), allow=asked.allow, free=free)
    if settings.workflow.inner == "tickets":
        refuse_independent(settings, "a workflow of ticket sessions")
    if roles is None:
        check_cast(project, settings, roles_needed(settings))
    if not asked.request.strip():
        raise UsageError('the request is empty; write `loop start "what is to be done"`')
    loop = new_id(asked.request)
    params = params_of(project, limited(settings, asked), asked, roles)
    is_code = not asked.keeps_behaviour and asked.about in ("", "code")
    params = replace(params, child=child_of(settings, loop, roles, is_code=is_code))
    usd = settings.budget.usd if asked.budget == "settings" else asked.budget
    for name, text in asked.originals:
        write_whole(made(project.root, project.root / kept_in(loop)) / name, text)
    return await create_loop(project, settings, loop, params, budget=usd, unlimited=usd is None)


def kept_in(loop: str) -> str:
    """Where what it was taken over from stays as it was: its own files get the names and places of those."""
    return f"{STATE_FOLDER}/{NAME}/{loop}/adopted"


def limited(settings: Settings, asked: WorkflowRequest) -> Settings:
    """The settings with what the person said instead."""
    limits, budget = settings.limits.workflow, settings.budget
    if asked.max_iterations != "settings":
        limits = replace(limits, max_iterations=asked.max_iterations)
    if asked.budget != "settings":
        budget = replace(budget, usd=asked.budget)
    return replace(settings, limits=replace(settings.limits, workflow=limits), budget=budget)


def params_of(
    project: Project, settings: Settings, asked: WorkflowRequest, roles: tuple[str, ...] | None = None
) -> WorkflowParams:
    played = roles if roles is not None else tuple(role for role in OF_A_REQUEST if settings.agents_for(role))
    return WorkflowParams(
        request=asked.request.strip(),
        base=project.head,
        target=project.branch,
        merge=bool(_merges(settings, asked)),
        limits=settings.limits.workflow,
        parallel=settings.limits.parallel,
        cast=tuple(role for role in OF_A_REQUEST if role in played),
        checks=tuple(check.name for check in settings.checks),
        recalled=asked.recalled,
        shape=asked.shape,
        attended=asked.attended,
        inner=INNER[settings.workflow.inner],
        list_id=asked.list_id,
        list_shift=asked.list_shift,
        session_only=asked.session_only,
        trust=Trust(allow=asked.allow, in_force=True, keeps_behaviour=asked.keeps_behaviour),
        taken_over=asked.taken_over,
        shape_stays_near=True,
        keeps_grants=True,
        counsel_within_limits=True,
    )


def _merges(settings: Settings, asked: WorkflowRequest) -> bool:
    return settings.finish.merge if asked.merge is None else asked.merge


async def create_alone(project: Project, settings: Settings, asked: WorkflowRequest) -> View:
    """As `create_workflow`, where no other one is unfinished, also none that was begun at this moment.

    Raises `NeedsPerson`: two of them would work on the same tasks.
    """
    with locked_file(project.root / STATE_FOLDER / _LOCK):
        for other in await unfinished(project):
            if other.alive is not None:
                raise AlreadyRunning(other.row.id, other.alive)
            raise NeedsPerson(
                f"loop {other.row.id} is not finished; go on with it with `loop resume --loop {other.row.id}`, or end"
                f" it with `loop cancel --loop {other.row.id}`, then try again"
            )
        return await create_workflow(project, settings, asked)


async def unfinished(project: Project) -> tuple[Listed, ...]:
    """Workflows that nobody has ended: the newest first."""
    return tuple(
        each
        for each in await listing(project)
        if each.row.kind == NAME and each.row.parent is None and not each.is_over
    )


# --- from Python ------------------------------------------------------------------------------------------------------


def _limits(asked: Workflow) -> LimitSettings:
    return LimitSettings(
        workflow=WorkflowLimits(
            max_iterations=asked.max_iterations,
            max_same_failure=asked.max_same_failure,
            max_total_failures=asked.max_total_failures,
        )
    )


async def _start(project: Project, settings: Settings, asked: Workflow, roles: tuple[str, ...]) -> View:
    request = WorkflowRequest(request=asked.request, merge=asked.merge, shape=asked.shape)
    return await create_workflow(project, settings, request, roles=roles)


START = Start(limits=_limits, create=_start)
