"""Scripted stand-ins for every port but the store: what the engine meets in its own tests.

Each keeps its facts outside itself (in the lists and dicts it is given), so that a new instance
after a simulated crash finds again what the old one did, as the real adapters do.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.engine.world import Seen
from loopwright.kernel.actions import ForPeople
from loopwright.kernel.events import ChecksReported, Said
from loopwright.kernel.model import Change, CheckResult, Cleanup, Commit, LoopId, Tree
from loopwright.ports.agent import AgentAnswer, AgentRun, Update, Watch
from loopwright.ports.checks import ChecksRun
from loopwright.ports.workspace import Merge, Moved, Snapshot

AgentScript = Callable[[AgentRun], AgentAnswer]


@dataclass(slots=True)
class ScriptedAgent:
    """Answers by a function; remembers every run it was asked for."""

    script: AgentScript
    runs: list[AgentRun] = field(default_factory=list)
    usd: float = 0.0

    def reservation(self, role: str) -> float:
        return self.usd

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        await asyncio.sleep(0)
        self.runs.append(run)
        return self.script(run)

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return None


@dataclass(slots=True)
class ScriptedVerdicts:
    """Checks that answer by a function of the run."""

    script: Callable[[ChecksRun], tuple[CheckResult, ...]]
    runs: list[ChecksRun] = field(default_factory=list)

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        await asyncio.sleep(0)
        self.runs.append(run)
        return ChecksReported(key=run.key, tree=Tree(f"tree-{run.commit}"), results=self.script(run))


@dataclass(slots=True)
class MemoryWorkspace:
    """Commits are names; a snapshot made twice for one step is the same snapshot."""

    commits: dict[str, Snapshot] = field(default_factory=dict)
    branches: dict[str, Commit] = field(default_factory=dict)
    changes: tuple[Change, ...] = (Change(path="a.py", how="changed", blob="1"),)
    cleaned: list[Cleanup] = field(default_factory=list)

    async def prepare(self, loop: LoopId, name: str, at: Commit, step: str) -> Path:
        return Path("/workspace") / name

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        return Path("/checkout") / at

    async def discard(self, folder: Path) -> None:
        return None

    async def snapshot(
        self, loop: LoopId, name: str, label: str, *, parent: Commit, base: Commit, step: str
    ) -> Snapshot:
        digest = hashlib.sha256(f"{loop}/{label}".encode()).hexdigest()[:12]
        shot = Snapshot(commit=Commit(digest), tree=Tree(f"tree-{digest}"), changes=self.changes)
        return self.commits.setdefault(f"{loop}/{label}", shot)

    async def diff(self, base: Commit, commit: Commit, *, limit: int) -> str:
        return f"diff {base}..{commit}"[:limit]

    async def tree(self, commit: Commit) -> Tree:
        return Tree(f"tree-{commit}")

    async def land(
        self, loop: LoopId, branch: str, commit: Commit, *, base: Commit, message: str, step: str
    ) -> Snapshot:
        self.branches[branch] = commit
        return Snapshot(commit=commit, tree=Tree(f"tree-{commit}"), changes=self.changes)

    async def branch(self, loop: LoopId) -> str:
        return f"loop/{loop}"

    async def merge(self, commit: Commit, target: str, *, message: str, step: str) -> Merge:
        onto = self.branches.get(target, Commit("base"))
        return Merge(onto=onto, commit=commit, tree=Tree(f"tree-{commit}"), fast_forward=onto == "base")

    async def advance(self, target: str, onto: Commit, commit: Commit) -> Moved:
        self.branches[target] = commit
        return Moved(how="done")

    async def clean_up(self, loop: LoopId, choice: Cleanup) -> None:
        self.cleaned.append(choice)


@dataclass(slots=True)
class ScriptedPeople:
    """Says the next thing of its list to whatever is asked, then is gone."""

    says: list[Callable[[tuple[ForPeople, ...]], Said]] = field(default_factory=list)
    asked: list[ForPeople] = field(default_factory=list)

    async def ask(self, loop: LoopId, waiting: tuple[ForPeople, ...]) -> Said | None:
        self.asked.extend(waiting)
        return self.says.pop(0)(waiting) if self.says else None


@dataclass(slots=True)
class Recorder:
    """An observer that remembers."""

    seen: list[Seen] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)

    def recorded(self, seen: Seen) -> None:
        self.seen.append(replace(seen))

    def progressed(self, update: Update) -> None:
        self.updates.append(update)
