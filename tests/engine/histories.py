"""Random histories of every kind of loop, alone and within others, and the logs that whoever drives them leaves.

The world, the person, the kills and what is posted when are functions of the seed, so that two who drive the same
history meet the same of everything.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast
from zlib import crc32

from loopwright.engine.fold import AnyLoop
from loopwright.engine.world import Halt, Seen, World
from loopwright.kernel.actions import AwaitGate, ForPeople
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    BudgetChanged,
    CancelRequested,
    ChecksReported,
    GateDecided,
    Refused,
    Said,
)
from loopwright.kernel.gates import evidence
from loopwright.kernel.model import (
    AgentReport,
    AgentStatus,
    Change,
    CheckResult,
    Commit,
    Key,
    LoopId,
    Tree,
    Usage,
    Verdict,
)
from loopwright.kernel.record import Record
from loopwright.kernel.trust import Trust
from loopwright.loops.batch.machine import BATCH
from loopwright.loops.batch.state import BatchArtifact, BatchParams
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.loops.quality.machine import QUALITY
from loopwright.loops.quality.state import QualityParams
from loopwright.loops.reviewed import QualityLimits
from loopwright.loops.tickets.limits import TicketLimits
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.tickets.state import Criterion, TicketParams
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.checks import ChecksRun, Compared, Examined
from loopwright.ports.people import Reply, Waiting
from loopwright.ports.store import Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import MemoryWorkspace
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.worlds import BASE, LOOP, DyingStore, Fakes, Killed, changed_tests, failing, flaw, passing
from tests.toys.anthology import ANTHOLOGY, AnthologyParams
from tests.toys.haiku import HAIKU, HaikuLimits, HaikuParams

Row = tuple[str, str, float, float, float]
Logs = Mapping[LoopId, list[Row]]
Drive = Callable[[World, LoopId], Awaitable[Halt]]
DRIVES = 3
LOOPS: dict[str, AnyLoop] = {loop.name: loop for loop in (FEEDBACK, QUALITY, BATCH, TICKETS, HAIKU, ANTHOLOGY)}
MADE = ("feedback", "quality", "tickets", "haiku")
ALONE = tuple((kind,) for kind in MADE)
NESTED = (*(("anthology", kind) for kind in MADE), *(("anthology", "anthology", kind) for kind in MADE))
SHAPES = (*ALONE, *ALONE, *ALONE, *NESTED, ("batch",), ("anthology", "batch"))  # a batch has children of its own


@dataclass(frozen=True, slots=True)
class History:
    """All that chance decides, by the seed alone."""

    seed: int

    @property
    def shape(self) -> tuple[str, ...]:
        """The kinds of the loops, from the root down; each but the last has the next one made."""
        return SHAPES[self.seed % len(SHAPES)]

    @property
    def params(self) -> str:
        *above, kind = self.shape
        given = encode(PARAMS[kind](self.draw("params")))
        for _ in above:
            given, kind = encode(AnthologyParams(kind=kind, params=given, base=BASE)), "anthology"
        return given

    def draw(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed}/{about}")  # noqa: S311 - chance for a test, not a secret

    @property
    def budget(self) -> float | None:
        return self.draw("budget").choice((None, None, 1.0, 2.5))

    @property
    def changes(self) -> tuple[Change, ...]:
        path = self.draw("changes").choice(("a.py", "a.py", "tests/test_a.py"))
        return (Change(path=path, how="changed", blob="1"),)

    def dies(self, drive: int) -> tuple[int, bool]:
        """At which append of this drive, if at any, and whether just before it."""
        chance = self.draw("dies", drive)
        return chance.choice((0, chance.randint(1, 8))), chance.random() < 0.5

    def posts(self, loop: LoopId, length: int) -> tuple[Said | Refused, ...]:
        """What arrives for the loop when its log has come to this length."""
        if crc32(f"{self.seed}/{loop}/{length}".encode()) % 100 >= 6:  # percent; asked at every event
            return ()
        chance = self.draw("posts", loop, length)
        stray = Answered(key=Key.parse("clarify-1"), choice="answer", text="early", by="bob")
        refused = Refused(what="approve", why="inside a step", by="agent")
        return (chance.choice((CancelRequested(by="bob"), BudgetChanged(usd=50.0, by="bob"), stray, refused)),)

    def agent(self, run: AgentRun) -> AgentAnswer:
        chance = self.draw("agent", str(run.key), run.step)
        usage = Usage(usd=chance.choice((0.25, None)), input_tokens=10)
        kind = chance.random()
        if kind < 0.08:
            failed = AgentFailed(key=run.key, reason="crashed", detail="exit 1", usage=usage)
            return chance.choice((failed, replace(failed, reason="garbled"), replace(failed, reason="needs_person")))
        if kind < 0.12:
            return AgentUnavailable(key=run.key, until=1.0, usage=usage)
        if run.needs_verdict:
            bad = kind < 0.4
            findings = (flaw(chance.choice("ab")),) if bad else ()
            report = AgentReport(verdict=Verdict.FAIL if bad else Verdict.PASS, findings=findings)
        else:
            status = AgentStatus.DONE if kind > 0.2 else chance.choice(tuple(AgentStatus))
            report = AgentReport(status=status, summary="did it")
        return AgentReported(key=run.key, report=report, usage=usage)

    def checks(self, run: ChecksRun) -> tuple[CheckResult, ...]:
        return (failing("test_a") if self.draw("checks", run.step).random() < 0.4 else passing(),)

    def says(self, asked: ForPeople, *about: object) -> Said | None:
        """What the person says, who may be away."""
        chance = self.draw("says", str(asked.key), *about)
        if isinstance(asked, AwaitGate):
            decided = GateDecided(key=asked.key, gate=asked.gate, approved=True, evidence=asked.evidence, by="ann")
            return chance.choice((decided, replace(decided, approved=False), replace(decided, evidence="x"), None))
        choice = chance.choice(("continue", "accept", "history", "answer", "cancel", "dance", ""))
        return Answered(key=asked.key, choice=choice, count=1, text="so", by="ann") if choice else None


@dataclass(slots=True)
class Person:
    history: History
    asked: int = 0

    async def ask(self, waiting: tuple[Waiting, ...]) -> Reply | None:
        """To what is below, or that the whole is to end."""
        self.asked += 1
        first = waiting[0]
        if len(first.path) > 1 and self.history.draw("ends", self.asked).random() < 0.1:
            return Reply(loop=first.path[0], said=CancelRequested(by="ann"))
        said = self.history.says(first.what, self.asked)
        return Reply(loop=first.loop, said=said) if said else None


@dataclass(slots=True)
class Agent:
    """Every second run that was cut off had finished."""

    history: History

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.5

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:
        return self.history.agent(run)

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return self.history.agent(run) if self.history.draw("found", run.step).random() < 0.5 else None


@dataclass(slots=True)
class Checks:
    history: History
    workspace: MemoryWorkspace

    async def run(self, run: ChecksRun, watch: Watch) -> ChecksReported:
        held = (await self.examine(run.commit, run.trust, run.approved)).held
        tree, results = Tree(f"tree-{run.commit}"), self.history.checks(run)
        return ChecksReported(key=run.key, tree=tree, results=results, held=held, lands=tree)

    async def examine(
        self, commit: Commit, trust: Trust, approved: tuple[Change, ...] = (), *, untried: bool = False
    ) -> Examined:
        gated = changed_tests(self.workspace.changes)
        held = tuple(change for change in gated if change not in approved)
        return Examined(gated=gated, evidence=evidence(gated), held=held)

    async def new_tests(self, base: Commit, trust: Trust) -> Callable[[str], bool]:
        return lambda _path: False

    async def compare(self, before: Commit, after: Commit, trust: Trust) -> Compared:
        return Compared(code=("a.py",))


@dataclass(slots=True)
class Post:
    """Brings what arrives when a log has come to a length."""

    history: History
    store: Store

    def recorded(self, seen: Seen) -> None:
        for said in self.history.posts(seen.loop, seen.seq):
            posting = self.store.post(seen.loop, type(said).__name__, encode(said))
            with suppress(StopIteration):
                posting.send(None)  # a store in memory never waits: one step is all of it

    def progressed(self, update: object) -> None:
        return None


def _feedback(chance: random.Random) -> FeedbackParams:
    limits = FeedbackLimits(
        max_feedback_iterations=chance.randint(1, 2),
        max_consecutive_review_failures=chance.randint(1, 2),
        max_consecutive_test_failures=chance.randint(1, 2),
    )
    return FeedbackParams(task="add a", base=BASE, limits=limits, tester=chance.random() < 0.2)


def _quality(chance: random.Random) -> QualityParams:
    limits, file = QualityLimits(max_attempts=chance.randint(1, 2)), chance.choice(("", "a.quality.yml"))
    return QualityParams(artifact="a.py", base=BASE, story="s", file=file, limits=limits)


def _batch(chance: random.Random) -> BatchParams:
    """One after the other: in what order loops side by side are heard is a scheduler's to say."""
    limits = QualityLimits(max_attempts=chance.randint(1, 2))
    paths = ("a.py", "b.py")[: chance.randint(1, 2)]
    shared = encode(QualityParams(artifact="", base=BASE, story="s", limits=limits, lands=False))
    shared = shared.replace('"artifact":"",', "")
    return BatchParams(
        artifacts=tuple(BatchArtifact(path=path) for path in paths), shared=shared, base=BASE, limits=limits, width=1
    )


