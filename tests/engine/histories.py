"""Random histories, and a player that does the driver's part around a session: one thing after another, on a list.

The world, the person, the kills and what is posted when are functions of the seed, so that the player and the driver
meet the same of everything.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from loopwright.engine.fold import Fold, Opened
from loopwright.engine.performing import looked_up, perform, terms_of
from loopwright.engine.session import Recording, Session, cancelled, interrupted
from loopwright.engine.world import Seen, World
from loopwright.errors import OverBudget
from loopwright.kernel.actions import AwaitGate, ForPeople
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answer,
    Answered,
    BudgetChanged,
    CancelRequested,
    Created,
    Ended,
    GateDecided,
    Paused,
    Refused,
    Said,
)
from loopwright.kernel.model import AgentReport, AgentStatus, Change, CheckResult, Key, Usage, Verdict
from loopwright.kernel.money import Purse, bounded, micros, moved, summed
from loopwright.loops.feedback.limits import FeedbackLimits
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.feedback.state import FeedbackParams
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.checks import ChecksRun
from loopwright.ports.dispatcher import Errand, Shortage
from loopwright.ports.people import Reply, Waiting
from loopwright.ports.store import LoopRow, NewEvent
from tests.engine.worlds import BASE, LOOP, Fakes, Killed, failing, flaw, passing

Row = tuple[str, str, float, float, float]
DRIVES = 6


@dataclass(frozen=True, slots=True)
class History:
    """All that chance decides, by the seed alone."""

    seed: int

    def draw(self, *about: object) -> random.Random:
        return random.Random(f"{self.seed}/{about}")  # noqa: S311 - chance for a test, not a secret

    @property
    def params(self) -> FeedbackParams:
        chance = self.draw("params")
        limits = FeedbackLimits(
            max_feedback_iterations=chance.randint(1, 3),
            max_consecutive_review_failures=chance.randint(1, 2),
            max_consecutive_test_failures=chance.randint(1, 2),
        )
        return FeedbackParams(task="add a", base=BASE, limits=limits, tester=chance.random() < 0.2)

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

    def posts(self, length: int) -> tuple[Said | Refused, ...]:
        """What arrives when the log has come to this length."""
        chance = self.draw("posts", length)
        if chance.random() > 0.06:
            return ()
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
        self.asked += 1
        said = self.history.says(waiting[0].what, self.asked)
        return Reply(loop=waiting[0].loop, said=said) if said else None


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
class Watcher:
    """Posts what arrives when the log has come to a length."""

    heard: Callable[[int], None]

    def recorded(self, seen: Seen) -> None:
        self.heard(seen.seq)

    def progressed(self, update: object) -> None:
        return None


def world_of(history: History, fakes: Fakes, person: Person, heard: Callable[[int], None]) -> World:
    """Nothing in it is waited for, so that the inbox is only looked into between two steps."""
    fakes.checks, fakes.workspace.changes = history.checks, history.changes
    return replace(fakes.world(), agent=Agent(history), people=person, observer=Watcher(heard), poll=60.0)


def after_halt(history: History, why: str, waiting: tuple[Waiting, ...], drive: int) -> Said:
    """What is said to a loop that came to a halt, before it is driven again."""
    if why == "paused":
        return BudgetChanged(usd=50.0, by="ann")
    said = history.says(waiting[0].what, "later", drive)
    return said or CancelRequested(by="ann")


@dataclass(slots=True)
class Player:
    """The session with a list for a log and a purse for a store."""

    history: History
    session: Session = field(init=False)
    log: list[Row] = field(default_factory=list)
    inbox: list[Said | Refused] = field(default_factory=list)
    purse: Purse = field(init=False)
    person: Person = field(init=False)
    world: World = field(init=False)
    left: int = 0  # appends until it is killed
    before: bool = False
    dead: bool = False

    def __post_init__(self) -> None:
        self.person = Person(self.history)
        self.world = world_of(self.history, Fakes(), self.person, self._posted)
        budget = self.history.budget
        self.purse = Purse(loop=LOOP, budget=None if budget is None else micros(budget), spent=0, reserved=0)
        params = encode(self.history.params)
        created = Created(kind="feedback", params=params, by="tests")
        self._write((NewEvent(kind="Created", data=encode(created)),))
        self.session = self._opened(Fold(state=FEEDBACK.start(self.history.params)))

    async def play(self) -> list[Row]:
        for drive in range(DRIVES):
            self.dead = False
            self.left, self.before = self.history.dies(drive)
            self.session = self._opened(self.session.now)
            try:
                why = await self._drive()
            except Killed:
                why = "killed"
            if self.log[-1][0] == "Ended":
                break
            if why == "killed":
                continue
            self.inbox.append(after_halt(self.history, why, self.session.waiting, drive))
        return self.log

    def _opened(self, now: Fold) -> Session:
        """As a new controller finds it."""
        return Session.of(
            Opened(row=_row(len(self.log)), loop=FEEDBACK, now=now), Errand(path=(LOOP,)), terms_of(self.world, LOOP)
        )

    async def _drive(self) -> str:
        for action, flight in self.session.left_behind():
            answer = await looked_up(self.world, LOOP, "feedback", action, flight.step)
            self._settle(answer) if answer else self._record(interrupted(flight))
        while True:
            why = await self._turn()
            if why:
                return why

    async def _turn(self) -> str:
        for said in tuple(self.inbox):
            self._record(*self.session.heard(said), takes=True)
        todo = self.session.todo()
        for flight in todo.cancel:
            self._record(cancelled(flight))
        if todo.cancel:
            return ""
        if todo.stop is not None:
            self._record(Recording(event=Ended(outcome=todo.stop)))
            return "ended"
        shortage = self._intend(todo.intents) or todo.shortage
        for effect in self.session.todo().start:
            self.session = self.session.begun(effect.action.key)
            self._settle(await perform(self.world, LOOP, "feedback", effect.action, effect.step))
            return ""
        if shortage is not None:
            self._record(Recording(event=Paused(reason=shortage.reason, detail=shortage.detail)))
            return "paused"
        return await self._ask()

    async def _ask(self) -> str:
        if self.inbox:
            return ""
        reply = await self.person.ask(self.session.waiting)
        if reply is None:
            return "waiting"
        self._record(*self.session.heard(reply.said))
        return ""

    def _intend(self, intents: tuple[Recording, ...]) -> Shortage | None:
        try:
            for line in intents:
                self._record(line)
        except OverBudget as over:
            return Shortage(reason="budget", detail=str(over))
        return None

    def _settle(self, answer: Answer) -> None:
        lines = self.session.heard(answer)
        try:
            self._record(*lines)
        except OverBudget:
            self._record(lines[0])

    def _record(self, *lines: Recording, takes: bool = False) -> None:
        draft = self.session.draft(*lines)
        self.left -= 1
        if self.dead or (self.left == 0 and self.before):
            raise Killed
        self.dead = self.left == 0
        budget = draft.append.budget
        self._write(draft.append.entries, self.purse.budget if budget is None else micros(budget))
        self.session = self.session.written(draft)
        del self.inbox[: int(takes)]
        if self.dead:
            raise Killed
        for number in range(len(lines)):
            self._posted(self.session.length - len(lines) + number + 1)

    def _write(self, entries: tuple[NewEvent, ...], budget: int | None = None) -> None:
        purse = replace(self.purse, budget=budget) if self.log else self.purse
        move = bounded(purse, summed((entry.reserve, entry.release, entry.spend) for entry in entries))
        self.purse = moved(purse, move)
        self.log += [(each.kind, each.data, each.reserve, each.release, each.spend) for each in entries]

    def _posted(self, length: int) -> None:
        self.inbox += self.history.posts(length)


def _row(length: int) -> LoopRow:
    return LoopRow(
        id=LOOP,
        kind="feedback",
        params="",
        parent=None,
        status="running",
        seq=length,
        fence=0,
        created=0.0,
        updated=0.0,
        budget=None,
        spent=0.0,
        reserved=0.0,
    )
