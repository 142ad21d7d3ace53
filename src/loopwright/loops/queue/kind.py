"""The queue of systems as the rest of the house knows it: a record, which nobody drives."""

from __future__ import annotations

from loopwright.kernel.assignment import Assignment
from loopwright.loops.kind import Kind, Needs, Words
from loopwright.loops.queue import files
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams, QueueState

_RULES = (
    "Next is what is specified or ready, waits for nothing that is not complete, and has the lowest priority number.",
    "Dependencies never go round in a circle; what others depend on, or a loop has claimed, is not removed.",
    "A system is claimed by one loop, which alone says how far it is; what is complete stays so.",
)


def _no_brief(assignment: Assignment) -> str:
    raise AssertionError(f"a queue asks no agent for anything, and yet {assignment.role} is to be told")


def _title(params: QueueParams) -> str:
    return f"the systems of {params.domain}"


KIND: Kind[QueueParams, QueueState] = Kind(
    loop=QUEUE,
    driven=False,
    takes_in="loop queue import FILE --merge",
    limits="",
    words=Words(counter="system"),
    needs=Needs(roles=(), checks=False),
    title=_title,
    brief=_no_brief,
    closing=lambda _state, _outcome: (),
    so_far=lambda _state: (),
    owed=lambda _state, _by: (),
    result=lambda _loop, _state, _parts: None,
    rules=_RULES,
    files=files.render,
)
