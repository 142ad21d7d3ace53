"""The queue of systems as the rest of the house knows it: a record, which nobody drives."""

from __future__ import annotations

from loopwright.kernel.assignment import Assignment
from loopwright.kernel.quoting import one_line
from loopwright.kernel.wording import counted
from loopwright.loops.kind import Kind, Needs, Words
from loopwright.loops.queue import files
from loopwright.loops.queue.machine import QUEUE
from loopwright.loops.queue.state import QueueParams, QueueState

_NAMED = 10  # systems
_RULES = (
    "Next is what is specified or ready, waits for nothing that is not complete, and has the lowest priority number.",
    "Dependencies never go round in a circle; what others depend on, or a loop has claimed, is not removed.",
    "A system is claimed by one loop, which alone says how far it is; what is complete stays so.",
)


def _no_brief(assignment: Assignment) -> str:
    raise AssertionError(f"a queue asks no agent for anything, and yet {assignment.role} is to be told")


def _title(params: QueueParams) -> str:
    return f"the systems of {params.domain}"


def _so_far(state: QueueState) -> tuple[str, ...]:
    """What nobody has begun yet, and how it is."""
    left = [each for each in state.systems if each.status != "complete"]
    if not left:
        return ()
    names = ", ".join(each.id for each in left[:_NAMED]) + (", …" if len(left) > _NAMED else "")
    head = f"{counted(len(left), 'system')} in the queue of {one_line(state.plan.domain, 60)}: {names}"
    return (
        head,
        "  loop init --next           claims the first that is ready",
        "  loop run                   drives it",
    )


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
    so_far=_so_far,
    owed=lambda _state, _by: (),
    result=lambda _loop, _state, _parts: None,
    rules=_RULES,
    files=files.render,
)
