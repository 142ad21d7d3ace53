"""Agents made of small Python programs, a run to give them, and a shelf for what they leave."""

import asyncio
import hashlib
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.adapters.agents.command import CommandAgent
from loopwright.kernel.model import Blob, Brief, Key, LoopId
from loopwright.ports.agent import AgentAnswer, AgentRun, Update
from loopwright.testing.clock import ManualClock
from tests.adapters.step_parts import ENV

NOW = 1_800_000_000.0


def nobody_looks(_: Update) -> None:
    return None


@dataclass(frozen=True)
class Bench:
    """A repository root with one workspace. `kept` is what went to the store."""

    root: Path
    kept: dict[str, bytes] = field(default_factory=dict)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    @property
    def workspace(self) -> Path:
        folder = self.root / ".worktrees" / "w"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def folder(self) -> Path:
        return self.root / ".loop" / "runs" / "my-loop" / "7-implement-1.1"

    async def keep(self, path: Path) -> Blob:
        data = path.read_bytes()
        path.unlink()
        blob = Blob(hashlib.sha256(data).hexdigest())
        self.kept[blob] = data
        return blob

    def blob(self, data: bytes) -> Blob:
        return Blob(hashlib.sha256(data).hexdigest())

    def run(self, *, needs_verdict: bool = False, role: str = "developer", repair: str = "") -> AgentRun:
        return AgentRun(
            loop=LoopId("my-loop"),
            kind="feedback",
            key=Key.parse("implement-1.1"),
            step="my-loop/7/implement-1.1",
            role=role,
            brief=Brief(task="add a thing", attempt=1, limit=5, repair=repair),
            folder=self.workspace,
            needs_verdict=needs_verdict,
        )

    def agent(self, code: str) -> CommandAgent:
        return CommandAgent(
            name="mine",
            argv=(sys.executable, "-I", "-S", "-c", f"import json, os, sys\n{code}"),
            env=ENV,
            root=self.root,
            runs=self.root / ".loop" / "runs",
            render=lambda run: f"# {run.brief.task}\n{run.brief.repair}",
            keep=self.keep,
            clock=self.clock,
            wall=60.0,
            grace=5.0,
        )

    def answer(self, code: str, *, needs_verdict: bool = False, repair: str = "") -> AgentAnswer:
        run = self.run(needs_verdict=needs_verdict, repair=repair)
        return asyncio.run(self.agent(code).run(run, nobody_looks))


def timeless(answer: AgentAnswer) -> AgentAnswer:
    """The answer without the seconds it took, which no two runs share."""
    assert answer.usage.seconds > 0
    return replace(answer, usage=replace(answer.usage, seconds=0.0))