def _tickets(chance: random.Random) -> TicketParams:
    critics = chance.choice((("critic",), ("critic", "security")))
    limits, judge = TicketLimits(max=chance.randint(1, 2)), chance.random() < 0.3
    criteria = (Criterion(id="AC-1", text="it works"),)
    return TicketParams(
        firm=True, session="s", title="t", base=BASE, criteria=criteria, critics=critics, limits=limits, judge=judge
    )


def _haiku(chance: random.Random) -> HaikuParams:
    leisure = chance.random() < 0.2
    return HaikuParams(theme="t", base=BASE, limits=HaikuLimits(max_verses=chance.randint(1, 2)), at_leisure=leisure)


PARAMS: dict[str, Callable[[random.Random], Any]] = {
    "feedback": _feedback,
    "quality": _quality,
    "batch": _batch,
    "tickets": _tickets,
    "haiku": _haiku,
}


# --- living through one -------------------------------------------------------------------------------------------


async def logs_of(history: History, drive: Drive) -> Logs:
    """What is on record after so many drives, each of which may be killed."""
    memory = Memory()
    fakes, person = Fakes(store=MemoryStore(memory, ManualClock()), loops=LOOPS), Person(history)
    fakes.workspace.changes = history.changes
    await fakes.create_loop(history.shape[0], history.params, budget=history.budget)
    for number in range(DRIVES):
        dies_at, before = history.dies(number)
        dying = cast(Store, DyingStore(MemoryStore(memory, ManualClock()), dies_at, before=before))
        memory.holders.clear()  # a process that was killed holds nothing
        try:
            halt = await drive(_world(history, fakes, dying, person), LOOP)
        except Killed:
            continue
        if halt.why == "ended":
            break
        await _between(history, fakes.store, halt, number)
    return {loop: [_row(record) for record in held.records] for loop, held in memory.loops.items()}


