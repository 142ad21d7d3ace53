"""P6: what it costs to schedule a task, in a plan of a thousand and of ten thousand.

No-op tasks in a random dependency graph go through the real machine and the real session: every event is decided on,
encoded and folded as in the driver, snapshots too, but nothing is written to a disk and no loop of a task is driven.
Each answer is given at once, the oldest first. A plan has at most 25 tasks by a rule of its planner; the scheduler has
no such limit, and its cost per task must not grow with their number.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections import deque
from dataclasses import dataclass

from benchmarks.measuring import ROUNDS, Figure
from benchmarks.p06_peers import against_schedulers
from benchmarks.peer_runs import MISSING, Against, are_installed
from loopwright.engine.fold import Fold, Opened, after
from loopwright.engine.session import Effect, Recording, Session
from loopwright.kernel.actions import Announce, Combine, Integrate, RunAgent, RunChecks, RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import (
    AgentReported,
    Announced,
    Answer,
    ChecksReported,
    Combined,
    Created,
    Ended,
    Integrated,
    LoopEnded,
)
from loopwright.kernel.model import AgentReport, CheckResult, Commit, Ending, LoopId, Outcome, Tree, Usage, Verdict
from loopwright.loops.task_file import name_of
from loopwright.loops.workflow.limits import WorkflowLimits
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.state import TakenOver, WorkflowParams
from loopwright.ports.dispatcher import Errand
from loopwright.ports.store import LoopRow

FEW, MANY = 1_000, 10_000
PARALLEL = 4
MOST_BLOCKERS = 3
NEAR = 60  # a task waits for some of so many before it
GOAL = 1.1


def random_graph(count: int, seed: int = 1) -> tuple[tuple[int, ...], ...]:
    """What each task waits for, by index: up to three of those shortly before it."""
    chance = random.Random(seed)  # noqa: S311 - the same each time is the point
    return tuple(
        tuple(sorted(chance.sample(range(max(0, at - NEAR), at), min(at, chance.randint(0, MOST_BLOCKERS)))))
        for at in range(count)
    )


def planned(graph: tuple[tuple[int, ...], ...]) -> tuple[PlannedTask, ...]:
    return tuple(
        PlannedTask(
            id=name_of(at + 1),
            subject=f"Do nothing, number {at + 1}",
            blocked_by=tuple(name_of(each + 1) for each in waits_for),
            files=(f"src/{at + 1}.py",),
        )
        for at, waits_for in enumerate(graph)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    tasks: int
    first_half: float  # seconds, up to the moment at which half of them is done
    whole: float
    events: int

    @property
    def per_task(self) -> float:
        return self.whole / self.tasks


def session_of(count: int) -> Session:
    """A workflow that stands before its first task."""
    params = WorkflowParams(
        request="Do nothing, often",
        base=Commit("base"),
        limits=WorkflowLimits(max_iterations=None),
        parallel=PARALLEL,
        checks=("test",),
        shape="tool",
        taken_over=TakenOver(stage="execute", spec=10, fit=50, tasks=planned(random_graph(count))),
    )
    created = Created(kind="workflow", params=encode(params), by="bench")
    loop = LoopId("bench")
    now = after(WORKFLOW, Fold(), created, at="bench/1")
    row = LoopRow(
        id=loop,
        kind="workflow",
        params=created.params,
        parent=None,
        status="running",
        seq=1,
        fence=1,
        created=0.0,
        updated=0.0,
        budget=None,
        spent=0.0,
        reserved=0.0,
    )
    opened = Opened(row=row, loop=WORKFLOW, now=now)
    return Session.of(opened, Errand(path=(loop,)), lambda _action, _now: 0.0)


def answered(effect: Effect, number: int) -> Answer:
    """What a world says in which everything passes at once."""
    action, commit = effect.action, Commit(f"c{number}")
    match action:
        case RunLoop():
            return LoopEnded(key=action.key, outcome=Outcome(ending=Ending.VERIFIED, commit=commit))
        case Combine():
            return Combined(key=action.key, commit=commit, files=1)
        case RunChecks():
            tree = Tree(f"tree-{action.commit}")
            also = tuple(CheckResult(name=each.name, passed=True) for each in action.also)
            results = (CheckResult(name="test", passed=True, tests=1),)
            return ChecksReported(key=action.key, tree=tree, lands=tree, results=results, also=also)
        case Integrate():
            return Integrated(key=action.key, branch="loop/bench", commit=commit, landed=commit)
        case RunAgent():
            verdict = Verdict.PASS if action.needs_verdict else None
            return AgentReported(
                key=action.key, role=action.role, report=AgentReport(verdict=verdict), usage=Usage(usd=0.0)
            )
        case Announce():
            return Announced(key=action.key)
        case _:
            raise RuntimeError(f"nobody expected {type(action).__name__}")


def schedule(count: int) -> Scheduled:
    """Drive it to its end, as the driver would, without a world."""
    session, waiting = session_of(count), deque[Effect]()
    began, half, number = time.process_time(), 0.0, 0
    while True:
        todo = session.todo()
        if todo.stop is not None:
            break
        if todo.intents:
            session = written(session, *todo.intents)
            continue
        for effect in todo.start:
            session = session.begun(effect.action.key)
            waiting.append(effect)
        number += 1
        session = written(session, *session.heard(answered(waiting.popleft(), number)))
        if not half and session.now.state.done * 2 >= count:
            half = time.process_time() - began
    whole = time.process_time() - began
    session = written(session, Recording(event=Ended(outcome=todo.stop)))
    if session.now.state.done != count:
        raise RuntimeError(f"{session.now.state.done} of {count} tasks are done")
    return Scheduled(tasks=count, first_half=half, whole=whole, events=session.length)


def written(session: Session, *lines: Recording) -> Session:
    return session.written(session.draft(*lines))


def measure(*, smoke: bool = False) -> Figure:
    fewer, more, rounds = (20, 40, 1) if smoke else (FEW, MANY, ROUNDS)
    few: list[Scheduled] = []
    many: list[Scheduled] = []
    for turn in range(rounds):
        order = ((fewer, few), (more, many)) if turn % 2 else ((more, many), (fewer, few))
        for count, taken in order:
            taken.append(schedule(count))
    ratios = [late.per_task / early.per_task for early, late in zip(few, many, strict=True)]
    value = statistics.median(ratios)
    beside = Against(details={}, notes=(MISSING,), met=False)
    peers = beside
    if are_installed() and not smoke:
        peers = against_schedulers(lambda count: schedule(count).per_task, random_graph)
    return Figure(
        name="P6",
        what=f"scheduling a no-op task in a random dependency graph of {MANY:,}: machine, session, snapshots; no disk",
        against=f"the same in a graph of {FEW:,}; langgraph, celery, prefect",
        value=value,
        low=min(ratios),
        high=max(ratios),
        goal=f"<= {GOAL}; ahead of each peer",
        met=value <= GOAL,
        details={
            "ms_per_task_of_1000": statistics.median(each.per_task for each in few) * 1000,
            "ms_per_task_of_10000": statistics.median(each.per_task for each in many) * 1000,
            "events_per_task": many[0].events / more,
            **peers.details,
        },
        peers_met=peers.met if peers is not beside else None,
        notes=("Processor seconds of ours, for the machine is shared; wall seconds of the peers.", *peers.notes),
    )


def main(*counts: str) -> None:
    for count in counts or (str(FEW), str(MANY)):
        taken = schedule(int(count))
        print(f"{taken.tasks} tasks: {taken.per_task * 1000:.3f} ms per task, {taken.events} events")


if __name__ == "__main__":
    main(*sys.argv[1:])
