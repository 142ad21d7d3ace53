"""The public Python door: the loops as plain values, and `run`, which drives one to its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loopwright.adapters.agents.callable import CallableAgent, Function
from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.people.nobody import Nobody
from loopwright.adapters.publishing import Publisher
from loopwright.assembly.feedback import FeedbackRequest, create_feedback
from loopwright.assembly.project import Project, open_project, view
from loopwright.assembly.reviews import ReviewRequest, create_review
from loopwright.assembly.running import build_world
from loopwright.config.settings import CheckSettings, LimitSettings, Settings, WorkspaceSettings
from loopwright.engine.driver import drive
from loopwright.engine.nesting import child_outcome
from loopwright.errors import UsageError
from loopwright.kernel.limits import FeedbackLimits, QualityLimits
from loopwright.kernel.model import LoopId, Outcome
from loopwright.loops.batch.state import Batch, ended

__all__ = ["Check", "Feedback", "Outcome", "Quality", "run"]


@dataclass(frozen=True, slots=True)
class Check:
    """A command that decides, run by the engine in a clean checkout of the candidate.

    With `report="junit"` or `"sarif"` and `{report}` in `run`, failures are told apart one by one.
    """

    name: str
    run: Sequence[str]
    report: Literal["junit", "sarif", "none"] = "none"
    timeout: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The tight feedback loop: implement, review, test, until verified or a limit is reached."""

    task: str
    max_iterations: int = 5
    max_consecutive_review_failures: int = 3
    max_consecutive_test_failures: int = 3
    criteria: Sequence[str] = ()
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Review, fix and re-review of artifacts (paths from the top) until they pass or a limit is reached.

    Several artifacts, or `batch`, are reviewed round by round, each in a loop of its own; the outcome's
    `parts` then say what came of each. Without `gate` and `mode` each artifact has what is usual for its name.
    """

    artifacts: str | Sequence[str]
    gate: Literal["", "plan", "test", "code", "quality", "design", "story"] = ""
    mode: Literal["", "quick", "comprehensive"] = ""
    batch: bool = False
    max_attempts: int = 3
    p1_threshold: int = 2
    parallel: int = 4
    task: str = ""
    criteria: Sequence[str] = ()
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)


def run(
    loop: Feedback | Quality,
    *,
    agents: Mapping[str, Function],
    checks: Sequence[Check] = (),
    root: str | Path = ".",
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Drive `loop` in the git repository at `root` and return how it ended.

    `agents` maps a role (`developer` and `reviewer`, optionally `tester`, for feedback; `reviewer` and
    `creator` for quality) to a callable that takes the brief as a dictionary and returns a result as a
    dictionary, or None for done. Feedback needs `checks`; quality judges without them. Nobody is asked: a
    loop that needs a person ends `escalated` here and can go on with `loop answer` and `loop resume`.
    Raises `UsageError` for what could not end well, before anything is started.
    """
    return asyncio.run(_run(loop, agents, checks, Path(root), os.environ if environ is None else environ))


async def _run(
    loop: Feedback | Quality,
    agents: Mapping[str, Function],
    checks: Sequence[Check],
    root: Path,
    environ: Mapping[str, str],
) -> Outcome:
    for role in ("developer", "reviewer") if isinstance(loop, Feedback) else ("creator", "reviewer"):
        if role not in agents:
            raise UsageError(f"agents has no {role!r}; give a callable for it")
    project = open_project(root.resolve(), environ)
    try:
        return await _drive(project, loop, agents, checks)
    finally:
        await project.store.close()


async def _drive(
    project: Project, loop: Feedback | Quality, agents: Mapping[str, Function], checks: Sequence[Check]
) -> Outcome:
    pool = AgentPool(
        roles={
            role: (CallableAgent(name=role, function=function, clock=project.clock),)
            for role, function in agents.items()
        },
        clock=project.clock,
    )
    loop_id = await _created(project, loop, tuple(agents), _settings(loop, checks))
    publisher = Publisher(project.root, _unheard, project.clock.now)
    world = await build_world(project, loop_id, people=Nobody(), observer=publisher, agent=pool)
    halt = await drive(world, loop_id)
    return halt.outcome or await _stopped(project, loop_id, child_outcome(loop_id, halt))


async def _stopped(project: Project, loop: LoopId, known: Outcome) -> Outcome:
    """Of a loop that waits for a person; of a batch also what came of each artifact, and what has landed already."""
    state = (await view(project, loop)).now.state
    if not isinstance(state, Batch):
        return known
    so_far = ended(state, known.ending)
    return replace(known, commit=so_far.commit, branch=so_far.branch, parts=so_far.parts)


async def _created(project: Project, loop: Feedback | Quality, roles: tuple[str, ...], settings: Settings) -> LoopId:
    criteria = tuple(loop.criteria)
    if isinstance(loop, Feedback):
        task = FeedbackRequest(task=loop.task, merge=loop.merge, criteria=criteria)
        return await create_feedback(project, settings, task, roles=roles)
    paths = (loop.artifacts,) if isinstance(loop.artifacts, str) else tuple(loop.artifacts)
    review = ReviewRequest(
        paths=paths,
        gate=loop.gate,
        depth=loop.mode,
        batch=loop.batch,
        merge=loop.merge,
        task=loop.task,
        criteria=criteria,
    )
    return await create_review(project, settings, review, project.root, played=roles)


def _unheard(sentence: str) -> None:
    """A file that could not be written is written by the next event or by `loop render`."""


def _settings(loop: Feedback | Quality, checks: Sequence[Check]) -> Settings:
    return Settings(
        checks=tuple(
            CheckSettings(name=check.name, run=tuple(check.run), report=check.report, timeout=check.timeout)
            for check in checks
        ),
        limits=_limits(loop),
        workspace=WorkspaceSettings(protected=tuple(loop.protected)),
    )


def _limits(loop: Feedback | Quality) -> LimitSettings:
    if isinstance(loop, Quality):
        quality = QualityLimits(max_attempts=loop.max_attempts, p1_threshold=loop.p1_threshold)
        return LimitSettings(parallel=loop.parallel, quality=quality)
    return LimitSettings(
        feedback=FeedbackLimits(
            max_feedback_iterations=loop.max_iterations,
            max_consecutive_review_failures=loop.max_consecutive_review_failures,
            max_consecutive_test_failures=loop.max_consecutive_test_failures,
        )
    )
