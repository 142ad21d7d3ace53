"""A workflow of a seed, driven by the real engine through its simulated world, killed as often as wanted; and what
must hold of it at every event, and at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from loopwright.app.starts.workflow.inner import INNER
from loopwright.engine.driver import drive
from loopwright.engine.fold import AnyLoop, fold
from loopwright.engine.hearing import hear
from loopwright.engine.nesting import child_id
from loopwright.engine.world import Halt, Seen, World
from loopwright.kernel.actions import Ask, ForPeople, RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentFailed,
    AgentReported,
    AgentUnavailable,
    Answered,
    Cancelled,
    Checkpointed,
    ChecksReported,
    Combined,
    Created,
    GateDecided,
    Integrated,
    Interrupted,
    Logged,
    LoopEnded,
    ReportedLate,
    Said,
    Started,
)
from loopwright.kernel.faults import faults_of
from loopwright.kernel.model import NO_KEY, Commit, Ending, Key, LoopId
from loopwright.kernel.record import Record, read_event
from loopwright.kernel.trust import Trust
from loopwright.loops.course import Ruling
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.tickets.machine import TICKETS
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.state import TaskStanding, WorkflowParams, WorkflowState
from loopwright.ports.agent import Update
from loopwright.ports.people import Waiting
from loopwright.ports.store import Append, NewEvent, NewLoop, Store, Written
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import ScriptedPeople
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.seeded_cast import PRICE, Plot, SeededAgents, product_words
from tests.engine.simulated import Repository, SimulatedChecks, SimulatedWorkspace, red
from tests.engine.worlds import Killed

ROOT = LoopId("w")
LOOPS: dict[str, AnyLoop] = {"workflow": WORKFLOW, "feedback": FEEDBACK, "tickets": TICKETS}
CHILD = {"feedback": "{}", "tickets": '{"session":"w","firm":true}'}
REQUEST = "Add every word to its file in src/, at most 12 of them; done when all tests pass and the words are there."
MOST_ANSWERS = 40  # a plot in which more has to be said goes in a circle


@dataclass(slots=True)
class MortalStore:
    """Passes everything on until it is killed right before or after its n-th append; the dead write nothing."""

    store: Store
    dies_at: int
    before: bool
    dead: bool = False
    appends: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)

    async def create(self, new: NewLoop, first: NewEvent) -> Written | None:
        self._live()
        return await self.store.create(new, first)

    async def append(self, loop: LoopId, *, fence: int, expected: int, batch: Append) -> Written:
        self._live()
        self.appends += 1
        self.dead = self.appends == self.dies_at
        if self.dead and self.before:
            raise Killed
        written = await self.store.append(loop, fence=fence, expected=expected, batch=batch)
        self._live()
        return written

    def _live(self) -> None:
        if self.dead:
            raise Killed


@dataclass(slots=True)
class Watcher:
    """Looks at every event of the workflow itself: what it finds wrong fails the run at once."""

    parallel: int
    at_work: dict[Key, LoopId] = field(default_factory=dict)  # the loops of tasks that are in flight
    waits: dict[LoopId, bool] = field(default_factory=dict)  # for a person, and leaves its place to another
    newest: WorkflowState | None = None
    ended: Counter[str] = field(default_factory=Counter)  # how often each task became done

    def progressed(self, update: Update) -> None:
        pass

    def recorded(self, seen: Seen) -> None:
        if seen.loop != ROOT:
            self.waits[seen.loop] = seen.status == "waiting"
            return
        state: WorkflowState = seen.state
        self.newest = state
        match seen.event:
            case Started() if seen.event.key.step == "task":
                self.at_work[seen.event.key] = _child(seen.event.what)
                _check_blockers(state, int(seen.event.key.part) - 1)
                at_work = [loop for loop in self.at_work.values() if not self.waits.get(loop)]
                assert len(at_work) <= self.parallel, f"{len(at_work)} at work, {self.parallel} may be"
            case LoopEnded() | Cancelled() | Interrupted():
                self.at_work.pop(seen.event.key, None)
            case _:
                pass
        _check_files(state)
        self._count_done(state)

    def _count_done(self, state: WorkflowState) -> None:
        done = {task.id for task in state.tasks if task.standing is TaskStanding.DONE}
        assert done >= set(self.ended), f"done and then not: {set(self.ended) - done}"
        self.ended.update(done - set(self.ended))
        assert state.done == len(done), f"{state.done} counted, {len(done)} done"


def _child(name: str) -> LoopId:
    return child_id(ROOT, RunLoop(key=NO_KEY, kind="feedback", params="", name=name))


def _check_blockers(state: WorkflowState, index: int) -> None:
    task = state.tasks[index]
    early = [state.tasks[each].id for each in task.after if state.tasks[each].standing is not TaskStanding.DONE]
    assert not early, f"{task.id} began before {early} had landed"


def _check_files(state: WorkflowState) -> None:
    busy = Counter(path for index in state.running for path in set(state.tasks[index].plan.files))
    twice = [path for path, count in busy.items() if count > 1]
    assert not twice, f"two tasks at work on {twice}"


@dataclass(slots=True)
class SimulatedRun:
    """What outlives every controller."""

    plot: Plot
    repo: Repository = field(default_factory=Repository)
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    agents: SeededAgents = field(init=False)
    watcher: Watcher = field(init=False)
    base: Commit = field(init=False)
    stops: list[str] = field(default_factory=list)  # why it stood, each time
    read: dict[tuple[LoopId, int], Logged] = field(default_factory=dict)  # of the logs, so far
    again: Counter[tuple[str, str]] = field(default_factory=Counter)  # runs of agents after their report was recorded

    def __post_init__(self) -> None:
        self.agents = SeededAgents(self.plot, self.repo)
        self.watcher = Watcher(self.plot.parallel)
        files = {"tests/test_it.py": frozenset({"asserts"}), "src/main.py": frozenset({"main"})}
        self.base = self.repo.commit(self.repo.stored(files))
        self.repo.branches["refs/heads/main"] = self.base

    def store(self) -> MemoryStore:
        return MemoryStore(self.memory, self.clock)

    async def create(self) -> None:
        plot = self.plot
        params = encode(
            WorkflowParams(
                request=REQUEST,
                base=self.base,
                target="refs/heads/main",
                merge=plot.seed % 2 == 0,
                parallel=plot.parallel,
                cast=plot.cast,
                checks=("test",),
                shape=plot.shape,
                trust=Trust(in_force=plot.in_force),
                inner=INNER[plot.inner],
                child=CHILD[plot.inner],
            )
        )
        first = NewEvent(kind="Created", data=encode(Created(kind="workflow", params=params, by="tests")))
        await self.store().create(NewLoop(id=ROOT, kind="workflow", params=params), first)

    def _world(self, store: Store) -> World:
        return World(
            store=store,
            clock=self.clock,
            agent=self.agents,
            checks=SimulatedChecks(self.repo, self.plot.poison),
            workspace=SimulatedWorkspace(self.repo),
            people=ScriptedPeople(),
            observer=self.watcher,
            loops=LOOPS,
            who="tests",
            poll=0.01,
        )

    async def life(self, dies_at: int = 0, *, before: bool = False) -> Halt | None:
        """One controller, until it comes back or is killed (None)."""
        handle = self.store()
        known, begun = self._reported(), len(self.agents.runs)
        try:
            return await drive(self._world(MortalStore(handle, dies_at, before)), ROOT)  # type: ignore[arg-type]
        except Killed:
            self._look_again()
            self.watcher.newest = None
            return None
        finally:
            await handle.close()
            self.again.update(each for each in self.agents.runs[begun:] if each in known)

    def _look_again(self) -> None:
        """What was durable and not told to anybody is in the log."""
        open_now = dict[Key, str]()
        for _, event in self.events(ROOT):
            if isinstance(event, Started) and event.key.step == "task":
                open_now[event.key] = event.what
            elif isinstance(event, LoopEnded | Cancelled | Interrupted):
                open_now.pop(event.key, None)
        self.watcher.at_work = {key: _child(name) for key, name in open_now.items()}
        self.watcher.waits = {loop: held.row.status == "waiting" for loop, held in self.memory.loops.items()}

    def _reported(self) -> set[tuple[str, str]]:
        events = ((loop, event) for loop, event in self.events() if isinstance(event, AgentReported | AgentFailed))
        return {(loop, str(event.key)) for loop, event in events}

    async def answer(self, halt: Halt) -> None:
        """To the first that waits: go on."""
        asked = halt.waiting[0]
        self.stops.append(_reason(asked))
        await hear(self.store(), LOOPS, asked.loop, said_to(asked.what), self.watcher)

    async def whole(self, kills: Iterator[tuple[int, bool]] | None = None) -> Halt:
        """To its end, through all kills, with somebody who always says to go on."""
        kills = kills or iter(())
        for _ in range(MOST_ANSWERS):
            dies_at, before = next(kills, (0, False))
            halt = await self.life(dies_at, before=before)
            if halt is None:
                continue
            if halt.why == "ended":
                return halt
            assert halt.waiting, f"it stands without a reason: {halt}"
            await self.answer(halt)
        raise AssertionError(f"it goes on and on: {self.stops}")

    # --- looking ------------------------------------------------------------------------------------------

    def records(self) -> list[tuple[LoopId, Record]]:
        return [(loop, record) for loop, held in self.memory.loops.items() for record in held.records]

    def events(self, loop: LoopId | None = None) -> list[tuple[LoopId, Logged]]:
        return [(owner, self._event(record)) for owner, record in self.records() if loop in (None, owner)]

    def _event(self, record: Record) -> Logged:
        place = record.loop, record.seq
        if place not in self.read:
            self.read[place] = read_event(record)
        return self.read[place]

    async def state(self) -> WorkflowState:
        found: WorkflowState = fold(WORKFLOW, await self.store().load(ROOT)).state
        return found


def kills_of(plot: Plot) -> Iterator[tuple[int, bool]]:
    """After how many appends of each life, and on which side of the last."""
    chance = plot.chance("kills")
    return iter([(chance.randint(1, 40), chance.random() < 0.5) for _ in range(chance.choice((1, 1, 2, 3)))])


def said_to(what: ForPeople) -> Said:
    if not isinstance(what, Ask):
        return GateDecided(key=what.key, gate=what.gate, approved=True, evidence=what.evidence, by="ann")
    if "continue" in {option.choice for option in what.options}:
        return Answered(key=what.key, choice="continue", count=3, by="ann")
    return Answered(key=what.key, choice="answer", text="Go on.", by="ann")


def _reason(asked: Waiting) -> str:
    return asked.what.why or getattr(asked.what, "question", "")


# --- what must hold at the end --------------------------------------------------------------------------------------


def check_end(run: SimulatedRun, halt: Halt, state: WorkflowState) -> None:
    """Every task of the plan is done, once, and so is whatever was made of the way there."""
    assert halt.outcome is not None
    assert halt.outcome.ending in (Ending.VERIFIED, Ending.ACCEPTED), halt.outcome
    assert all(run.stops), "it stood without saying why"
    assert {task.standing for task in state.tasks} == {TaskStanding.DONE}
    assert run.watcher.ended == Counter({task.id: 1 for task in state.tasks})
    assert product_words(run.repo, state.tip) == run.plot.wanted_words()
    assert not red(run.repo.files(state.tip), run.plot.poison)
    branch = run.repo.branches[halt.outcome.branch]
    target = run.repo.branches["refs/heads/main"]
    approved = {gate.tree for gate in state.course.gates if gate.ruling is Ruling.APPROVED}
    assert run.repo.tree(branch) in {run.repo.tree(state.tip), *approved}
    assert target == (branch if state.plan.merge else run.base)


def check_landings(run: SimulatedRun) -> None:
    """Whatever landed is, file for file, what passed just before, with every command of what had landed by then."""
    passed: dict[str, set[str]] = {}
    promised: set[str] = set()
    landed = 0
    for _, event in run.events(ROOT):
        match event:
            case ChecksReported():
                if not faults_of(event):
                    passed[event.lands] = {each.name for each in event.also if each.passed}
            case Integrated():
                tree = run.repo.tree(event.landed)
                assert tree in passed, f"{event.key} landed a tree that was never verified"
                assert promised <= passed[tree], f"{event.key} landed without {promised - passed[tree]}"
                promised |= {name for name in passed[tree] if name.startswith("T-")}
                landed += 1
            case _:
                pass
    assert landed


def check_commands(run: SimulatedRun, state: WorkflowState) -> None:
    """Each task's own command, on what has landed in the end."""
    files = run.repo.files(state.tip)
    for task in state.tasks:
        if task.plan.verify:
            how, path, word = task.plan.verify
            assert (word in files.get(path, ())) == (how == "has"), f"{task.id}: {task.plan.verify}"


