"""A whole world of fakes for the engine's tests, and a store that dies at a chosen append."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from loopwright.engine.driver import drive
from loopwright.engine.fold import AnyLoop
from loopwright.engine.world import Halt, World
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, Created
from loopwright.kernel.findings import identify
from loopwright.kernel.model import (
    AgentReport,
    Change,
    CheckResult,
    Commit,
    Finding,
    LoopId,
    Severity,
    Usage,
    Verdict,
)
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.agent import AgentAnswer, AgentRun
from loopwright.ports.checks import ChecksRun
from loopwright.ports.store import Append, NewEvent, NewLoop, Store, Written
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import MemoryWorkspace, Recorder, ScriptedAgent, ScriptedPeople, ScriptedVerdicts
from loopwright.testing.memory_store import Memory, MemoryStore

LOOP = LoopId("l-1")
BASE = Commit("base")
HIDDEN = Change(path="tests/test_hidden.py", how="added", blob="1")


def flaw(text: str) -> Finding:
    return identify(Finding(severity=Severity.HIGH, issue=text, evidence="seen"))


def failing(name: str) -> CheckResult:
    failure = identify(Finding(severity=Severity.HIGH, rule=name, issue=f"{name} - no", category="tests"))
    return CheckResult(name="test", passed=False, failures=(failure,))


def passing() -> CheckResult:
    return CheckResult(name="test", passed=True, tests=3)


def two_setbacks(run: AgentRun) -> AgentAnswer:
    """A developer who always reports, and a reviewer who fails the first attempt only."""
    usage = Usage(usd=0.25)
    if run.role == "examiner":
        return AgentReported(key=run.key, report=AgentReport(interface="`a()`"), usage=usage)
    if run.role != "reviewer":
        return AgentReported(key=run.key, report=AgentReport(summary=f"try {run.brief.attempt}"), usage=usage)
    if run.brief.attempt == 1:
        report = AgentReport(verdict=Verdict.FAIL, findings=(flaw("a is missing"),))
    else:
        report = AgentReport(verdict=Verdict.PASS)
    return AgentReported(key=run.key, report=report, usage=usage)


def fails_second(run: ChecksRun) -> tuple[CheckResult, ...]:
    return (failing("test_a"),) if run.key.attempt == 2 else (passing(),)


def changed_tests(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    return tuple(each for each in changes if each.how != "added" and each.path.startswith("tests/"))


@dataclass(slots=True)
class Fakes:
    """What survives a crash: the store and what the outside world remembers."""

    agent: Callable[[AgentRun], AgentAnswer] = two_setbacks
    checks: Callable[[ChecksRun], tuple[CheckResult, ...]] = fails_second
    store: Store = field(default_factory=lambda: MemoryStore(Memory(), ManualClock()))
    workspace: MemoryWorkspace = field(default_factory=MemoryWorkspace)
    people: ScriptedPeople = field(default_factory=ScriptedPeople)
    recorder: Recorder = field(default_factory=Recorder)
    usd: float = 0.0
    loops: Mapping[str, AnyLoop] = field(default_factory=lambda: {"feedback": FEEDBACK})
    runs: list[AgentRun] = field(default_factory=list)
    checked: list[ChecksRun] = field(default_factory=list)
    unmet: tuple[str, ...] = ()  # demands that fail on whatever tree

    def world(self, store: Store | None = None) -> World:
        return World(
            store=store or self.store,
            clock=ManualClock(),
            agent=ScriptedAgent(self.agent, self.runs, self.usd),
            checks=ScriptedVerdicts(
                self.checks,
                self.checked,
                lambda: changed_tests(self.workspace.changes),
                is_new_test=lambda path: path == HIDDEN.path,
                is_met=lambda _run, demand: demand.name not in self.unmet,
            ),
            workspace=self.workspace,
            people=self.people,
            observer=self.recorder,
            loops=self.loops,
            who="tests",
            protected=("tests/**",),
            poll=0.01,
        )

    async def create(self, params: FeedbackParams | None = None, *, budget: float | None = None) -> None:
        given = params or FeedbackParams(task="add a", base=BASE)
        await self.create_loop("feedback", encode(given), budget=budget)

    async def create_loop(self, kind: str, params: str, *, budget: float | None = None) -> None:
        created = Created(kind=kind, params=params, by="tests")
        await self.store.create(
            NewLoop(id=LOOP, kind=kind, params=params, budget=budget), NewEvent(kind="Created", data=encode(created))
        )

    async def drive(self, store: Store | None = None) -> Halt:
        return await drive(self.world(store), LOOP)


class Killed(BaseException):
    """Stands for `kill -9`: nothing in the engine may catch it."""


class DyingStore:
    """Passes everything on, and is killed right after (or right before) its n-th append; the dead write nothing."""

    def __init__(self, store: Store, dies_at: int, *, before: bool = False) -> None:
        self._store, self._left, self._before = store, dies_at, before
        self._dead = False
        self.appends = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        if self._dead:
            raise Killed
        self.appends += 1
        self._left -= 1
        self._dead = self._left == 0
        if self._dead and self._before:
            raise Killed
        written = await self._store.append(loop, fence=fence, expected=expected, batch=batch)
        if self._dead:
            raise Killed
        return written
