"""How many agents work at once, what waits for them meanwhile, and who is asked."""

import asyncio
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import pytest

from loopwright.adapters.agents.pool import AgentPool
from loopwright.adapters.git.workspace import GitWorkspace
from loopwright.engine.dispatch import InProcess
from loopwright.engine.driver import terms_of
from loopwright.engine.fold import Fold
from loopwright.engine.performing import perform
from loopwright.engine.world import World
from loopwright.kernel.actions import Checkpoint, RunAgent
from loopwright.kernel.events import AgentReported, Answer, Checkpointed
from loopwright.kernel.model import AgentReport, Brief, Commit, Finding, Key, LoopId, Severity, Verdict
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.checks import Compared
from loopwright.ports.workspace import Workspace
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import ScriptedAgent, ScriptedVerdicts
from tests.engine.worlds import Fakes
from tests.repository import Repository


@dataclass(slots=True)
class Crowd:
    """Agents that work until they are told to leave; who is in, and where."""

    leave: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    folders: list[Path] = field(default_factory=list)

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.0

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        self.folders.append(run.folder)
        self.entered.set()
        await self.leave.wait()
        return AgentReported(key=run.key, report=AgentReport(verdict=Verdict.PASS))

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return None


class Watched:
    """A workspace that tells when a folder was laid out."""

    def __init__(self, repo: Repository) -> None:
        self._workspace = GitWorkspace(repo.path, env=os.environ)
        self.laid_out: asyncio.Queue[Path] = asyncio.Queue()

    def __getattr__(self, name: str) -> object:
        return getattr(self._workspace, name)

    async def checkout(self, loop: LoopId, at: Commit, step: str) -> Path:
        folder = await self._workspace.checkout(loop, at, step)
        self.laid_out.put_nowait(folder)
        return folder


def world(watched: Watched, crowd: Crowd, *, slots: int) -> World:
    workspace = cast(Workspace, watched)
    return replace(Fakes().world(), agent=crowd, workspace=workspace, dispatcher=InProcess(slots=slots))


def review(world: World, repo: Repository, number: int) -> asyncio.Task[Answer]:
    head = Commit(repo.git("rev-parse", "HEAD"))
    brief = Brief(task="t", attempt=1, limit=3, base=head)
    action = RunAgent(key=Key.parse("review-1.1"), role="reviewer", brief=brief, start=head, writes=False)
    return asyncio.create_task(perform(world, LoopId(f"l-{number}"), "quality", action, "s-1"))


def test_a_judge_sees_of_the_change_what_its_brief_names_and_no_line_of_it_hides_another(repo: Repository) -> None:
    base = Commit(repo.git("rev-parse", "HEAD"))
    repo.write("src/a.py", "diff --git a/other.py b/other.py\nmine = 1\n")
    repo.write("docs/named.md", "named\n")
    repo.write("other.py", "secret = 1\n")
    agent = ScriptedAgent(lambda run: AgentReported(key=run.key, report=AgentReport(verdict=Verdict.PASS)))
    findings = tuple(Finding(severity=Severity.LOW, issue="x", file=file) for file in ("docs/named.md", ".", ""))
    brief = Brief(task="t", attempt=2, limit=3, base=base, artifacts=("src/a.py",), findings=findings)
    start = Commit(repo.commit("change"))
    action = RunAgent(key=Key.parse("review-1.1"), role="reviewer", brief=brief, start=start, writes=False)
    here = replace(Fakes().world(), agent=agent, workspace=GitWorkspace(repo.path, env=os.environ))
    asyncio.run(perform(here, LoopId("l-1"), "quality", action, "s-1"))
    (run,) = agent.runs
    assert "+diff --git a/other.py b/other.py\n+mine = 1\n" in run.diff
    assert "+named" in run.diff
    assert "secret" not in run.diff


def test_whoever_does_a_skill_is_told_how_it_is_done() -> None:
    agent = ScriptedAgent(lambda run: AgentReported(key=run.key, report=AgentReport()))
    asked: list[str] = []
    brief = Brief(task="t", attempt=1, limit=3, base=Commit("base"))
    plain = RunAgent(key=Key.parse("make-1.1"), role="developer", brief=brief, start=Commit("base"), writes=True)

    def text(skill: str) -> str:
        asked.append(skill)
        return f"How to {skill}."

    for here in (Fakes().world(), replace(Fakes().world(), skill_text=text)):
        for action in (plain, replace(plain, skill="triage")):
            asyncio.run(perform(replace(here, agent=agent), LoopId("l-1"), "feedback", action, "s-1"))
    assert [(run.skill, run.guide) for run in agent.runs] == [
        ("", ""),
        ("triage", ""),
        ("", ""),
        ("triage", "How to triage."),
    ]
    assert asked == ["triage"]


