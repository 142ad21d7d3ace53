"""A child that stopped for want of money or time, beside others that still work."""

from __future__ import annotations

from loopwright.engine.fold import Fold, Opened, after
from loopwright.engine.session import Session
from loopwright.kernel.actions import RunLoop
from loopwright.kernel.codec import encode
from loopwright.kernel.events import Created, LoopEnded
from loopwright.kernel.model import Commit, Ending, LoopId, Outcome
from loopwright.loops.workflow.machine import WORKFLOW
from loopwright.loops.workflow.plan import PlannedTask
from loopwright.loops.workflow.state import TakenOver, WorkflowParams
from loopwright.ports.dispatcher import Errand, Shortage
from loopwright.ports.store import LoopRow

LOOP = LoopId("w")
SHORT = Shortage(reason="budget", detail="1 of 1 USD")


def two_tasks() -> Session:
    """Two children are under way."""
    tasks = tuple(PlannedTask(id=f"T-00{each}", subject=f"Do {each}") for each in (1, 2))
    taken = TakenOver(stage="executing", spec=10, fit=50, tasks=tasks)
    params = encode(WorkflowParams(request="Do both", base=Commit("base"), shape="tool", taken_over=taken))
    created = Created(kind="workflow", params=params, by="ann")
    row = LoopRow(
        id=LOOP,
        kind="workflow",
        params=params,
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
    opened = Opened(row=row, loop=WORKFLOW, now=after(WORKFLOW, Fold(), created, at="w/1"))
    session = Session.of(opened, Errand(path=(LOOP,)), lambda _action, _now: 0.0)
    session = session.written(session.draft(*session.todo().intents))
    for effect in session.todo().start:
        session = session.begun(effect.action.key)
    return session


def test_it_stands_until_another_has_ended_and_then_tries_again() -> None:
    session = two_tasks()
    first, second = (action.key for action in session.wanted if isinstance(action, RunLoop))
    session = session.suspended(second, SHORT)
    assert (session.todo().start, session.todo().shortage, session.todo().idle) == ((), SHORT, False)
    ended = LoopEnded(key=first, outcome=Outcome(ending=Ending.VERIFIED, commit=Commit("made")))
    session = session.written(session.draft(*session.heard(ended)))
    assert second in {effect.action.key for effect in session.todo().start}
    assert session.todo().shortage is None
