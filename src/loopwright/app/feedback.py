"""Starting feedback loops: new ones, and those that another tool began."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.app.creation import create_loop, new_id
from loopwright.app.preconditions import FreeSpace, check_cast, check_ground
from loopwright.app.project import Project
from loopwright.config.settings import Settings
from loopwright.errors import UsageError
from loopwright.kernel.codec import encode
from loopwright.kernel.model import LoopId
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.progress import read_progress
from loopwright.loops.feedback.state import FeedbackParams


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRequest:
    task: str
    max_iterations: int | None = None
    merge: bool | None = None
    budget: float | None = None
    criteria: tuple[str, ...] = ()


async def create_feedback(
    project: Project,
    settings: Settings,
    request: FeedbackRequest,
    *,
    roles: tuple[str, ...] | None = None,
    free: FreeSpace | None = None,
) -> LoopId:
    """A new feedback loop, not yet driven. Refuses what could not end well, before anything is made.

    `roles` are played by agents from outside the settings.
    """
    merge = settings.finish.merge if request.merge is None else request.merge
    check_ground(project, settings, merge=merge, free=free)
    if roles is None:
        check_cast(project, settings)
    if not request.task.strip():
        raise UsageError("the task is empty; say what is to be done")
    limits = settings.limits.feedback
    if request.max_iterations is not None:
        limits = replace(limits, max_feedback_iterations=request.max_iterations)
    params = FeedbackParams(
        task=request.task.strip(),
        base=project.head,
        target=project.branch,
        merge=merge,
        tester="tester" in roles if roles is not None else bool(settings.agents_for("tester")),
        criteria=request.criteria,
        limits=limits,
    )
    return await _create(project, settings, params, request.budget)


async def adopt_progress(project: Project, settings: Settings, path: Path, task: str | None) -> LoopId:
    """Carry on a feedback loop that another tool began, from its `progress.json`, which is only read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    adopted = read_progress(text, str(path))
    if adopted.status == "IMPLEMENTATION_VERIFIED":
        raise UsageError(f"{path} is of a loop that has ended; there is nothing to go on with")
    said = task or adopted.feature_name
    if not said:
        raise UsageError(f"{path} does not say what the task is; give it with --task")
    check_ground(project, settings, merge=settings.finish.merge)
    check_cast(project, settings)
    limits = replace(settings.limits.feedback, max_feedback_iterations=adopted.max_iterations)
    params = FeedbackParams(
        task=said,
        base=project.head,
        target=project.branch,
        merge=settings.finish.merge,
        tester=bool(settings.agents_for("tester")),
        limits=limits,
        adopted=adopted.iterations,
        adopted_review_failures=adopted.review_failures,
        adopted_test_failures=adopted.test_failures,
    )
    return await _create(project, settings, params, None)


async def _create(project: Project, settings: Settings, params: FeedbackParams, budget: float | None) -> LoopId:
    loop = new_id(params.task)
    return await create_loop(project, settings, loop, kind=FEEDBACK.name, params=encode(params), budget=budget)
