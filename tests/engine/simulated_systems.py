"""A queue of systems whose lifecycles are driven by several controllers through one simulated world, each killed again
and again; and what must hold of it however often that was."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopwright.app.kinds import KINDS
from loopwright.app.project import Project
from loopwright.app.publisher import Publisher
from loopwright.app.starts.lifecycle.domains import queue_id
from loopwright.app.starts.lifecycle.queue import place_of, state_of
from loopwright.app.starts.lifecycle.telling import claim_next
from loopwright.engine.driver import drive
from loopwright.engine.fold import AnyLoop
from loopwright.engine.hearing import hear
from loopwright.engine.journal import open_loop
from loopwright.engine.nesting import can_go_on
from loopwright.engine.world import Halt, Seen, World
from loopwright.errors import AlreadyRunning
from loopwright.kernel.actions import AwaitGate, MergePullRequest, OpenPullRequest, ReadPullRequest
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, Created, GateDecided, Integrated, Logged, Started, StateEdited
from loopwright.kernel.model import AgentReport, Commit, LoopId, Usage, Verdict
from loopwright.kernel.proposals import PullRequest
from loopwright.kernel.record import read_event
from loopwright.kernel.sightings import PullRequestSeen
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.lifecycle.machine import LIFECYCLE
from loopwright.loops.lifecycle.skills import SKILLS
from loopwright.loops.lifecycle.state import Earlier, LifecycleParams, SystemFacts
from loopwright.loops.lifecycle.states import Stage
from loopwright.loops.queue.files import queue_text
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams, QueueState, System
from loopwright.ports.agent import AgentAnswer, AgentRun, Update
from loopwright.ports.store import NewEvent, NewLoop, Store
from loopwright.testing.clock import ManualClock
from loopwright.testing.fakes import ScriptedPeople
from loopwright.testing.memory_forge import MemoryErrands
from loopwright.testing.memory_store import Memory, MemoryStore
from tests.engine.seeded_runs import MortalStore
from tests.engine.simulated import Repository, SimulatedChecks, SimulatedWorkspace
from tests.engine.worlds import Killed

DOMAIN, MAIN = "shop", "refs/heads/main"
LOOPS: dict[str, AnyLoop] = {"lifecycle": LIFECYCLE, "feedback": FEEDBACK, "queue": QUEUE}
PAPER = "# Paper\n\nFine.\n\n## Integration\n\nFine.\n\n## Security\n\nFine.\n\n## Performance\n\nFine."
Needs = Mapping[int, tuple[int, ...]]


@dataclass(slots=True)
class SimulatedForge:
    """What became of a proposal is what the branches say: nothing is kept of it but its number."""

    repo: Repository
    numbers: dict[str, int]
    merges: list[str] = field(default_factory=list)  # the branches, in the order in which they came into the target

    async def open(self, wanted: OpenPullRequest) -> PullRequestSeen:
        self.numbers.setdefault(wanted.branch, len(self.numbers) + 1)
        return PullRequestSeen(key=wanted.key, seen=self._seen(wanted))

    async def read(self, wanted: ReadPullRequest) -> PullRequestSeen:
        return PullRequestSeen(key=wanted.key, seen=self._seen(wanted))

    async def merge(self, wanted: MergePullRequest) -> PullRequestSeen:
        seen = self._seen(wanted)
        if seen.state == "merged" or seen.onto:
            failed = "" if seen.state == "merged" else "it has moved on"
            return PullRequestSeen(key=wanted.key, seen=seen, failed=failed)
        self.repo.branches[wanted.target] = wanted.commit
        self.merges.append(wanted.branch)
        return PullRequestSeen(key=wanted.key, seen=self._seen(wanted))

    def _seen(self, wanted: OpenPullRequest | ReadPullRequest | MergePullRequest) -> PullRequest:
        repo, tip, head = self.repo, self.repo.branches[wanted.target], self.repo.branches[wanted.branch]
        seen = PullRequest(number=self.numbers[wanted.branch], state="open", head=head)
        if wanted.commit in repo.history(tip):
            return replace(seen, state="merged", merged_as=wanted.commit)
        return seen if tip in repo.history(head) else replace(seen, onto=tip)


@dataclass(slots=True)
class SkilledAgents:
    """Everybody who does a skill or makes a capability; what they leave depends on what they are asked alone."""

    repo: Repository
    chance: random.Random
    reported: set[tuple[str, str]] = field(default_factory=set)  # loop and key of what is on record
    finished: dict[str, AgentAnswer] = field(default_factory=dict)

    def reservation(self, role: str, agent: str = "") -> float:
        return 0.0

    async def run(self, run: AgentRun, watch: object) -> AgentAnswer:
        assert (run.loop, str(run.key)) not in self.reported, f"{run.loop} {run.key}: run again after it was recorded"
        await asyncio.sleep(0)
        answer = self._answer(run)
        if self.chance.random() < 0.5:
            self.finished[run.step] = answer
        return answer

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:
        return self.finished.get(run.step)

    def _answer(self, run: AgentRun) -> AgentAnswer:
        number = re.search(r"Part (\d+)", run.brief.task)
        system = re.search(r"sys-\d+", run.brief.task)
        assert number, run.brief.task
        if run.role == "developer" or run.skill == "refactor":
            self.repo.folders[run.folder.name][f"src/part{number[1]}.py"] = frozenset({f"w{number[1]}"})
        if run.skill and SKILLS[run.skill].leaves:
            assert system, run.brief.task
            path = f"docs/systems/{system[0]}/{SKILLS[run.skill].leaves}"
            self.repo.folders[run.folder.name][path] = frozenset({PAPER})
        verdict = Verdict.PASS if run.needs_verdict else None
        return AgentReported(key=run.key, report=AgentReport(verdict=verdict), usage=Usage(usd=0.0))


@dataclass(slots=True)
class Farm:
    """What outlives every controller."""

    root: Path
    needs: Needs
    seed: int
    controllers: int = 8
    whole: int = 1  # one system in so many is built from its beginning, the others were begun by another tool
    repo: Repository = field(default_factory=Repository)
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    errands: MemoryErrands = field(default_factory=MemoryErrands)
    agents: SkilledAgents = field(init=False)
    forge: SimulatedForge = field(init=False)
    chance: random.Random = field(init=False)
    base: Commit = field(init=False)
    kills: int = 0
    idle: int = 0
    newest: QueueState | None = None  # the queue, where it is known
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    bases: dict[LoopId, Commit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - chance, not secrecy
        self.agents = SkilledAgents(self.repo, self.chance)
        self.forge = SimulatedForge(self.repo, {})
        self.base = self.repo.commit(self.repo.stored({"tests/test_it.py": frozenset({"asserts"})}))
        self.repo.branches[MAIN] = self.base

    def store(self) -> MemoryStore:
        return MemoryStore(self.memory, self.clock)

    def project(self, store: Store) -> Project:
        branch = self.repo.branches[MAIN]
        return Project(root=self.root, head=branch, branch=MAIN, environ={}, store=store, clock=self.clock)

    async def fill(self) -> None:
        params = encode(QueueParams(domain=DOMAIN))
        first = NewEvent(kind="Created", data=encode(Created(kind="queue", params=params, by="tests")))
        await self.store().create(NewLoop(id=queue_id(DOMAIN), kind="queue", params=params), first)
        systems = tuple(
            System(
                id=f"sys-{number:03d}",
                name=f"Part {number}",
                priority=self.chance.randint(1, 9),
                dependencies=tuple(f"sys-{each:03d}" for each in others),
            )
            for number, others in self.needs.items()
        )
        said = StateEdited(subject="queue", value=encode({"take_in": [*map(_plain, systems)]}), by="tests")
        await hear(self.store(), LOOPS, queue_id(DOMAIN), said, self)

    # --- watching ---------------------------------------------------------------------------------------------------

    def recorded(self, seen: Seen) -> None:
        """The queue's file follows its log; of the other loops there is nothing to be seen."""
        if isinstance(seen.event, AgentReported):
            self.agents.reported.add((seen.loop, str(seen.event.key)))
        if seen.kind == QUEUE.name:
            self.newest = seen.state
            Publisher(self.root, KINDS, _fail).recorded(seen)

    def progressed(self, update: Update) -> None:
        pass

    # --- controllers ------------------------------------------------------------------------------------------------

    async def controller(self, kills: int) -> None:
        """One after the other, each killed at some append until so many were; the last goes on to the end."""
        while not self._is_over():
            handle = self.store()
            mortal = MortalStore(handle, self.chance.randint(1, 150) if kills else 0, self.chance.random() < 0.5)
            try:
                await self._life(mortal)  # type: ignore[arg-type]
            except Killed:
                kills -= 1
                self.kills += 1
                self.newest = None
                self._look_again()
            else:
                await self._heard_of_something()
            finally:
                await handle.close()

    async def _heard_of_something(self) -> None:
        """Nothing can be done before another controller has completed a system: one that is killed has an heir."""
        self.idle += 1
        if not self._is_over():
            assert self.idle < self.controllers, "nobody can go on, and not all is done"
            async with self.news:
                await self.news.wait()

    async def _tell_others(self) -> None:
        self.idle = 0
        async with self.news:
            self.news.notify_all()

    def _is_over(self) -> bool:
        systems = self.newest.systems if self.newest else ()
        return bool(systems) and all(each.status == "complete" for each in systems)

    async def state(self) -> QueueState:
        return await state_of(self.project(self.store()), DOMAIN)

    async def _life(self, store: Store) -> None:
        """As long as there is something to do."""
        while (loop := await self._something(store)) is not None:
            try:
                halt = await drive(self._world(store), loop)
            except AlreadyRunning:
                continue  # another was quicker
            await self._approve(store, halt)
            if halt.outcome is not None:
                await self._tell_others()

    async def _something(self, store: Store) -> LoopId | None:
        """A system that waits comes last: whoever would have approved it may have been killed."""
        return await self._interrupted(store) or await self._claimed(store) or await self._waiting(store)

    async def _waiting(self, store: Store) -> LoopId | None:
        rows = [row.id for row in await store.rows() if row.kind == LIFECYCLE.name and row.status == "waiting"]
        free = [loop for loop in rows if await store.holder(loop) is None]
        return free[0] if free else None

    async def _interrupted(self, store: Store) -> LoopId | None:
        rows = [row for row in await store.rows() if row.kind == LIFECYCLE.name and row.status == "running"]
        for row in reversed(rows):
            if await store.holder(row.id) is None and await can_go_on(
                store, LOOPS, await open_loop(store, LOOPS, row.id)
            ):
                return row.id
        return None

    async def _claimed(self, store: Store) -> LoopId | None:
        state, there = await self.state(), {row.id for row in await store.rows()}
        lost = (each for each in state.systems if each.loop and each.loop not in there)
        loop = LoopId(f"system-{self.chance.getrandbits(32):08x}")
        system = next(lost, None) or await claim_next(self.project(store), DOMAIN, loop, _fail)
        return await self._begun(store, system) if system else None

    async def _begun(self, store: Store, system: System) -> LoopId:
        branch, base = f"feature/{system.id}", self.repo.branches[MAIN]
        params = encode(
            LifecycleParams(
                system=SystemFacts(id=system.id, name=system.name),
                domain=DOMAIN,
                loop=system.loop,
                queue=queue_id(DOMAIN),
                base=base,
                target=MAIN,
                branch=branch,
                workspace=f"system-{system.id}",
                checks=("test",),
                mode="autonomous",
                tests=("src/**",),  # so that no file is reviewed: the loops of reviews have tests of their own
                deploy=("deploy", system.id),
                trust=Trust(in_force=True, new_ground=True),
                earlier=None
                if int(system.id[4:]) % self.whole == 0
                else Earlier(stage=Stage.VERIFY, done=(system.name,)),
            )
        )
        first = NewEvent(kind="Created", data=encode(Created(kind="lifecycle", params=params, by="tests")))
        if await store.create(NewLoop(id=system.loop, kind="lifecycle", params=params), first):
            self.bases[system.loop] = base
        return system.loop

    async def _approve(self, store: Store, halt: Halt) -> None:
        """Whatever is asked but a gate would be a system that is stuck."""
        for each in halt.waiting:
            assert isinstance(each.what, AwaitGate), each.what
            gate = each.what
            said = GateDecided(key=gate.key, gate=gate.gate, approved=True, evidence=gate.evidence, by="ann")
            await hear(store, LOOPS, each.loop, said, self)

    def _world(self, store: Store) -> World:
        return World(
            store=store,
            clock=self.clock,
            agent=self.agents,
            checks=SimulatedChecks(self.repo, ()),
            workspace=SimulatedWorkspace(self.repo),
            people=ScriptedPeople(),
            observer=self,
            loops=LOOPS,
            who="tests",
            forge=self.forge,
            errands=self.errands,
            poll=0.01,
        )

    # --- looking ----------------------------------------------------------------------------------------------------

    def logs(self) -> dict[LoopId, list[Logged]]:
        return {loop: [read_event(each) for each in held.records] for loop, held in self.memory.loops.items()}

    def _look_again(self) -> None:
        """What was durable and not told to anybody is in the log."""
        for loop, held in self.memory.loops.items():
            for each in held.records[-2:]:
                if isinstance(event := read_event(each), AgentReported):
                    self.agents.reported.add((loop, str(event.key)))


