"""P7: the wall time of a plan of sleeping tasks, against greedy list scheduling of the same graph.

The real driver drives the real machines, a loop for each task. Agents are no processes here: each sleeps in the event
loop for as long as its task takes, files lie in memory, reviews and checks pass at once. So what is above the bound is
the scheduler's own: places that are empty while a task could begin, and what it takes to decide. What real processes
and git add to a task is P8's figure.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measuring import ROUNDS, Figure
from benchmarks.p06_scheduling import random_graph
from loopwright.adapters.clock import SystemClock
from loopwright.engine.dispatch import InProcess
from loopwright.engine.driver import drive
from loopwright.engine.world import World
from loopwright.kernel.codec import encode
from loopwright.kernel.events import AgentReported, Created
from loopwright.kernel.model import AgentReport, CheckResult, Commit, Ending, LoopId, Usage, Verdict
from loopwright.loops.feedback.machine import FEEDBACK
from loopwright.loops.task_file import name_of
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.schedule import graph_of
from loopwright.loops.workflow.state import TaskRow, WorkflowParams, WorkTask
from loopwright.ports.agent import AgentAnswer, AgentRun, Watch
from loopwright.ports.store import NewEvent, NewLoop
from loopwright.testing.fakes import MemoryWorkspace, Recorder, ScriptedPeople, ScriptedVerdicts
from loopwright.testing.memory_store import Memory, MemoryStore

TASKS, PARALLEL = 24, 4
SHORTEST, LONGEST = 0.5, 2.0  # seconds that a task takes
GOAL = 1.05
LOOP = LoopId("bench")
REQUEST = "Add every file to src/, at most 24 of them; done when all tests pass and the files are there."
_NUMBER = re.compile(r"T-0*(\d+): ")


@dataclass(frozen=True, slots=True)
class SleepingPlan:
    waits_for: tuple[tuple[int, ...], ...]
    seconds: tuple[float, ...]

    @classmethod
    def of(cls, seed: int, pace: float = 1.0) -> SleepingPlan:
        chance = random.Random(seed)  # noqa: S311 - the same each time is the point
        return cls(
            random_graph(TASKS, seed),
            tuple(round(chance.uniform(SHORTEST, LONGEST), 2) * pace for _ in range(TASKS)),
        )

    def rows(self) -> list[dict[str, object]]:
        return [
            {
                "id": name_of(at + 1),
                "subject": f"Sleep {self.seconds[at]} s",
                "blockedBy": [name_of(each + 1) for each in waits_for],
                "files": [f"src/{at + 1}.py"],
            }
            for at, waits_for in enumerate(self.waits_for)
        ]


def greedy(plan: SleepingPlan, places: int) -> float:
    """List scheduling: whenever a place is free, the task that may begin and has the longest way ahead takes it."""
    tasks = [
        WorkTask(plan=PlannedTask(id=name_of(at + 1), subject="s"), wave=1, after=before)
        for at, before in enumerate(plan.waits_for)
    ]
    graph = graph_of(TaskRow.of(tasks))
    left = [len(before) for before in plan.waits_for]
    ready = [(-graph.rank[at], at) for at, many in enumerate(left) if not many]
    heapq.heapify(ready)
    busy: list[tuple[float, int]] = []
    now = 0.0
    while ready or busy:
        while ready and len(busy) < places:
            _, at = heapq.heappop(ready)
            heapq.heappush(busy, (now + plan.seconds[at], at))
        now, done = heapq.heappop(busy)
        for other in graph.dependents[done]:
            left[other] -= 1
            if not left[other]:
                heapq.heappush(ready, (-graph.rank[other], other))
    return now


@dataclass(slots=True)
class Sleepers:
    """The agents: whoever makes a task sleeps for as long as it takes, all others answer at once."""

    plan: SleepingPlan

    def reservation(self, role: str, agent: str = "") -> float:  # noqa: ARG002 - nobody costs anything
        return 0.0

    async def run(self, run: AgentRun, watch: Watch) -> AgentAnswer:  # noqa: ARG002 - nothing to see
        extras, verdict = "{}", Verdict.PASS if run.needs_verdict else None
        if run.role == "developer" and (found := _NUMBER.match(run.brief.task)):
            await asyncio.sleep(self.plan.seconds[int(found[1]) - 1])
        if run.role == "planner":
            extras = json.dumps({"tasks": self.plan.rows()})
        return AgentReported(key=run.key, report=AgentReport(verdict=verdict, extras=extras), usage=Usage(usd=0.0))

    async def reconcile(self, run: AgentRun) -> AgentAnswer | None:  # noqa: ARG002 - nothing is ever cut off
        return None


async def _drive(plan: SleepingPlan) -> float:
    clock = SystemClock()
    store = MemoryStore(Memory(), clock)
    params = WorkflowParams(
        request=REQUEST, base=Commit("base"), parallel=PARALLEL, cast=("planner",), checks=("test",), shape="tool"
    )
    created = Created(kind="workflow", params=encode(params), by="bench")
    new = NewLoop(id=LOOP, kind="workflow", params=created.params)
    await store.create(new, NewEvent(kind="Created", data=encode(created)))
    world = World(
        store=store,
        clock=clock,
        agent=Sleepers(plan),
        checks=ScriptedVerdicts(lambda _run: (CheckResult(name="test", passed=True, tests=1),)),
        workspace=MemoryWorkspace(),
        people=ScriptedPeople(),
        observer=Recorder(),
        loops={"workflow": WORKFLOW, "feedback": FEEDBACK},
        who="bench",
        dispatcher=InProcess(slots=PARALLEL),
    )
    start = time.perf_counter()
    halt = await drive(world, LOOP)
    taken = time.perf_counter() - start
    if halt.outcome is None or halt.outcome.ending is not Ending.VERIFIED or len(halt.outcome.parts) != TASKS:
        raise RuntimeError(f"the plan did not end verified: {halt}")
    return taken


def take(seeds: Sequence[int], pace: float = 1.0) -> list[tuple[float, float]]:
    """Return the wall seconds and the bound of each plan; every task takes `pace` times as long as planned."""
    plans = [SleepingPlan.of(seed, pace) for seed in seeds]
    return [(asyncio.run(_drive(plan)), greedy(plan, PARALLEL)) for plan in plans]


def measure(*, smoke: bool = False) -> Figure:
    taken = take([1], pace=0.001) if smoke else take(range(1, ROUNDS + 1))
    ratios = [wall / bound for wall, bound in taken]
    value = statistics.median(ratios)
    return Figure(
        name="P7",
        what=f"wall time of {TASKS} tasks in a random graph, {SHORTEST:g} to {LONGEST:g} s each, {PARALLEL} at once",
        against="greedy list scheduling of the same graph, by the sleeping alone",
        value=value,
        low=min(ratios),
        high=max(ratios),
        goal=f"<= {GOAL}",
        met=value <= GOAL,
        details={
            "wall_s": statistics.median(wall for wall, _ in taken),
            "bound_s": statistics.median(bound for _, bound in taken),
        },
        notes=(
            "The real driver and machines, a loop for each task; agents sleep in the event loop and are no processes.",
            "Files and log lie in memory, reviews and checks pass at once. Another graph in each round.",
        ),
    )


def main(*seeds: str) -> None:
    for wall, bound in take([int(seed) for seed in seeds] or [1]):
        print(f"{wall:.2f} s, bound {bound:.2f} s: {wall / bound:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
