"""Starting feedback loops: new ones, and those that another tool began."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from loopwright.app.creation import create_loop, new_id
from loopwright.app.loops import View
from loopwright.app.preconditions import FreeSpace, check_cast, check_ground, examiner_of
from loopwright.app.project import Project
from loopwright.app.starts.door import Adopter, PointedAt, Start, Task
from loopwright.config.settings import LimitSettings, Settings
from loopwright.errors import UsageError
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.progress import read_progress
from loopwright.loops.feedback.request import Feedback
from loopwright.loops.feedback.state import FeedbackParams

PROGRESS = "progress.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRequest:
    task: str
    max_iterations: int | None = None
    merge: bool | None = None
    budget: float | None = None
    criteria: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # patterns under which tests may be changed
    keeps_behaviour: bool = False
    about: str = ""


async def create_feedback(
    project: Project,
    settings: Settings,
    request: FeedbackRequest,
    *,
    roles: tuple[str, ...] | None = None,
    free: FreeSpace | None = None,
) -> View:
    """A new feedback loop, not yet driven. Refuses what could not end well, before anything is made.

    `roles` are played by agents from outside the settings.
    """
    merge = settings.finish.merge if request.merge is None else request.merge
    check_ground(project, settings, merge=merge, allow=request.allow, free=free)
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
        examiner=examiner_of(settings, roles, is_code=not request.keeps_behaviour and request.about in ("", "code")),
        criteria=request.criteria,
        limits=limits,
        trust=Trust(allow=request.allow, in_force=True, keeps_behaviour=request.keeps_behaviour),
        about=request.about,
        accepts_checked=True,
    )
    return await _create(project, settings, params, request.budget)


async def adopt_progress(project: Project, settings: Settings, found: PointedAt) -> View:
    """Carry on a feedback loop that another tool began, from its `progress.json`."""
    path = found.path
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    adopted = read_progress(text, str(path))
    if adopted.status == "IMPLEMENTATION_VERIFIED":
        raise UsageError(f"{path} is of a loop that has ended; there is nothing to go on with")
    said = found.task or adopted.feature_name
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
        examiner=examiner_of(settings),
        limits=limits,
        adopted=adopted.iterations,
        adopted_review_failures=adopted.review_failures,
        adopted_test_failures=adopted.test_failures,
        trust=Trust(in_force=True),
        accepts_checked=True,
    )
    return await _create(project, settings, params, None)


async def _create(project: Project, settings: Settings, params: FeedbackParams, budget: float | None) -> View:
    loop = new_id(params.task)
    return await create_loop(project, settings, loop, params, budget=budget)


# --- from Python, and from another tool's files -------------------------------------------------------------------


def _limits(asked: Feedback) -> LimitSettings:
    return LimitSettings(
        feedback=FeedbackLimits(
            max_feedback_iterations=asked.max_iterations,
            max_consecutive_review_failures=asked.max_consecutive_review_failures,
            max_consecutive_test_failures=asked.max_consecutive_test_failures,
        )
    )


async def _start(project: Project, settings: Settings, asked: Feedback, roles: tuple[str, ...]) -> View:
    request = FeedbackRequest(task=asked.task, merge=asked.merge, criteria=tuple(asked.criteria))
    return await create_feedback(project, settings, request, roles=roles)


async def _start_task(project: Project, settings: Settings, asked: Task) -> View:
    request = FeedbackRequest(
        task=asked.text, max_iterations=asked.attempts, merge=asked.merge, criteria=asked.criteria, allow=asked.allow
    )
    return await create_feedback(project, settings, request)


def _found(path: Path) -> Path | None:
    file = path / PROGRESS if path.is_dir() else path
    return file if file.name.endswith(PROGRESS) and file.is_file() else None


START = Start(limits=_limits, create=_start, from_task=_start_task)
ADOPTER = Adopter(named=f"a {PROGRESS}", finds=_found, takes=("task",), adopt=adopt_progress)
