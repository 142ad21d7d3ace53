"""The public Python door: the loops as plain values, and `run`, which drives one to its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loopwright.adapters.agents.callable import CallableAgent, Function
from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.people.nobody import Nobody
from loopwright.adapters.publishing import Publisher
from loopwright.assembly import FeedbackRequest, Project, build_world, create_feedback, open_project
from loopwright.config.settings import CheckSettings, LimitSettings, Settings, WorkspaceSettings
from loopwright.engine.driver import drive
from loopwright.engine.nesting import child_outcome
from loopwright.errors import UsageError
from loopwright.kernel.limits import FeedbackLimits
from loopwright.kernel.model import Outcome

__all__ = ["Check", "Feedback", "Outcome", "run"]


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


def run(
    loop: Feedback,
    *,
    agents: Mapping[str, Function],
    checks: Sequence[Check],
    root: str | Path = ".",
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Drive `loop` in the git repository at `root` and return how it ended.

    `agents` maps a role (`developer`, `reviewer`, optionally `tester`) to a callable that takes the
    brief as a dictionary and returns a result as a dictionary, or None for done. Nobody is asked: a
    loop that needs a person ends `escalated` here and can go on with `loop answer` and `loop resume`.
    Raises `UsageError` for what could not end well, before anything is started.
    """
    return asyncio.run(_run(loop, agents, checks, Path(root), os.environ if environ is None else environ))


async def _run(
    loop: Feedback,
    agents: Mapping[str, Function],
    checks: Sequence[Check],
    root: Path,
    environ: Mapping[str, str],
) -> Outcome:
    for role in ("developer", "reviewer"):
        if role not in agents:
            raise UsageError(f"agents has no {role!r}; give a callable for it")
    project = open_project(root.resolve(), environ)
    try:
        return await _drive(project, loop, agents, checks)
    finally:
        await project.store.close()


async def _drive(project: Project, loop: Feedback, agents: Mapping[str, Function], checks: Sequence[Check]) -> Outcome:
    pool = AgentPool(
        roles={
            role: (CallableAgent(name=role, function=function, clock=project.clock),)
            for role, function in agents.items()
        },
        clock=project.clock,
    )
    request = FeedbackRequest(task=loop.task, merge=loop.merge, criteria=tuple(loop.criteria))
    settings = _settings(loop, checks)
    loop_id = await create_feedback(project, settings, request, roles=tuple(agents))
    publisher = Publisher(project.root, _unheard, project.clock.now)
    world = await build_world(project, loop_id, people=Nobody(), observer=publisher, agent=pool)
    return child_outcome(loop_id, await drive(world, loop_id))


def _unheard(sentence: str) -> None:
    """A file that could not be written is written by the next event or by `loop render`."""


def _settings(loop: Feedback, checks: Sequence[Check]) -> Settings:
    limits = FeedbackLimits(
        max_feedback_iterations=loop.max_iterations,
        max_consecutive_review_failures=loop.max_consecutive_review_failures,
        max_consecutive_test_failures=loop.max_consecutive_test_failures,
    )
    return Settings(
        checks=tuple(
            CheckSettings(name=check.name, run=tuple(check.run), report=check.report, timeout=check.timeout)
            for check in checks
        ),
        limits=LimitSettings(feedback=limits),
        workspace=WorkspaceSettings(protected=tuple(loop.protected)),
    )