def judges(repo: Repository) -> list[Path]:
    return sorted((repo.path / ".worktrees").glob("judge-*"))


def test_no_more_agents_work_than_there_are_slots_and_the_next_finds_its_folder_ready(repo: Repository) -> None:
    async def run() -> tuple[int, int]:
        crowd, watched = Crowd(), Watched(repo)
        here = world(watched, crowd, slots=1)
        tasks = [review(here, repo, number) for number in (1, 2)]
        ready = {await watched.laid_out.get(), await watched.laid_out.get()}
        await crowd.entered.wait()
        at_work = len(crowd.folders)
        crowd.leave.set()
        await asyncio.gather(*tasks)
        assert set(crowd.folders) == ready
        return at_work, len(crowd.folders)

    assert asyncio.run(run()) == (1, 2)
    assert judges(repo) == []


def test_a_judge_that_is_cancelled_while_it_waits_leaves_no_folder(repo: Repository) -> None:
    async def run() -> int:
        crowd, watched = Crowd(), Watched(repo)
        waiting = review(world(watched, crowd, slots=0), repo, 1)
        folder = await watched.laid_out.get()
        assert judges(repo) == [folder]
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return len(crowd.folders)

    assert asyncio.run(run()) == 0
    assert judges(repo) == []


def test_the_agent_that_an_action_names_is_reserved_for_and_run() -> None:
    def passes(run: AgentRun) -> AgentAnswer:
        return AgentReported(key=run.key, report=AgentReport(verdict=Verdict.PASS))

    usual, other = ScriptedAgent(passes, usd=0.5), ScriptedAgent(passes, usd=2.5)
    pool = AgentPool(roles={"creator": (usual,)}, clock=ManualClock(), known={"usual": usual, "other": other})
    here = replace(Fakes().world(), agent=pool)
    brief = Brief(task="t", attempt=1, limit=3, base=Commit("base"))
    action = RunAgent(key=Key.parse("create-1.1"), role="creator", brief=brief, start=Commit("base"), writes=True)
    named = replace(action, agent="other")
    assert [terms_of(here, LoopId("a"))(each, Fold()) for each in (action, named)] == [0.5, 2.5]
    asyncio.run(perform(here, LoopId("l-1"), "tickets", named, "s-1"))
    assert (usual.runs, [(run.role, run.agent) for run in other.runs]) == ([], [("creator", "other")])


@pytest.mark.parametrize(("puts_back", "left"), [("", "ab"), ("product", "a"), ("code", "b")])
def test_what_a_step_may_not_change_is_as_it_was(
    repo: Repository, puts_back: Literal["", "product", "code"], left: str
) -> None:
    for name in ("a.py", "b.py"):
        repo.write(name, "old\n")
    base = Commit(repo.commit("base"))
    checks = ScriptedVerdicts(lambda _run: ())
    checks.compared = Compared(product=("b.py", "new.py"), code=("a.py",), rest=("new.py",))
    workspace = GitWorkspace(repo.path, env=os.environ)
    here = replace(Fakes().world(), workspace=workspace, checks=checks)
    action = Checkpoint(key=Key("record", 1), label="1", parent=base, base=base, workspace="w", puts_back=puts_back)

    async def taken() -> Checkpointed:
        folder = await workspace.prepare(LoopId("l-1"), "w", base, "s-0")
        for name in ("a.py", "b.py", "new.py"):
            (folder / name).write_text("new\n")
        made = await perform(here, LoopId("l-1"), "lifecycle", action, "s-1")
        assert isinstance(made, Checkpointed)
        return made

    made = asyncio.run(taken())
    now = {name for name in ("a", "b") if repo.git("show", f"{made.commit}:{name}.py").strip() == "new"}
    assert now == set(left)
    assert ("new.py" in repo.git("ls-tree", "--name-only", made.commit)) == (not puts_back)
    assert made.dropped == {"": (), "product": ("b.py", "new.py"), "code": ("a.py", "new.py")}[puts_back]
    assert set(made.paths) == {f"{name}.py" for name in left} | (set() if puts_back else {"new.py"})