def _plain(system: System) -> dict[str, object]:
    return {
        "id": system.id,
        "name": system.name,
        "priority": system.priority,
        "dependencies": list(system.dependencies),
    }


def _fail(sentence: str) -> None:
    raise AssertionError(sentence)


# --- what must hold at the end --------------------------------------------------------------------------------------


async def check_everything(farm: Farm) -> None:
    state, logs = await farm.state(), farm.logs()
    check_order(farm, state)
    check_once(farm, state, logs)
    assert place_of(farm.project(farm.store()), DOMAIN).path.read_text() == queue_text(state)
    for loop in farm.memory.loops:
        await farm.store().verify(loop)


def check_order(farm: Farm, state: QueueState) -> None:
    """Each began with the work of all that it depends on, and came into the target after them."""
    place = {branch: number for number, branch in enumerate(farm.forge.merges)}
    assert len(place) == len(farm.forge.merges) == len(farm.needs), "merged twice, or never"
    for system in state.systems:
        began_with = farm.repo.files(farm.bases[system.loop])
        for other in system.dependencies:
            assert place[f"feature/{other}"] < place[f"feature/{system.id}"]
            assert f"src/part{int(other[4:])}.py" in began_with, f"{system.id} began without {other}"


def check_once(farm: Farm, state: QueueState, logs: Mapping[LoopId, list[Logged]]) -> None:
    assert {each.status for each in state.systems} == {"complete"}
    roots = [loop for loop, held in farm.memory.loops.items() if held.row.kind == LIFECYCLE.name]
    assert sorted(roots) == sorted(each.loop for each in state.systems), "a system was begun twice"
    deployed = Counter(wanted.argv[1] for wanted in farm.errands.ran.values())
    assert deployed == Counter(each.id for each in state.systems)
    told = Counter(
        event.subject
        for event in logs[queue_id(DOMAIN)]
        if isinstance(event, StateEdited) and '"complete"' in event.value
    )
    assert set(told) == {each.id for each in state.systems}
    for loop in roots:
        started = Counter((str(event.key)) for event in logs[loop] if isinstance(event, Started))
        answered = Counter(str(key) for event in logs[loop] if (key := getattr(event, "key", None)))
        assert all(answered[key] >= count for key, count in started.items())
        reports = Counter(str(event.key) for event in logs[loop] if isinstance(event, AgentReported))
        assert not [key for key, count in reports.items() if count > 1]
        landed = [event.landed for event in logs[loop] if isinstance(event, Integrated)]
        assert set(landed) <= farm.repo.history(farm.repo.branches[MAIN])
    assert {path for path in farm.repo.files(farm.repo.branches[MAIN]) if path.startswith("src/")} == {
        f"src/part{number}.py" for number in farm.needs
    }
