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
from loopwright.app.creation import new_id
from loopwright.app.feedback import FeedbackRequest, create_feedback
from loopwright.app.project import Project, open_project, view
from loopwright.app.publication import publisher_of
from loopwright.app.reviews import ReviewRequest, create_review
from loopwright.app.ticket_queue import free_session, identified
from loopwright.app.tickets import TicketRequest, create_session, plan_session, session_of
from loopwright.app.worlds import build_world
from loopwright.config.settings import CheckSettings, LimitSettings, Settings, WorkspaceSettings
from loopwright.engine.driver import drive
from loopwright.engine.nesting import child_outcome
from loopwright.errors import UsageError
from loopwright.kernel.limits import FeedbackLimits, QualityLimits, TicketLimits
from loopwright.kernel.model import LoopId, Outcome
from loopwright.loops.batch.state import Batch, ended
from loopwright.loops.tickets.state import TicketParams

__all__ = ["Check", "Feedback", "Outcome", "Quality", "Tickets", "run"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """The ticket cycle: a creator, a critic and a judge, each try a new ticket, until one is approved.

    A criterion may begin with an id of its own, as in `AC-1: …`; without any, the title is what must hold.
    """

    title: str
    criteria: Sequence[str] = ()
    what: str = ""
    context: str = ""
    session: str = ""
    max: int = 5
    merge: bool = False
    protected: Sequence[str] = ("tests/**",)


AnyLoop = Feedback | Quality | Tickets
_NEEDED: dict[type, tuple[str, ...]] = {
    Feedback: ("developer", "reviewer"),
    Quality: ("creator", "reviewer"),
    Tickets: ("creator", "critic"),
}


def run(
    loop: AnyLoop,
    *,
    agents: Mapping[str, Function],
    checks: Sequence[Check] = (),
    root: str | Path = ".",
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Drive `loop` in the git repository at `root` and return how it ended.

    `agents` maps a role (`developer` and `reviewer`, optionally `tester`, for feedback; `reviewer` and
    `creator` for quality; `creator` and `critic`, optionally `judge`, for tickets) to a callable that takes
    the brief as a dictionary and returns a result as a dictionary, or None for done. Feedback and tickets
    need `checks`; quality judges without them. Nobody is asked: a
    loop that needs a person ends `escalated` here and can go on with `loop answer` and `loop resume`.
    Raises `UsageError` for what could not end well, before anything is started.
    """
    return asyncio.run(_run(loop, agents, checks, Path(root), os.environ if environ is None else environ))


async def _run(
    loop: AnyLoop,
    agents: Mapping[str, Function],
    checks: Sequence[Check],
    root: Path,
    environ: Mapping[str, str],
) -> Outcome:
    for role in _NEEDED[type(loop)]:
        if role not in agents:
            raise UsageError(f"agents has no {role!r}; give a callable for it")
    project = open_project(root.resolve(), environ)
    try:
        return await _drive(project, loop, agents, checks)
    finally:
        await project.store.close()


async def _drive(project: Project, loop: AnyLoop, agents: Mapping[str, Function], checks: Sequence[Check]) -> Outcome:
    pool = AgentPool(
        roles={
            role: (CallableAgent(name=role, function=function, clock=project.clock, handed=project.handed),)
            for role, function in agents.items()
        },
        clock=project.clock,
    )
    loop_id = await _created(project, loop, tuple(agents), _settings(loop, checks))
    publisher = await publisher_of(project, _unheard, loop_id)
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


async def _created(project: Project, loop: AnyLoop, roles: tuple[str, ...], settings: Settings) -> LoopId:
    criteria = tuple(loop.criteria)
    if isinstance(loop, Tickets):
        return await _session(project, loop, roles, settings)
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


async def _session(project: Project, loop: Tickets, roles: tuple[str, ...], settings: Settings) -> LoopId:
    if not loop.title.strip():
        raise UsageError("the ticket has no title; say what is to be built")
    if loop.session and await session_of(project, loop.session) is not None:
        raise UsageError(f"the session {loop.session!r} is known here already; choose another name")
    params = TicketParams(
        session=loop.session or await free_session(project, loop.title),
        title=loop.title.strip(),
        base=project.head,
        what=loop.what,
        criteria=identified(tuple(loop.criteria) or (loop.title,)),
        context=loop.context,
        limits=settings.limits.tickets,
    )
    planned = plan_session(project, settings, params, TicketRequest(merge=loop.merge), played=roles)
    return await create_session(project, settings, planned, new_id(params.session))


def _unheard(sentence: str) -> None:
    """A file that could not be written is written by the next event or by `loop render`."""


def _settings(loop: AnyLoop, checks: Sequence[Check]) -> Settings:
    return Settings(
        checks=tuple(
            CheckSettings(name=check.name, run=tuple(check.run), report=check.report, timeout=check.timeout)
            for check in checks
        ),
        limits=_limits(loop),
        workspace=WorkspaceSettings(protected=tuple(loop.protected)),
    )


def _limits(loop: AnyLoop) -> LimitSettings:
    if isinstance(loop, Quality):
        quality = QualityLimits(max_attempts=loop.max_attempts, p1_threshold=loop.p1_threshold)
        return LimitSettings(parallel=loop.parallel, quality=quality)
    if isinstance(loop, Tickets):
        return LimitSettings(tickets=TicketLimits(max=loop.max))
    return LimitSettings(
        feedback=FeedbackLimits(
            max_feedback_iterations=loop.max_iterations,
            max_consecutive_review_failures=loop.max_consecutive_review_failures,
            max_consecutive_test_failures=loop.max_consecutive_test_failures,
        )
    )
