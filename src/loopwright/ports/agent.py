"""Whoever does the work: a coding agent, a script, a Python callable, a scripted rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loopwright.kernel.events import AgentFailed, AgentReported, AgentUnavailable
from loopwright.kernel.model import Brief, Key, LoopId

AgentAnswer = AgentReported | AgentFailed | AgentUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One run of one role. `step` is unique over all runs ever: the idempotency key."""

    loop: LoopId
    kind: str  # of the loop
    key: Key
    step: str
    role: str
    brief: Brief
    folder: Path  # working directory: the workspace, or a throw-away checkout for judges
    scratchpad: Path | None = None  # what the loop has written so far, readable from the folder
    skill: str = ""
    guide: str = ""  # how the skill is done, as Markdown
    agent: str = ""  # the one that is to play, before the role's others; one that nobody knows counts as none
    needs_verdict: bool = False
    diff: str = ""  # for judges: the change as text, from the objects themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A sign of life while a step runs, for the live view only. Never durable, never believed."""

    loop: LoopId
    key: Key
    text: str = ""
    bytes: int = 0


Watch = Callable[[Update], None]


class Agent(Protocol):
    """`run` never raises for what an agent does: whatever it does is one of the three answers.

    It may raise `AgentNotFound`. When it returns, or is cancelled, no process of the run is alive.
    """

    def reservation(self, role: str, agent: str = "") -> float:
        """USD that one run may cost: what is reserved before it and charged if it does not say.

        `agent` is the one that the run names, as in `AgentRun`.
        """

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        """Do it and say what came of it."""

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        """After a crash: the answer of a run with this `step` that finished unrecorded, or None. Starts nothing."""
