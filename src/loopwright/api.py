"""The public Python door: `run` drives a loop to its end; which loops there are, the table of kinds says."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from loopwright.adapters.agents.callable import CallableAgent, Function
from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app import kinds
from loopwright.app.kinds import *  # noqa: F403 - the types of what may be asked for: only the table names them
from loopwright.app.loops import View
from loopwright.app.project import Project, open_project
from loopwright.app.readiness import make_ready
from loopwright.app.starts.door import Request, create_requested, kind_of
from loopwright.app.task_lists import drive_with_lists
from loopwright.app.worlds import build_world
from loopwright.config.settings import CheckSettings
from loopwright.engine.nesting import child_outcome
from loopwright.errors import UsageError
from loopwright.kernel.model import Outcome as Outcome  # noqa: PLC0414 - one of the public names
from loopwright.loops.kind import AnyKind

# Those of `loopwright`. As `__all__` a type checker would take it for the three it can read.
NAMES = ("Check", "Outcome", "run", *kinds.__all__)


@dataclass(frozen=True, slots=True)
class Check:
    """A command that decides, run by the engine in a clean checkout of the candidate.

    A known test runner in `run` is asked to count its tests by itself. With `report="junit"` or `"sarif"` and
    `{report}` in `run`, failures are told apart one by one.
    """

    name: str
    run: Sequence[str]
    report: Literal["junit", "sarif", "none"] = "none"
    timeout: float = 600.0
    trust: Literal["", "exit-code"] = ""  # your word that the exit code of a check that counts no tests is enough


def run(
    loop: Request,
    *,
    agents: Mapping[str, Function],
    checks: Sequence[Check] = (),
    root: str | Path = ".",
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Drive `loop` in the git repository at `root` and return how it ended.

    `agents` maps each role that the loop needs to a callable that takes the brief as a dictionary and returns
    a result as a dictionary, or None for done. The type of `loop` says which roles those are, and whether
    `checks` are needed. Nobody is asked: a loop that needs a person ends `escalated` here and can go on with
    `loop answer` and `loop resume`. Raises `UsageError` for what could not end well, before anything is started.
    """
    return asyncio.run(_run(loop, agents, checks, Path(root), os.environ if environ is None else environ))


async def _run(
    loop: Request,
    agents: Mapping[str, Function],
    checks: Sequence[Check],
    root: Path,
    environ: Mapping[str, str],
) -> Outcome:
    kind = kind_of(kinds.KINDS, loop)
    for role in kind.needs.roles:
        if role not in agents:
            raise UsageError(f"agents has no {role!r}; give a callable for it")
    project = open_project(root.resolve(), environ)
    try:
        made = await create_requested(project, kind, loop, _settings(checks), tuple(agents))
        return await _drive(project, made, agents)
    finally:
        await project.store.close()


async def _drive(project: Project, loop: View, agents: Mapping[str, Function]) -> Outcome:
    pool = AgentPool(
        roles={
            role: (CallableAgent(name=role, function=function, clock=project.clock, handed=project.handed),)
            for role, function in agents.items()
        },
        clock=project.clock,
    )
    ready = await make_ready(project, loop, _unheard)
    world = build_world(project, ready, people=Nobody(), observer=ready.publisher, agent=pool)
    halt = await drive_with_lists(world, ready.seen.opened, ready.publisher.lists)
    return halt.outcome or _stopped(loop.kind, halt.now.state, child_outcome(loop.row.id, halt))


def _stopped(kind: AnyKind, state: object, known: Outcome) -> Outcome:
    """Of a loop that waits for a person: also what came of each of its parts, and what has landed already."""
    so_far = kind.so_far_outcome(state, known.ending)
    if so_far is None:
        return known
    return replace(
        known,
        commit=so_far.commit,
        branch=so_far.branch,
        parts=so_far.parts,
        held=so_far.held,
        held_on=so_far.held_on,
    )


def _unheard(sentence: str) -> None:
    """A file that could not be written is written by the next event or by `loop render`."""


def _settings(checks: Sequence[Check]) -> tuple[CheckSettings, ...]:
    return tuple(
        CheckSettings(
            name=check.name, run=tuple(check.run), report=check.report, timeout=check.timeout, trust=check.trust
        )
        for check in checks
    )