def _row(record: Record) -> Row:
    return record.kind, record.data, record.reserve, record.release, record.spend


def _world(history: History, fakes: Fakes, store: Store, person: Person) -> World:
    """Nothing in it is waited for, so that an inbox is only looked into between two steps."""
    return replace(
        fakes.world(store),
        agent=Agent(history),
        checks=Checks(history, fakes.workspace),
        people=person,
        observer=Post(history, fakes.store),
        poll=60.0,
    )


async def _between(history: History, store: Store, halt: Halt, drive: int) -> None:
    """What is said to loops that came to a halt, before they are driven again."""
    loop, said = LOOP, None
    if halt.why == "waiting":
        first = halt.waiting[0]
        loop, said = first.loop, history.says(first.what, "later", drive)
    told = said or (BudgetChanged(usd=50.0, by="ann") if halt.why == "paused" else CancelRequested(by="ann"))
    await store.post(loop if said else LOOP, type(told).__name__, encode(told))


class _Leaps(selectors.DefaultSelector):
    """Whoever would wait finds that the time has passed."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += max(0.0, timeout or 0.0)
        return super().select(0 if timeout is not None else None)


class Leaping(asyncio.SelectorEventLoop):
    """An event loop whose time only passes where nothing else can happen: nobody waits, and the order is certain."""

    def __init__(self) -> None:
        self._leaps = _Leaps()
        super().__init__(self._leaps)

    def time(self) -> float:
        return self._leaps.now