def check_commits(run: SimulatedRun) -> None:
    named = {event.commit for _, event in run.events() if isinstance(event, Checkpointed | Combined | Integrated)}
    assert named <= run.repo.reachable(), f"lost: {named - run.repo.reachable()}"


def check_money(run: SimulatedRun) -> None:
    """What was reported is paid for once, what was cut off is paid as set aside, and nothing stays set aside."""
    root = run.memory.loops[ROOT].counted()
    paid, guessed = 0.0, False
    for (_, record), (_, event) in zip(run.records(), run.events(), strict=True):
        match event:
            case AgentReported() | AgentFailed() | AgentUnavailable():
                paid += event.usage.usd or 0.0
                assert record.spend == event.usage.usd
            case Interrupted() | Cancelled() | ReportedLate():
                assert record.spend in (0.0, PRICE)
                paid += record.spend
                guessed |= record.spend > 0 and not isinstance(event, ReportedLate)
            case _:
                assert not record.spend
    assert (root.reserved, round(root.spent, 6), root.estimated) == (0.0, round(paid, 6), guessed)


def check_no_run_twice(run: SimulatedRun) -> None:
    """Of a run whose report was recorded, none was begun again; and none has two reports."""
    assert not run.again, f"run again after it was recorded: {run.again}"
    reports = Counter((loop, str(event.key)) for loop, event in run.events() if isinstance(event, AgentReported))
    assert not [key for key, count in reports.items() if count > 1]


async def check_everything(run: SimulatedRun, halt: Halt) -> WorkflowState:
    state = run.watcher.newest or await run.state()
    check_end(run, halt, state)
    check_landings(run)
    check_commands(run, state)
    check_commits(run)
    check_money(run)
    check_no_run_twice(run)
    for loop in run.memory.loops:
        await run.store().verify(loop)
    return state
