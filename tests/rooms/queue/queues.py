"""Queues to try the rules on, and what is said to them."""

import json
from typing import Any

from loopwright.kernel.events import StateEdited
from loopwright.kernel.model import LoopId
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams, QueueState, System

AT = "2026-11-01T10:00:00Z"
LATER = "2026-11-02T10:00:00Z"
PLAN = QueueParams(domain="shop", repository="acme/shop", dream_state="dream-state.md", created_at=AT)
ANN, BOB = LoopId("loop-ann"), LoopId("loop-bob")


def said(subject: str, **what: Any) -> StateEdited:  # noqa: ANN401 - what is to change
    return StateEdited(subject=subject, value=json.dumps(what), by="ann")


def told(state: QueueState, subject: str, **what: Any) -> QueueState:  # noqa: ANN401 - as above
    return QUEUE.apply(state, said(subject, **what))


def queue(*systems: System) -> QueueState:
    return QueueState(plan=PLAN, systems=systems, updated_at=AT, highest=len(systems))


def a_system(number: int, *needs: int, **fields: Any) -> System:  # noqa: ANN401 - as above
    usual = {"name": f"System {number}", "priority": number, "created_at": AT}
    dependencies = tuple(f"sys-{each:03d}" for each in needs)
    return System(id=f"sys-{number:03d}", dependencies=dependencies, **{**usual, **fields})
